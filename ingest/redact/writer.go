package redact

import (
	"bytes"
	"io"
	"strings"
)

// Writer cleans a text on its way, line by line, in constant memory. A line that is longer than [Text] keeps is cut. A
// private key that spans lines is removed to its end. Close it to write a last line without an end.
type Writer struct {
	to   io.Writer
	line []byte
	key  bool // within a private key
	skip bool // the rest of a line that was cut
}

// NewWriter returns a writer that cleans what it passes on.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexAny(p, "\n\r")
		part := p
		if end >= 0 {
			part = p[:end+1]
		}
		p = p[len(part):]
		if !w.skip {
			w.line = append(w.line, part...)
		} else if end >= 0 {
			w.line = append(w.line, part[len(part)-1])
		}
		if end >= 0 || len(w.line) > longest {
			if err := w.flush(); err != nil {
				return 0, err
			}
			w.skip = end < 0
		}
	}
	return n, nil
}

// Close writes what is left. It does not close what it writes to.
func (w *Writer) Close() error { return w.flush() }

func (w *Writer) flush() error {
	if len(w.line) == 0 {
		return nil
	}
	line := string(w.line)
	w.line = w.line[:0]
	if w.skip {
		_, err := io.WriteString(w.to, line)
		return err
	}
	if w.key {
		at := strings.Index(line, "-----END")
		if at < 0 {
			return nil
		}
		w.key = false
		_, rest, _ := strings.Cut(line[at+8:], "-----")
		line = rest
	}
	if strings.Contains(line, "PRIVATE KEY") {
		begin, end := strings.LastIndex(line, "-----BEGIN"), strings.LastIndex(line, "-----END")
		w.key = begin > end
	}
	text := Text(line)
	if w.key {
		text += "\n"
	}
	_, err := io.WriteString(w.to, text)
	return err
}
