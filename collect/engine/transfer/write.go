package transfer

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
)

// Lines that carry a part begin with part; the last one has the SHA-256 of all parts.
const (
	part = "ttreport-results "
	last = "ttreport-results-end "
)

// lineBytes is how many bytes a line carries: with base64 and the prefix less than the 16 KiB at which container
// runtimes break lines.
const lineBytes = 9000

// Write prints the files below a folder: a compressed tar archive in lines of base64, each after the word
// ttreport-results.
func Write(w io.Writer, dir string) error {
	lines := &lineWriter{to: bufio.NewWriter(w), sum: sha256.New()}
	zip := gzip.NewWriter(lines)
	archive := tar.NewWriter(zip)
	if err := archive.AddFS(os.DirFS(dir)); err != nil {
		return fmt.Errorf("printing the results: %w", err)
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("printing the results: %w", err)
	}
	if err := zip.Close(); err != nil {
		return fmt.Errorf("printing the results: %w", err)
	}
	return lines.end()
}

// lineWriter writes what it gets as lines.
type lineWriter struct {
	to   *bufio.Writer
	sum  hash.Hash
	held []byte
}

// Write implements io.Writer.
func (l *lineWriter) Write(p []byte) (int, error) {
	l.held = append(l.held, p...)
	for len(l.held) >= lineBytes {
		if err := l.line(l.held[:lineBytes]); err != nil {
			return 0, err
		}
		l.held = l.held[lineBytes:]
	}
	return len(p), nil
}

func (l *lineWriter) line(data []byte) error {
	l.sum.Write(data)
	_, err := fmt.Fprintf(l.to, "%s%s\n", part, base64.StdEncoding.EncodeToString(data))
	return err
}

func (l *lineWriter) end() error {
	if err := l.line(l.held); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(l.to, "%s%s\n", last, hex.EncodeToString(l.sum.Sum(nil))); err != nil {
		return err
	}
	return l.to.Flush()
}
