package collect_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ttreport/ttreport/collect"
)

// A demo that was cut short, wherever it was, goes on to the same eight runs; what is not of the demo stays.
func TestInterruptedDemoGoesOn(t *testing.T) {
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
		if _, again := collect.Demo(context.Background(), results, func(collect.Event) {}); again != nil {
			t.Errorf("after event %d (%v): %v", stop, err, again)
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
