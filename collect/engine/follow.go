package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Follower submits a submission, follows it, and submits what is missing again.
type Follower struct {
	Submission *Submission
	Scheduler  Scheduler
	Poll       time.Duration // how often the scheduler is asked
	Show       func(View)
	Detach     bool // return when everything is submitted

	// The clock; nil for the machine's.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error

	tasks    []Task
	orders   []order
	away     time.Time // since when the controller has not answered; zero when it does
	why      string
	refused  error
	reattach bool // orders of an earlier process may have been sent
}

// order is an array as the journal has it.
type order struct {
	Order
	retry int
	id    string // "" before the scheduler has it
	since time.Time
	waits bool // for others of its group
}

// unsent is in place of the id of an order that is not sent any more: it was refused, or others take its place.
const unsent = "-"

// View is what a person sees.
type View struct {
	Words Words
	Tasks []Task
	Away  time.Duration // how long the scheduler has not answered
	Why   string        // what it said last
}

// settles is how often in a row a final state must be seen before what is missing is submitted again: Slurm shows some
// of them for a moment while it requeues a job itself, and a shared file system shows a journal late.
const settles = 3

// Run returns the tasks when all have ended. It returns an error when the context ends, and when a job is refused;
// jobs that were submitted go on then.
func (f *Follower) Run(ctx context.Context) ([]Task, error) {
	f.defaults()
	f.restore()
	for {
		if err := f.round(ctx); err != nil {
			return f.tasks, err
		}
		f.Show(f.view())
		ended := !slices.ContainsFunc(f.tasks, func(t Task) bool { return !t.Ended })
		switch {
		case ended:
			return f.tasks, errors.Join(f.refused, f.account(ctx), f.Submission.log(event{Event: "over"}))
		case f.Detach && !slices.ContainsFunc(f.orders, func(o order) bool { return o.id == "" && !o.waits }):
			return f.tasks, f.refused
		}
		if err := f.Sleep(ctx, f.Poll); err != nil {
			return f.tasks, err
		}
	}
}

func (f *Follower) defaults() {
	if f.Now == nil {
		f.Now = time.Now
	}
	if f.Sleep == nil {
		f.Sleep = func(ctx context.Context, d time.Duration) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(d):
				return nil
			}
		}
	}
}

// restore takes the state from the journal; a submission that is new gets an order for each group.
func (f *Follower) restore() {
	s := f.Submission
	for _, j := range s.Jobs {
		f.tasks = append(f.tasks, Task{Job: j, State: NotSubmitted})
	}
	for _, e := range s.journal {
		switch e.Event {
		case "submit":
			f.reattach = true
			f.orders = append(f.orders, f.orderOf(e))
			f.asked(e.Entries, e.Retry)
		case "submitted":
			if i := f.named(e.Name); i >= 0 {
				f.orders[i].id = e.ID
			}
		case "ended":
			t := f.task(e.Entries[0])
			t.Ended, t.State, t.Reason = true, e.State, e.Note
		case "again":
			f.forgo()
			f.reopen(e.Entries)
		}
	}
}

func (f *Follower) orderOf(e event) order {
	g := f.Submission.Groups[e.Group-1]
	return order{retry: e.Retry, since: e.Time, Order: Order{
		File: f.Submission.FileOf(g), Group: g, Name: e.Name, Entries: e.Entries, Limit: e.Limit, Retries: e.Left,
	}}
}

func (f *Follower) named(name string) int {
	return slices.IndexFunc(f.orders, func(o order) bool { return o.Name == name })
}

func (f *Follower) task(entry int) *Task {
	return &f.tasks[slices.IndexFunc(f.tasks, func(t Task) bool { return t.Entry == entry })]
}

// round asks the scheduler once, and does what is to be done. An error is one of ours: others are in the view.
func (f *Follower) round(ctx context.Context) error {
	cancelling, cancelled, err := f.cancelled()
	if err != nil {
		return err
	}
	for i := range f.tasks {
		if t := &f.tasks[i]; !t.Ended || !t.Whole {
			f.Submission.progress(t)
		}
	}
	switch {
	case cancelled:
		return f.leave(ctx)
	case cancelling:
		return nil
	}
	for _, g := range f.Submission.Groups { // an earlier process may have been killed between two of them
		if slices.ContainsFunc(f.orders, func(o order) bool { return o.Group.Number == g.Number }) {
			continue
		}
		if err := f.plan(g, 0, g.Resources.MostRetries(), g.Entries, 0); err != nil {
			return err
		}
	}
	if err := f.renew(); err != nil {
		return err
	}
	records, err := f.Scheduler.Queue(ctx, f.names())
	if f.absent(err) {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	f.adopt(records)
	if err := f.submit(ctx, records); err != nil {
		return err
	}
	for i := range f.tasks {
		if err := f.update(ctx, &f.tasks[i], records); err != nil {
			return err
		}
	}
	return nil
}

// absent notes whether the scheduler answers.
func (f *Follower) absent(err error) bool {
	if !errors.Is(err, ErrAway) && !errors.Is(err, context.Canceled) {
		f.away = time.Time{}
		return false
	}
	if f.away.IsZero() {
		f.away = f.Now()
	}
	f.why = strings.TrimPrefix(err.Error(), ErrAway.Error()+": ")
	return true
}

func (f *Follower) names() []string {
	var out []string
	for _, o := range f.orders {
		out = append(out, o.Name)
	}
	return out
}

// plan writes down that an array will be submitted.
func (f *Follower) plan(g Group, retry, left int, entries []int, limit time.Duration) error {
	name := f.Submission.JobName(g, retry)
	if retry > 0 { // one array a retry of an entry, because entries end at different times
		name += fmt.Sprintf("-%d", entries[0])
	}
	e := event{
		Event: "submit", Name: name, Group: g.Number, Retry: retry, Left: left, Entries: entries, Limit: limit, Time: f.Now(),
	}
	if err := f.Submission.log(e); err != nil {
		return err
	}
	f.orders = append(f.orders, f.orderOf(e))
	f.asked(entries, retry)
	return nil
}

// adopt finds the arrays that an earlier process submitted, or this one without learning their ids.
func (f *Follower) adopt(records []Record) {
	for i := range f.orders {
		o := &f.orders[i]
		if o.id != "" && o.id != unsent {
			continue
		}
		if at := slices.IndexFunc(records, func(r Record) bool { return r.Name == o.Name }); at >= 0 {
			o.id = records[at].Array
		}
	}
}

// submit submits the arrays that the scheduler does not have.
func (f *Follower) submit(ctx context.Context, records []Record) error {
	for i := range f.orders {
		o := &f.orders[i]
		if o.id != "" || f.wait(o, records) {
			continue
		}
		if f.refused != nil {
			if err := f.refuse(o, "another job was refused"); err != nil {
				return err
			}
			continue
		}
		if f.reattach && f.accounted(ctx, o) {
			continue
		}
		id, err := f.Scheduler.Submit(ctx, o.Order)
		switch {
		case f.absent(err): // it may have arrived; the queue will show it
			f.reattach = true
			return ctx.Err()
		case err != nil:
			f.refused = err
			if err := f.refuse(o, err.Error()); err != nil {
				return err
			}
			continue
		}
		o.id = id
		if err := f.Submission.log(event{Event: "submitted", Name: o.Name, ID: id}); err != nil {
			return err
		}
	}
	return nil
}

// newest returns the newest order of an entry.
func (f *Follower) newest(entry int) *order {
	for i := range slices.Backward(f.orders) {
		if slices.Contains(f.orders[i].Entries, entry) {
			return &f.orders[i]
		}
	}
	return nil
}

// update takes what the queue has of a task. One that ended and is not complete is submitted again, or is over.
func (f *Follower) update(ctx context.Context, t *Task, records []Record) error {
	o := f.newest(t.Entry)
	if t.Ended || o == nil || o.id == "" {
		return nil
	}
	own := strings.ToLower("ttreport-" + f.Submission.ID + "-") // where a scheduler takes our name for its id
	t.ID = fmt.Sprintf("%s_%d", strings.TrimPrefix(o.id, own), t.Entry)
	at := slices.IndexFunc(records, func(r Record) bool { return r.Name == o.Name && r.Entry == t.Entry })
	if at >= 0 && records[at].Phase == Active {
		r := records[at]
		t.State, t.Reason, t.Node, t.Left, t.seen, t.restarts = r.State, r.Reason, r.Node, r.Left, 0, r.Restarts
		t.Hear(r.Says)
		return nil
	}
	r := Record{State: Lost, Phase: Disrupted}
	if at >= 0 {
		r = records[at]
		t.State, t.Reason, t.Node, t.restarts = r.State, t.why(r), r.Node, r.Restarts
		if !f.fetch(ctx, t, r) {
			return nil
		}
	}
	t.Left = ""
	if t.Whole {
		return f.end(t, f.Scheduler.Words().Succeeded, "")
	}
	if t.seen++; t.seen < settles {
		return nil
	}
	if r.State == Lost {
		r.State, r.Phase = f.ended(ctx, o, t.Entry)
	}
	return f.settle(t, o, r.State, r.Phase)
}

// fetches is how often the results of a job are asked for: its node may be away for a moment.
const fetches = 6

// fetch brings the results of a job that has ended. It returns false when that has failed and is tried again; the last
// failure is the reason that is shown.
func (f *Follower) fetch(ctx context.Context, t *Task, r Record) bool {
	if t.fetched == fetches {
		return true
	}
	err := f.Scheduler.Fetch(ctx, r, f.Submission.OutOf(t.Entry), f.Submission.LogOf(t.Entry))
	if errors.Is(err, ErrLater) {
		t.Reason = strings.TrimPrefix(err.Error(), ErrLater.Error()+": ")
		return false
	}
	if err != nil {
		t.fetched++
		t.unfetched = fmt.Sprintf("its results cannot be fetched: %v", err)
		t.Reason = t.why(r)
		return t.fetched == fetches
	}
	t.fetched, t.unfetched = fetches, ""
	f.Submission.progress(t)
	return true
}

// why is the reason of a task's state: of one that failed the scheduler's own comes first.
func (t *Task) why(r Record) string {
	if r.Phase != Succeeded {
		return cmp.Or(r.Reason, t.unfetched)
	}
	return cmp.Or(t.unfetched, r.Reason)
}

// ended asks the accounts how a job ended that the queue does not list any more.
func (f *Follower) ended(ctx context.Context, o *order, entry int) (string, Phase) {
	list, err := f.Scheduler.Accounts(ctx, []string{o.Name}, o.since.Add(-24*time.Hour))
	if err != nil {
		return Lost, Disrupted
	}
	for _, a := range slices.Backward(list) {
		if a.Entry == entry && a.Phase != Active {
			return a.State, a.Phase
		}
	}
	return Lost, Disrupted
}

// settle decides about a task that ended without a complete run.
func (f *Follower) settle(t *Task, o *order, state string, phase Phase) error {
	most, used := t.Resources.MostRetries(), t.Retry-t.first+t.restarts
	if phase.retried() && used < most {
		limit := o.Limit
		if phase == OutOfTime && !o.Group.Stated { // the estimate was too low
			limit = 2 * max(o.Limit, o.Group.Limit)
		}
		t.Retry, t.restarts, t.seen, t.fetched, t.unfetched = t.first+used+1, 0, 0, 0, ""
		t.State, t.Reason = state, fmt.Sprintf("retry %d of %d", used+1, most)
		f.Show(f.view())
		return f.plan(o.Group, t.Retry, most-used-1, []int{t.Entry}, limit)
	}
	why := t.Reason
	if phase.retried() {
		why = fmt.Sprintf("after %d of %d retries", used, most)
	}
	return f.end(t, state, why)
}

func (f *Follower) end(t *Task, state, note string) error {
	t.Ended, t.State, t.Reason = true, state, note
	if !t.OK() {
		t.Log = f.Submission.lastLog(t.Entry, 3)
	}
	return f.Submission.log(event{Event: "ended", Entries: []int{t.Entry}, State: state, Note: note})
}

func (f *Follower) view() View {
	v := View{Words: f.Scheduler.Words(), Tasks: slices.Clone(f.tasks), Why: f.why}
	if !f.away.IsZero() {
		v.Away = max(1, f.Now().Sub(f.away))
	}
	return v
}
