package ingest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// runOf is a run of one point and one score under a derived id, with the stated identity.
func runOf(device, release, hash string) schema.Run {
	number := func(v float64) *float64 { return &v }
	key := schema.Key{Task: "text", Tool: "vllm", ISL: number(128), OSL: number(32)}
	return schema.Run{
		ID: began.Format("20060102T150405Z") + "-" + hash, Start: began, Release: release,
		Model: schema.Model{Name: "m"}, Device: schema.Device{Name: device},
		Points: []schema.Point{{
			Key: key, Status: schema.StatusOK, Repeat: 1, Source: schema.Source{Path: "a.json", SHA256: "aa"},
		}},
		Scores: []schema.Score{{Task: "gsm8k", Metric: "acc", Source: schema.Source{Path: "b.json", SHA256: "bb"}}},
	}
}

func store(t *testing.T, dir string, r schema.Run) {
	t.Helper()
	if _, err := history.Put(dir, r, false); err != nil {
		t.Fatal(err)
	}
}

func TestOneMeasurementStandsOnce(t *testing.T) {
	for name, c := range map[string]struct {
		old, now schema.Run
		replaces bool
		stored   bool // something of the new reading is left to store
		code     string
	}{
		"a device stated later":  {runOf("", "", "aaaa"), runOf("n150", "", "bbbb"), true, true, ""},
		"a release stated later": {runOf("n150", "", "aaaa"), runOf("n150", "v1", "bbbb"), true, true, ""},
		"a flag forgotten":       {runOf("n150", "v1", "aaaa"), runOf("n150", "", "bbbb"), false, false, "in-history"},
		"another device": {runOf("n150", "v1", "aaaa"), runOf("t3k", "v1", "bbbb"), false, false,
			"other-identity"},
		"another release": {runOf("n150", "v1", "aaaa"), runOf("n150", "v2", "bbbb"), false, false,
			"other-identity"},
		"one learned, one forgotten": {runOf("n150", "", "aaaa"), runOf("", "v2", "bbbb"), false, false, "in-history"},
		"a device in other letters": {
			runOf("n150", "v1", "aaaa"), runOf("N150", "v1", "bbbb"), true, true, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.old.Targets = []schema.Target{{Metric: "ttft", Value: 1, Level: "target"}}
			store(t, dir, c.old)
			s := settle([]string{dir}, c.now, batch{writes: newWrites(dir)})
			code := ""
			if len(s.problems) > 0 {
				code = s.problems[0].Code
			}
			if len(s.replaces) == 1 != c.replaces || s.nothingLeft() == c.stored || code != c.code {
				t.Errorf("replaces %v, nothing left %t, %v", s.replaces, s.nothingLeft(), s.problems)
			}
			if c.replaces && len(s.run.Targets) != 1 {
				t.Error("the stamped targets were lost")
			}
			if _, err := os.Stat(filepath.Join(dir, history.PathOf(&c.old))); err != nil {
				t.Errorf("settling deleted something: %v", err)
			}
		})
	}
}

// New files next to old ones: the old ones stay in their document, the new ones are stored.
func TestOnlyWhatIsNewIsStored(t *testing.T) {
	dir := t.TempDir()
	store(t, dir, runOf("n150", "v1", "aaaa"))
	now := runOf("n150", "v2", "bbbb")
	fresh := now.Points[0]
	fresh.Source.SHA256, fresh.Source.Path = "new", "new.json"
	now.Points = append(now.Points, fresh)
	s := settle([]string{dir}, now, batch{writes: newWrites(dir)})
	if len(s.run.Points) != 1 || s.run.Points[0].Source.Path != "new.json" || len(s.run.Scores) != 0 ||
		len(s.problems) != 1 {
		t.Errorf("%d points, %d scores, %v", len(s.run.Points), len(s.run.Scores), s.problems)
	}
	other := runOf("t3k", "v1", "cccc")
	other.Points[0].Source.SHA256, other.Scores = "else", nil
	if s := settle([]string{dir}, other, batch{writes: newWrites(dir)}); len(s.problems) != 0 || s.nothingLeft() {
		t.Errorf("a run of the same second with other files is another run: %v", s.problems)
	}
}

// A second reading that also finds an earlier file has another start, and still finds the document.
func TestAnEarlierFileChangesNothing(t *testing.T) {
	dir := t.TempDir()
	old := runOf("", "", "aaaa")
	old.Points[0].Start = began
	store(t, dir, old)
	now := runOf("n150", "", "bbbb")
	now.Points[0].Start = began
	first := now.Points[0]
	first.Source = schema.Source{Path: "new.json", SHA256: "new"}
	first.Start = began.Add(-time.Hour)
	now.Points = append(now.Points, first)
	now.Start = first.Start
	now.ID = now.Start.Format("20060102T150405Z") + "-cccc"
	if s := settle([]string{dir}, now, batch{writes: newWrites(dir)}); len(s.replaces) != 1 || len(s.run.Points) != 2 {
		t.Errorf("replaces %v, %d points, %v", s.replaces, len(s.run.Points), s.problems)
	}
}

// Documents in a folder that is only read count and are not replaced.
func TestOthersAreNeverReplaced(t *testing.T) {
	stored, dir := t.TempDir(), t.TempDir()
	store(t, stored, runOf("", "", "aaaa"))
	s := settle([]string{dir, stored}, runOf("n150", "", "bbbb"), batch{writes: newWrites(dir)})
	if len(s.replaces) != 0 ||
		!s.nothingLeft() {
		t.Errorf("%+v", s)
	}
}

// A reading that does not see the date in the name of a folder above leaves the document that has it.
func TestAnUndatedReadingReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	old := runOf("n150", "", "aaaa")
	old.Provenance = map[string]schema.Origin{"start": {From: schema.FromPath}}
	store(t, dir, old)
	now := runOf("n150", "", "bbbb")
	now.ID, now.Start = history.Undated+"bbbb", time.Time{}
	if s := settle([]string{dir}, now, batch{writes: newWrites(dir)}); len(s.replaces) != 0 || !s.nothingLeft() {
		t.Errorf("%+v", s)
	}
}
