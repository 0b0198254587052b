package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// JournalName is the file name of a run folder's journal.
const JournalName = "journal.jsonl"

// EventRunDone is the event of the last entry of a complete run.
const EventRunDone = "run-done"

// Entry is one line of a journal.
type Entry struct {
	Time   time.Time `json:"time"`  // UTC
	Event  string    `json:"event"` // run-start, server-ready, point-start, point-done, eval-done, run-done …
	Item   string    `json:"item,omitempty"`
	Result string    `json:"result,omitempty"` // file, relative to the run folder
	Note   string    `json:"note,omitempty"`
	// Size and SHA256 are of the result, which is on the disk when the entry is.
	Size   int64  `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
}

// Journal appends entries to a run folder's journal; each is on the disk when Log returns, and survives kill -9 and a
// power cut.
type Journal struct{ f *os.File }

// OpenJournal opens a journal for appending. A last line that was cut short is removed: what follows it could not be
// read.
func OpenJournal(path string) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	if err := cutShort(f); err != nil {
		_ = f.Close() // nothing was written
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	return &Journal{f}, nil
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
func (j *Journal) Log(e Entry) error {
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
func (j *Journal) Close() error { return j.f.Close() }

// ReadJournal returns the entries of a journal's content, up to the first incomplete line.
func ReadJournal(data []byte) []Entry {
	var out []Entry
	for line := range bytes.Lines(data) {
		var e Entry
		if json.Unmarshal(line, &e) != nil {
			break
		}
		out = append(out, e)
	}
	return out
}
