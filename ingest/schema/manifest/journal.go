package manifest

import (
	"time"

	"github.com/ttreport/ttreport/ingest/durable"
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

// Journal is the journal of a run folder.
type Journal = durable.Journal[Entry]

// OpenJournal opens a run folder's journal for appending.
func OpenJournal(path string) (*Journal, error) { return durable.OpenJournal[Entry](path) }

// ReadJournal returns the entries of a journal's content, up to the first incomplete line.
func ReadJournal(data []byte) []Entry {
	list, _ := durable.ReadJournal[Entry](data)
	return list
}
