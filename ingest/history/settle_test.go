package history_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
)

// named is the sample under a derived id, as a reading gives it that knows this much.
func named(device, release, hash string) schema.Run {
	r := sample("x")
	r.ID = r.Start.UTC().Format("20060102T150405Z") + "-" + hash
	r.Device, r.Release, r.Targets = schema.Device{Name: device}, release, nil
	return r
}

func TestOneMeasurementStandsOnce(t *testing.T) {
	cases := []struct {
		name     string
		old, now schema.Run
		replaces bool
		stored   bool // something of the new reading is left to store
		code     string
	}{
		{"a device stated later", named("", "", "aaaa"), named("n150", "", "bbbb"), true, true, ""},
		{"a release stated later", named("n150", "", "aaaa"), named("n150", "v1", "bbbb"), true, true, ""},
		{"a flag forgotten", named("n150", "v1", "aaaa"), named("n150", "", "bbbb"), false, false, "in-history"},
		{"another device", named("n150", "v1", "aaaa"), named("t3k", "v1", "bbbb"), false, false, "other-identity"},
		{"another release", named("n150", "v1", "aaaa"), named("n150", "v2", "bbbb"), false, false, "other-identity"},
		{"one learned, one forgotten", named("n150", "", "aaaa"), named("", "v2", "bbbb"), false, false, "in-history"},
	}
	for _, c := range cases {
		dir := t.TempDir()
		c.old.Targets = []schema.Target{{Metric: "ttft", Value: 1, Level: "target"}}
		if _, err := history.Put(dir, c.old, false); err != nil {
			t.Fatal(err)
		}
		s := history.Settle(dir, c.now)
		code := ""
		if len(s.Problems) > 0 {
			code = s.Problems[0].Code
		}
		if len(s.Replaces) == 1 != c.replaces || s.Nothing() == c.stored || code != c.code {
			t.Errorf("%s: replaces %v, nothing left %t, %v", c.name, s.Replaces, s.Nothing(), s.Problems)
		}
		if c.replaces && len(s.Run.Targets) != 1 {
			t.Errorf("%s: the stamped targets were lost", c.name)
		}
		if _, err := os.Stat(filepath.Join(dir, history.PathOf(&c.old))); err != nil {
			t.Errorf("%s: looking deleted something: %v", c.name, err)
		}
	}
}

// New files beside old ones: the old ones stay where they are, the new ones are stored.
func TestOnlyWhatIsNewIsStored(t *testing.T) {
	dir := t.TempDir()
	if _, err := history.Put(dir, named("n150", "v1", "aaaa"), false); err != nil {
		t.Fatal(err)
	}
	now := named("n150", "v2", "bbbb")
	fresh := now.Points[0]
	fresh.Source.SHA256, fresh.Source.Path = "new", "new.json"
	now.Points = append(now.Points, fresh)
	s := history.Settle(dir, now)
	if len(s.Run.Points) != 1 || s.Run.Points[0].Source.Path != "new.json" || len(s.Run.Scores) != 0 || len(s.Problems) != 1 {
		t.Errorf("%d points, %d scores, %v", len(s.Run.Points), len(s.Run.Scores), s.Problems)
	}
	other := named("t3k", "v1", "cccc")
	other.Points[0].Source.SHA256, other.Scores = "else", nil
	if s := history.Settle(dir, other); len(s.Problems) != 0 || s.Nothing() {
		t.Errorf("a run of the same second with other files is another run: %v", s.Problems)
	}
}

// A second reading that also finds an earlier file has another start, and still knows the document.
func TestAnEarlierFileChangesNothing(t *testing.T) {
	dir := t.TempDir()
	old := named("", "", "aaaa")
	old.Points[0].Start = old.Start
	if _, err := history.Put(dir, old, false); err != nil {
		t.Fatal(err)
	}
	now := named("n150", "", "bbbb")
	now.Points[0].Start = old.Start
	first := now.Points[0]
	first.Source.SHA256, first.Source.Path, first.Start = "new", "new.json", old.Start.Add(-time.Hour)
	now.Points = append(now.Points, first)
	now.Start = first.Start
	now.ID = now.Start.UTC().Format("20060102T150405Z") + "-cccc"
	if s := history.Settle(dir, now); len(s.Replaces) != 1 || len(s.Run.Points) != 2 {
		t.Errorf("replaces %v, %d points, %v", s.Replaces, len(s.Run.Points), s.Problems)
	}
}

// What is read into one folder never replaces what another one stores.
func TestOthersAreNeverReplaced(t *testing.T) {
	stored, dir := t.TempDir(), t.TempDir()
	if _, err := history.Put(stored, named("", "", "aaaa"), false); err != nil {
		t.Fatal(err)
	}
	if s := history.Settle(dir, named("n150", "", "bbbb"), stored); len(s.Replaces) != 0 || !s.Nothing() {
		t.Errorf("%+v", s)
	}
}
