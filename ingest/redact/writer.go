package redact

import (
	"bytes"
	"io"
	"strings"
)

// Writer cleans a text on its way, line by line, in constant memory. A line that is longer than [Text] keeps is cut. A
// private key that spans lines is removed to its end. Close it to write a last line without an end.
type Writer struct {
	to    io.Writer
	line  []byte
	isKey bool // within a private key
	isCut bool // the rest of a line that was cut is left out
}

// NewWriter returns a writer that cleans what it passes on.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexAny(p, "\n\r") + 1
		part := p[:max(end, 0)]
		if end == 0 {
			part = p
		}
		p = p[len(part):]
		if !w.isCut {
			w.line = append(w.line, part...)
		} else if end > 0 {
			w.line = append(w.line, part[end-1])
		}
		if end > 0 || len(w.line) > longest {
			if err := w.Close(); err != nil {
				return 0, err
			}
			w.isCut = end == 0
		}
	}
	return n, nil
}

// Close writes what is left. It does not close what it writes to.
func (w *Writer) Close() error {
	line := string(w.line)
	w.line = w.line[:0]
	if w.isKey {
		_, after, found := strings.Cut(line, "-----END")
		if !found {
			return nil
		}
		w.isKey = false
		_, line, _ = strings.Cut(after, "-----")
	}
	if begin := strings.LastIndex(line, "-----BEGIN"); strings.Contains(line, "PRIVATE KEY") && !w.isCut {
		w.isKey = begin > strings.LastIndex(line, "-----END")
	}
	text := Text(line)
	if w.isKey {
		text += "\n"
	}
	_, err := io.WriteString(w.to, text)
	return err
}
