package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// What is written after a line that a kill cut short can be read.
func TestJournalAfterACutLine(t *testing.T) {
	for _, cut := range []string{"", `{"time":"2026-01-01T00:00:00Z","event":"point-`, strings.Repeat("\x00", 100)} {
		name := filepath.Join(t.TempDir(), manifest.JournalName)
		whole := `{"time":"2026-01-01T00:00:00Z","event":"run-start"}` + "\n"
		if err := os.WriteFile(name, []byte(whole+cut), 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := manifest.OpenJournal(name)
		if err == nil {
			err = j.Log(manifest.Entry{Event: manifest.EventRunDone})
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		list := manifest.ReadJournal(data)
		if err != nil || len(list) != 2 || list[1].Event != manifest.EventRunDone {
			t.Errorf("%.20q: %q, %v", cut, data, err)
		}
		_ = j.Close()
	}
}
