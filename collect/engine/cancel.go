package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Cancel ends the jobs of a submission, and fetches what they measured. It returns how many were ended: none where the
// scheduler did not end them. An error that is [ErrUnfetched] is of results alone: the jobs have ended. before is told
// how many jobs are to be ended, and how many that ended before have results to fetch.
func Cancel(ctx context.Context, s *Submission, c Scheduler, before func(active, left int)) (n int, err error) {
	f := Follower{Submission: s, Scheduler: c}
	f.restore()
	records, err := c.Queue(ctx, f.names())
	if err != nil {
		return 0, err
	}
	if err := s.log(event{Event: "cancel"}); err != nil {
		return 0, err
	}
	var active, left []Record
	for _, r := range records {
		t := f.task(r.Entry)
		if s.progress(t); r.Phase == Active {
			active = append(active, r)
		} else if !t.Ended && !t.Whole {
			left = append(left, r)
		}
	}
	before(len(active), len(left))
	to := func(r Record) (dir, log string) { return s.OutOf(r.Entry), s.LogOf(r.Entry) }
	var lost []error
	for _, r := range left {
		dir, log := to(r)
		err := Later(ctx, func() error { return c.Fetch(ctx, r, dir, log) })
		lost = append(lost, unfetched(r, err))
	}
	if len(active) > 0 {
		ended := c.Cancel(ctx, active, to)
		if ended != nil && !errors.Is(ended, ErrUnfetched) { // the next attempt fetches what was lost in this one
			return 0, errors.Join(ended, s.log(event{Event: "not-cancelled"}))
		}
		lost = append(lost, ended)
	}
	return len(active), errors.Join(errors.Join(lost...), s.log(event{Event: "over", Note: "cancelled"}))
}

// Later calls fetch until what it brings is not [ErrLater] any more, once a second for at most a quarter of an hour.
func Later(ctx context.Context, fetch func() error) error {
	for deadline := time.Now().Add(15 * time.Minute); ; {
		err := fetch()
		if !errors.Is(err, ErrLater) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// unfetched says whose results could not be brought; nil for no error.
func unfetched(r Record, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("job %d: %w: %w", r.Entry, ErrUnfetched, err)
}

// cancelling is how long another process may take to end jobs. One that takes longer was killed.
const cancelling = 5 * time.Minute

// cancelled reads what other processes wrote to the journal: whether one is ending the jobs, and whether one has. Its
// jobs disappear then, and are not to be submitted again.
func (f *Follower) cancelled() (now, done bool, err error) {
	if err := f.Submission.readJournal(); err != nil {
		return false, false, err
	}
	for _, e := range f.Submission.journal {
		now = (now || e.Event == "cancel" && time.Since(e.Time) < cancelling) &&
			e.Event != "not-cancelled" && e.Event != "again"
	}
	return now, f.Submission.Over(), nil
}

// leave ends the tasks of a submission that another process has ended, as the scheduler shows them if it does.
func (f *Follower) leave(ctx context.Context) error {
	records, _ := f.Scheduler.Queue(ctx, f.names()) // without it they are cancelled, too
	for i := range f.tasks {
		t := &f.tasks[i]
		if t.Ended {
			continue
		}
		state, why := Cancelled, ""
		for _, r := range records {
			if r.Entry == t.Entry && r.Phase != Active {
				state, why = r.State, Cancelled
			}
		}
		if t.Whole {
			state, why = f.Scheduler.Words().Succeeded, ""
		}
		if err := f.end(t, state, why); err != nil {
			return err
		}
	}
	return nil
}
