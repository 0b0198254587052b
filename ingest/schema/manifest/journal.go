package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// OpenJournal opens a journal for appending.
func OpenJournal(path string) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	return &Journal{f}, nil
}

// Log appends one entry.
func (j *Journal) Log(e Entry) error {
	b, err := json.Marshal(e)
	if err == nil {
		_, err = j.f.Write(append(b, '\n'))
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

// JournalEnd reads a journal's content: the note of its first run-start, which is the release, and whether the run is
// complete. Reading ends at a line that a crash truncated.
func JournalEnd(data []byte) (release string, ended bool) {
	for _, e := range ReadJournal(data) {
		switch e.Event {
		case "run-start":
			release = e.Note
		case EventRunDone:
			ended = true
		}
	}
	return release, ended
}

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
