package engine

import (
	"fmt"
	"slices"
)

// Lacking returns the entries of a submission whose runs are not complete.
func (s *Submission) Lacking() []int {
	var out []int
	for _, j := range s.Jobs {
		t := Task{Job: j}
		if s.progress(&t); !t.Whole {
			out = append(out, j.Entry)
		}
	}
	return out
}

// Again begins a submission that is over again, with the entries whose runs are not complete: they are submitted when
// it is followed, with all their retries, and keep what they measured. It returns how many there are.
func (s *Submission) Again() (int, error) {
	if !s.Over() {
		return 0, fmt.Errorf("the submission of %s is under way", s.Since())
	}
	lacking := s.Lacking()
	if len(lacking) == 0 {
		return 0, nil
	}
	return len(lacking), s.log(event{Event: "again", Entries: lacking})
}

// renew plans the arrays of entries that somebody wants again.
func (f *Follower) renew() error {
	for i := range f.tasks {
		t := &f.tasks[i]
		if !t.again {
			continue
		}
		g := f.newest(t.Entry).Group
		if err := f.plan(g, t.first, g.Resources.MostRetries(), []int{t.Entry}, 0); err != nil {
			return err
		}
	}
	return nil
}

// asked takes it that entries are submitted, as which retry of theirs.
func (f *Follower) asked(entries []int, retry int) {
	for _, entry := range entries {
		t := f.task(entry)
		t.Retry, t.again, t.first = max(t.Retry, retry), false, min(t.first, retry)
	}
}

// forgo gives up the orders that the scheduler did not get: their entries get new ones.
func (f *Follower) forgo() {
	for i := range f.orders {
		if o := &f.orders[i]; o.id == "" {
			o.id = unsent
		}
	}
}

// reopen takes it that entries have not ended.
func (f *Follower) reopen(entries []int) {
	for _, entry := range entries {
		t := f.task(entry)
		t.Ended, t.State, t.Reason, t.again, t.first = false, NotSubmitted, "", true, t.Retry+1
	}
}

// refuse ends the entries of an order that is not sent.
func (f *Follower) refuse(o *order, why string) error {
	o.id = unsent
	for _, entry := range o.Entries {
		if err := f.end(f.task(entry), NotSubmitted, why); err != nil {
			return err
		}
	}
	return nil
}

// wait holds an order back while another one of its group is under way, where these run one after the other: a follower
// sends it when that has ended.
func (f *Follower) wait(o *order, records []Record) bool {
	o.waits = f.Submission.OneByOne(o.Group) && slices.ContainsFunc(f.orders, func(p order) bool {
		return p.Name != o.Name && p.Group.Number == o.Group.Number && f.underWay(&p, records)
	})
	for _, entry := range o.Entries {
		if t := f.task(entry); o.waits && t.State == NotSubmitted {
			t.Reason = "it waits for the others that measure the same"
		}
	}
	return o.waits
}

// underWay reports whether an array measures, or will: also one that was submitted and is not listed yet.
func (f *Follower) underWay(o *order, records []Record) bool {
	listed := false
	for _, r := range records {
		if r.Name == o.Name && r.Phase == Active {
			return true
		}
		listed = listed || r.Name == o.Name
	}
	return !listed && o.id != "" && o.id != unsent && slices.ContainsFunc(o.Entries, func(entry int) bool {
		return !f.task(entry).Ended && f.newest(entry).Name == o.Name
	})
}
