package main

import (
	"bytes"
	"os"
	"sync"

	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/unchanged"
	"github.com/ttreport/ttreport/targets/judge"
)

// judgedFile keeps how far history was judged, so that the next build goes on from there: the program that judged, and
// what the judge kept. A file that is damaged, of another program or of another history is of no effect, and one that
// cannot be read or written costs time and nothing else. The zero value keeps nothing.
type judgedFile struct {
	file    string
	program func() string // a hash of it, "" where that cannot be had; nil where nobody has asked for it yet
}

const (
	// judgedMost is a size that no such file has.
	judgedMost = 512 << 20
	// judgedWorth is the size below which judging anew is faster than making sure which program this is.
	judgedWorth = 2 << 20
)

func (f judgedFile) head() []byte { return []byte("ttreport-judged-2 " + f.program() + "\n") }

// load returns what the last build kept, and asks for what the next one may go on from; nil where nothing is kept.
func (f judgedFile) load(keep bool) *judge.Keeping {
	if f.file == "" {
		return nil
	}
	k := &judge.Keeping{}
	if keep && f.program != nil && f.program() != "" {
		k.Keep = &judgedWriter{judgedFile: f}
	}
	info, err := os.Stat(f.file)
	if err != nil || info.Size() > judgedMost || f.program == nil && info.Size() < judgedWorth {
		return k
	}
	if f.program == nil {
		f.program = sync.OnceValue(unchanged.Program)
	}
	data, err := os.ReadFile(f.file)
	if head := f.head(); err == nil && f.program() != "" && bytes.HasPrefix(data, head) {
		k.From = data[len(head):]
	}
	return k
}

// judgedWriter writes the file, from the first piece on.
type judgedWriter struct {
	judgedFile
	to *durable.Writer // nil before
}

// Write implements io.Writer.
func (w *judgedWriter) Write(data []byte) (int, error) {
	if w.to == nil {
		to, err := durable.Create(w.file)
		if err != nil {
			return 0, err
		}
		w.to = to
		if _, err := to.Write(w.head()); err != nil {
			return 0, err
		}
	}
	return w.to.Write(data)
}

// keepJudged puts what was kept of a judgement in its place for the next build, unless judging or writing failed.
func keepJudged(k *judge.Keeping, failed bool) {
	if k == nil {
		return
	}
	w, ok := k.Keep.(*judgedWriter)
	switch {
	case !ok || w.to == nil: // there is nothing new
	case failed || k.Err != nil:
		w.to.Abort()
	default:
		_ = w.to.Commit()
	}
}
