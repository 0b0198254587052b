package collect_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// demoJournals are the journals of run folders, by the folders' names.
func demoJournals(t *testing.T, results string) map[string]string {
	t.Helper()
	out := map[string]string{}
	names, err := filepath.Glob(filepath.Join(results, "20*", manifest.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(filepath.Dir(name))] = string(data)
	}
	return out
}

// A demo that was cut short, wherever it was, comes to the same eight runs at the same times; what is not of the demo
// stays.
func TestInterruptedDemoIsMeasuredAgain(t *testing.T) {
	t.Parallel()
	const begin = "20060102T150405Z"
	for stop := 1; stop < 60; stop += 9 {
		results := t.TempDir()
		mine := filepath.Join(results, "mine", "journal.jsonl")
		if err := errors.Join(os.MkdirAll(filepath.Dir(mine), 0o777), os.WriteFile(mine, nil, 0o600),
			os.WriteFile(filepath.Join(results, "mine", "server.log"), nil, 0o600),
			os.Mkdir(filepath.Join(results, "mine", "raw"), 0o777)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		events := 0
		_, err := collect.Demo(ctx, results, func(collect.Event) {
			if events++; events == stop {
				cancel()
			}
		})
		cancel()
		before := demoJournals(t, results)
		if _, again := collect.Demo(context.Background(), results, func(collect.Event) {}); again != nil {
			t.Errorf("after event %d (%v): %v", stop, err, again)
		}
		after := demoJournals(t, results)
		for name, text := range before {
			begins := func(other string) bool { return other[:len(begin)] == name[:len(begin)] }
			if strings.Contains(text, manifest.EventRunDone) && !slices.ContainsFunc(slices.Collect(maps.Keys(after)), begins) {
				t.Errorf("after event %d: %s was complete, and no run begins when it did", stop, name)
			}
		}
		minutes := map[string]bool{}
		for name := range after {
			minutes[name[:len(begin)]] = true
		}
		if len(minutes) != 8 {
			t.Errorf("after event %d: runs do not begin one after the other: %v", stop, minutes)
		}
		runs, globErr := filepath.Glob(filepath.Join(results, "20*"))
		if globErr != nil || len(runs) != 8 {
			t.Errorf("after event %d (%v): %d runs, want 8", stop, err, len(runs))
		}
		if _, err := os.Stat(mine); err != nil {
			t.Error(err)
		}
	}
}
