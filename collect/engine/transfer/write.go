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
	"math"
	"os"
	"strconv"
	"strings"
)

// Lines that carry a piece begin with piece; the last one has the SHA-256 of all pieces. A log with one part of the
// results states how many parts there are.
const (
	piece = "ttreport-results "
	parts = "ttreport-results-parts "
	last  = "ttreport-results-end "
)

// lineBytes is how many bytes a line carries: with base64 and the prefix less than the 16 KiB at which container
// runtimes break lines.
const lineBytes = 9000

// PartBytes is how many bytes of an archive are a part: as lines they are 8.5 MB, of which a kubelet keeps 10 MB
// (containerLogMaxSize) with its own time stamps.
const PartBytes = 6_300_000

// Write prints the files below a folder: a compressed tar archive in lines of base64, each after the word
// ttreport-results.
func Write(w io.Writer, dir string) error {
	lines := newLines(w, 0, math.MaxInt64)
	if err := archive(lines, dir); err != nil {
		return fmt.Errorf("printing the results: %w", err)
	}
	return lines.end()
}

// WritePart prints one part of what [Write] prints, counted from 0, and of how many it is one; each has so many bytes,
// as [PartBytes]. The same files give the same parts.
func WritePart(w io.Writer, dir string, part int, bytes int64) error {
	from := int64(part) * bytes
	lines := newLines(w, from, from+bytes)
	if err := archive(lines, dir); err != nil {
		return fmt.Errorf("printing the results: %w", err)
	}
	n := int((lines.at + bytes - 1) / bytes)
	if part >= n {
		return fmt.Errorf("printing the results: there is no part %d of %d", part+1, n)
	}
	if part < n-1 {
		if err := lines.flush(); err != nil {
			return err
		}
	} else if err := lines.end(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s%d\n", parts, n)
	return err
}

// PartsOf returns of how many parts a log is one, as its last line states it; 0 where it states nothing.
func PartsOf(log string) int {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	n, err := strconv.Atoi(strings.TrimPrefix(lines[len(lines)-1], parts))
	if err != nil {
		return 0
	}
	return n
}

// archive writes the files below a folder, the same bytes for the same files.
func archive(to io.Writer, dir string) error {
	zip := gzip.NewWriter(to)
	out := tar.NewWriter(zip)
	if err := out.AddFS(os.DirFS(dir)); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return zip.Close()
}

// lineWriter writes what it gets as lines, of the bytes between two places.
type lineWriter struct {
	to              *bufio.Writer
	sum             hash.Hash // of everything
	held            []byte
	at, from, until int64
	begun           bool
}

func newLines(w io.Writer, from, until int64) *lineWriter {
	return &lineWriter{to: bufio.NewWriter(w), sum: sha256.New(), from: from, until: until}
}

// Write implements io.Writer.
func (l *lineWriter) Write(p []byte) (int, error) {
	l.sum.Write(p)
	n := int64(len(p))
	low, high := min(max(0, l.from-l.at), n), min(max(0, l.until-l.at), n)
	l.at += n
	l.held = append(l.held, p[low:high]...)
	for len(l.held) >= lineBytes {
		if err := l.line(l.held[:lineBytes]); err != nil {
			return 0, err
		}
		l.held = l.held[lineBytes:]
	}
	return len(p), nil
}

func (l *lineWriter) line(data []byte) error {
	l.begun = true
	_, err := fmt.Fprintf(l.to, "%s%s\n", piece, base64.StdEncoding.EncodeToString(data))
	return err
}

// flush writes what is held.
func (l *lineWriter) flush() error {
	if len(l.held) > 0 || !l.begun {
		if err := l.line(l.held); err != nil {
			return err
		}
		l.held = nil
	}
	return l.to.Flush()
}

func (l *lineWriter) end() error {
	if err := l.flush(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(l.to, "%s%s\n", last, hex.EncodeToString(l.sum.Sum(nil))); err != nil {
		return err
	}
	return l.to.Flush()
}
