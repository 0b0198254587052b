package kubernetes

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/engine"
)

// Pods disappear with their logs when their Job is deleted: what they had printed until then is in the results, and a
// process that follows the jobs does not submit them again.
func TestCancelKeepsWhatWasMeasured(t *testing.T) {
	a, c := cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	job, log := strings.ToLower(s.JobName(s.Groups[0], 0)), printedRun(t)
	tasks, err := follower(s, c, func(round int) {
		switch {
		case round == 2:
			a.change(func() { a.logs["p1"] = log })
			a.pod(job, a.runningPod("p1"))
		case len(a.now().deleted) == 0 && len(c.seen.podsOf(job, 1)) > 0:
			other, err := engine.Open(s.Dir)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := engine.Cancel(t.Context(), other, &Backend{}, func(int, int) {}); n != 1 || err != nil {
				t.Errorf("%d cancelled, %v", n, err)
			}
		}
	}).Run(within(t))
	if err != nil || a.now().jobs != 0 || len(a.now().deleted) != 1 || a.now().plans != 1 {
		t.Errorf("%v: %d jobs left, %d submitted, %v deleted", err, a.now().jobs, a.now().plans, a.now().deleted)
	}
	if found := journals(s, 1); len(found) != 1 || !tasks[0].Ended {
		t.Errorf("%v, %+v", found, tasks)
	}
	if text, err := os.ReadFile(s.LogOf(1)); err != nil || !strings.Contains(string(text), "1 point measured") {
		t.Errorf("%v %s", err, text)
	}
}

// What a pod says is shown, and not the lines that carry its results.
func TestLastLines(t *testing.T) {
	a, b := cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	name := s.JobName(s.Groups[0], 0)
	made := object{Kind: "Job"}
	made.Metadata.Name, made.Metadata.Annotations = strings.ToLower(name), map[string]string{entriesNote: "1"}
	a.jobs[made.Metadata.Name] = &made
	for log, want := range map[string]string{
		"point     1/2  ISL 64\n": "point     1/2  ISL 64", "point     1/2\nttreport-results-end 12\n": "",
	} {
		a.pod(made.Metadata.Name, podNamed("p1", running))
		a.change(func() { a.logs["p1"] = []byte(log) })
		list, err := b.Queue(t.Context(), s, []string{name})
		if err != nil || len(list) != 1 || strings.TrimSpace(list[0].LastLine) != want {
			t.Errorf("%q: %v %+v", log, err, list)
		}
	}
}

// Results that a pod could not print to their end are said to be missing.
func TestCancelSaysWhatIsMissing(t *testing.T) {
	a, c := cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	log := printedRun(t)
	a.logs["p1"] = log[:len(log)-20]
	a.pod("j", a.runningPod("p1"))
	err := c.Cancel(t.Context(), s, []engine.JobStatus{{Array: "j", Job: "p1", Entry: 1}})
	if !errors.Is(err, engine.ErrUnfetched) || !strings.Contains(err.Error(), "job 1") {
		t.Error(err)
	}
}

// A pod that has measured nothing has nothing to lose, whether it has printed anything or not; of one that is printing
// its second point the first one is kept.
func TestCancelKeepsWhatIsWhole(t *testing.T) {
	log := string(printedRun(t))
	for name, c := range map[string]struct {
		log   string
		found int
	}{
		"nothing": {"", 0}, "no results": {"server    ready\n", 0}, "one": {log, 1},
		"half": {log + "ttreport-results AAAA\n", 1},
	} {
		a, b := cluster(t)
		s := submission(t, engine.Job{Name: "m on d", Total: 1})
		a.logs["p1"] = []byte(c.log)
		a.pod("j", podNamed("p1", running))
		err := b.Cancel(t.Context(), s, []engine.JobStatus{{Array: "j", Job: "p1", Entry: 1}})
		if err != nil || len(journals(s, 1)) != c.found || !slices.Equal(a.now().deleted, []string{"j"}) {
			t.Errorf("%s: %v, %v, deleted are %v", name, err, journals(s, 1), a.now().deleted)
		}
	}
}

// A pod that somebody deleted a moment ago has taken its log with it, which is said.
func TestCancelOfAPodThatIsGone(t *testing.T) {
	_, b := cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	err := b.Cancel(t.Context(), s, []engine.JobStatus{{Array: "j", Job: "p1", Entry: 1}})
	if !errors.Is(err, engine.ErrUnfetched) || !errors.Is(err, errGone) {
		t.Error(err)
	}
}

// Nothing is ended whose logs cannot be read: what it measured would be gone.
func TestCancelWithoutLogs(t *testing.T) {
	a, b := cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	a.unread = `Error from server (Forbidden): pods "p1" is forbidden: cannot get resource "pods/log"`
	a.pod("j", a.runningPod("p1"))
	err := b.Cancel(t.Context(), s, []engine.JobStatus{{Array: "j", Job: "p1", Entry: 1}})
	if err == nil || errors.Is(err, engine.ErrUnfetched) || !strings.Contains(err.Error(), "forbidden") {
		t.Error(err)
	}
	if a.now().deleted != nil {
		t.Errorf("deleted are %v", a.now().deleted)
	}
}

// One Job cannot be deleted: what both have measured is fetched, and the jobs have not ended.
func TestCancelOfAPart(t *testing.T) {
	a, c := cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	log := printedRun(t)
	a.logs["p1"], a.logs["p2"], a.kept = log, log, "k"
	a.pod("j", a.runningPod("p1"))
	a.pod("k", a.runningPod("p2"))
	jobs := []engine.JobStatus{{Array: "j", Job: "p1", Entry: 1}, {Array: "k", Job: "p2", Entry: 2}}
	if err := c.Cancel(t.Context(), s, jobs); err == nil || errors.Is(err, engine.ErrUnfetched) {
		t.Error(err)
	}
	for entry, want := range map[int]int{1: 1, 2: 1} {
		if found := journals(s, entry); len(found) != want {
			t.Errorf("entry %d: %v", entry, found)
		}
	}
}

// A Job has ended before its pod was seen: its results are fetched all the same.
func TestFetchOfAPodNotSeen(t *testing.T) {
	a, c := cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	name := s.JobName(s.Groups[0], 0)
	job := strings.ToLower(name)
	made := object{Kind: "Job"}
	made.Metadata.Name, made.Metadata.Annotations = job, map[string]string{entriesNote: "1"}
	a.jobs[job], a.logs["p1"] = &made, printedRun(t)
	a.pod(job, podNamed("p1", succeeded, exited(0, "Completed")))
	r := engine.JobStatus{Name: name, Array: job, Entry: 1, Phase: engine.Succeeded}
	if err := c.Fetch(t.Context(), s, r); err != nil {
		t.Fatal(err)
	}
	if found := journals(s, 1); len(found) != 1 {
		t.Error(found)
	}
	a.change(func() { delete(a.pods, "p1") })
	c.seen = seen{}
	if err := c.Fetch(t.Context(), s, r); !errors.Is(err, errGone) {
		t.Error(err)
	}
}

// A Job that somebody deletes was meant to end: it is not made again.
func TestDeletedJobs(t *testing.T) {
	a, c := cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Total: 1})
	job := strings.ToLower(s.JobName(s.Groups[0], 0))
	tasks, err := follower(s, c, func(round int) {
		switch {
		case round == 2:
			a.pod(job, a.runningPod("p1"))
		case a.job(job) != nil && len(c.seen.podsOf(job, 1)) > 0:
			a.change(func() { delete(a.jobs, job); delete(a.pods, "p1") })
		}
	}).Run(within(t))
	if err != nil || a.now().plans != 1 || tasks[0].State != "Failed" || tasks[0].Reason != "its Job was deleted" {
		t.Errorf("%v: %d submitted, %+v", err, a.now().plans, tasks)
	}
}
