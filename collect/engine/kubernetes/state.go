package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/transfer"
)

// Labels and annotations that are read.
const (
	submissionLabel = "ttreport/submission"
	entriesNote     = "ttreport/entries" // by index: "1,3,4"
	queueLabel      = "kueue.x-k8s.io/queue-name"
	indexNote       = "batch.kubernetes.io/job-completion-index"
	failuresNote    = "batch.kubernetes.io/job-index-failure-count"
)

// Phases of pods.
const (
	pending   = "Pending"
	running   = "Running"
	succeeded = "Succeeded"
	failed    = "Failed"
)

// object is what is read of a Job or a pod, in the words of the API.
type object struct {
	Kind     string
	Metadata struct {
		Name, UID           string
		Labels, Annotations map[string]string
		CreationTimestamp   time.Time
		DeletionTimestamp   *time.Time
		OwnerReferences     []struct{ Kind, Name, UID string }
	}
	Spec struct {
		Suspend  bool
		NodeName string
		Template struct {
			Spec struct{ ActiveDeadlineSeconds int64 }
		}
	}
	Status struct {
		Phase, Reason, Message                   string
		CompletedIndexes, FailedIndexes          string
		StartTime                                time.Time
		Conditions                               []condition
		InitContainerStatuses, ContainerStatuses []container
	}
}

// condition is one of an object: it holds where Status is "True".
type condition struct{ Type, Status, Reason, Message string }

// container is what is shown of a container.
type container struct {
	Name, ImageID string
	RestartCount  int
	State         struct {
		Waiting    *struct{ Reason string }
		Running    *struct{ StartedAt time.Time }
		Terminated *struct {
			ExitCode              int
			Reason                string
			StartedAt, FinishedAt time.Time
		}
	}
}

// job is what is kept of a Job.
type job struct {
	object
	entries []int  // by index
	why     string // it failed as a whole
	deleted bool
}

func jobOf(o object) job {
	j := job{object: o}
	for text := range strings.SplitSeq(o.Metadata.Annotations[entriesNote], ",") {
		if n, err := strconv.Atoi(text); err == nil {
			j.entries = append(j.entries, n)
		}
	}
	for _, c := range o.Status.Conditions {
		if (c.Type == "Failed" || c.Type == "FailureTarget") && c.Status == "True" && c.Reason != "FailedIndexes" {
			j.why = cmp.Or(c.Message, c.Reason)
		}
	}
	return j
}

// pod is what follows from a pod.
type pod struct {
	object
	name, job string
	index     int
	failures  int    // of this index before it
	phase     string // of Status
	reason    string // why it waits, or how it ended
	disrupted bool   // evicted, preempted, or its node is gone
	ran       bool   // its client began
	deleted   bool
	exit      string // of its client
	started   time.Time
	finished  time.Time
	image     string // of the server, else of the client, by digest
	restarts  int    // of the server
}

// podOf returns what follows from a pod; nil for one of no indexed Job.
func podOf(o object) *pod {
	p := &pod{object: o, name: o.Metadata.Name, phase: o.Status.Phase, deleted: o.Metadata.DeletionTimestamp != nil}
	for _, owner := range o.Metadata.OwnerReferences {
		if owner.Kind == "Job" {
			p.job = owner.Name
		}
	}
	index, err := strconv.Atoi(o.Metadata.Annotations[indexNote])
	if err != nil || p.job == "" {
		return nil
	}
	p.index = index
	p.failures, _ = strconv.Atoi(o.Metadata.Annotations[failuresNote]) // 0 where it is not stated
	p.reason = cmp.Or(o.Status.Reason, o.Status.Message)
	for _, c := range o.Status.Conditions {
		switch {
		case c.Type == "DisruptionTarget" && c.Status == "True":
			p.disrupted, p.reason = true, cmp.Or(o.Status.Reason, c.Reason)
		case c.Type == "PodScheduled" && c.Status == "False" && p.phase == pending:
			p.reason = cmp.Or(c.Message, c.Reason)
		}
	}
	for _, c := range slices.Concat(o.Status.InitContainerStatuses, o.Status.ContainerStatuses) {
		p.container(c)
	}
	return p
}

// container takes what is shown of a container.
func (p *pod) container(c container) {
	if w := c.State.Waiting; w != nil && p.phase == pending && w.Reason != "PodInitializing" &&
		w.Reason != "ContainerCreating" {
		p.reason = w.Reason // ImagePullBackOff …
	}
	if c.Name == serverName {
		p.restarts = c.RestartCount
	}
	if c.Name == serverName || p.image == "" {
		p.image = cmp.Or(c.ImageID, p.image)
	}
	if c.Name != clientName {
		return
	}
	if r := c.State.Running; r != nil {
		p.ran, p.started = true, r.StartedAt
	}
	if t := c.State.Terminated; t != nil {
		p.ran, p.started, p.finished, p.exit = true, t.StartedAt, t.FinishedAt, strconv.Itoa(t.ExitCode)
		switch {
		case p.reason != "":
		case t.Reason != "Completed" && t.Reason != "Error":
			p.reason = t.Reason // OOMKilled
		case t.ExitCode != 0:
			p.reason = "exit code " + p.exit
		}
	}
}

// ending is what the last pod of an index that failed means.
func (p *pod) ending() (state string, phase engine.Phase) {
	const evicted, overTime = "Evicted", "DeadlineExceeded"
	switch {
	case p.Status.Reason == overTime && p.ran:
		return overTime, engine.OutOfTime
	case p.disrupted, p.phase != failed && p.exit == "": // or deleted by somebody, or with its node
		return evicted, engine.Disrupted
	}
	return failed, engine.Failed
}

// is reports whether a pod is in a phase; none is in any.
func (p *pod) is(phase string) bool { return p != nil && p.phase == phase }

// ends reports whether an index is done, whether it is over, and whether only the deletion of its Job has ended it.
func (j job) ends(index int) (done, over, deleted bool) {
	done = contains(j.Status.CompletedIndexes, index)
	over = done || j.why != "" || contains(j.Status.FailedIndexes, index)
	return done, over || j.deleted, j.deleted && !over
}

// waits is why a suspended Job waits: the queue that has not admitted it; "" where it is in none.
func (j job) waits() string {
	if queue := j.Metadata.Labels[queueLabel]; queue != "" {
		return "queue " + queue
	}
	return ""
}

// status is how an entry of a Job stands: p is the newest pod of its index; nil for none.
func (j job) status(name string, index int, p *pod, now time.Time) engine.JobStatus {
	s := engine.JobStatus{Name: name, Array: j.Metadata.Name, Entry: j.entries[index], State: pending}
	if p != nil {
		s.Job, s.Node, s.Reason, s.Restarts, s.State = p.name, p.Spec.NodeName, p.reason, p.failures, p.phase
		s.Left = p.left(time.Duration(j.Spec.Template.Spec.ActiveDeadlineSeconds)*time.Second, now)
	}
	done, over, deleted := j.ends(index)
	ended := p.is(succeeded) || p.is(failed) && !done
	if p.is(failed) {
		s.State, s.Phase = p.ending()
	}
	switch {
	case !over, p != nil && !p.deleted && !ended:
		s.Phase = engine.Active // another pod follows; or the Job is ahead: its pod must be seen to have ended, too
		if p == nil && j.Spec.Suspend {
			s.State, s.Reason = "Suspended", j.waits()
		}
	case done, deleted && p.is(succeeded):
		s.State, s.Phase, s.Reason = succeeded, engine.Succeeded, ""
	case deleted:
		s.State, s.Phase, s.Reason = failed, engine.Failed, "its Job was deleted"
	case p == nil:
		s.State, s.Phase, s.Reason = failed, engine.Failed, j.why
	default:
		s.State, s.Phase = p.ending()
		s.Reason = cmp.Or(s.Reason, j.why)
	}
	if s.Reason == s.State {
		s.Reason = ""
	}
	return s
}

// left returns the time until a limit; "" where none runs out.
func (p *pod) left(limit time.Duration, now time.Time) string {
	if p.phase != running || p.started.IsZero() || limit <= 0 {
		return ""
	}
	return engine.TimeText(max(0, limit-now.Sub(p.started)))
}

// contains reports whether a list of indexes as "0,3-5" has one.
func contains(list string, index int) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(text string) bool {
		low, high, isRange := strings.Cut(text, "-")
		if !isRange {
			high = low
		}
		a, err := strconv.Atoi(low)
		b, _ := strconv.Atoi(high) // the API server writes numbers
		return err == nil && a <= index && index <= b
	})
}

// seen has the Jobs and pods of a submission, as they were last seen. What is deleted is kept: a Job that somebody
// deleted is not to be made again, and when a node fails, the end of its pod is all that is left of it.
type seen struct {
	submission string
	jobs       map[string]job
	pods       map[string]*pod
}

// look asks for the Jobs and pods of a submission.
func (b *Backend) look(ctx context.Context, s *engine.Submission) error {
	list, err := objects(ctx, s.Target, "get", "jobs.batch,pods", "--selector="+submissionLabel+"="+strings.ToLower(s.ID))
	if err != nil {
		return err
	}
	if b.seen.submission != s.ID {
		b.seen = seen{s.ID, map[string]job{}, map[string]*pod{}}
	}
	b.seen.take(list)
	return nil
}

// take takes all objects that there are.
func (s *seen) take(list []object) {
	for name, j := range s.jobs {
		j.deleted = true
		s.jobs[name] = j
	}
	for _, p := range s.pods {
		p.deleted = true
	}
	for _, o := range list {
		if o.Kind == "Job" {
			s.jobs[o.Metadata.Name] = jobOf(o)
		} else if p := podOf(o); p != nil {
			s.pods[p.name] = p
		}
	}
}

// statuses returns how the entries of arrays stand.
func (s *seen) statuses(names []string, now time.Time) []engine.JobStatus {
	var out []engine.JobStatus
	for _, name := range names {
		j := s.jobs[strings.ToLower(name)]
		for index, entry := range j.entries {
			var newest *pod
			if pods := s.podsOf(j.Metadata.Name, entry); len(pods) > 0 {
				newest = pods[len(pods)-1]
			}
			out = append(out, j.status(name, index, newest, now))
		}
	}
	return out
}

// podsOf returns the pods of an entry of an array, the oldest first: each has one more failure before it, and one that
// is not deleted follows one that is.
func (s *seen) podsOf(array string, entry int) []*pod {
	index := slices.Index(s.jobs[array].entries, entry)
	list := slices.DeleteFunc(slices.Collect(maps.Values(s.pods)), func(p *pod) bool {
		return p.job != array || p.index != index
	})
	alive := func(p *pod) int {
		if p.deleted {
			return 0
		}
		return 1
	}
	slices.SortFunc(list, func(a, b *pod) int {
		return cmp.Or(cmp.Compare(a.failures, b.failures),
			a.Metadata.CreationTimestamp.Compare(b.Metadata.CreationTimestamp), cmp.Compare(alive(a), alive(b)),
			strings.Compare(a.name, b.name))
	})
	return list
}

// Queue implements [engine.Backend].
func (b *Backend) Queue(ctx context.Context, s *engine.Submission, names []string) ([]engine.JobStatus, error) {
	if err := b.look(ctx, s); err != nil {
		return nil, err
	}
	const mostHeard = 8 // running pods that are asked at one look, in turns: each is a process
	list := b.seen.statuses(names, time.Now())
	var measure []*engine.JobStatus // which print what they do: their run folders cannot be looked into
	for i := range list {
		if j := &list[i]; j.Phase == engine.Active && j.State == running && j.Job != "" {
			measure = append(measure, j)
		}
	}
	var asking sync.WaitGroup
	for i := range min(mostHeard, len(measure)) {
		j := measure[(b.heard+i)%len(measure)]
		asking.Go(func() { // nothing is shown without it
			if line, _ := tail(ctx, s.Target, j.Job, 1); !transfer.Carries(line) {
				j.LastLine = line
			}
		})
	}
	asking.Wait()
	b.heard += mostHeard
	return list, nil
}

// Accounts implements [engine.Backend] with what was seen of each pod.
func (b *Backend) Accounts(
	_ context.Context, _ *engine.Submission, names []string, _ time.Time,
) ([]engine.Account, error) {
	var out []engine.Account
	for _, s := range b.seen.statuses(names, time.Now()) {
		for _, p := range b.seen.podsOf(s.Array, s.Entry) {
			a := engine.Account{
				Name: s.Name, Entry: s.Entry, Job: p.name, Node: p.Spec.NodeName, ExitCode: p.exit, Reason: p.reason,
				Image: p.image, Restarts: strconv.Itoa(p.restarts), State: succeeded, Phase: engine.Succeeded,
			}
			if _, digest, older := strings.Cut(p.image, "://"); older { // docker-pullable://name@sha256:…
				a.Image = digest
			}
			if p.phase != succeeded {
				a.State, a.Phase = p.ending()
			}
			if !p.started.IsZero() && p.finished.After(p.started) {
				a.Elapsed = fmt.Sprintf("%.0f", p.finished.Sub(p.started).Seconds())
			}
			out = append(out, a)
		}
	}
	return out, nil
}
