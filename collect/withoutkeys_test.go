package collect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Keys that this process knows are taken out of all files of a tool, also of one that failed, and of those in folders
// below its output.
func TestKeysLeaveNoFile(t *testing.T) {
	const key = "quiet-key-of-a-server-4711"
	redact.Know(key)
	dir := filepath.Join(t.TempDir(), "raw", "item")
	var names []string
	for _, name := range []string{"out.json", "log.txt", "sub/x.log", "sub/deep/y.log"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("it was "+key+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	s := &session{dir: filepath.Dir(filepath.Dir(dir))}
	var err error
	if s.journal, err = manifest.OpenJournal(filepath.Join(s.dir, "journal.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := s.log("point-failed", "item", "", "it failed"); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if data, err := os.ReadFile(name); err != nil || strings.Contains(string(data), key) {
			t.Errorf("%s: %s, %v", name, data, err)
		}
	}
}
