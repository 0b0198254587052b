package collect

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/plan"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Partial answers of a dying server are not a measurement, whatever earlier entries of the journal state.
func TestWhatADyingServerAnsweredIsMeasuredAgain(t *testing.T) {
	r := folderOf("", []manifest.Entry{
		{Event: "run-start", Item: "r1", Result: "digest"},
		{Event: "point-done", Item: "a", Result: "raw/a.json"},
		{Event: "point-done", Item: "b", Result: "raw/b.json"},
		{Event: "server-died", Item: "b"},
		{Event: "point-missing", Item: "b"},
	})
	if r.id != "r1" || r.digest != "digest" || r.over || r.done["a"].Result == "" || r.done["b"].Result != "" {
		t.Errorf("%+v", r)
	}
}

// After a power cut files may be empty, short or gone: what is not what was measured is measured again, and a manifest
// of which nothing is left is written again.
func TestResumeAfterAPowerCut(t *testing.T) {
	results := t.TempDir()
	dir := filepath.Join(results, "r1")
	p := plan.Plan{Release: "v1"}
	s := &session{plan: p, dir: dir, start: time.Now()}
	if err := os.MkdirAll(filepath.Join(dir, "raw"), 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.journal, err = manifest.OpenJournal(filepath.Join(dir, manifest.JournalName)); err != nil {
		t.Fatal(err)
	}
	if err := s.log("run-start", "r1", p.Digest(), ""); err != nil {
		t.Fatal(err)
	}
	for _, item := range []string{"whole", "empty", "short", "other", "gone"} {
		if err := os.WriteFile(filepath.Join(dir, "raw", item), []byte("0123456789"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.log("point-done", item, "raw/"+item, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.log("point-done", "never", "raw/never", ""); err == nil {
		t.Error("a result that is not there is journalled as done")
	}
	for name, text := range map[string]string{"empty": "", "short": "01234", "other": "0123456780"} {
		if err := os.WriteFile(filepath.Join(dir, "raw", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "raw", "gone")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, manifest.FileName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again := &session{plan: p}
	again.resume(results)
	if len(again.done) != 1 || !again.done["whole"] || again.id != "r1" || !again.unstated || again.start.IsZero() {
		t.Errorf("%s goes on with %v, started %v", again.id, again.done, again.start)
	}
	if at, has := Interrupted(p, results); at != dir || len(has) != 1 || !has["whole"] {
		t.Errorf("%q has %v", at, has)
	}
	if at, _ := Interrupted(plan.Plan{Release: "v2"}, results); at != "" {
		t.Errorf("%q is of another plan", at)
	}
}
