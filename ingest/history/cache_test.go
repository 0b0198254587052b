//go:build unix

package history_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

func load(t *testing.T, cache string, dirs ...string) (*columns.Columns, []schema.Problem) {
	t.Helper()
	c, problems, err := history.Load(context.Background(), cache, dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return c, problems
}

// dump returns the content of columns as text, ordered by run, for comparison.
func dump(c *columns.Columns) string {
	out := map[string]string{}
	for i := range c.Runs {
		h := c.Runs[i]
		var b strings.Builder
		for p := h.FirstPoint; p < h.PointsEnd; p++ {
			row := &c.Points[p]
			fmt.Fprintf(&b, "%s %d %s %s\n", c.KeyName(row.Key), row.Repeat, row.StatusWord(), c.Reasons[row.Reason])
			c.Values(row, func(s columns.StatID, v float64) { fmt.Fprintln(&b, s, v) })
		}
		for _, s := range c.ScoresOf(i) {
			v, _ := s.Value.Get()
			fmt.Fprintln(&b, s.Task, v, s.Value.Why(), s.N)
		}
		fmt.Fprintln(&b, len(c.TargetsOf(i)), len(c.PlanOf(i)), h.Errors, h.Warnings, h.Release, h.Device, h.Engine, h.Start)
		out[h.ID] = b.String()
	}
	js, _ := json.MarshalIndent(out, "", " ")
	return string(js)
}

func TestCacheChangesNothing(t *testing.T) {
	dir := t.TempDir()
	cache := filepath.Join(t.TempDir(), "c")
	for i := range 7 {
		if _, err := history.Put(dir, sample(fmt.Sprint("run", i)), false); err != nil {
			t.Fatal(err)
		}
	}
	cold, problems := load(t, cache, dir)
	if len(problems) > 0 || len(cold.Runs) != 7 {
		t.Fatal(problems, len(cold.Runs))
	}
	warm, _ := load(t, cache, dir)
	if dump(cold) != dump(warm) {
		t.Errorf("warm differs from cold:\n%s\n%s", dump(cold), dump(warm))
	}
	// One document changes, one is added, one is removed.
	changed := sample("run3")
	changed.Stack.Version = "9"
	changed.Points[0].Status = schema.StatusFailed
	if _, err := history.Put(dir, changed, false); err != nil {
		t.Fatal(err)
	}
	if _, err := history.Put(dir, sample("run7"), false); err != nil {
		t.Fatal(err)
	}
	r5 := sample("run5")
	if err := os.Remove(filepath.Join(dir, history.PathOf(&r5))); err != nil {
		t.Fatal(err)
	}
	mixed, _ := load(t, cache, dir)
	fresh, _ := load(t, "", dir)
	if dump(mixed) != dump(fresh) || len(mixed.Runs) != 7 {
		t.Error("a partly warm load differs from a cold one")
	}
}

// A document that changed is read again, also when its size and its time of change are what they were.
func TestCacheBelievesDocumentsFirst(t *testing.T) {
	dir := t.TempDir()
	cache := filepath.Join(t.TempDir(), "c")
	run := sample("run")
	if _, err := history.Put(dir, run, false); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, history.PathOf(&run))
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
	load(t, cache, dir)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lie := bytes.Replace(data, []byte(`"release":"`+run.Release[:1]), []byte(`"release":"X`), 1)
	if bytes.Equal(lie, data) || len(lie) != len(data) {
		t.Fatal("nothing was changed")
	}
	if err := os.WriteFile(name, lie, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
	if c, _ := load(t, cache, dir); !strings.HasPrefix(c.Runs[0].Release, "X") {
		t.Errorf("the cache says release %q", c.Runs[0].Release)
	}
}

// A damaged cache costs time and nothing else.
func TestDamagedCache(t *testing.T) {
	dir := t.TempDir()
	cache := filepath.Join(t.TempDir(), "c")
	if _, err := history.Put(dir, sample("run"), false); err != nil {
		t.Fatal(err)
	}
	fresh, _ := load(t, cache, dir)
	data, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{
		data[:len(data)/2], append(bytes.Clone(data[:len(data)-8]), 1, 2, 3, 255, 255, 255, 255, 255), []byte("x"), nil,
	} {
		if err := os.WriteFile(cache, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		if c, _ := load(t, cache, dir); dump(c) != dump(fresh) {
			t.Error("a damaged cache changed what was loaded")
		}
	}
}
