package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/transfer"
	"github.com/ttreport/ttreport/collect/plan"
)

// PrintCommand is the command of this program that prints a part of what is in a folder; see [transfer.WritePart].
const PrintCommand = "print-results"

// readerNote labels what reads a claim. It has no label of what measures, which would keep measurements off its node.
const readerNote = "ttreport/reads"

// Bounds of what reads a claim.
const (
	readerTTL     = 3600             // s that it is kept when it has ended, for a follower that was killed
	readersAtOnce = 4                // parts of one result
	startsWithin  = 10 * time.Minute // that none of its pods runs
	readsWithin   = 24 * time.Hour   // all of its parts
)

// onClaim is the folder of a group on the claim of results; each index has its own in it.
func onClaim(s *engine.Submission, g engine.Group) string {
	return fmt.Sprintf("%s-%s/%d", s.Engine, s.ID, g.Number)
}

// claimOf returns the group of a record whose results are on a claim, and their folder there.
func (c *Cluster) claimOf(r engine.Record) (g engine.Group, folder string, ok bool) {
	if c.of == nil {
		return g, "", false
	}
	for _, g := range c.of.Groups {
		if i := slices.Index(g.Entries, r.Entry); i >= 0 && g.Resources.Results != "" {
			return g, path.Join(onClaim(c.of, g), strconv.Itoa(i)), true
		}
	}
	return g, "", false
}

// fromClaim brings what an entry has on its claim to dir: from the claim itself where it is mounted here, else through
// the log of a pod that mounts it and measures nothing. [engine.ErrLater] while that is on its way.
func (c *Cluster) fromClaim(ctx context.Context, r engine.Record, dir string) error {
	g, folder, _ := c.claimOf(r)
	if at := g.Resources.ResultsAt; at != "" {
		from := filepath.Join(at, filepath.FromSlash(folder))
		err := transfer.Copy(from, dir)
		if errors.Is(err, transfer.ErrNone) {
			err = fmt.Errorf("%w: nothing is in %s; is results_at where %s is mounted?", err, from, g.Resources.Results)
		}
		return nothingOf(r, err)
	}
	if !c.began(r) {
		return nothingOf(r, transfer.ErrNone)
	}
	read := reader{c, g, folder, fmt.Sprintf("%s-read-%d", r.Array, r.Entry)} // a retry has one of its own
	logs, err := read.all(ctx)
	if err != nil {
		return nothingOf(r, err)
	}
	defer logs.Close()
	err = transfer.Read(logs, io.Discard, dir)
	if err == nil || errors.Is(err, transfer.ErrCut) { // what is cut is read again
		_, _ = c.deleteJobs(ctx, []string{read.name, read.rest()}) // else its TTL ends it
	}
	return err
}

// nothingOf takes it that a job that did not succeed has no results.
func nothingOf(r engine.Record, err error) error {
	if errors.Is(err, transfer.ErrNone) && r.Phase != engine.Succeeded {
		return nil
	}
	return err
}

// began reports whether a pod of an entry may have written results: nothing is known of one whose pods are gone.
func (c *Cluster) began(r engine.Record) bool {
	if r.Phase == engine.Succeeded { // whatever was seen of its pods
		return true
	}
	c.seen.mu.Lock()
	entries := c.seen.jobs[r.Array].entries
	c.seen.mu.Unlock()
	pods := slices.DeleteFunc(c.seen.podsOf(r.Array), func(p podState) bool {
		return p.index >= len(entries) || entries[p.index] != r.Entry
	})
	return len(pods) == 0 || slices.ContainsFunc(pods, func(p podState) bool { return p.ran })
}

// reader reads the results of one entry from its claim.
type reader struct {
	*Cluster
	group  engine.Group
	folder string
	name   string // of its Job
}

// rest is the name of the Job that reads all parts but the first.
func (r reader) rest() string { return r.name + "-rest" }

// all returns the logs of all parts. The first part states how many there are.
func (r reader) all(ctx context.Context) (io.ReadCloser, error) {
	pods, err := r.read(ctx, r.name, 0, 1)
	if err != nil {
		return nil, err
	}
	said, err := r.tail(ctx, pods[0], 1)
	if err != nil {
		return nil, err
	}
	n := transfer.PartsOf(said)
	switch {
	case n == 0:
		_, _ = r.deleteJobs(ctx, []string{r.name}) // else its TTL ends it
		return nil, transfer.ErrNone
	case n > 1:
		more, err := r.read(ctx, r.rest(), 1, n-1)
		if err != nil {
			return nil, err
		}
		pods = append(pods, more...)
	}
	in, out := io.Pipe()
	go func() { _ = out.CloseWithError(r.copy(ctx, out, pods)) }() // one log after the other
	return in, nil
}

func (r reader) copy(ctx context.Context, to io.Writer, pods []string) error {
	for _, pod := range pods {
		from, err := r.logOf(ctx, engine.Record{Job: pod, Phase: engine.Succeeded}, false)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, from)
		_ = from.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// tail returns the last lines of a pod's log.
func (c *Cluster) tail(ctx context.Context, pod string, lines int) (string, error) {
	text, err := c.core.Get().Namespace(c.Target.Namespace).Resource("pods").Name(pod).SubResource("log").
		Param("container", clientName).Param("tailLines", strconv.Itoa(lines)).Do(ctx).Raw()
	if err != nil {
		return "", failure(err)
	}
	return string(text), nil
}

// read returns the pods, by index, of a Job that prints n parts from one on. [engine.ErrLater] while they run: the Job
// is made when there is none.
func (r reader) read(ctx context.Context, name string, from, n int) ([]string, error) {
	var job batch.Job
	err := r.batch.Get().Namespace(r.Target.Namespace).Resource("jobs").Name(name).Do(ctx).Into(&job)
	if apierrors.IsNotFound(err) {
		err = r.batch.Post().Namespace(r.Target.Namespace).Resource("jobs").
			Body(readerJob(name, r.group, r.folder, from, n)).Do(ctx).Error()
		if err == nil {
			err = fmt.Errorf("%w: its results are being read from %s", engine.ErrLater, r.group.Resources.Results)
			return nil, err
		}
	}
	if err != nil {
		return nil, failure(err)
	}
	var found core.PodList
	err = r.core.Get().Namespace(r.Target.Namespace).Resource("pods").
		Param("labelSelector", batch.JobNameLabel+"="+name).Do(ctx).Into(&found)
	if err != nil {
		return nil, failure(err)
	}
	found.Items = slices.DeleteFunc(found.Items, func(p core.Pod) bool { // of one of that name that was deleted
		return !slices.ContainsFunc(p.OwnerReferences, func(o meta.OwnerReference) bool { return o.UID == job.UID })
	})
	return r.stands(ctx, &job, found.Items, n)
}

// stands returns the pods of a Job that has succeeded, or why there are none.
func (r reader) stands(ctx context.Context, job *batch.Job, found []core.Pod, n int) ([]string, error) {
	pods, why, failed := make([]string, n), "", ""
	for i := range found {
		p, ours := podOf(&found[i])
		if !ours || p.index >= n {
			continue
		}
		switch p.phase {
		case core.PodSucceeded:
			pods[p.index] = p.name
		case core.PodFailed:
			failed, why = p.name, p.reason
		default:
			why = cmp.Or(p.reason, why)
		}
	}
	if !slices.Contains(pods, "") {
		return pods, nil
	}
	broken := slices.ContainsFunc(job.Status.Conditions, func(c batch.JobCondition) bool {
		return c.Type == batch.JobFailed && c.Status == core.ConditionTrue
	})
	if !broken && goesOn(job, found, time.Now()) {
		if why != "" {
			why = ": " + why
		}
		return nil, fmt.Errorf("%w: its results are being read from %s%s", engine.ErrLater, r.group.Resources.Results, why)
	}
	if failed != "" {
		said, _ := r.tail(ctx, failed, 3) // without it the reason says enough
		why = cmp.Or(strings.TrimSpace(said), why)
	}
	_, _ = r.deleteJobs(ctx, []string{job.Name}) // so that the next attempt is another one
	return nil, fmt.Errorf("the pod that reads the claim %s did not succeed: %s", r.group.Resources.Results, why)
}

// goesOn reports whether a Job is to be waited for: while Kueue has not admitted it, while one of its pods runs, and a
// while for pods to begin.
func goesOn(job *batch.Job, found []core.Pod, now time.Time) bool {
	if job.Spec.Suspend != nil && *job.Spec.Suspend {
		return true
	}
	began := job.CreationTimestamp.Time
	if job.Status.StartTime != nil { // since it was not suspended any more
		began = job.Status.StartTime.Time
	}
	running, last := false, began
	for i := range found {
		p, _ := podOf(&found[i])
		running = running || p.phase == core.PodRunning && !p.deleted
		for _, at := range []time.Time{p.created, p.finished} {
			if at.After(last) {
				last = at
			}
		}
	}
	if running {
		return now.Sub(began) < readsWithin
	}
	return now.Sub(last) < startsWithin
}

// readerJob prints n parts of a folder of a claim, from one on, each in a pod: a kubelet keeps so much of a log.
func readerJob(name string, g engine.Group, folder string, from, n int) *batch.Job {
	mode, r := batch.IndexedCompletion, g.Resources
	about := meta.ObjectMeta{Name: name, Labels: map[string]string{readerNote: g.Resources.Results}}
	pod := core.PodSpec{
		RestartPolicy: core.RestartPolicyNever, AutomountServiceAccountToken: pointer(false),
		EnableServiceLinks: pointer(false), ServiceAccountName: r.ServiceAccount, PriorityClassName: r.PriorityClass,
		NodeSelector: pairs(r.NodeSelector), ImagePullSecrets: pullSecrets(r), Tolerations: tolerations(r),
		Volumes: []core.Volume{{Name: "results", VolumeSource: core.VolumeSource{
			PersistentVolumeClaim: &core.PersistentVolumeClaimVolumeSource{ClaimName: r.Results},
		}}},
		Containers: []core.Container{{
			Name: clientName, Image: r.Image, Command: []string{appName},
			Args:         []string{PrintCommand, resultsPath, strconv.Itoa(from), indexVariable},
			VolumeMounts: []core.VolumeMount{{Name: "results", MountPath: resultsPath, SubPath: folder, ReadOnly: true}},
			Resources:    requirements(plan.Resources{CPUs: "200m", Mem: "128M"}), // others may measure on its node
		}},
	}
	job := &batch.Job{
		TypeMeta: meta.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: about,
		Spec: batch.JobSpec{
			CompletionMode: &mode, Completions: pointer(int32(n)), Parallelism: pointer(int32(min(n, readersAtOnce))),
			BackoffLimit: pointer(int32(2)), TTLSecondsAfterFinished: pointer(int32(readerTTL)),
			Template: core.PodTemplateSpec{ObjectMeta: meta.ObjectMeta{Labels: about.Labels}, Spec: pod},
		},
	}
	if r.Queue != "" {
		job.Labels = map[string]string{readerNote: r.Results, queueLabel: r.Queue}
		job.Spec.Suspend = pointer(true)
	}
	return job
}
