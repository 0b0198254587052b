package engine

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/ttreport/ttreport/collect/plan"
)

// forgetful is a scheduler that forgets jobs that were ended, as one does whose objects are deleted.
type forgetful struct {
	*cluster
	fetched []int
	refuses error
	lost    error
}

func (c *forgetful) Fetch(_ context.Context, _ *Submission, r JobStatus) error {
	c.fetched = append(c.fetched, r.Entry)
	return c.lost
}

func (c *forgetful) Cancel(context.Context, *Submission, []JobStatus) error {
	if c.refuses == nil {
		c.records = nil
	}
	return c.refuses
}

func nobody(int, int) {}

// Another process ends the jobs, and the scheduler forgets them: they are not submitted again, and what had ended
// before is brought.
func TestCancelledElsewhere(t *testing.T) {
	c := submitted(t, 3, plan.Resources{})
	other := &forgetful{cluster: c}
	c.step = func(c *cluster, n int) {
		switch n {
		case 2:
			c.set(1, "RUNNING")
			c.set(2, "RUNNING")
		case 3:
			c.set(2, "FAILED")
			c.step = nil
			s, _ := Open(c.sub.Dir)
			if k, err := Cancel(context.Background(), s, other, nobody); err != nil || k != 2 {
				t.Errorf("%d jobs, %v", k, err)
			}
		}
	}
	for _, task := range c.mustFollow() {
		if !task.Ended || task.State != Cancelled {
			t.Errorf("%+v", task)
		}
	}
	if len(c.orders) != 1 || !slices.Equal(other.fetched, []int{2}) {
		t.Errorf("submitted %+v, fetched %v", c.orders, other.fetched)
	}
}

// A scheduler that does not answer has cancelled nothing: the jobs can be ended again.
func TestCancelThatFails(t *testing.T) {
	c := submitted(t, 1, plan.Resources{})
	c.records = []JobStatus{{Name: c.sub.JobName(c.sub.Groups[0], 0), Array: "1", Entry: 1, State: "RUNNING"}}
	if err := c.sub.log(event{Event: "submit", Name: c.records[0].Name, Group: 1, Entries: []int{1}}); err != nil {
		t.Fatal(err)
	}
	for _, why := range []error{ErrUnavailable, ErrUnfetched} {
		over := why == ErrUnfetched
		s, _ := Open(c.sub.Dir)
		_, err := Cancel(context.Background(), s, &forgetful{cluster: c, refuses: why}, nobody)
		if !errors.Is(err, why) {
			t.Errorf("%v: %v", why, err)
		}
		if now := s.cancelling(); s.Over() != over || now != over {
			t.Errorf("%v: being cancelled: %t, over: %t", why, now, s.Over())
		}
	}
}

// Results of jobs that ended earlier cannot be fetched, and the scheduler does not end the others: none is ended, which
// the error does not hide, and the next attempt fetches and ends all of them.
func TestCancelThatFailsBesideLostResults(t *testing.T) {
	c := submitted(t, 2, plan.Resources{})
	name := c.sub.JobName(c.sub.Groups[0], 0)
	c.records = []JobStatus{
		{Name: name, Array: "1", Entry: 1, State: "FAILED", Phase: Failed},
		{Name: name, Array: "1", Entry: 2, State: "RUNNING"},
	}
	if err := c.sub.log(event{Event: "submit", Name: name, Group: 1, Entries: []int{1, 2}}); err != nil {
		t.Fatal(err)
	}
	gone := &forgetful{cluster: c, refuses: ErrUnavailable, lost: errors.New("its pod is gone")}
	s, _ := Open(c.sub.Dir)
	n, err := Cancel(context.Background(), s, gone, nobody)
	if n != 0 || !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUnfetched) {
		t.Errorf("%d ended, %v", n, err)
	}
	gone.refuses, gone.lost = nil, nil
	s, _ = Open(c.sub.Dir)
	var shown [2]int
	n, err = Cancel(context.Background(), s, gone, func(active, left int) { shown = [2]int{active, left} })
	if n != 1 || err != nil || !slices.Equal(gone.fetched, []int{1, 1}) || shown != [2]int{1, 1} {
		t.Errorf("%d ended, %v, fetched %v, shown %v", n, err, gone.fetched, shown)
	}
}
