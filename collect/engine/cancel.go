package engine

import (
	"context"
	"slices"
)

// Cancel ends all jobs of a submission.
func Cancel(ctx context.Context, s *Submission, c Scheduler) (n int, err error) {
	f := Follower{Submission: s, Scheduler: c}
	f.restore()
	records, err := c.Queue(ctx, f.names())
	if err != nil {
		return 0, err
	}
	var ids []string
	for _, r := range records {
		if r.Phase == Active {
			n++
			if !slices.Contains(ids, r.Array) {
				ids = append(ids, r.Array)
			}
		}
	}
	if len(ids) > 0 {
		if err := c.Cancel(ctx, ids); err != nil {
			return n, err
		}
	}
	return n, s.log(event{Event: "over", Note: "cancelled"})
}
