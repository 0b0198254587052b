package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Cancel ends all jobs of a submission, and brings what they measured. An error may be of what could not be brought.
func Cancel(ctx context.Context, s *Submission, c Scheduler) (n int, err error) {
	f := Follower{Submission: s, Scheduler: c}
	f.restore()
	records, err := c.Queue(ctx, f.names())
	if err != nil {
		return 0, err
	}
	if err := s.log(event{Event: "cancel"}); err != nil {
		return 0, err
	}
	var active []Record
	var lost []error
	for _, r := range records {
		t := f.task(r.Entry)
		if s.progress(t); r.Phase == Active {
			active = append(active, r)
		} else if !t.Ended && !t.Whole {
			lost = append(lost, unfetched(r, c.Fetch(ctx, r, s.OutOf(r.Entry), s.LogOf(r.Entry))))
		}
	}
	if len(active) > 0 {
		ended := c.Cancel(ctx, active, func(r Record) (dir, log string) { return s.OutOf(r.Entry), s.LogOf(r.Entry) })
		lost = append(lost, ended)
		if ended != nil && !errors.Is(ended, ErrUnfetched) {
			return len(active), errors.Join(errors.Join(lost...), s.log(event{Event: "not-cancelled"}))
		}
	}
	return len(active), errors.Join(errors.Join(lost...), s.log(event{Event: "over", Note: "cancelled"}))
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
		now = (now || e.Event == "cancel" && time.Since(e.Time) < cancelling) && e.Event != "not-cancelled"
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
