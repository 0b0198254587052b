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
		if s, err := Newest(filepath.Dir(c.sub.Dir), "", false); err != nil || s != nil {
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
	if err := c.sub.Write(func(*Submission, Group) (string, error) { return "", nil }); err != nil {
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
		c.fetch = func(r JobStatus) error {
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
	f := Follower{Submission: &s, Backend: c, Poll: time.Second, Show: func(View) {}}
	if _, err := f.Run(context.Background()); err == nil || len(c.orders) != 0 {
		t.Errorf("%v, %d submissions", err, len(c.orders))
	}
}
