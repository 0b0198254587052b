package site

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"

	"github.com/ttreport/ttreport/ingest/durable"
)

// unit is a part of the site that is made, or left as it is, as one.
type unit struct {
	Made  string            `json:"made"`  // hash of everything that it was made of
	Files map[string]string `json:"files"` // that it consists of, with the SHA-256 of each
	Facts json.RawMessage   `json:"facts,omitempty"`
}

// units are the parts of the last build and of this one. They are kept in a file outside of the site, in a folder that
// nobody else can write to: what a committed site says of itself is not believed. A record that cannot be read or
// written, or was damaged, costs time and nothing else.
type units struct {
	record string // file; "" for none
	folder string // of the site, absolute
	old    map[string]unit
	mu     sync.Mutex
	now    map[string]unit
	sums   map[string]string
}

// unitsFile is the record.
type unitsFile struct {
	Schema string          `json:"schema"`
	Folder string          `json:"folder"`
	Units  map[string]unit `json:"units"`
}

const unitsSchema = "ttreport/units/v1"

func openUnits(record, dir string) *units {
	u := &units{record: record, now: map[string]unit{}, sums: map[string]string{}}
	var err error
	if u.folder, err = filepath.Abs(dir); err != nil || record == "" {
		u.record = ""
		return u
	}
	var f unitsFile
	data := durable.ReadRecord(record)
	if json.Unmarshal(data, &f) == nil && f.Schema == unitsSchema && f.Folder == u.folder {
		u.old = f.Units
	}
	return u
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// sum notes the content of a file that is made.
func (u *units) sum(path string, data []byte) {
	if u.record == "" {
		return
	}
	sum := sumOf(data)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sums[path] = sum
}

// made notes a unit that was made, of these files.
func (u *units) made(name, made string, files []string, facts json.RawMessage) {
	x := unit{Made: made, Files: make(map[string]string, len(files)), Facts: facts}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, f := range files {
		x.Files[f] = u.sums[f]
	}
	u.now[name] = x
}

// keep notes a unit that is left as it is.
func (u *units) keep(name string, x unit) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.now[name] = x
}

// forget removes the record before the site is changed: after a build that was cut short nothing is taken for current.
func (u *units) forget() {
	if u.record != "" {
		_ = os.Remove(u.record)
	}
}

// save records the units when all are in their places.
func (u *units) save() {
	if u.record == "" {
		return
	}
	if data, err := json.Marshal(unitsFile{unitsSchema, u.folder, u.now}); err == nil {
		_ = durable.WriteRecord(u.record, data)
	}
}
