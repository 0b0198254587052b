package main

import (
	"bytes"
	"os"

	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/unchanged"
	"github.com/ttreport/ttreport/targets/judge"
)

// judgedFile keeps how far history was judged, so that the next build goes on from there: the program that judged, and
// what the judge kept. A file that is damaged, of another program or of another history is of no effect, and one that
// cannot be read or written costs time and nothing else. The zero value keeps nothing.
type judgedFile struct {
	file    string
	program string // a hash of it; "" where it is not known yet
}

const (
	// judgedMost is a size that no such file has.
	judgedMost = 512 << 20
	// judgedWorth is the size below which judging anew is faster than making sure which program this is.
	judgedWorth = 2 << 20
)

func (f judgedFile) head() []byte { return []byte("ttreport-judged-2 " + f.program + "\n") }

// load returns what the last build kept, and asks for what the next one may go on from; nil where nothing is kept.
func (f judgedFile) load(keep bool) *judge.Keeping {
	if f.file == "" {
		return nil
	}
	k := &judge.Keeping{Keep: keep && f.program != ""}
	info, err := os.Stat(f.file)
	if err != nil || info.Size() > judgedMost || f.program == "" && info.Size() < judgedWorth {
		return k
	}
	if f.program == "" {
		f.program = unchanged.Program()
	}
	data, err := os.ReadFile(f.file)
	if head := f.head(); err == nil && f.program != "" && bytes.HasPrefix(data, head) {
		k.From = data[len(head):]
	}
	return k
}

// save keeps a judgement for the next build.
func (f judgedFile) save(k *judge.Keeping) {
	if f.file == "" || k == nil || len(k.Kept) == 0 {
		return
	}
	_ = durable.WriteFile(f.file, append(f.head(), k.Kept...))
}
