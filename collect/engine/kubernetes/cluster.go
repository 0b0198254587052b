package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/transfer"
)

// Words implements [engine.Scheduler].
func (c *Cluster) Words() engine.Words {
	return engine.Words{Name: "kubernetes", Server: "the API server", Succeeded: string(core.PodSucceeded)}
}

// Follow begins to watch the Jobs and pods of a submission, until the context ends.
func (c *Cluster) Follow(ctx context.Context, s *engine.Submission) {
	c.submission, c.of = strings.ToLower(s.ID), s
	c.watch(ctx)
}

// Submit implements [engine.Scheduler]: the ConfigMap first, because pods wait for it. A Job of the name exists when an
// earlier attempt arrived.
func (c *Cluster) Submit(ctx context.Context, ordered engine.Order) (string, error) {
	o, err := read(ordered)
	if err != nil {
		return "", err
	}
	ctx, done := context.WithTimeout(ctx, answerWithin)
	defer done()
	if err := c.prepare(ctx, o); err != nil {
		return "", err
	}
	var made batch.Job
	err = c.batch.Post().Namespace(c.Target.Namespace).Resource("jobs").Body(&o.Job).Do(ctx).Into(&made)
	if apierrors.IsAlreadyExists(err) {
		err = c.batch.Get().Namespace(c.Target.Namespace).Resource("jobs").Name(o.Job.Name).Do(ctx).Into(&made)
	}
	if err != nil {
		return "", failure(err)
	}
	c.seen.put(&made)
	c.own(ctx, &made, o)
	return made.Name, nil
}

// prepare makes what the Job of an order needs, before the Job.
func (c *Cluster) prepare(ctx context.Context, o *order) error {
	make := func(client rest.Interface, kind string, object runtime.Object) error {
		err := client.Post().Namespace(c.Target.Namespace).Resource(kind).Body(object).Do(ctx).Error()
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return failure(err)
		}
		return nil
	}
	if err := make(c.core, "configmaps", &o.Plan); err != nil || o.Service == nil {
		return err
	}
	if err := make(c.core, "services", o.Service); err != nil {
		return err
	}
	return make(c.batch, "jobs", o.Clients)
}

// own gives the other objects of an order to its Job, so that all are removed together. Without that they stay:
// the clients until [Cluster.Cancel], the end of the Job or their time limit, the others for ever, which harms nothing.
func (c *Cluster) own(ctx context.Context, j *batch.Job, o *order) {
	patch := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":%q,"uid":%q}]}}`,
		j.Name, j.UID)
	give := func(client rest.Interface, kind, name string) {
		_ = client.Patch("application/merge-patch+json").Namespace(c.Target.Namespace).Resource(kind).Name(name).
			Body([]byte(patch)).Do(ctx).Error()
	}
	give(c.core, "configmaps", j.Name)
	if o.Service != nil {
		give(c.core, "services", o.Service.Name)
		give(c.batch, "jobs", o.Clients.Name)
	}
}

// Queue implements [engine.Scheduler]. The watch has what is new; one small question tells whether the API server
// answers at all.
func (c *Cluster) Queue(ctx context.Context, names []string) ([]engine.Record, error) {
	ask, done := context.WithTimeout(ctx, answerWithin)
	defer done()
	err := c.batch.Get().Namespace(c.Target.Namespace).Resource("jobs").
		Param("limit", "1").Param("resourceVersion", "0").Param("labelSelector", submissionLabel+"="+c.submission).
		Do(ask).Error()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, failure(err)
	}
	if err := c.seen.wait(ctx); err != nil {
		return nil, err
	}
	c.admissions(ask)
	list := c.seen.records(names, time.Now())
	c.hear(ask, list)
	return list, nil
}

// Accounts implements [engine.Scheduler] with what was seen of each pod.
func (c *Cluster) Accounts(_ context.Context, names []string, _ time.Time) ([]engine.Account, error) {
	var out []engine.Account
	now := time.Now()
	for _, r := range c.seen.records(names, now) {
		for _, p := range c.seen.podsOf(r.Array) {
			c.seen.mu.Lock()
			j := c.seen.jobs[r.Array]
			c.seen.mu.Unlock()
			if p.index >= len(j.entries) || j.entries[p.index] != r.Entry {
				continue
			}
			a := engine.Account{
				Name: r.Name, Entry: r.Entry, Job: p.name, Node: p.node, ExitCode: p.exit, Reason: p.reason, Image: digest(p.image),
			}
			if p.restarts > 0 {
				a.Restarts = strconv.Itoa(p.restarts)
			}
			if p.phase == core.PodSucceeded {
				a.State, a.Phase = string(p.phase), engine.Succeeded
			} else {
				a.State, a.Phase = ending(p)
			}
			if !p.started.IsZero() && p.finished.After(p.started) {
				a.Elapsed = strconv.FormatFloat(p.finished.Sub(p.started).Seconds(), 'f', 0, 64)
			}
			out = append(out, a)
		}
	}
	return out, nil
}

// digest leaves the form of an image id that older container runtimes have: docker-pullable://name@sha256:….
func digest(id string) string {
	if _, rest, found := strings.Cut(id, "://"); found {
		return rest
	}
	return id
}

var errGone = errors.New("its pod was deleted, and its log with it")

// Fetch implements [engine.Scheduler]: a pod writes its run folder to a claim, or prints it, and its log can be read
// when it has ended. A pod that did not succeed may have none.
func (c *Cluster) Fetch(ctx context.Context, r engine.Record, dir, log string) error {
	c.endClients(ctx, r)
	err := c.fetchLog(ctx, r, dir, log)
	if _, _, kept := c.claimOf(r); !kept {
		return err
	}
	var here *fs.PathError
	if errors.As(err, &here) { // it cannot be written; a log that cannot be had leaves what is on the claim
		return err
	}
	return c.fromClaim(ctx, r, dir)
}

// fetchLog takes what a pod printed into a log, and the run folder in it, if it printed one, to dir.
func (c *Cluster) fetchLog(ctx context.Context, r engine.Record, dir, log string) error {
	if r.Job == "" {
		var err error
		if r, err = c.lookUp(ctx, r); err != nil {
			return err
		}
	}
	c.seen.mu.Lock()
	ends := c.seen.pods[r.Job].phase == core.PodRunning // it is being deleted, and prints its results now
	c.seen.mu.Unlock()
	if ends {
		within, done := context.WithTimeout(ctx, leaving)
		defer done()
		ctx = within
	}
	from, err := c.logOf(ctx, r, ends)
	if err != nil {
		return err
	}
	defer from.Close()
	return c.results(from, r, dir, log)
}

// lookUp returns the record of a Job whose pod the watch has not shown, with the pod: a watch that broke is begun again
// after a moment, and the Job may have ended meanwhile.
func (c *Cluster) lookUp(ctx context.Context, r engine.Record) (engine.Record, error) {
	ctx, done := context.WithTimeout(ctx, answerWithin)
	defer done()
	var found core.PodList
	err := c.core.Get().Namespace(c.Target.Namespace).Resource("pods").
		Param("labelSelector", batch.JobNameLabel+"="+r.Array).Do(ctx).Into(&found)
	if err != nil {
		return r, failure(err)
	}
	for i := range found.Items {
		c.seen.put(&found.Items[i])
	}
	for _, now := range c.seen.records([]string{r.Name}, time.Now()) {
		if now.Entry == r.Entry && now.Job != "" {
			return now, nil
		}
	}
	return r, errGone
}

// logOf opens the log of a pod, which is empty where one that did not succeed has none. Where it is followed, it ends
// with the pod.
func (c *Cluster) logOf(ctx context.Context, r engine.Record, follow bool) (io.ReadCloser, error) {
	from, err := c.core.Get().Namespace(c.Target.Namespace).Resource("pods").Name(r.Job).SubResource("log").
		Param("container", clientName).Param("follow", strconv.FormatBool(follow)).Stream(ctx)
	if err != nil && r.Phase != engine.Succeeded && (apierrors.IsNotFound(err) || apierrors.IsBadRequest(err)) {
		// it is gone, or never ran; anything else, such as an API server that is away, may pass
		return io.NopCloser(strings.NewReader("")), nil
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("%s: %w", r.Job, errGone)
	case err != nil:
		return nil, fmt.Errorf("the log of %s: %w", r.Job, failure(err))
	}
	return from, nil
}

// results takes what a pod printed into a folder and a log. One whose results are on a claim prints none.
func (c *Cluster) results(from io.Reader, r engine.Record, dir, log string) error {
	f, err := os.OpenFile(log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	err = transfer.Read(from, f, dir)
	if _, _, kept := c.claimOf(r); errors.Is(err, transfer.ErrNone) && (kept || r.Phase != engine.Succeeded) {
		return nil
	}
	if errors.Is(err, transfer.ErrCut) {
		err = fmt.Errorf("%w; a kubelet keeps the last 10 MB of one: state a claim in results: of resources", err)
	}
	if err != nil && !errors.Is(err, transfer.ErrCut) && !errors.Is(err, transfer.ErrNone) {
		_, _ = io.Copy(io.Discard, from) // so that the connection can be used again
	}
	return err
}
