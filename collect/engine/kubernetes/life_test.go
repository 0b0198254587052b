package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
)

// A plan from submission to results: one entry waits and runs, one is evicted and goes on, one reaches its limit and is
// submitted again, one fails; the API server is away for a while.
func TestLife(t *testing.T) {
	a, c := cluster(t)
	var jobs []engine.Job
	for i := range 4 {
		jobs = append(jobs, engine.Job{Name: fmt.Sprintf("m%d on d", i+1), Total: 1,
			Resources: plan.Resources{Time: fmt.Sprint(10 + i), Retries: "1"}})
	}
	s := submission(t, jobs...)
	round, sawAway, heard, log := 0, false, false, printedRun(t)
	name := func(g int) string { return strings.ToLower(s.JobName(s.Groups[g-1], 0)) }
	again := strings.ToLower(s.JobName(s.Groups[2], 1)) + "-3"
	f := engine.Follower{Submission: s, Backend: c, Poll: time.Millisecond,
		Show: func(v engine.View) {
			sawAway, heard = sawAway || v.Away > 0, heard || v.Tasks[1].Now == "point 1/1 ISL 64"
		},
		Sleep: func(ctx context.Context, _ time.Duration) error {
			seen := func(g int) bool { return len(c.seen.podsOf(name(g), g)) > 0 }
			switch { // what happens is shown some time later
			case round == 3 && !(seen(1) && seen(2) && seen(3) && seen(4)), round == 5 && !heard, round == 8 && !sawAway:
			default:
				round++
				a.step(round, name, again, log)
			}
			return ctx.Err()
		}}
	tasks, err := f.Run(within(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"Succeeded", "Succeeded", "Succeeded", "Failed"} {
		if task := tasks[i]; task.State != want || task.OK() != (want == "Succeeded") {
			t.Errorf("%+v", task)
		}
	}
	if !sawAway || !heard || a.now().jobs != 5 || tasks[2].Retry != 1 ||
		tasks[3].Log[0] != "error: no server" {
		t.Errorf("away %t, heard %t, %d jobs, %+v", sawAway, heard, a.now().jobs, tasks)
	}
	found, _ := filepath.Glob(filepath.Join(s.OutOf(2), "*", "ttreport.manifest.yaml"))
	facts, err := os.ReadFile(strings.Join(found, ""))
	for _, want := range []string{
		"kubernetes_state: Evicted, Succeeded", "kubernetes_node: n1", "kubernetes_job_id: b1, b2",
	} {
		if err != nil || !strings.Contains(string(facts), want) {
			t.Errorf("%v, no %q in %s", err, want, facts)
		}
	}
}

// step is what happens in a cluster after each look at it.
func (a *api) step(round int, name func(int) string, again string, log []byte) {
	done := func(job, pod string) {
		a.change(func() { a.logs[pod], a.jobs[job].Status.CompletedIndexes = log, "0" })
		a.pod(job, podNamed(pod, succeeded, exited(0, "Completed")))
	}
	fail := func(job string, p *object) {
		a.pod(job, p)
		a.change(func() { a.jobs[job].Status.FailedIndexes = "0" })
	}
	switch round {
	case 2:
		a.pod(name(1), podNamed("a1", pending))
		a.change(func() { a.logs["b2"] = []byte("server    ready\npoint     1/1  ISL 64\n") })
		a.pod(name(2), a.runningPod("b1"))
		a.pod(name(3), a.runningPod("c1"))
		a.pod(name(4), a.runningPod("d1"))
	case 4:
		done(name(1), "a1")
		b1, b2 := podNamed("b1", failed), a.runningPod("b2")
		b1.Status.Conditions = []condition{{Type: "DisruptionTarget", Status: "True", Reason: "Evicted"}}
		b2.Metadata.Annotations[failuresNote] = "1"
		a.pod(name(2), b1)
		a.pod(name(2), b2)
		c1 := podNamed("c1", failed, exited(143, "Error"))
		c1.Status.Reason = "DeadlineExceeded"
		fail(name(3), c1)
		a.change(func() { a.logs["d1"] = []byte("error: no server\n") })
		fail(name(4), podNamed("d1", failed, exited(4, "Error")))
	case 6:
		a.change(func() { a.away = true })
	case 9:
		a.change(func() { a.away = false })
		done(name(2), "b2")
		a.change(func() { a.pods["b2"].Metadata.Annotations[failuresNote] = "1" })
	}
	a.mu.Lock()
	there := a.jobs[again] != nil && a.pods["c2"] == nil
	a.mu.Unlock()
	if there {
		done(again, "c2")
	}
}

// What the API server would not take is refused before anything is made, by field; what it has is not made twice.
func TestSubmit(t *testing.T) {
	a, c := cluster(t)
	s := submission(t, engine.Job{Name: "m on d"})
	a.refuse = `The Job "x" is invalid: spec.template.spec.tolerations[0].effect: Unsupported value`
	_, err := c.Check(t.Context(), s)
	var refused *engine.RefusedError
	if !errors.As(err, &refused) || refused.Field != "tolerations" || a.now().jobs != 0 {
		t.Errorf("%v", err)
	}
	a.refuse = ""
	if _, err := c.Check(t.Context(), s); err != nil || a.now().jobs != 0 {
		t.Errorf("%v %d", err, a.now().jobs)
	}
	for field, r := range map[string]plan.Resources{
		"volumes": {Volumes: []string{"gone:/x"}}, "results": {Results: "gone"}, "secrets": {Secrets: []string{"A=gone/key"}},
	} {
		_, err := c.Check(t.Context(), submission(t, engine.Job{Name: "m on d", Resources: r}))
		if !errors.As(err, &refused) || refused.Field != field || !strings.Contains(err.Error(), `"gone"`) {
			t.Errorf("%s: %v", field, err)
		}
	}
	o := engine.Array{Name: s.JobName(s.Groups[0], 0), Group: s.Groups[0], Entries: []int{1}}
	first, err := c.Submit(t.Context(), s, o)
	second, again := c.Submit(t.Context(), s, o)
	if err != nil || again != nil || first != second || a.now().jobs != 1 || len(a.now().owned) != 2 {
		t.Errorf("%v %v, %d jobs", err, again, a.now().jobs)
	}
	err = c.Cancel(t.Context(), s, []engine.JobStatus{{Array: first}})
	if err != nil || len(a.now().deleted) != 1 || a.now().jobs != 0 {
		t.Errorf("%v %v", err, a.now().deleted)
	}
}
