package kubernetes

import (
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
)

// What a person sees, and what follows from it, for every way in which a pod can stand.
func TestStates(t *testing.T) {
	disrupted := condition{Type: "DisruptionTarget", Status: "True", Reason: "EvictionByEvictionAPI"}
	waits := condition{Type: "PodScheduled", Status: "False", Message: "0/4 nodes are available"}
	with := func(o *object, reason string, c ...condition) *object {
		o.Status.Reason, o.Status.Conditions = reason, c
		return o
	}
	runs := podNamed("p", running, client(`{"running": {"startedAt": %q}}`, time.Unix(1000, 0).UTC().Format(time.RFC3339)))
	for name, c := range map[string]struct {
		done, failed string // indexes of the Job
		whole        string // why it failed as a whole
		held         bool
		pod          *object
		state        string
		why          string
		phase        engine.Phase
	}{
		"no pod":    {state: "Pending"},
		"suspended": {held: true, state: "Suspended"},
		"waits":     {pod: with(podNamed("p", pending), "", waits), state: "Pending", why: "0/4 nodes are available"},
		"no image": {pod: podNamed("p", pending, client(`{"waiting": {"reason": "ImagePullBackOff"}}`)), state: "Pending",
			why: "ImagePullBackOff"},
		"runs":                            {pod: runs, state: "Running"},
		"done, and the Job does not know": {pod: podNamed("p", succeeded), state: "Succeeded"},
		"done": {
			done: "0,3-5", pod: podNamed("p", succeeded), state: "Succeeded", phase: engine.Succeeded,
		},
		"evicted, another follows": {pod: with(podNamed("p", failed), "", disrupted), state: "Evicted",
			why: "EvictionByEvictionAPI"},
		"evicted too often": {failed: "0", pod: with(podNamed("p", failed), "", disrupted), state: "Evicted",
			why: "EvictionByEvictionAPI", phase: engine.Disrupted},
		"deleted with its node": {failed: "0", pod: runs, state: "Evicted", phase: engine.Disrupted},
		"the Job is ahead":      {failed: "0", pod: runs, state: "Running"},
		"the Job is ahead at the end": {done: "0", pod: with(podNamed("p", failed), "", disrupted), state: "Evicted",
			why: "EvictionByEvictionAPI"},
		"over its limit": {failed: "0", pod: with(podNamed("p", failed, exited(143, "Error")), "DeadlineExceeded"),
			state: "DeadlineExceeded", phase: engine.OutOfTime},
		"over its limit, and never began": {failed: "0", pod: with(podNamed("p", failed), "DeadlineExceeded"),
			state: "Failed", why: "DeadlineExceeded", phase: engine.Failed},
		"failed": {failed: "0", pod: podNamed("p", failed, exited(4, "Error")), state: "Failed", why: "exit code 4",
			phase: engine.Failed},
		"out of memory": {failed: "0", pod: podNamed("p", failed, exited(137, "OOMKilled")), state: "Failed",
			why: "OOMKilled", phase: engine.Failed},
		"the Job as a whole": {whole: "too many", state: "Failed", why: "too many", phase: engine.Failed},
	} {
		j := object{Kind: "Job"}
		j.Metadata.Name, j.Metadata.Annotations = "j", map[string]string{entriesNote: "7"}
		j.Spec.Suspend, j.Status.CompletedIndexes, j.Status.FailedIndexes = c.held, c.done, c.failed
		j.Spec.Template.Spec.ActiveDeadlineSeconds = 3600
		if c.whole != "" {
			j.Status.Conditions = []condition{{Type: "Failed", Status: "True", Message: c.whole}}
		}
		var s seen
		s.put(j)
		if c.pod != nil {
			s.put(*c.pod)
		}
		if strings.HasPrefix(name, "deleted") {
			s.take([]object{j})
		}
		r := s.statuses([]string{"J"}, time.Unix(1060, 0))[0]
		if r.State != c.state || r.Reason != c.why || r.Phase != c.phase || r.Entry != 7 || r.Name != "J" {
			t.Errorf("%s: %+v", name, r)
		}
		if (name == "runs" || name == "the Job is ahead") && r.Left != "0-00:59:00" {
			t.Errorf("%s: %q left", name, r.Left)
		}
	}
}

// The pod of the newest attempt counts, in whatever order they are seen, also when an older one is deleted late.
func TestNewestPod(t *testing.T) {
	j := object{Kind: "Job"}
	j.Metadata.Name, j.Metadata.Annotations = "j", map[string]string{entriesNote: "1"}
	old, young := podNamed("z", failed), podNamed("a", running)
	young.Metadata.Annotations[failuresNote] = "1"
	for _, order := range [][]object{{j, *old, *young}, {*young, *old, j}} {
		var s seen
		s.put(order...)
		s.take([]object{j, *young})
		if r := s.statuses([]string{"j"}, time.Now())[0]; r.Job != "a" || r.Restarts != 1 || r.State != "Running" {
			t.Errorf("%+v", r)
		}
	}
}

// What is no Job's pod is left alone.
func TestForeignPods(t *testing.T) {
	var s seen
	s.put(object{Kind: "Pod"})
	if len(s.pods) != 0 || len(s.statuses([]string{"j"}, time.Now())) != 0 {
		t.Errorf("%+v", s)
	}
}

func TestIndexes(t *testing.T) {
	for index, want := range map[int]bool{0: true, 1: false, 3: true, 4: true, 5: true, 6: false} {
		if contains("0,3-5", index) != want || contains("", index) {
			t.Errorf("%d", index)
		}
	}
}
