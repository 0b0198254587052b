package durable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Journal appends entries to a file, one line of JSON each. An entry is on the disk when Log returns, and survives
// kill -9 and a power cut.
type Journal[E any] struct{ f *os.File }

// OpenJournal opens a journal for appending, or makes it. A last line that was cut short is removed: what follows it
// could not be read.
func OpenJournal[E any](path string) (*Journal[E], error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	if err := cutShort(f); err != nil {
		_ = f.Close() // nothing was written
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	return &Journal[E]{f}, nil
}

// cutShort removes what is behind the last whole line.
func cutShort(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	tail := make([]byte, min(info.Size(), longestEntry))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil && err != io.EOF {
		return err
	}
	part := len(tail) - 1 - bytes.LastIndexByte(tail, '\n')
	if part == 0 {
		return nil
	}
	return f.Truncate(info.Size() - int64(part))
}

// longestEntry is more than a line has, in bytes.
const longestEntry = 1 << 20

// Log appends one entry.
func (j *Journal[E]) Log(e E) error {
	b, err := json.Marshal(e)
	if err == nil {
		var n int
		if n, err = j.f.Write(append(b, '\n')); err != nil && n > 0 {
			err = errors.Join(err, cutShort(j.f))
		}
	}
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("flushing the journal: %w", err)
	}
	return nil
}

// Close closes the file.
func (j *Journal[E]) Close() error { return j.f.Close() }

// ReadJournal returns the entries of a journal's content up to the first line that is none, and how many bytes they
// have.
func ReadJournal[E any](data []byte) (list []E, size int) {
	for line := range bytes.Lines(data) {
		var e E
		if json.Unmarshal(line, &e) != nil {
			break
		}
		list = append(list, e)
		size += len(line)
	}
	return list, size
}
