package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
)

// cluster is a scheduler of a test: a clock, and what it does at each question.
type cluster struct {
	t        *testing.T
	sub      *Submission
	clock    time.Time
	orders   []Order
	records  []Record
	accounts []Account
	noSacct  bool
	lose     bool                    // a submission arrives, and its answer does not
	refuse   string                  // the reason for which it takes no job
	step     func(c *cluster, n int) // before the n-th look at the queue
	asked    int
	away     func(time.Duration) bool // by the time since the start
	began    time.Time
	fetch    func(Record) error
	most     time.Duration // that the controller was away
}

func (c *cluster) gone() error {
	if c.away != nil && c.away(c.clock.Sub(c.began)) {
		return fmt.Errorf("%w: Connection refused", ErrAway)
	}
	return nil
}

func (c *cluster) Words() Words { return Words{"slurm", "the controller", "COMPLETED"} }
func (c *cluster) Fetch(_ context.Context, r Record, _, _ string) error {
	if c.fetch == nil {
		return nil
	}
	return c.fetch(r)
}
func (c *cluster) Cancel(context.Context, []Record, func(Record) (string, string)) error {
	return nil
}

// phase is what Slurm's words mean.
func phase(state string) Phase {
	switch state {
	case "PENDING", "RUNNING":
		return Active
	case "COMPLETED":
		return Succeeded
	case "TIMEOUT":
		return OutOfTime
	case "NODE_FAIL", "PREEMPTED":
		return Disrupted
	}
	return Failed
}

func (c *cluster) Queue(_ context.Context, names []string) ([]Record, error) {
	c.asked++
	if c.asked > 1000 {
		c.t.Fatal("it does not end")
	}
	if err := c.gone(); err != nil {
		return nil, err
	}
	if c.step != nil {
		c.step(c, c.asked)
	}
	return slices.DeleteFunc(slices.Clone(c.records), func(r Record) bool { return !slices.Contains(names, r.Name) }), nil
}

func (c *cluster) Submit(_ context.Context, o Order) (string, error) {
	if err := c.gone(); err != nil {
		return "", err
	}
	if c.refuse != "" {
		return "", fmt.Errorf("%w: %s", ErrRefused, c.refuse)
	}
	c.orders = append(c.orders, o)
	id := fmt.Sprint(100 * len(c.orders))
	for _, e := range o.Entries {
		c.records = append(c.records, Record{Name: o.Name, Array: id, Entry: e, State: "PENDING", Reason: "Resources"})
	}
	if c.lose {
		c.lose = false
		return "", fmt.Errorf("%w: Socket timed out", ErrAway)
	}
	return id, nil
}

func (c *cluster) Accounts(_ context.Context, names []string, _ time.Time) ([]Account, error) {
	if c.noSacct {
		return nil, ErrNoAccounting
	}
	other := func(a Account) bool { return !slices.Contains(names, a.Name) }
	return slices.DeleteFunc(slices.Clone(c.accounts), other), nil
}

// set sets the state of the newest job of an entry.
func (c *cluster) set(entry int, state string) {
	for i := range slices.Backward(c.records) {
		if c.records[i].Entry == entry {
			c.records[i].State, c.records[i].Phase, c.records[i].Reason = state, phase(state), "None"
			return
		}
	}
}

// measure writes the journal of an entry's run: so many points of two, and its end where both are done.
func (c *cluster) measure(entry, points int) {
	dir := filepath.Join(c.sub.OutOf(entry), "20260101T000000Z-m-d-abc")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		c.t.Fatal(err)
	}
	text := `{"time":"2026-01-01T00:00:00Z","event":"run-start","item":"r","result":"d"}` + "\n"
	for i := range points {
		text += fmt.Sprintf(`{"time":"2026-01-01T00:00:00Z","event":"point-done","item":"p%d"}`+"\n", i)
	}
	if points == 2 {
		text += `{"time":"2026-01-01T00:00:00Z","event":"run-done"}` + "\n"
	}
	for name, data := range map[string]string{"journal.jsonl": text, "ttreport.manifest.yaml": "release: v1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o666); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *cluster) facts(entry int) string {
	names, _ := filepath.Glob(filepath.Join(c.sub.OutOf(entry), "*", "ttreport.manifest.yaml"))
	data, err := os.ReadFile(strings.Join(names, ""))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(data)
}

// submitted makes a submission of n jobs that are alike, and a cluster for it.
func submitted(t *testing.T, n int, r plan.Resources) *cluster {
	t.Helper()
	dir := t.TempDir()
	var jobs []Job
	for i := range n {
		jobs = append(jobs, Job{
			Entry: i + 1, Name: fmt.Sprintf("m%d on d", i+1), Total: 2, Resources: r, Limit: 15 * time.Minute,
			Plan: fmt.Appendf(nil, "plans: [{model: m%d}]\n", i),
		})
	}
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := Prepare(Submission{Engine: "slurm", Workspace: dir, Program: "/bin/ttreport", Jobs: jobs},
		filepath.Join(dir, "state"),
		filepath.Join(dir, "results"), began)
	if err := s.Write(func(Group) (string, error) { return "", nil }); err != nil {
		t.Fatal(err)
	}
	return &cluster{t: t, sub: s, clock: began, began: began}
}

// follow follows from what is on the disk, as a new process does.
func (c *cluster) follow(ctx context.Context) ([]Task, error) {
	s, err := Open(c.sub.Dir)
	if err != nil {
		c.t.Fatal(err)
	}
	f := Follower{
		Submission: s, Scheduler: c, Poll: 10 * time.Second, Now: func() time.Time { return c.clock },
		Show: func(v View) { c.most = max(c.most, v.Away) },
		Sleep: func(ctx context.Context, d time.Duration) error {
			c.clock = c.clock.Add(d)
			return ctx.Err()
		},
	}
	return f.Run(ctx)
}

func (c *cluster) mustFollow() []Task {
	c.t.Helper()
	tasks, err := c.follow(context.Background())
	if err != nil {
		c.t.Fatal(err)
	}
	return tasks
}

// A job that reached its time limit is submitted again with twice the time where we chose it, and with the same where a
// person did; what it had is kept, and the others are left alone.
func TestTimeLimit(t *testing.T) {
	for stated, want := range map[string]time.Duration{"": 30 * time.Minute, "10": 0} {
		c := submitted(t, 3, plan.Resources{Time: stated})
		c.step = func(c *cluster, n int) {
			switch n {
			case 2:
				c.measure(1, 2)
				c.measure(2, 1)
				c.set(1, "COMPLETED")
				c.set(2, "TIMEOUT")
				c.set(3, "RUNNING")
			case 9:
				c.measure(2, 2)
				c.measure(3, 2)
				c.set(2, "COMPLETED")
				c.set(3, "COMPLETED")
			}
		}
		tasks := c.mustFollow()
		if len(c.orders) != 2 || !slices.Equal(c.orders[1].Entries, []int{2}) || c.orders[1].Limit != want ||
			c.orders[0].Retries != 2 || c.orders[1].Retries != 1 {
			t.Errorf("stated %q: orders %+v", stated, c.orders)
		}
		for _, task := range tasks {
			if !task.OK() || task.Done != 2 {
				t.Errorf("%+v", task)
			}
		}
		if s, err := Newest(filepath.Dir(c.sub.Dir), ""); err != nil || s != nil {
			t.Errorf("it is not over: %v %v", s, err)
		}
	}
}

func TestRetriesEnd(t *testing.T) {
	for state, want := range map[string]int{
		"TIMEOUT": 3, "NODE_FAIL": 3, "PREEMPTED": 3, "FAILED": 1, "OUT_OF_MEMORY": 1, "CANCELLED": 1, "COMPLETED": 1,
	} {
		c := submitted(t, 1, plan.Resources{})
		c.step = func(c *cluster, _ int) { c.set(1, state) }
		tasks := c.mustFollow()
		if len(c.orders) != want || tasks[0].OK() || tasks[0].State != state {
			t.Errorf("%s: %d submissions, %+v", state, len(c.orders), tasks[0])
		}
	}
	c := submitted(t, 1, plan.Resources{Retries: "0"})
	c.step = func(c *cluster, _ int) { c.set(1, "TIMEOUT") }
	if c.mustFollow(); len(c.orders) != 1 {
		t.Errorf("no retries are %d submissions", len(c.orders))
	}
}

// What the scheduler started again itself counts.
func TestRestartsCount(t *testing.T) {
	c := submitted(t, 1, plan.Resources{})
	c.step = func(c *cluster, n int) {
		if len(c.records) > 0 {
			c.records[0].Restarts = 1
		}
		c.set(1, "TIMEOUT")
	}
	if c.mustFollow(); len(c.orders) != 2 || c.orders[1].Retries != 0 {
		t.Errorf("%+v", c.orders)
	}
}

// A controller that does not answer for ten minutes ends nothing, and nothing is submitted twice.
func TestControllerAway(t *testing.T) {
	c := submitted(t, 2, plan.Resources{})
	c.away = func(d time.Duration) bool { return d > 30*time.Second && d < 11*time.Minute }
	c.step = func(c *cluster, n int) {
		if c.clock.Sub(c.began) > 11*time.Minute {
			c.measure(1, 2)
			c.measure(2, 2)
			c.records = nil // MinJobAge is over
		}
	}
	tasks := c.mustFollow()
	if len(c.orders) != 1 || !tasks[0].OK() || !tasks[1].OK() || c.most < 10*time.Minute {
		t.Errorf("%d submissions, away for %s, %+v", len(c.orders), c.most, tasks)
	}
}

// The command is killed after each line of the journal, and once before sbatch answers: every array is submitted once.
func TestKilledAnywhere(t *testing.T) {
	for lines := range 8 {
		c := submitted(t, 2, plan.Resources{})
		c.lose = lines%2 == 0
		killed, kill := context.WithCancel(context.Background())
		c.step = func(c *cluster, n int) {
			if data, _ := os.ReadFile(filepath.Join(c.sub.Dir, journalName)); strings.Count(string(data), "\n") >= lines {
				kill()
			}
			if n == 3 {
				c.measure(1, 2)
				c.set(1, "COMPLETED")
				c.measure(2, 1)
				c.set(2, "TIMEOUT")
			}
			if len(c.orders) == 2 && c.records[len(c.records)-1].State == "PENDING" {
				c.measure(2, 2)
				c.set(2, "COMPLETED")
			}
		}
		_, _ = c.follow(killed) // the error is that of the context, if it came that far
		name := filepath.Join(c.sub.Dir, journalName)
		data, _ := os.ReadFile(name)
		if err := os.WriteFile(name, append(data, `{"time":"2026-01-01T00:0`...), 0o666); err != nil { // a torn line
			t.Fatal(err)
		}
		for _, task := range c.mustFollow() {
			if !task.OK() {
				t.Errorf("killed after %d lines: %+v", lines, task)
			}
		}
		names := map[string]int{}
		for _, o := range c.orders {
			names[o.Name]++
		}
		if len(c.orders) != 2 || len(names) != 2 {
			t.Errorf("killed after %d lines: %+v", lines, c.orders)
		}
	}
}

// Killed when the first of several arrays was in the journal, the next command submits the others.
func TestKilledBetweenArrays(t *testing.T) {
	c := submitted(t, 3, plan.Resources{})
	for i := range c.sub.Jobs {
		c.sub.Jobs[i].Resources.Time = fmt.Sprint(10 + i)
	}
	c.sub.Groups = GroupsOf(c.sub.Jobs)
	if err := c.sub.Write(func(Group) (string, error) { return "", nil }); err != nil {
		t.Fatal(err)
	}
	first := c.sub.Groups[0]
	e := event{Event: "submit", Name: c.sub.JobName(first, 0), Group: 1, Left: 2, Entries: first.Entries}
	if err := c.sub.log(e); err != nil {
		t.Fatal(err)
	}
	c.step = func(c *cluster, n int) {
		for i := range c.records {
			c.measure(c.records[i].Entry, 2)
			c.set(c.records[i].Entry, "COMPLETED")
		}
	}
	for _, task := range c.mustFollow() {
		if !task.OK() {
			t.Errorf("%+v", task)
		}
	}
	if len(c.orders) != 3 {
		t.Errorf("%+v", c.orders)
	}
}

// The results of a job are fetched when it has ended, and again when that fails; what cannot be fetched is no success.
func TestResultsAreFetched(t *testing.T) {
	for fails, ok := range map[int]bool{0: true, 2: true, 1000: false} {
		c := submitted(t, 1, plan.Resources{})
		asked := 0
		c.fetch = func(r Record) error {
			if asked++; asked <= fails {
				return errors.New("the log is gone")
			}
			c.measure(r.Entry, 2)
			return nil
		}
		c.step = func(c *cluster, _ int) { c.set(1, "COMPLETED") }
		task := c.mustFollow()[0]
		if task.OK() != ok || len(c.orders) != 1 || !ok && !strings.Contains(task.Reason, "the log is gone") {
			t.Errorf("%d failures: %+v, %d submissions", fails, task, len(c.orders))
		}
	}
}

// Without the queue the accounts say whether an array was submitted, and how a job ended; without both the run folder
// decides.
func TestWhatTheSchedulerForgot(t *testing.T) {
	for _, c := range []struct {
		name    string
		state   string // of the accounts; "" for none
		points  int
		orders  int // further ones
		wantEnd string
	}{
		{"complete, no accounting", "", 2, 0, "COMPLETED"}, {"cut, no accounting", "", 1, 2, Lost},
		{"complete", "COMPLETED", 2, 0, "COMPLETED"}, {"failed", "FAILED", 1, 0, "FAILED"},
	} {
		cl := submitted(t, 1, plan.Resources{})
		o := event{Event: "submit", Name: cl.sub.JobName(cl.sub.Groups[0], 0), Group: 1, Left: 2, Entries: []int{1}}
		if err := cl.sub.log(o); err != nil {
			t.Fatal(err)
		}
		if c.state == "" { // else the command was killed before it learnt the id, and the accounts have it
			if err := cl.sub.log(event{Event: "submitted", Name: o.Name, ID: "7"}); err != nil {
				t.Fatal(err)
			}
		}
		cl.measure(1, c.points)
		cl.noSacct = c.state == ""
		cl.accounts = []Account{{Name: o.Name, Entry: 1, Job: "7_1", State: c.state, Phase: phase(c.state),
			MaxRSS: "4096", Node: "n1"}}
		cl.step = func(cl *cluster, _ int) { cl.records = nil }
		tasks := cl.mustFollow()
		if len(cl.orders) != c.orders || tasks[0].State != c.wantEnd {
			t.Errorf("%s: %d submissions, %+v", c.name, len(cl.orders), tasks[0])
		}
		if facts := cl.facts(1); !strings.Contains(facts, "slurm_state: "+c.wantEnd) ||
			strings.Contains(facts, "4096") == cl.noSacct || !strings.Contains(facts, "release: v1") {
			t.Errorf("%s: %s", c.name, facts)
		}
	}
}

func TestRefused(t *testing.T) {
	c := submitted(t, 2, plan.Resources{})
	c.refuse = "Invalid account"
	tasks, err := c.follow(context.Background())
	if !errors.Is(err, ErrRefused) || tasks[1].State != NotSubmitted || !strings.Contains(tasks[1].Reason, "account") {
		t.Errorf("%v %+v", err, tasks)
	}
}

func TestCancelEndsTheSubmission(t *testing.T) {
	c := submitted(t, 3, plan.Resources{})
	c.step = func(c *cluster, n int) {
		if n == 2 {
			s, _ := Open(c.sub.Dir)
			if k, err := Cancel(context.Background(), s, c, nobody); err != nil || k != 3 {
				t.Errorf("%d %v", k, err)
			}
			for i := range 3 {
				c.set(i+1, "CANCELLED")
			}
		}
	}
	for _, task := range c.mustFollow() {
		if task.State != "CANCELLED" {
			t.Errorf("%+v", task)
		}
	}
	if len(c.orders) != 1 {
		t.Errorf("%+v", c.orders)
	}
}

// On a full disk nothing is submitted: what is about to happen could not be written down.
func TestNothingIsSubmittedWithoutTheJournal(t *testing.T) {
	c := submitted(t, 2, plan.Resources{})
	if err := os.Mkdir(filepath.Join(c.sub.Dir, journalName), 0o777); err != nil { // which cannot be written to
		t.Fatal(err)
	}
	s := *c.sub
	f := Follower{Submission: &s, Scheduler: c, Poll: time.Second, Show: func(View) {}}
	if _, err := f.Run(context.Background()); err == nil || len(c.orders) != 0 {
		t.Errorf("%v, %d submissions", err, len(c.orders))
	}
}
