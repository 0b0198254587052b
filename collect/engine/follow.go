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

	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Follower submits a submission, follows it, and submits what is missing again.
type Follower struct {
	Submission *Submission
	Backend    Backend
	Poll       time.Duration // how often the scheduler is asked
	Show       func(View)
	Detach     bool // return when everything is submitted

	// The clock; nil for the machine's.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error

	tasks    []Task
	arrays   []array
	since    time.Time // since when the scheduler has not answered; zero when it does
	why      string
	refused  error
	failed   error // of the journal: nothing is done that is not in it
	reattach bool  // arrays of an earlier process may have been sent
}

// array is an array as the journal has it.
type array struct {
	Array
	id    string // "" before the scheduler has it
	since time.Time
	waits bool // for others of its group
}

// unsent is in place of the id of an array that is not sent any more: it was refused, or others take its place.
const unsent = "-"

// View is what a person sees.
type View struct {
	About About
	Tasks []Task
	Away  time.Duration // how long the scheduler has not answered
	Why   string        // what it said last
}

// Run returns the tasks when all have ended. It returns an error when the context ends, and when a job is refused;
// jobs that were submitted go on then.
func (f *Follower) Run(ctx context.Context) ([]Task, error) {
	if f.Now == nil {
		f.Now = time.Now
	}
	if f.Sleep == nil {
		f.Sleep = process.Sleep
	}
	f.restore()
	for {
		if err := f.round(ctx); err != nil {
			return f.tasks, err
		}
		f.Show(f.view())
		switch {
		case !slices.ContainsFunc(f.tasks, func(t Task) bool { return !t.Ended }):
			return f.tasks, errors.Join(f.refused, f.account(ctx), f.Submission.log(event{Event: "over"}))
		case f.Detach && !slices.ContainsFunc(f.arrays, func(a array) bool { return a.id == "" && !a.waits }):
			return f.tasks, f.refused
		}
		if err := f.Sleep(ctx, f.Poll); err != nil {
			return f.tasks, err
		}
	}
}

// restore takes the state from the journal.
func (f *Follower) restore() {
	for _, j := range f.Submission.Jobs {
		f.tasks = append(f.tasks, Task{Job: j, State: NotSubmitted})
	}
	for _, e := range f.Submission.journal {
		switch e.Event {
		case "submit":
			f.reattach = true
			f.add(e)
		case "submitted":
			if i := slices.IndexFunc(f.arrays, func(a array) bool { return a.Name == e.Name }); i >= 0 {
				f.arrays[i].id = e.ID
			}
		case "ended":
			t := f.task(e.Entries[0])
			t.Ended, t.State, t.Reason = true, e.State, e.Note
		case "again": // other arrays take the place of those that the scheduler did not get
			for i := range f.arrays {
				f.arrays[i].id = cmp.Or(f.arrays[i].id, unsent)
			}
			for _, entry := range e.Entries {
				t := f.task(entry)
				t.Ended, t.State, t.Reason, t.again, t.first = false, NotSubmitted, "", true, t.Retry+1
			}
		}
	}
}

// add takes an array from the journal.
func (f *Follower) add(e event) {
	g := f.Submission.Groups[e.Group-1]
	f.arrays = append(f.arrays, array{since: e.Time, Array: Array{
		Group: g, Name: e.Name, Entries: e.Entries, Limit: e.Limit, Retries: e.Left,
	}})
	for _, entry := range e.Entries {
		t := f.task(entry)
		t.Retry, t.again, t.first = max(t.Retry, e.Retry), false, min(t.first, e.Retry)
	}
}

func (f *Follower) task(entry int) *Task {
	return &f.tasks[slices.IndexFunc(f.tasks, func(t Task) bool { return t.Entry == entry })]
}

// newest returns the newest array of an entry; nil for none.
func (f *Follower) newest(entry int) *array {
	for i := range slices.Backward(f.arrays) {
		if slices.Contains(f.arrays[i].Entries, entry) {
			return &f.arrays[i]
		}
	}
	return nil
}

// round asks the scheduler once, and does what is to be done. An error is one of ours: others are in the view.
func (f *Follower) round(ctx context.Context) error {
	if err := f.Submission.readJournal(); err != nil { // what other processes wrote to it
		return err
	}
	for i := range f.tasks {
		if t := &f.tasks[i]; !t.Ended || !t.Whole {
			f.Submission.progress(t)
		}
	}
	switch {
	case f.Submission.Over():
		f.leave(ctx)
		return f.failed
	case f.Submission.cancelling():
		return nil
	}
	if f.planAll(); f.failed != nil {
		return f.failed
	}
	jobs, err := f.Backend.Queue(ctx, f.Submission, f.names())
	if f.unavailable(err) {
		return ctx.Err()
	}
	if err == nil {
		err = f.submit(ctx, jobs)
	}
	if err != nil {
		return err
	}
	for i := range f.tasks {
		f.update(ctx, &f.tasks[i], jobs)
	}
	return f.failed
}

// unavailable notes whether the scheduler answers.
func (f *Follower) unavailable(err error) bool {
	if !errors.Is(err, ErrUnavailable) && !errors.Is(err, context.Canceled) {
		f.since = time.Time{}
		return false
	}
	if f.since.IsZero() {
		f.since = f.Now()
	}
	f.why = strings.TrimPrefix(err.Error(), ErrUnavailable.Error()+": ")
	return true
}

func (f *Follower) names() []string {
	var out []string
	for _, a := range f.arrays {
		out = append(out, a.Name)
	}
	return out
}

// planAll writes down the arrays that groups and entries lack: an earlier process may have been killed between two.
func (f *Follower) planAll() {
	for _, g := range f.Submission.Groups {
		if !slices.ContainsFunc(f.arrays, func(a array) bool { return a.Group.Number == g.Number }) {
			f.plan(g, 0, g.Resources.MostRetries(), g.Entries, 0)
		}
	}
	for _, t := range f.tasks {
		if t.again {
			g := f.newest(t.Entry).Group
			f.plan(g, t.first, g.Resources.MostRetries(), []int{t.Entry}, 0)
		}
	}
}

// plan writes down that an array will be submitted: its entries for the so-many-th time, with so many retries left.
func (f *Follower) plan(g Group, retry, left int, entries []int, limit time.Duration) {
	name := f.Submission.JobName(g, retry)
	if retry > 0 { // one array a retry of an entry, because entries end at different times
		name += fmt.Sprintf("-%d", entries[0])
	}
	e := event{
		Event: "submit", Name: name, Group: g.Number, Retry: retry, Left: left, Entries: entries, Limit: limit, Time: f.Now(),
	}
	if f.log(e) {
		f.add(e)
	}
}

// log adds an event to the journal; false where that fails, or has failed before.
func (f *Follower) log(e event) bool {
	if f.failed == nil {
		f.failed = f.Submission.log(e)
	}
	return f.failed == nil
}

// submit submits the arrays that the scheduler does not have: neither from an earlier process, nor from this one, which
// did not learn their ids.
func (f *Follower) submit(ctx context.Context, jobs []JobStatus) error {
	for i := range f.arrays {
		a := &f.arrays[i]
		at := slices.IndexFunc(jobs, func(j JobStatus) bool { return j.Name == a.Name })
		if at >= 0 && (a.id == "" || a.id == unsent) {
			a.id = jobs[at].Array
		}
		if a.id != "" || f.wait(a, jobs) {
			continue
		}
		why := "another job of this plan was refused"
		if f.refused == nil {
			if f.reattach { // the queue does not list it any more, and the accounts may have it
				if found, ok := f.accountOf(ctx, a, func(x Account) bool { return x.Name == a.Name }); ok {
					a.id, _, _ = strings.Cut(found.Job, "_")
					continue
				}
			}
			id, err := f.Backend.Submit(ctx, f.Submission, a.Array)
			if f.unavailable(err) { // it may have arrived; the queue will show it
				f.reattach = true
				return ctx.Err()
			}
			if err == nil {
				if a.id = id; !f.log(event{Event: "submitted", Name: a.Name, ID: id}) {
					return f.failed
				}
				continue
			}
			f.refused, why = err, err.Error()
		}
		a.id = unsent
		for _, entry := range a.Entries {
			f.end(f.task(entry), NotSubmitted, why)
		}
	}
	return f.failed
}

// accountOf returns the first account of an array that is wanted.
func (f *Follower) accountOf(ctx context.Context, a *array, wanted func(Account) bool) (found Account, ok bool) {
	list, err := f.Backend.Accounts(ctx, f.Submission, []string{a.Name}, a.since.Add(-24*time.Hour))
	i := slices.IndexFunc(list, wanted)
	if err != nil || i < 0 {
		return found, false
	}
	return list[i], true
}

// wait holds an array back while another one of its group is under way, where these run one after the other: a follower
// sends it when that has ended.
func (f *Follower) wait(a *array, jobs []JobStatus) bool {
	a.waits = a.Group.OneByOne() && slices.ContainsFunc(f.arrays, func(o array) bool {
		return o.Name != a.Name && o.Group.Number == a.Group.Number && f.underWay(&o, jobs)
	})
	for _, entry := range a.Entries {
		if t := f.task(entry); a.waits && t.State == NotSubmitted {
			t.Reason = "it waits for the other jobs that measure the same"
		}
	}
	return a.waits
}

// underWay reports whether an array measures, or will: also one that was submitted and is not listed yet.
func (f *Follower) underWay(a *array, jobs []JobStatus) bool {
	listed := slices.DeleteFunc(slices.Clone(jobs), func(j JobStatus) bool { return j.Name != a.Name })
	if len(listed) > 0 {
		return slices.ContainsFunc(listed, func(j JobStatus) bool { return j.Phase == Active })
	}
	return a.id != "" && a.id != unsent && slices.ContainsFunc(a.Entries, func(entry int) bool {
		return !f.task(entry).Ended && f.newest(entry).Name == a.Name
	})
}

// update takes what the queue has of a task. One that ended and is not complete is submitted again, or is over.
func (f *Follower) update(ctx context.Context, t *Task, jobs []JobStatus) {
	a := f.newest(t.Entry)
	if t.Ended || a == nil || a.id == "" {
		return
	}
	own := strings.ToLower("ttreport-" + f.Submission.ID + "-") // where a scheduler takes our name for its id
	t.ID = fmt.Sprintf("%s_%d", strings.TrimPrefix(a.id, own), t.Entry)
	at := slices.IndexFunc(jobs, func(j JobStatus) bool { return j.Name == a.Name && j.Entry == t.Entry })
	j := JobStatus{State: Lost, Phase: Disrupted}
	if at >= 0 {
		j = jobs[at]
		t.State, t.Reason, t.Node, t.restarts = j.State, j.Reason, j.Node, j.Restarts
		if j.Phase == Active {
			t.Left, t.seen = j.Left, 0
			t.Hear(j.LastLine)
			return
		}
		if !f.fetch(ctx, t, j) {
			return
		}
	}
	t.Left = ""
	if t.Whole {
		f.end(t, f.Backend.About().Succeeded, "")
		return
	}
	// Slurm shows some final states for a moment while it requeues a job itself, and a shared file system shows a journal
	// late: so what is missing is submitted again when one was seen three times in a row.
	if t.seen++; t.seen < 3 {
		return
	}
	if j.State == Lost {
		ended := func(x Account) bool { return x.Entry == t.Entry && x.Phase != Active }
		if found, ok := f.accountOf(ctx, a, ended); ok {
			j.State, j.Phase = found.State, found.Phase
		}
	}
	f.settle(t, a, j.State, j.Phase)
}

// fetches is how often the results of a job are asked for: its node may be away for a moment.
const fetches = 6

// fetch brings the results of a job that has ended. It returns false when that has failed and is tried again; the last
// failure is the reason that is shown.
func (f *Follower) fetch(ctx context.Context, t *Task, j JobStatus) bool {
	if t.fetched < fetches {
		err := f.Backend.Fetch(ctx, f.Submission, j)
		switch {
		case errors.Is(err, ErrLater):
			t.Reason = strings.TrimPrefix(err.Error(), ErrLater.Error()+": ")
			return false
		case err != nil:
			t.fetched++
			t.unfetched = fmt.Sprintf("its results cannot be fetched: %v", err)
		default:
			t.fetched, t.unfetched = fetches, ""
			f.Submission.progress(t)
		}
	}
	t.Reason = cmp.Or(j.Reason, t.unfetched)
	if j.Phase == Succeeded { // of one that failed the scheduler's own reason comes first
		t.Reason = cmp.Or(t.unfetched, j.Reason)
	}
	return t.fetched == fetches
}

// settle decides about a task that ended without a complete run.
func (f *Follower) settle(t *Task, a *array, state string, phase Phase) {
	most, used := a.Group.Resources.MostRetries(), t.Retry-t.first+t.restarts
	if phase.retried() && used < most {
		limit := a.Limit
		if phase == OutOfTime && !a.Group.Stated { // the estimate was too low
			limit = 2 * max(a.Limit, a.Group.Limit)
		}
		t.Retry, t.restarts, t.seen, t.fetched, t.unfetched = t.first+used+1, 0, 0, 0, ""
		t.State, t.Reason = state, fmt.Sprintf("retry %d of %d", used+1, most)
		f.Show(f.view())
		f.plan(a.Group, t.Retry, most-used-1, []int{t.Entry}, limit)
		return
	}
	why := t.Reason
	if phase.retried() {
		why = fmt.Sprintf("after %d of %d retries", used, most)
	}
	f.end(t, state, why)
}

func (f *Follower) end(t *Task, state, note string) {
	t.Ended, t.State, t.Reason = true, state, note
	if !t.OK() {
		t.Log = process.LastLines(f.Submission.LogOf(t.Entry), 3)
	}
	f.log(event{Event: "ended", Entries: []int{t.Entry}, State: state, Note: note})
}

func (f *Follower) view() View {
	v := View{About: f.Backend.About(), Tasks: slices.Clone(f.tasks), Why: f.why}
	if !f.since.IsZero() {
		v.Away = max(1, f.Now().Sub(f.since))
	}
	return v
}

// leave ends the tasks of a submission that another process has ended, as the scheduler shows them if it does.
func (f *Follower) leave(ctx context.Context) {
	jobs, _ := f.Backend.Queue(ctx, f.Submission, f.names()) // without it they are cancelled, too
	for i := range f.tasks {
		t := &f.tasks[i]
		if t.Ended {
			continue
		}
		state, why := Cancelled, ""
		for _, j := range jobs {
			if j.Entry == t.Entry && j.Phase != Active {
				state, why = j.State, Cancelled
			}
		}
		if t.Whole {
			state, why = f.Backend.About().Succeeded, ""
		}
		f.end(t, state, why)
	}
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

// Cancel ends the jobs of a submission, and fetches what they measured. It returns how many were ended: none where the
// scheduler did not end them. An error that is [ErrUnfetched] is of results alone: the jobs have ended. before is told
// how many jobs are to be ended, and how many that ended before have results to fetch.
func Cancel(ctx context.Context, s *Submission, b Backend, before func(active, left int)) (n int, err error) {
	f := Follower{Submission: s, Backend: b}
	f.restore()
	jobs, err := b.Queue(ctx, s, f.names())
	if err != nil {
		return 0, err
	}
	if err := s.log(event{Event: "cancel"}); err != nil {
		return 0, err
	}
	var active, left []JobStatus
	for _, j := range jobs {
		t := f.task(j.Entry)
		if s.progress(t); j.Phase == Active {
			active = append(active, j)
		} else if !t.Ended && !t.Whole {
			left = append(left, j)
		}
	}
	before(len(active), len(left))
	var lost []error
	for _, j := range left {
		if err := Later(ctx, func() error { return b.Fetch(ctx, s, j) }); err != nil {
			lost = append(lost, Unfetched(j, err))
		}
	}
	if len(active) > 0 {
		ended := b.Cancel(ctx, s, active)
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
		if err := process.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// Unfetched says whose results could not be brought.
func Unfetched(j JobStatus, err error) error {
	return fmt.Errorf("job %d: %w: %w", j.Entry, ErrUnfetched, err)
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
	values := map[string][]string{}
	for _, a := range list {
		for name, v := range map[string]string{
			"job_id": a.Job, "state": a.State, "exit_code": a.ExitCode, "elapsed_s": a.Elapsed, "max_rss_bytes": a.MaxRSS,
			"energy_j": a.Energy, "node": a.Node, "reason": a.Reason, "image": a.Image, "server_restarts": a.Restarts,
		} {
			if v != "" && v != "0" && v != "None" && v != "None assigned" {
				values[engine+"_"+name] = append(values[engine+"_"+name], v)
			}
		}
	}
	out := map[string]string{}
	for name, of := range values {
		out[name] = strings.Join(slices.Compact(of), ", ")
	}
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
	for range 5 {
		var err error
		list, err = f.Backend.Accounts(ctx, f.Submission, f.names(), f.Now().Add(-30*24*time.Hour))
		lacks := slices.ContainsFunc(f.tasks, func(t Task) bool { // has no end in the accounts
			return t.State != NotSubmitted && !slices.ContainsFunc(list, func(a Account) bool {
				return a.Entry == t.Entry && a.Phase != Active
			})
		})
		if err != nil || !lacks || f.Sleep(ctx, 2*time.Second) != nil {
			break
		}
	}
	var errs []error
	for _, t := range f.tasks {
		if t.Run == "" {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(list), func(a Account) bool { return a.Entry != t.Entry })
		if len(mine) == 0 {
			mine = []Account{{Job: t.ID, State: t.State, Node: t.Node}}
		}
		if err := annotate(t.Run, Settings(f.Backend.About().Name, mine)); err != nil {
			errs = append(errs, fmt.Errorf("%s: the scheduler's record could not be added to its manifest: %w", t.Run, err))
		}
	}
	return errors.Join(errs...)
}
