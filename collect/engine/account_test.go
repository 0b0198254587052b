package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/plan"
)

// A run whose manifest cannot be written is named: its provenance would be missing without a word.
func TestManifestsThatCannotBeWritten(t *testing.T) {
	c := submitted(t, 2, plan.Resources{})
	c.step = func(c *cluster, n int) {
		if n != 2 {
			return
		}
		for entry := 1; entry <= 2; entry++ {
			c.measure(entry, 2)
			c.set(entry, "COMPLETED")
		}
		names, _ := filepath.Glob(filepath.Join(c.sub.OutOf(2), "*", "ttreport.manifest.yaml"))
		if err := os.WriteFile(names[0], []byte("release: [v1"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tasks, err := c.follow(context.Background())
	if err == nil || !strings.Contains(err.Error(), tasks[1].Run) || strings.Contains(err.Error(), tasks[0].Run) {
		t.Errorf("%v; want the run of entry 2: %+v", err, tasks)
	}
	if s, err := Open(c.sub.Dir); err != nil || !s.Over() {
		t.Errorf("it is not over: %v", err)
	}
}
