package main

import (
	"io"

	"github.com/ttreport/ttreport/ingest/plaintext"
)

// printable replaces control characters in what goes to a terminal: names and messages come from files of other
// people, and an escape sequence could hide a line or set the title of the window.
type printable struct {
	to  io.Writer
	err error // the first of writing
}

// Write implements io.Writer.
func (p *printable) Write(b []byte) (int, error) {
	_, err := p.to.Write(plaintext.PrintableBytes(b))
	if err != nil && p.err == nil {
		p.err = err
	}
	return len(b), err
}
