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
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	if r.Job == "" { // or not listed yet
		return errGone
	}
	f, err := os.OpenFile(log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	from, err := c.core.Get().Namespace(c.Target.Namespace).Resource("pods").Name(r.Job).SubResource("log").
		Param("container", clientName).Stream(ctx)
	if err != nil {
		if r.Phase != engine.Succeeded && (apierrors.IsNotFound(err) || apierrors.IsBadRequest(err)) {
			return nil // it is gone, or never ran; anything else, such as an API server that is away, may pass
		}
		return err
	}
	defer from.Close()
	err = transfer.Read(from, f, dir)
	if errors.Is(err, transfer.ErrNone) && r.Phase != engine.Succeeded {
		return nil
	}
	if err != nil && !errors.Is(err, transfer.ErrCut) && !errors.Is(err, transfer.ErrNone) {
		_, _ = io.Copy(io.Discard, from) // so that the connection can be used again
	}
	return err
}

// Cancel implements [engine.Scheduler].
func (c *Cluster) Cancel(ctx context.Context, ids []string) error {
	background := meta.DeletePropagationBackground
	for _, id := range ids {
		err := c.batch.Delete().Namespace(c.Target.Namespace).Resource("jobs").Name(id).
			Body(&meta.DeleteOptions{PropagationPolicy: &background}).Do(ctx).Error()
		if err != nil && !apierrors.IsNotFound(err) {
			return failure(err)
		}
	}
	return nil
}
