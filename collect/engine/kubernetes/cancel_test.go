package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ttreport/ttreport/collect/engine"
)

// end deletes a Job with its pods and their logs. It is called with the lock held.
func (a *api) end(job string) {
	a.deleted = append(a.deleted, job)
	delete(a.jobs, job)
	for name, p := range a.pods {
		if p.OwnerReferences[0].Name == job {
			delete(a.pods, name)
			delete(a.logs, name)
		}
	}
}

// log writes the log of a pod; who follows it gets what the pod prints when it is ended.
func (a *api) log(w http.ResponseWriter, r *http.Request, pod string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pods[pod] == nil {
		status(w, http.StatusNotFound, "NotFound", pod)
		return
	}
	text := a.logs[pod]
	if r.URL.Query().Get("tailLines") != "" {
		text = text[bytes.LastIndexByte(text[:max(0, len(text)-1)], '\n')+1:]
	}
	_, _ = w.Write(text)
	if r.URL.Query().Get("follow") != "true" {
		return
	}
	_ = http.NewResponseController(w).Flush()
	for a.pods[pod] != nil && r.Context().Err() == nil {
		changed := a.changed
		a.mu.Unlock()
		select {
		case <-changed:
		case <-r.Context().Done():
		}
		a.mu.Lock()
	}
	_, _ = w.Write(a.leaves[pod])
}

// runningPod is the status of a pod that measures.
func runningPod() core.PodStatus {
	return core.PodStatus{Phase: core.PodRunning, ContainerStatuses: clientStatus(
		core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: meta.Now()}})}
}

// follower follows a submission; step is called after each look.
func follower(s *engine.Submission, c *Cluster, step func(round int)) *engine.Follower {
	round := 0
	return &engine.Follower{Submission: s, Scheduler: c, Poll: time.Millisecond, Show: func(engine.View) {},
		Sleep: func(ctx context.Context, _ time.Duration) error {
			round++
			step(round)
			time.Sleep(20 * time.Millisecond) // a watch is not instant
			return ctx.Err()
		}}
}

// Pods print what they measured when their Job is deleted, and disappear with their logs: it is in the results, and a
// process that follows the jobs does not submit them again.
func TestCancelKeepsWhatWasMeasured(t *testing.T) {
	a := newAPI()
	c := a.cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	ctx, end := context.WithTimeout(context.Background(), 3*time.Minute)
	defer end()
	c.Follow(ctx, s)
	job, log := strings.ToLower(s.JobName(s.Groups[0], 0)), printedRun(t)
	a.leaves = map[string][]byte{"p1": log}
	tasks, err := follower(s, c, func(round int) {
		switch {
		case round == 2:
			a.pod(job, "p1", runningPod())
		case len(a.deleted) == 0 && len(c.seen.podsOf(job)) > 0:
			other, err := engine.Open(s.Dir)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := engine.Cancel(ctx, other, c, func(int, int) {}); n != 1 || err != nil {
				t.Errorf("%d cancelled, %v", n, err)
			}
		}
	}).Run(ctx)
	if err != nil || len(a.jobs) != 0 || len(a.deleted) != 1 || a.plans != 1 {
		t.Errorf("%v: %d jobs left, %d submitted, %v deleted", err, len(a.jobs), a.plans, a.deleted)
	}
	if found, _ := filepath.Glob(filepath.Join(s.OutOf(1), "*", "journal.jsonl")); len(found) != 1 || !tasks[0].Ended {
		t.Errorf("%v, %+v", found, tasks)
	}
	if text, err := os.ReadFile(s.LogOf(1)); err != nil || !strings.Contains(string(text), "1 point measured") {
		t.Errorf("%v %s", err, text)
	}
}

// Results that a pod could not print to their end are said to be missing.
func TestCancelSaysWhatIsMissing(t *testing.T) {
	a := newAPI()
	c := a.cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	c.Follow(t.Context(), s)
	log := printedRun(t)
	a.leaves = map[string][]byte{"p1": log[:len(log)-20]}
	a.pod("j", "p1", runningPod())
	to := func(engine.Record) (string, string) { return s.OutOf(1), s.LogOf(1) }
	err := c.Cancel(t.Context(), []engine.Record{{Array: "j", Job: "p1", Entry: 1}}, to)
	if !errors.Is(err, engine.ErrUnfetched) || !strings.Contains(err.Error(), "job 1") {
		t.Error(err)
	}
}

// One Job cannot be deleted: what the other one measured is fetched while its pod ends, and the jobs have not ended.
func TestCancelOfAPart(t *testing.T) {
	a := newAPI()
	c := a.cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	c.Follow(t.Context(), s)
	log := printedRun(t)
	a.leaves, a.kept = map[string][]byte{"p1": log, "p2": log}, "k"
	a.pod("j", "p1", runningPod())
	a.pod("k", "p2", runningPod())
	to := func(r engine.Record) (string, string) { return s.OutOf(r.Entry), s.LogOf(r.Entry) }
	jobs := []engine.Record{{Array: "j", Job: "p1", Entry: 1}, {Array: "k", Job: "p2", Entry: 2}}
	if err := c.Cancel(t.Context(), jobs, to); err == nil || errors.Is(err, engine.ErrUnfetched) {
		t.Error(err)
	}
	for entry, want := range map[int]int{1: 1, 2: 0} {
		if found, _ := filepath.Glob(filepath.Join(s.OutOf(entry), "*", "journal.jsonl")); len(found) != want {
			t.Errorf("entry %d: %v", entry, found)
		}
	}
}

// A Job has ended before a watch, which had broken, showed its pod: its results are fetched all the same.
func TestFetchOfAPodNotSeen(t *testing.T) {
	a := newAPI()
	c := a.cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	name := s.JobName(s.Groups[0], 0)
	job := strings.ToLower(name)
	c.seen = newCache()
	c.seen.jobs[job] = jobState{name: job, entries: []int{1}}
	a.logs["p1"] = printedRun(t)
	a.pod(job, "p1", core.PodStatus{Phase: core.PodSucceeded, ContainerStatuses: exited(0, "Completed")})
	r := engine.Record{Name: name, Array: job, Entry: 1, Phase: engine.Succeeded}
	if err := c.Fetch(t.Context(), r, s.OutOf(1), s.LogOf(1)); err != nil {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob(filepath.Join(s.OutOf(1), "*", "journal.jsonl")); len(found) != 1 {
		t.Error(found)
	}
	a.change(func() { delete(a.pods, "p1") })
	c.seen.pods = map[string]podState{}
	if err := c.Fetch(t.Context(), r, s.OutOf(1), s.LogOf(1)); !errors.Is(err, errGone) {
		t.Error(err)
	}
}

// A Job that somebody deletes was meant to end: it is not made again.
func TestDeletedJobs(t *testing.T) {
	a := newAPI()
	c := a.cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	ctx, end := context.WithTimeout(context.Background(), 3*time.Minute)
	defer end()
	c.Follow(ctx, s)
	job := strings.ToLower(s.JobName(s.Groups[0], 0))
	tasks, err := follower(s, c, func(round int) {
		switch {
		case round == 2:
			a.pod(job, "p1", runningPod())
		case a.job(job) != nil && len(c.seen.podsOf(job)) > 0:
			a.change(func() { delete(a.jobs, job); delete(a.pods, "p1") })
		default:
			a.change(func() {}) // the watch is cut, and everything listed again
		}
	}).Run(ctx)
	if err != nil || a.plans != 1 || tasks[0].State != "Failed" || tasks[0].Reason != "its Job was deleted" {
		t.Errorf("%v: %d submitted, %+v", err, a.plans, tasks)
	}
}
