package main

import (
	"bytes"
	"os"

	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/unchanged"
	"github.com/ttreport/ttreport/targets/judge"
)

// judgedFile is a file that keeps how far history was judged, so that the next build goes on from there: the program
// that judged, and what the judge kept. A file that is damaged, of another program or of another history is of no
// effect, and one that cannot be read or written costs time and nothing else. "" is no file.
type judgedFile string

// judgedMost is a size that no such file has.
const judgedMost = 512 << 20

// judgedBy stands for the program, which decides what a judgement comes to.
func judgedBy() []byte { return append([]byte(unchanged.ProgramStamp("judged 1", nil)), '\n') }

// load returns what the last build kept, and asks for what the next one may go on from; nil where there is no file.
func (f judgedFile) load(keep bool) *judge.Keeping {
	if f == "" {
		return nil
	}
	k := &judge.Keeping{Keep: keep}
	info, err := os.Stat(string(f))
	if err != nil || info.Size() > judgedMost {
		return k
	}
	data, err := os.ReadFile(string(f))
	if by := judgedBy(); err == nil && len(by) > 1 && bytes.HasPrefix(data, by) {
		k.From = data[len(by):]
	}
	return k
}

// save keeps a judgement for the next build.
func (f judgedFile) save(k *judge.Keeping) {
	by := judgedBy()
	if f == "" || k == nil || len(k.Kept) == 0 || len(by) == 1 {
		return
	}
	_ = durable.WriteFile(string(f), append(by, k.Kept...))
	k.From, k.Kept = nil, nil
}
