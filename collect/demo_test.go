package collect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// The demo's numbers are the same in all digits, also when every processor of the machine is busy.
func TestDemoIsTheSameUnderLoad(t *testing.T) {
	idle := demoResults(t)
	stop, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range 2 * runtime.NumCPU() {
		go func() {
			for stop.Err() == nil {
				runtime.Gosched()
			}
		}()
	}
	busy := demoResults(t)
	if len(idle) != 8 || len(busy) != len(idle) {
		t.Fatalf("%d and %d runs, want 8", len(idle), len(busy))
	}
	for i := range idle {
		if !bytes.Equal(idle[i], busy[i]) {
			t.Errorf("run %d measured other numbers under load", i+1)
		}
	}
}

// demoResults runs the demo and returns what each run measured, without times.
func demoResults(t *testing.T) [][]byte {
	t.Helper()
	outs, err := collect.Demo(context.Background(), t.TempDir(), func(collect.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for _, out := range outs {
		names, err := filepath.Glob(filepath.Join(out.Dir, "raw", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		sort.Strings(names)
		var run []byte
		for _, name := range names {
			if !strings.HasSuffix(name, manifest.SidecarSuffix) {
				run = append(run, withoutDate(t, name)...)
			}
		}
		all = append(all, run)
	}
	return all
}

func withoutDate(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var result map[string]any
	if err := json.Unmarshal(data, &result); err != nil {
		t.Fatal(err)
	}
	delete(result, "date")
	out, err := json.Marshal(result) // in the order of names
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A run of the demo begins after the one before has ended, and all of them are over when the demo is.
func TestDemoIsInThePast(t *testing.T) {
	outs, err := collect.Demo(context.Background(), t.TempDir(), func(collect.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	var last time.Time
	for _, out := range outs {
		data, err := os.ReadFile(filepath.Join(out.Dir, manifest.FileName))
		if err != nil {
			t.Fatal(err)
		}
		m, problem := manifest.Read("m", data)
		if problem != nil || !m.Start.After(last) || !m.End.After(m.Start) || m.End.After(time.Now()) {
			t.Errorf("%s: from %s to %s, after %s: %v", out.ID, m.Start, m.End, last, problem)
		}
		last = m.End
	}
}

// What was measured is not measured again.
func TestDemoIsComplete(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []int{8, 0} {
		outs, err := collect.Demo(context.Background(), dir, func(collect.Event) {})
		if err != nil || len(outs) != want {
			t.Errorf("%d runs, want %d: %v", len(outs), want, err)
		}
	}
}
