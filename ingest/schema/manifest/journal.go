package manifest

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/ttreport/ttreport/ingest/schema/durable"
)

// JournalName is the file name of a run folder's journal.
const JournalName = "journal.jsonl"

// Entry is one line of a journal.
type Entry struct {
	Time   time.Time `json:"time"`  // UTC
	Event  string    `json:"event"` // run-start, server-ready, point-start, point-done, point-failed, eval-done, run-done …
	Item   string    `json:"item,omitempty"`
	Result string    `json:"result,omitempty"` // file, relative to the run folder
	Note   string    `json:"note,omitempty"`
}

// Journal appends entries to a run folder's journal; each is on the disk when Log returns.
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
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	return durable.Append(j.f, b)
}

// Close closes the file.
func (j *Journal) Close() error { return j.f.Close() }
