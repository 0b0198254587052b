package kubernetes

import (
	"testing"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
)

// A Job that Kueue has not admitted waits with the name of its queue; one that was admitted is like any other.
func TestQueueOfKueue(t *testing.T) {
	a, c := cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Resources: plan.Resources{Queue: "bench"}})
	g := s.Groups[0]
	id, err := c.Submit(t.Context(), s, engine.Array{Name: s.JobName(g, 0), Group: g, Entries: g.Entries})
	if err != nil {
		t.Fatal(err)
	}
	look := func() engine.JobStatus {
		t.Helper()
		list, err := c.Queue(t.Context(), s, []string{s.JobName(g, 0)})
		if err != nil || len(list) != 1 {
			t.Fatalf("%v %v", err, list)
		}
		return list[0]
	}
	if r := look(); r.State != "Suspended" || r.Reason != "queue bench" || r.Phase != engine.Active {
		t.Errorf("%+v", r)
	}
	a.change(func() { a.jobs[id].Spec.Suspend = false })
	if r := look(); r.State != "Pending" || r.Reason != "" {
		t.Errorf("%+v", r)
	}
}
