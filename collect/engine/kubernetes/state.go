package kubernetes

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"

	"github.com/ttreport/ttreport/collect/engine"
)

// jobState is what is kept of a Job.
type jobState struct {
	name      string
	entries   []int // by index
	suspended bool
	uid       string
	queue     string // of Kueue
	waits     string // why it is suspended
	completed string // indexes, as "0,3-5"
	failed    string
	limit     time.Duration
	why       string // it failed as a whole
	deleted   bool
}

func jobOf(j *batch.Job) jobState {
	s := jobState{name: j.Name, completed: j.Status.CompletedIndexes, uid: string(j.UID), queue: j.Labels[queueLabel]}
	if s.queue != "" {
		s.waits = "queue " + s.queue
	}
	for text := range strings.SplitSeq(j.Annotations[entriesNote], ",") {
		if n, err := strconv.Atoi(text); err == nil {
			s.entries = append(s.entries, n)
		}
	}
	if j.Spec.Suspend != nil {
		s.suspended = *j.Spec.Suspend
	}
	if j.Status.FailedIndexes != nil {
		s.failed = *j.Status.FailedIndexes
	}
	if d := j.Spec.Template.Spec.ActiveDeadlineSeconds; d != nil {
		s.limit = time.Duration(*d) * time.Second
	}
	for _, c := range j.Status.Conditions {
		if (c.Type == batch.JobFailed || c.Type == batch.JobFailureTarget) && c.Status == core.ConditionTrue &&
			c.Reason != batch.JobReasonFailedIndexes {
			s.why = cmp.Or(c.Message, c.Reason)
		}
	}
	return s
}

// podState is what is kept of a pod.
type podState struct {
	name, job string
	index     int
	created   time.Time
	phase     core.PodPhase
	reason    string // why it waits, or how it ended
	node      string
	failures  int  // of this index before it
	disrupted bool // evicted, preempted, or its node is gone
	overTime  bool
	ran       bool // its client began
	ready     bool // its client runs
	deleted   bool
	exit      string
	started   time.Time
	finished  time.Time
	image     string // of the server, else of the client, by digest
	restarts  int    // of the server
}

func podOf(p *core.Pod) (s podState, ours bool) {
	s = podState{name: p.Name, created: p.CreationTimestamp.Time, phase: p.Status.Phase, node: p.Spec.NodeName}
	for _, o := range p.OwnerReferences {
		if o.Kind == "Job" {
			s.job = o.Name
		}
	}
	index, err := strconv.Atoi(p.Annotations[indexNote])
	if err != nil || s.job == "" {
		return s, false
	}
	s.index = index
	s.failures, _ = strconv.Atoi(p.Annotations[failuresNote]) // 0 where it is not stated
	s.deleted = p.DeletionTimestamp != nil
	s.reason = cmp.Or(p.Status.Reason, p.Status.Message)
	s.overTime = p.Status.Reason == "DeadlineExceeded"
	for _, c := range p.Status.Conditions {
		switch {
		case c.Type == core.DisruptionTarget && c.Status == core.ConditionTrue:
			s.disrupted, s.reason = true, cmp.Or(p.Status.Reason, c.Reason)
		case c.Type == core.PodScheduled && c.Status == core.ConditionFalse && p.Status.Phase == core.PodPending:
			s.reason = cmp.Or(c.Message, c.Reason)
		}
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		s.container(c)
	}
	return s, true
}

// container takes what is shown of a container.
func (s *podState) container(c core.ContainerStatus) {
	if w := c.State.Waiting; w != nil && s.phase == core.PodPending && w.Reason != "PodInitializing" &&
		w.Reason != "ContainerCreating" {
		s.reason = w.Reason // ImagePullBackOff …
	}
	if c.Name == serverName {
		s.restarts = int(c.RestartCount)
	}
	if c.Name == serverName || s.image == "" {
		s.image = cmp.Or(c.ImageID, s.image)
	}
	if c.Name != clientName {
		return
	}
	s.ready = c.State.Running != nil
	if r := c.State.Running; r != nil {
		s.ran, s.started = true, r.StartedAt.Time
	}
	if t := c.State.Terminated; t != nil {
		s.ran, s.started, s.finished = !t.StartedAt.IsZero() || t.ExitCode >= 0, t.StartedAt.Time, t.FinishedAt.Time
		s.exit = strconv.Itoa(int(t.ExitCode))
		if s.reason == "" && t.Reason != "Completed" && t.Reason != "Error" {
			s.reason = t.Reason // OOMKilled
		}
		if s.reason == "" && t.ExitCode != 0 {
			s.reason = "exit code " + s.exit
		}
	}
}

// States that are no phases of pods.
const (
	stateSuspended = "Suspended"
	stateEvicted   = "Evicted"
	stateOverTime  = "DeadlineExceeded"
)

// record is how an entry of a Job stands: pod is the newest of its index; nil for none.
func record(name string, j jobState, index int, p *podState, now time.Time) engine.Record {
	r := engine.Record{Name: name, Array: j.name, Entry: j.entries[index], State: string(core.PodPending)}
	done, failed := contains(j.completed, index), contains(j.failed, index)
	if p != nil {
		r.Job, r.Node, r.Reason, r.Restarts = p.name, p.node, p.reason, p.failures
		r.State = string(p.phase)
		if p.phase == core.PodRunning && !p.started.IsZero() && j.limit > 0 {
			r.Left = left(j.limit - now.Sub(p.started))
		}
	}
	// Jobs and pods come through two watches: an end counts when its pod is seen to have ended, too.
	behind := p != nil && !p.deleted && (done && p.phase != core.PodSucceeded ||
		p.phase != core.PodSucceeded && p.phase != core.PodFailed)
	switch {
	case behind && (done || failed || j.why != "" || j.deleted):
		if p.phase == core.PodFailed {
			r.State, _ = ending(*p)
		}
	case done:
		r.State, r.Phase, r.Reason = string(core.PodSucceeded), engine.Succeeded, ""
	case j.deleted && !failed && j.why == "":
		r.State, r.Phase, r.Reason = string(core.PodFailed), engine.Failed, "its Job was deleted"
		if p != nil && p.phase == core.PodSucceeded { // the Job would have shown it
			r.State, r.Phase, r.Reason = string(core.PodSucceeded), engine.Succeeded, ""
		}
	case failed || j.why != "":
		r.State, r.Phase = string(core.PodFailed), engine.Failed
		r.Reason = cmp.Or(r.Reason, j.why)
		if p != nil {
			r.State, r.Phase = ending(*p)
		}
	case p == nil && j.suspended:
		r.State, r.Reason = stateSuspended, j.waits
	case p == nil:
	case p.phase == core.PodFailed: // another one follows, or the Job's status does
		r.State, _ = ending(*p)
	}
	if r.Reason == r.State {
		r.Reason = ""
	}
	return r
}

// ending is what the last pod of an index that failed means.
func ending(p podState) (state string, phase engine.Phase) {
	switch {
	case p.overTime && p.ran:
		return stateOverTime, engine.OutOfTime
	case p.disrupted:
		return stateEvicted, engine.Disrupted
	case p.phase != core.PodFailed && p.exit == "": // deleted by somebody, or with its node
		return stateEvicted, engine.Disrupted
	}
	return string(core.PodFailed), engine.Failed
}

// left writes a duration as squeue does: "1:02:03", "14:12".
func left(d time.Duration) string {
	d = max(0, d)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if h > 0 {
		return fmt.Sprintf("%d:%02d:%02d", h, m, s)
	}
	return fmt.Sprintf("%d:%02d", m, s)
}

// contains reports whether a list of indexes as "0,3-5" has one.
func contains(list string, index int) bool {
	for text := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(text, "-")
		a, err := strconv.Atoi(low)
		if err != nil {
			continue
		}
		b := a
		if isRange {
			b, _ = strconv.Atoi(high) // the API server writes numbers
		}
		if a <= index && index <= b {
			return true
		}
	}
	return false
}
