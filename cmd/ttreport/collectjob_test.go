package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/engine/transfer"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/session"
)

// Two jobs on one host do not measure on one device: the second waits for the first, and one that Slurm gave a device
// of its own does not.
func TestJobsOnOneHost(t *testing.T) { // not parallel: a child that another test starts has a lock for a moment
	s := &session.Session{Side: collect.Side{Address: "http://127.0.0.1:1"}}
	s.Options = plan.Options{System: plan.System{Model: "m", Device: "device-of-this-test"},
		Server: plan.ServerOptions{Name: plan.ServerName{Kind: plan.ServerCommand}, DeviceIDs: "of-this-test"}}
	for _, c := range []struct {
		name      string
		job       jobOptions
		patience  time.Duration
		held      time.Duration
		want      error
		immediate bool
	}{
		{"a person hears of it at once", jobOptions{}, time.Hour, time.Hour, collect.ErrBusy, true},
		{"a job waits", jobOptions{once: true}, time.Hour, 300 * time.Millisecond, nil, false},
		{"a job waits only so long", jobOptions{once: true}, 1, time.Hour, collect.ErrBusy, true},
		{"GRES is the lock", jobOptions{once: true, allocated: true}, time.Hour, time.Hour, nil, true},
	} {
		first, err := collect.Lock(func(string) {}, []string{"of-this-test"}, "elsewhere")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		timer := time.AfterFunc(c.held, first)
		o := collectOptions{job: c.job, sh: &shell{err: &bytes.Buffer{}, patience: c.patience}}
		release, err := o.lockDevice(context.Background(), s)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", c.name, err)
		}
		waited := time.Since(began)
		if c.immediate && waited > time.Minute || !c.immediate && waited < c.held {
			t.Errorf("%s: after %s", c.name, waited)
		}
		if err == nil {
			release()
		}
		if timer.Stop() {
			first()
		}
	}
}

// A pod that is told to end while it measures prints what it has measured.
func TestEndedPodPrints(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	t.Chdir(t.TempDir())
	const text = `plans: [{model: sim-8b, device: simulated, server: sim, release: v1, only: benchmarks,
  workloads: ["isl=8,osl=4,c=1,n=4", "isl=64,osl=100,c=1,n=4000"]}]
`
	if err := os.WriteFile("plan.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	var out bytes.Buffer
	seen := writerFunc(func(p []byte) {
		if bytes.Contains(p, []byte("point     1/2")) {
			end()
		}
	})
	code := run(ctx, []string{"collect", "--plan=plan.yaml", "--once", "--allocated", "--print-results", "--out=here"},
		strings.NewReader(""), io.MultiWriter(&out, seen), seen)
	err := transfer.Read(&out, io.Discard, "fetched")
	var done int
	journals, _ := filepath.Glob("fetched/*/journal.jsonl") // the pattern is well formed
	for _, name := range journals {
		text, _ := os.ReadFile(name) // one that cannot be read has no point
		done += bytes.Count(text, []byte(`"point-done"`))
	}
	if code != exitInterrupted || err != nil || done != 1 {
		t.Errorf("exit %d, %v, %d points in %v", code, err, done, journals)
	}
}

// writerFunc is told what is written.
type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// A folder that cannot be read is not one in which nothing was measured.
func TestPrintPartOfNothing(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for at, fails := range map[string]bool{empty: false, filepath.Join(dir, "none"): false, file: true} {
		var out bytes.Buffer
		err := printPart(&out, []string{at, "0", "0"})
		if (err != nil) != fails || (out.String() == "nothing was measured\n") == fails {
			t.Errorf("%s: %v, %q", at, err, &out)
		}
	}
}
