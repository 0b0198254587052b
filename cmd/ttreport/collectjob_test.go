package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/session"
)

// Two jobs on one host do not measure on one device: the second waits for the first, and one that Slurm gave a device
// of its own does not.
func TestJobsOnOneHost(t *testing.T) { // not parallel: a child that another test starts has a lock for a moment
	s := &session.Session{Address: "http://127.0.0.1:1"}
	s.Options = plan.Options{System: plan.System{Model: "m", Device: "device-of-this-test"}}
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
		first, err := collect.Lock(func(string) {}, s.Options.System.Device, "elsewhere")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		timer := time.AfterFunc(c.held, first)
		o := collectOptions{job: c.job}
		release, err := o.lockDevice(context.Background(), &shell{err: &bytes.Buffer{}, patience: c.patience}, s)
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
