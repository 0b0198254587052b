package main

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/session"
)

// Two jobs on one host do not measure on one device: the second waits for the first, and one that Slurm gave a device
// of its own does not.
func TestJobsOnOneHost(t *testing.T) {
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
		{"a person hears of it at once", jobOptions{}, time.Minute, time.Hour, collect.ErrBusy, true},
		{"a job waits", jobOptions{once: true}, time.Minute, 300 * time.Millisecond, nil, false},
		{"a job waits only so long", jobOptions{once: true}, 1, time.Hour, collect.ErrBusy, true},
		{"GRES is the lock", jobOptions{once: true, allocated: true}, time.Minute, time.Hour, nil, true},
	} {
		first, err := collect.Lock(func(string) {}, s.Options.System.Device, "elsewhere")
		if err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(c.held, first)
		began := time.Now()
		o := collectOptions{job: c.job, patience: c.patience}
		release, err := o.lockDevice(context.Background(), &shell{err: &bytes.Buffer{}}, s)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", c.name, err)
		}
		if waited := time.Since(began); (waited < 250*time.Millisecond) != c.immediate {
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
