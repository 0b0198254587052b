package main

import (
	"bytes"
	"io"
	"strings"
)

// printable replaces control characters in what goes to a terminal: names and messages come from files of other
// people, and an escape sequence could hide a line or set the title of the window.
type printable struct {
	to  io.Writer
	err error // the first of writing
}

// Write implements io.Writer.
func (p *printable) Write(b []byte) (int, error) {
	clean := b
	if bytes.ContainsFunc(b, isControl) {
		clean = []byte(withoutControls(string(b)))
	}
	_, err := p.to.Write(clean)
	if err != nil && p.err == nil {
		p.err = err
	}
	return len(b), err
}

// isControl recognises C0 and C1 controls but for line ends and tabs, and marks that turn the direction of text.
func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

func withoutControls(s string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return '·'
		}
		return r
	}, s)
}
