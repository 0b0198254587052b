package kubernetes

import (
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
)

// A Job that Kueue has not admitted waits with Kueue's reason, or with the name of its queue where that cannot be read;
// one that was admitted is like any other.
func TestQueueOfKueue(t *testing.T) {
	a := newAPI()
	c := a.cluster(t)
	s := submission(t, engine.Job{Name: "m on d", Resources: plan.Resources{Queue: "bench"}})
	c.Follow(t.Context(), s)
	g := s.Groups[0]
	id, err := c.Submit(t.Context(), engine.Order{File: s.FileOf(g), Name: s.JobName(g, 0), Group: g})
	if err != nil {
		t.Fatal(err)
	}
	look := func() engine.Record {
		t.Helper()
		list, err := c.Queue(t.Context(), []string{s.JobName(g, 0)})
		if err != nil || len(list) != 1 {
			t.Fatalf("%v %v", err, list)
		}
		return list[0]
	}
	if r := look(); r.State != "Suspended" || r.Reason != "queue bench" || r.Phase != engine.Active {
		t.Errorf("%+v", r)
	}
	const message = "couldn't assign flavors to pod set main: insufficient unused quota for cpu, 1 more needed"
	a.change(func() {
		a.jobs[id].UID = "u1"
		a.workload = `{"items": [{"status": {"conditions": [{"type": "QuotaReserved", "status": "False", "message": "` +
			message + `"}]}}]}`
	})
	until(t, func() bool { return look().Reason == "queue bench: "+message })
	a.change(func() { a.jobs[id].Spec.Suspend = pointer(false) })
	until(t, func() bool { r := look(); return r.State == "Pending" && r.Reason == "" })
}

// until waits for something that a watch brings.
func until(t *testing.T, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}
