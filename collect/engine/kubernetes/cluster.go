package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/transfer"
)

// Words implements [engine.Scheduler].
func (c *Cluster) Words() engine.Words {
	return engine.Words{Name: "kubernetes", Server: "the API server", Succeeded: string(core.PodSucceeded)}
}

// Follow begins to watch the Jobs and pods of a submission, until the context ends.
func (c *Cluster) Follow(ctx context.Context, s *engine.Submission) {
	c.submission = strings.ToLower(s.ID)
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
	err = c.core.Post().Namespace(c.Target.Namespace).Resource("configmaps").Body(&o.Plan).Do(ctx).Error()
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", failure(err)
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
	c.own(ctx, &made)
	return made.Name, nil
}

// own gives the ConfigMap of a Job to it, so that both are removed together. Without that it stays, which harms
// nothing.
func (c *Cluster) own(ctx context.Context, j *batch.Job) {
	patch := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":%q,"uid":%q}]}}`,
		j.Name, j.UID)
	_ = c.core.Patch("application/merge-patch+json").Namespace(c.Target.Namespace).Resource("configmaps").Name(j.Name).
		Body([]byte(patch)).Do(ctx).Error()
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
	return c.seen.records(names, time.Now()), nil
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

// Fetch implements [engine.Scheduler]: a pod prints its run folder, and its log can be read when it has ended. A pod
// that did not succeed may have none.
func (c *Cluster) Fetch(ctx context.Context, r engine.Record, dir, log string) error {
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
	return results(from, r, dir, log)
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
	return from, err
}

// results takes what a pod printed into a folder and a log.
func results(from io.Reader, r engine.Record, dir, log string) error {
	f, err := os.OpenFile(log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	err = transfer.Read(from, f, dir)
	if errors.Is(err, transfer.ErrNone) && r.Phase != engine.Succeeded {
		return nil
	}
	if err != nil && !errors.Is(err, transfer.ErrCut) && !errors.Is(err, transfer.ErrNone) {
		_, _ = io.Copy(io.Discard, from) // so that the connection can be used again
	}
	return err
}
