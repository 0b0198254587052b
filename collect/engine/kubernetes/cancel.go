package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ttreport/ttreport/collect/engine"
)

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
	gone, refused := c.deleteJobs(ctx, append(engine.Arrays(jobs), c.clientsOf(jobs)...))
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
