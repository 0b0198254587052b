package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
)

// Results on a claim come also when the pod that measured, and its log, were deleted with its node: whether the watch
// has shown that it ended, or not.
func TestClaimOutlivesThePod(t *testing.T) {
	for _, shown := range []core.PodPhase{core.PodSucceeded, core.PodPending} {
		a, c, s, job := onClaims(t, plan.Resources{})
		on := claim{t.TempDir()}
		want := on.put(t, onClaim(s, s.Groups[0])+"/0", 10)
		f := follower(s, c, func(round int) {
			if round == 2 {
				a.pod(job, "p1", core.PodStatus{Phase: shown})
				until(t, func() bool { return len(c.seen.podsOf(job)) == 1 })
				a.change(func() { delete(a.pods, "p1"); a.jobs[job].Status.CompletedIndexes = "0" })
			}
			on.serve(t, a, "")
			a.change(func() {}) // the watch is cut, and everything listed again
		})
		ctx, end := context.WithTimeout(t.Context(), 3*time.Minute)
		tasks, err := f.Run(ctx)
		end()
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
	a := newAPI()
	c := a.cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	c.Follow(t.Context(), s)
	r := engine.Record{Array: "j", Job: "p1", Entry: 1, Phase: engine.Succeeded}
	err := c.Fetch(t.Context(), r, s.OutOf(1), s.LogOf(1))
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
		r := engine.Record{Array: array, Job: "p-" + array, Entry: 1, Phase: engine.Succeeded}
		err := errors.New("not asked")
		for n := range 6 {
			if err = c.Fetch(t.Context(), r, s.OutOf(1), s.LogOf(1)); !errors.Is(err, engine.ErrLater) {
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
		j := readerJob(name, s.Groups[0], at, 0, 1)
		j.UID = "old"
		a.change(func() { a.jobs[name] = j })
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
		p := a.pods[name+"-0"].DeepCopy()
		p.Name = "left"
		p.OwnerReferences = []meta.OwnerReference{{Kind: "Job", Name: name, UID: "old"}}
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
	ago := func(minutes int) meta.Time { return meta.NewTime(now.Add(-time.Duration(minutes) * time.Minute)) }
	job := func(made, started int, suspended bool) *batch.Job {
		j := &batch.Job{Spec: batch.JobSpec{Suspend: &suspended}}
		j.CreationTimestamp = ago(made)
		if started > 0 {
			j.Status.StartTime = pointer(ago(started))
		}
		return j
	}
	pod := func(made int, phase core.PodPhase, ended int) core.Pod {
		p := podNamed("p", core.PodStatus{Phase: phase})
		p.CreationTimestamp = ago(made)
		if ended > 0 {
			p.Status.ContainerStatuses = clientStatus(core.ContainerState{Terminated: &core.ContainerStateTerminated{
				FinishedAt: ago(ended)}})
		}
		return *p
	}
	for what, c := range map[string]struct {
		job  *batch.Job
		pods []core.Pod
		want bool
	}{
		"suspended":            {job(600, 0, true), nil, true},
		"suspended again":      {job(600, 500, true), nil, true},
		"just admitted":        {job(600, 1, false), nil, true},
		"no pod":               {job(600, 11, false), nil, false},
		"never taken up":       {job(11, 0, false), nil, false},
		"pending":              {job(11, 11, false), []core.Pod{pod(11, core.PodPending, 0)}, false},
		"pending for a moment": {job(60, 60, false), []core.Pod{pod(2, core.PodPending, 0)}, true},
		"running":              {job(60, 60, false), []core.Pod{pod(60, core.PodRunning, 0)}, true},
		"running and pending": {job(60, 60, false), []core.Pod{
			pod(60, core.PodRunning, 0), pod(60, core.PodPending, 0),
		}, true},
		"between two parts":        {job(60, 60, false), []core.Pod{pod(60, core.PodSucceeded, 1)}, true},
		"another follows no more":  {job(60, 60, false), []core.Pod{pod(60, core.PodSucceeded, 11)}, false},
		"running for more than it": {job(1500, 1500, false), []core.Pod{pod(1500, core.PodRunning, 0)}, false},
	} {
		if got := goesOn(c.job, c.pods, now); got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}
