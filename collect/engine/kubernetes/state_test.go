package kubernetes

import (
	"strings"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ttreport/ttreport/collect/engine"
)

// podNamed is a pod of index 0 of the job "j".
func podNamed(name string, status core.PodStatus) *core.Pod {
	return &core.Pod{
		ObjectMeta: meta.ObjectMeta{
			Name: name, Annotations: map[string]string{indexNote: "0"},
			OwnerReferences: []meta.OwnerReference{{Kind: "Job", Name: "j"}},
		},
		Spec: core.PodSpec{NodeName: "n1"}, Status: status,
	}
}

// client is the status of the client's container.
func clientStatus(s core.ContainerState) []core.ContainerStatus {
	return []core.ContainerStatus{{Name: clientName, State: s, ImageID: "docker-pullable://i@sha256:1"}}
}

func exited(code int32, reason string) []core.ContainerStatus {
	return clientStatus(core.ContainerState{Terminated: &core.ContainerStateTerminated{ExitCode: code, Reason: reason}})
}

// What a person sees, and what follows from it, for every way in which a pod can stand.
func TestStates(t *testing.T) {
	disrupted := []core.PodCondition{
		{Type: core.DisruptionTarget, Status: core.ConditionTrue, Reason: "EvictionByEvictionAPI"},
	}
	waits := []core.PodCondition{
		{Type: core.PodScheduled, Status: core.ConditionFalse, Message: "0/4 nodes are available"},
	}
	pull := clientStatus(core.ContainerState{Waiting: &core.ContainerStateWaiting{Reason: "ImagePullBackOff"}})
	began := &core.ContainerStateRunning{StartedAt: meta.NewTime(time.Unix(1000, 0))}
	running := clientStatus(core.ContainerState{Running: began})
	failed := batch.JobStatus{FailedIndexes: pointer("0")}
	for name, c := range map[string]struct {
		job   batch.JobStatus
		held  bool
		pod   *core.PodStatus
		state string
		why   string
		phase engine.Phase
	}{
		"no pod":    {state: "Pending"},
		"suspended": {held: true, state: "Suspended"},
		"waits": {pod: &core.PodStatus{Phase: core.PodPending, Conditions: waits}, state: "Pending",
			why: "0/4 nodes are available"},
		"no image": {pod: &core.PodStatus{Phase: core.PodPending, ContainerStatuses: pull}, state: "Pending",
			why: "ImagePullBackOff"},
		"runs": {
			pod: &core.PodStatus{Phase: core.PodRunning, ContainerStatuses: running}, state: "Running",
		},
		"done, and the Job does not know": {pod: &core.PodStatus{Phase: core.PodSucceeded}, state: "Succeeded"},
		"done": {job: batch.JobStatus{CompletedIndexes: "0,3-5"}, pod: &core.PodStatus{Phase: core.PodSucceeded},
			state: "Succeeded", phase: engine.Succeeded},
		"evicted, another follows": {pod: &core.PodStatus{Phase: core.PodFailed, Conditions: disrupted}, state: "Evicted",
			why: "EvictionByEvictionAPI"},
		"evicted too often": {job: failed, pod: &core.PodStatus{Phase: core.PodFailed, Conditions: disrupted},
			state: "Evicted", why: "EvictionByEvictionAPI", phase: engine.Disrupted},
		"deleted with its node": {job: failed, pod: &core.PodStatus{Phase: core.PodRunning, ContainerStatuses: running},
			state: "Evicted", phase: engine.Disrupted},
		"the Job is ahead": {job: failed, pod: &core.PodStatus{Phase: core.PodRunning, ContainerStatuses: running},
			state: "Running"},
		"the Job is ahead at the end": {job: batch.JobStatus{CompletedIndexes: "0"}, state: "Evicted",
			why: "EvictionByEvictionAPI", pod: &core.PodStatus{Phase: core.PodFailed, Conditions: disrupted}},
		"over its limit": {job: failed, state: "DeadlineExceeded", phase: engine.OutOfTime, pod: &core.PodStatus{
			Phase: core.PodFailed, Reason: "DeadlineExceeded", ContainerStatuses: exited(143, "Error")}},
		"over its limit, and never began": {job: failed, state: "Failed", why: "DeadlineExceeded", phase: engine.Failed,
			pod: &core.PodStatus{Phase: core.PodFailed, Reason: "DeadlineExceeded"}},
		"failed": {job: failed, pod: &core.PodStatus{Phase: core.PodFailed, ContainerStatuses: exited(4, "Error")},
			state: "Failed", why: "exit code 4", phase: engine.Failed},
		"out of memory": {
			job: failed, pod: &core.PodStatus{Phase: core.PodFailed, ContainerStatuses: exited(137, "OOMKilled")},
			state: "Failed", why: "OOMKilled", phase: engine.Failed},
		"the Job as a whole": {state: "Failed", why: "too many", phase: engine.Failed, job: batch.JobStatus{
			Conditions: []batch.JobCondition{{Type: batch.JobFailed, Status: core.ConditionTrue, Message: "too many"}}}},
	} {
		j := &batch.Job{
			ObjectMeta: meta.ObjectMeta{Name: "j", Annotations: map[string]string{entriesNote: "7"}},
			Spec:       batch.JobSpec{Suspend: pointer(c.held)}, Status: c.job,
		}
		j.Spec.Template.Spec.ActiveDeadlineSeconds = pointer(int64(3600))
		seen := newCache()
		seen.put(j)
		if c.pod != nil {
			seen.put(podNamed("p", *c.pod))
		}
		if strings.HasPrefix(name, "deleted") {
			seen.gone(podNamed("p", *c.pod))
		}
		r := seen.records([]string{"J"}, time.Unix(1060, 0))[0]
		if r.State != c.state || r.Reason != c.why || r.Phase != c.phase || r.Entry != 7 || r.Name != "J" {
			t.Errorf("%s: %+v", name, r)
		}
		if (name == "runs" || name == "the Job is ahead") && r.Left != "59:00" {
			t.Errorf("%s: %q left", name, r.Left)
		}
	}
}

// The pod of the newest attempt counts, in whatever order they are seen, also when an older one is deleted late.
func TestNewestPod(t *testing.T) {
	old := podNamed("z", core.PodStatus{Phase: core.PodFailed})
	young := podNamed("a", core.PodStatus{Phase: core.PodRunning})
	young.Annotations[failuresNote] = "1"
	for _, order := range [][]*core.Pod{{old, young}, {young, old}} {
		seen := newCache()
		seen.put(&batch.Job{ObjectMeta: meta.ObjectMeta{Name: "j", Annotations: map[string]string{entriesNote: "1"}}})
		for _, p := range order {
			seen.put(p)
		}
		seen.gone(old)
		if r := seen.records([]string{"j"}, time.Now())[0]; r.Job != "a" || r.Restarts != 1 || r.State != "Running" {
			t.Errorf("%+v", r)
		}
	}
}

// What is no Job's pod is left alone.
func TestForeignPods(t *testing.T) {
	seen := newCache()
	seen.put(&core.Pod{ObjectMeta: meta.ObjectMeta{Name: "x"}})
	if len(seen.pods) != 0 || len(seen.records([]string{"j"}, time.Now())) != 0 {
		t.Errorf("%+v", seen)
	}
}

func TestIndexes(t *testing.T) {
	for index, want := range map[int]bool{0: true, 1: false, 3: true, 4: true, 5: true, 6: false} {
		if contains("0,3-5", index) != want || contains("", index) {
			t.Errorf("%d", index)
		}
	}
}
