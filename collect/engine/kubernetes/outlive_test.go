package kubernetes

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
)

// Results on a claim come also when the pod that measured, and its log, were deleted with its node: whether it was
// seen to have ended, or not.
func TestClaimOutlivesThePod(t *testing.T) {
	for _, shown := range []string{succeeded, pending} {
		a, c, s, job := onClaims(t, plan.Resources{})
		on := claim{t.TempDir()}
		want := on.put(t, onClaim(s, s.Groups[0])+"/0", 10)
		f := follower(s, c, func(round int) {
			switch {
			case round == 2:
				a.pod(job, podNamed("p1", shown))
			case round > 2 && len(c.seen.podsOf(job, 1)) == 1:
				a.change(func() { delete(a.pods, "p1"); a.jobs[job].Status.CompletedIndexes = "0" })
			}
			on.serve(t, a, "")
		})
		tasks, err := f.Run(within(t))
		if err != nil || !tasks[0].OK() {
			t.Fatalf("%s: %v, %+v", shown, err, tasks)
		}
		if got, err := os.ReadFile(filepath.Join(tasks[0].Run, "raw.bin")); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, %d bytes", shown, err, len(got))
		}
	}
}

// Without a claim the reason says what is gone.
func TestLogThatIsGone(t *testing.T) {
	_, c := cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	r := engine.JobStatus{Array: "j", Job: "p1", Entry: 1, Phase: engine.Succeeded}
	err := c.Fetch(t.Context(), s, r)
	if !errors.Is(err, errGone) || err.Error() != "p1: its pod was deleted, and its log with it" {
		t.Error(err)
	}
}

// What read the claim for an earlier array, or was deleted and is still listed, does not answer for the next one.
func TestClaimIsReadAnew(t *testing.T) {
	a, c, s, job := onClaims(t, plan.Resources{})
	on := claim{t.TempDir()}
	at := onClaim(s, s.Groups[0]) + "/0"
	fetch := func(array string) []byte {
		t.Helper()
		r := engine.JobStatus{Array: array, Job: "p-" + array, Entry: 1, Phase: engine.Succeeded}
		err := errors.New("not asked")
		for n := range 6 {
			if err = c.Fetch(t.Context(), s, r); !errors.Is(err, engine.ErrLater) {
				break
			}
			if n > 1 { // it takes a while
				on.serve(t, a, "")
			}
		}
		found, _ := filepath.Glob(filepath.Join(s.OutOf(1), "*", "raw.bin"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %v %v", array, err, found)
		}
		data, _ := os.ReadFile(found[0])
		return data
	}
	reader := func(name string) { // that read what is there now
		text, err := readerJob(s, s.Groups[0], name, at, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kubectl(t.Context(), s.Target, text, "create", "--filename=-"); err != nil {
			t.Fatal(err)
		}
		a.change(func() { a.jobs[name].Metadata.UID = "old" })
		on.serve(t, a, "")
	}
	on.put(t, at, 10)
	reader(job + "-read-1") // nobody deleted it
	want := on.put(t, at, 20)
	if got := fetch(job + "-r1-1"); !bytes.Equal(got, want) {
		t.Errorf("%d bytes of the earlier array", len(got))
	}
	name := job + "-r2-1-read-1"
	reader(name)
	a.change(func() {
		delete(a.jobs, name)
		p := a.pods[name+"-0"]
		p.Metadata.Name = "left"
		a.pods["left"], a.logs["left"] = p, a.logs[name+"-0"]
		delete(a.pods, name+"-0")
	})
	want = on.put(t, at, 30)
	if got := fetch(job + "-r2-1"); !bytes.Equal(got, want) {
		t.Errorf("%d bytes from a pod whose Job was deleted", len(got))
	}
}

// What reads a claim is given up when none of its pods begins for ten minutes, by its own clock: not while it waits for
// Kueue, nor while it reads.
func TestReaderGoesOn(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	made := func(made, started int, suspended bool) job {
		var j job
		j.Spec.Suspend, j.Metadata.CreationTimestamp = suspended, ago(made)
		if started > 0 {
			j.Status.StartTime = ago(started)
		}
		return j
	}
	one := func(made int, phase string, ended int) *pod {
		o := podNamed("p", phase)
		o.Metadata.CreationTimestamp = ago(made)
		if ended > 0 {
			o.Status.ContainerStatuses = []container{
				client(`{"terminated": {"finishedAt": %q}}`, ago(ended).Format(time.RFC3339)),
			}
		}
		p := podOf(*o)
		return p
	}
	for what, c := range map[string]struct {
		job  job
		pods []*pod
		want bool
	}{
		"suspended":            {made(600, 0, true), nil, true},
		"suspended again":      {made(600, 500, true), nil, true},
		"just admitted":        {made(600, 1, false), nil, true},
		"no pod":               {made(600, 11, false), nil, false},
		"never taken up":       {made(11, 0, false), nil, false},
		"pending":              {made(11, 11, false), []*pod{one(11, pending, 0)}, false},
		"pending for a moment": {made(60, 60, false), []*pod{one(2, pending, 0)}, true},
		"running":              {made(60, 60, false), []*pod{one(60, running, 0)}, true},
		"running and pending": {made(60, 60, false), []*pod{
			one(60, running, 0), one(60, pending, 0),
		}, true},
		"between two parts":        {made(60, 60, false), []*pod{one(60, succeeded, 1)}, true},
		"another follows no more":  {made(60, 60, false), []*pod{one(60, succeeded, 11)}, false},
		"running for more than it": {made(1500, 1500, false), []*pod{one(1500, running, 0)}, false},
	} {
		if got := goesOn(c.job, c.pods, now); got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}
