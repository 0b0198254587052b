package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
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
	o.waits = o.Group.OneByOne() && slices.ContainsFunc(f.orders, func(p order) bool {
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

// Account is what a scheduler recorded of one execution of a job. What it did not record is "".
type Account struct {
	Name     string
	Entry    int
	Job      string // as "12_3"
	State    string
	Phase    Phase
	ExitCode string // as "0:0": exit code and signal
	Elapsed  string // s
	MaxRSS   string // bytes
	Energy   string // J
	Node     string
	Reason   string
	Image    string // by digest
	Restarts string // of a server beside the client
}

// Settings returns the facts of the executions of one entry for the provenance of its run: several are listed in
// order.
func Settings(engine string, list []Account) map[string]string {
	out := map[string]string{}
	add := func(name string, of func(Account) string) {
		var values []string
		for _, a := range list {
			if v := of(a); v != "" && v != "0" && v != "None" && v != "None assigned" {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			out[engine+"_"+name] = strings.Join(slices.Compact(values), ", ")
		}
	}
	add("job_id", func(a Account) string { return a.Job })
	add("state", func(a Account) string { return a.State })
	add("exit_code", func(a Account) string { return a.ExitCode })
	add("elapsed_s", func(a Account) string { return a.Elapsed })
	add("max_rss_bytes", func(a Account) string { return a.MaxRSS })
	add("energy_j", func(a Account) string { return a.Energy })
	add("node", func(a Account) string { return a.Node })
	add("reason", func(a Account) string { return a.Reason })
	add("image", func(a Account) string { return a.Image })
	add("server_restarts", func(a Account) string { return a.Restarts })
	return out
}

// annotate adds facts to the manifest of a run folder.
func annotate(run string, facts map[string]string) error {
	name := filepath.Join(run, manifest.FileName)
	data, err := rootfs.ReadFile(name, mostFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its server never started
	}
	if err != nil {
		return err
	}
	m, problem := manifest.Read(name, data)
	if problem != nil {
		return fmt.Errorf("%s: %s", name, problem.Found)
	}
	if m.Setting == nil {
		m.Setting = map[string]string{}
	}
	maps.Copy(m.Setting, facts)
	text, err := m.Marshal()
	if err != nil {
		return err
	}
	return durable.WriteFile(name, text)
}

// account adds what the scheduler recorded to the provenance of every run: from its accounts, which may have it a few
// seconds later, else what the queue had. The error names the runs that could not be written.
func (f *Follower) account(ctx context.Context) error {
	var list []Account
	since := f.Now().Add(-30 * 24 * time.Hour)
	for range 5 {
		var err error
		if list, err = f.Scheduler.Accounts(ctx, f.names(), since); err != nil || f.complete(list) {
			break
		}
		if f.Sleep(ctx, 2*time.Second) != nil {
			break
		}
	}
	engine := f.Scheduler.Words().Name
	var errs []error
	for _, t := range f.tasks {
		if t.Run == "" {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(list), func(a Account) bool { return a.Entry != t.Entry })
		if len(mine) == 0 {
			mine = []Account{{Job: t.ID, State: t.State, Node: t.Node}}
		}
		if err := annotate(t.Run, Settings(engine, mine)); err != nil {
			errs = append(errs, fmt.Errorf("%s: what the scheduler recorded is not in its manifest: %w", t.Run, err))
		}
	}
	return errors.Join(errs...)
}

// complete reports whether the accounts have an end for every task.
func (f *Follower) complete(list []Account) bool {
	for _, t := range f.tasks {
		if t.State == NotSubmitted {
			continue
		}
		mine := func(a Account) bool { return a.Entry == t.Entry && a.Phase != Active }
		if !slices.ContainsFunc(list, mine) {
			return false
		}
	}
	return true
}

// accounted reports whether the scheduler's accounts have an array that the queue does not list any more.
func (f *Follower) accounted(ctx context.Context, o *order) bool {
	list, err := f.Scheduler.Accounts(ctx, []string{o.Name}, o.since.Add(-24*time.Hour))
	at := slices.IndexFunc(list, func(a Account) bool { return a.Name == o.Name })
	if err != nil || at < 0 {
		return false
	}
	o.id, _, _ = strings.Cut(list[at].Job, "_")
	return true
}
