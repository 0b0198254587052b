package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"golang.org/x/sync/errgroup"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	kube "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
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

// Bounds of asking for logs: of a thousand pods, each is asked at every thirtieth look.
const (
	mostHeard   = 32
	askedAtOnce = 8
)

// hear adds what running pods printed last to their records: their run folders cannot be looked into.
func (c *Cluster) hear(ctx context.Context, list []engine.Record) {
	var running []*engine.Record
	for i := range list {
		if r := &list[i]; r.Phase == engine.Active && r.State == string(core.PodRunning) && r.Job != "" {
			running = append(running, r)
		}
	}
	var asking errgroup.Group
	asking.SetLimit(askedAtOnce)
	for i := range min(mostHeard, len(running)) {
		r := running[(c.heard+i)%len(running)]
		asking.Go(func() error {
			r.Says, _ = c.tail(ctx, r.Job, 1) // nothing is shown without it
			return nil
		})
	}
	_ = asking.Wait() // none of them fails
	c.heard += mostHeard
}

// cache has the Jobs and pods of a submission, as they were last seen.
type cache struct {
	mu     sync.Mutex
	jobs   map[string]jobState
	pods   map[string]podState
	queues map[string]string // why Jobs are not admitted, by name
	synced map[string]bool   // whether a kind was listed
	broken error             // of the last list or watch that failed since one succeeded
}

func newCache() *cache {
	return &cache{jobs: map[string]jobState{}, pods: map[string]podState{}, queues: map[string]string{},
		synced: map[string]bool{}}
}

// put keeps an object.
func (c *cache) put(object any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch o := object.(type) {
	case *batch.Job:
		c.jobs[o.Name] = jobOf(o)
	case *core.Pod:
		if p, ours := podOf(o); ours {
			c.pods[o.Name] = p
		}
	}
}

// gone notes that an object was deleted. It is kept as it was last seen: a Job that somebody deleted is not to be made
// again, and when a node fails, the end of its pod is all that is left of it.
func (c *cache) gone(object any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch o := object.(type) {
	case *batch.Job:
		s := jobOf(o)
		s.deleted = true
		c.jobs[o.Name] = s
	case *core.Pod:
		if p, ours := podOf(o); ours {
			p.deleted = true
			c.pods[o.Name] = p
		}
	}
}

// records returns how the entries of Jobs stand. names are of orders.
func (c *cache) records(names []string, now time.Time) []engine.Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	newest := map[string]map[int]podState{}
	for _, p := range c.pods {
		if newest[p.job] == nil {
			newest[p.job] = map[int]podState{}
		}
		old, known := newest[p.job][p.index]
		if !known || newer(p, old) {
			newest[p.job][p.index] = p
		}
	}
	var out []engine.Record
	for _, name := range names {
		j, known := c.jobs[strings.ToLower(name)]
		if !known {
			continue
		}
		if j.suspended {
			j.waits = cmp.Or(c.queues[j.name], j.waits)
		}
		for index := range j.entries {
			if p, some := newest[j.name][index]; some {
				out = append(out, record(name, j, index, &p, now))
			} else {
				out = append(out, record(name, j, index, nil, now))
			}
		}
	}
	return out
}

// newer orders the pods of an index: each has one more failure before it, and one that is not deleted follows one that
// is.
func newer(p, old podState) bool {
	switch {
	case p.failures != old.failures:
		return p.failures > old.failures
	case !p.created.Equal(old.created):
		return p.created.After(old.created)
	}
	return old.deleted && !p.deleted || p.deleted == old.deleted && p.name > old.name
}

// podsOf returns the pods of a Job, the oldest first.
func (c *cache) podsOf(job string) []podState {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.DeleteFunc(slices.Collect(maps.Values(c.pods)), func(p podState) bool { return p.job != job })
	slices.SortFunc(list, func(a, b podState) int {
		if newer(a, b) {
			return 1
		}
		return -1
	})
	return list
}

// store is the cache as one reflector of client-go fills it.
type store struct {
	*cache
	kind string
}

// Add implements kube.ReflectorStore, as the methods below do.
func (s store) Add(object any) error { s.put(object); return nil }

// Update replaces an object.
func (s store) Update(object any) error { s.put(object); return nil }

// Delete is called for an object that is gone.
func (s store) Delete(object any) error { s.gone(object); return nil }

// Replace is called with all objects, at the beginning and when a watch could not be resumed.
func (s store) Replace(list []any, _ string) error {
	there := map[string]bool{}
	for _, o := range list {
		s.put(o)
		if m, ok := o.(meta.Object); ok {
			there[m.GetName()] = true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, j := range s.jobs {
		if s.kind == "jobs" && !there[name] {
			j.deleted = true
			s.jobs[name] = j
		}
	}
	for name, p := range s.pods {
		if s.kind == "pods" && !there[name] {
			p.deleted = true
			s.pods[name] = p
		}
	}
	s.synced[s.kind], s.broken = true, nil
	return nil
}

// Resync does nothing: there is nothing that could differ.
func (s store) Resync() error { return nil }

// watch keeps the cache of a submission until the context ends. Lists and watches that break are begun again.
func (c *Cluster) watch(ctx context.Context) {
	c.seen = newCache()
	ctx = klog.NewContext(ctx, klog.Logger{}) // which is silent: what a person needs is in the view
	only := func(o *meta.ListOptions) { o.LabelSelector = submissionLabel + "=" + c.submission }
	for kind, of := range map[string]struct {
		client rest.Interface
		object runtime.Object
	}{"jobs": {c.batch, &batch.Job{}}, "pods": {c.core, &core.Pod{}}} {
		list := kube.NewFilteredListWatchFromClient(of.client, kind, c.Target.Namespace, only)
		options := kube.ReflectorOptions{Name: appName, Logger: &klog.Logger{}}
		r := kube.NewReflectorWithOptions(list, of.object, store{c.seen, kind}, options)
		go func() {
			for ctx.Err() == nil {
				pause := time.Second / 10
				if err := r.ListAndWatchWithContext(ctx); err != nil {
					c.seen.fail(err)
					pause = time.Second
				}
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		}()
	}
}

func (c *cache) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = err
}

// wait returns when Jobs and pods were listed once.
func (c *cache) wait(ctx context.Context) error {
	for deadline := time.Now().Add(answerWithin); ; {
		c.mu.Lock()
		ready, err := c.synced["jobs"] && c.synced["pods"], c.broken
		c.mu.Unlock()
		switch {
		case ready:
			return nil
		case time.Now().After(deadline):
			return failure(cmp.Or(err, errors.New("jobs and pods were not listed")))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// leaving is how long pods may take to end after their Jobs were deleted: their grace, and a slow node.
const leaving = (grace + 30) * time.Second

// Cancel implements [engine.Scheduler]. A pod prints what it measured when it is told to end, and disappears with its
// log soon after: logs are followed from before the Jobs are deleted until their pods end.
func (c *Cluster) Cancel(ctx context.Context, jobs []engine.Record, to func(engine.Record) (dir, log string)) error {
	follow, done := context.WithCancel(ctx)
	defer done()
	logs := make([]io.ReadCloser, len(jobs))
	errs := make([]error, len(jobs))
	for i, r := range jobs {
		if r.Job != "" { // else it has no pod yet
			logs[i], errs[i] = c.logOf(follow, r, true)
		}
	}
	gone, refused := c.deleteJobs(ctx, engine.Arrays(jobs))
	defer time.AfterFunc(leaving, done).Stop()
	var reading sync.WaitGroup
	for i, from := range logs {
		_, _, kept := c.claimOf(jobs[i])
		if from != nil {
			defer from.Close()
		}
		if !gone[jobs[i].Array] || from == nil && !kept {
			continue
		}
		reading.Go(func() {
			dir, log := to(jobs[i])
			if from != nil {
				errs[i] = c.results(from, jobs[i], dir, log)
			}
			if kept { // also what an evicted pod left there, whose successor has not begun
				errs[i] = engine.Later(ctx, func() error { return c.fromClaim(ctx, jobs[i], dir) })
			}
		})
	}
	reading.Wait()
	if refused != nil { // what has not ended can be ended, and fetched, by the next attempt
		return refused
	}
	for i, err := range errs {
		if err != nil {
			errs[i] = fmt.Errorf("job %d: %w: %w", jobs[i].Entry, engine.ErrUnfetched, err)
		}
	}
	return errors.Join(errs...)
}

// deleteJobs deletes Jobs, and their pods with them, and returns which are deleted: those before an error are.
func (c *Cluster) deleteJobs(ctx context.Context, ids []string) (gone map[string]bool, err error) {
	background := meta.DeletePropagationBackground
	gone = map[string]bool{}
	for _, id := range ids {
		err := c.batch.Delete().Namespace(c.Target.Namespace).Resource("jobs").Name(id).
			Body(&meta.DeleteOptions{PropagationPolicy: &background}).Do(ctx).Error()
		if err != nil && !apierrors.IsNotFound(err) {
			return gone, failure(err)
		}
		gone[id] = true
	}
	return gone, nil
}

// mostAsked is how many Jobs that wait for Kueue are asked for at one look: their reasons are mostly the same.
const mostAsked = 20

// workloads is what is read of Kueue's Workloads, kueue.x-k8s.io/v1beta1.
type workloads struct {
	Items []struct {
		Status struct {
			Conditions []meta.Condition `json:"conditions"`
		} `json:"status"`
	} `json:"items"`
}

// admissions notes why Kueue does not admit Jobs: the message of their Workloads. Where that cannot be read, as without
// Kueue or a permission, the name of the queue is all that is known.
func (c *Cluster) admissions(ctx context.Context) {
	for _, j := range c.seen.queued() {
		why := "queue " + j.queue
		path := fmt.Sprintf("/apis/kueue.x-k8s.io/v1beta1/namespaces/%s/workloads", c.Target.Namespace)
		data, err := c.batch.Get().AbsPath(path).Param("labelSelector", "kueue.x-k8s.io/job-uid="+j.uid).
			SetHeader("Accept", "application/json").Do(ctx).Raw()
		var found workloads
		if err == nil && json.Unmarshal(data, &found) == nil {
			for _, w := range found.Items {
				for _, is := range w.Status.Conditions {
					if is.Type == "QuotaReserved" && is.Status == meta.ConditionFalse && is.Message != "" {
						why = fmt.Sprintf("queue %s: %s", j.queue, is.Message)
					}
				}
			}
		}
		c.seen.waits(j.name, why)
	}
}

// queued are Jobs that wait for Kueue.
func (c *cache) queued() (out []jobState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, j := range c.jobs {
		if j.suspended && j.queue != "" && !j.deleted && len(out) < mostAsked {
			out = append(out, j)
		}
	}
	return out
}

// waits notes why a Job waits.
func (c *cache) waits(name, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queues[name] = why
}
