package engine

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
)

// What a submission that is over lacks is submitted again, with all its retries, and nothing else. What is measured
// stays in its folder.
func TestAgain(t *testing.T) {
	c := submitted(t, 3, plan.Resources{Retries: "1"})
	c.step = func(c *cluster, n int) {
		switch {
		case n == 2:
			c.measure(1, 2)
			c.measure(2, 1)
			c.set(1, "COMPLETED")
			c.set(2, "FAILED")
			c.set(3, "TIMEOUT")
		case n == 9:
			c.set(3, "TIMEOUT") // its only retry, too
		}
	}
	if tasks := c.mustFollow(); !tasks[0].OK() || tasks[1].OK() || tasks[2].OK() || len(c.orders) != 2 {
		t.Fatalf("%+v %+v", c.orders, tasks)
	}
	state := filepath.Dir(c.sub.Dir)
	s, err := Newest(state, "", true)
	if err != nil || !slices.Equal(s.Lacking(), []int{2, 3}) {
		t.Fatalf("%v %v", err, s.Lacking())
	}
	if n, err := s.Again(); n != 2 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	if n, err := s.Again(); n != 0 || err == nil {
		t.Errorf("again while it is under way: %d", n)
	}
	if open, err := Newest(state, "", false); err != nil || open == nil {
		t.Errorf("it is still over: %v", err)
	}
	asked := c.asked
	c.step = func(c *cluster, n int) {
		switch n - asked {
		case 2:
			c.measure(2, 2)
			c.set(2, "COMPLETED")
			c.set(3, "TIMEOUT")
		case 9:
			c.measure(3, 2)
			c.set(3, "COMPLETED")
		}
	}
	for i, task := range c.mustFollow() {
		if !task.OK() {
			t.Errorf("%d: %+v", i, task)
		}
	}
	names := map[string]bool{}
	for _, o := range c.orders {
		names[o.Name] = true
	}
	if len(c.orders) != 5 || len(names) != 5 || c.orders[2].Retries != 1 || c.orders[4].Limit != 30*time.Minute {
		t.Errorf("%+v", c.orders)
	}
	if s, err = Newest(state, "", true); err != nil || !s.Over() {
		t.Error(err)
	}
	if n, err := s.Again(); n != 0 || err != nil {
		t.Errorf("%d are left: %v", n, err)
	}
}

// Of two submissions within one second the later one is the last, whatever their names end with.
func TestLastWithinASecond(t *testing.T) {
	dir := t.TempDir()
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 8 {
		s := Prepare(Submission{Engine: "slurm", Jobs: []Job{{Entry: 1, Plan: []byte{byte('0' + i)}}}}, dir, dir,
			began.Add(time.Duration(i)*30*time.Millisecond))
		if err := s.Write(func(*Submission, Group) (string, error) { return "", nil }); err != nil {
			t.Fatal(err)
		}
		if last, err := Newest(dir, "", true); err != nil || last.ID != s.ID {
			t.Errorf("%d: %v, %v is not %s", i, err, last, s.ID)
		}
	}
}

// One that was cancelled before anything was submitted is submitted as it was made.
func TestAgainOfNothing(t *testing.T) {
	c := submitted(t, 2, plan.Resources{Retries: "1"})
	if _, err := Cancel(t.Context(), c.sub, c, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	if n, err := c.sub.Again(); n != 2 || err != nil {
		t.Fatalf("%d %v", n, err)
	}
	c.step = func(c *cluster, n int) {
		if n > 2 {
			c.set(1, "TIMEOUT")
			c.measure(2, 2)
			c.set(2, "COMPLETED")
		}
	}
	if c.mustFollow(); len(c.orders) != 2 || len(c.orders[0].Entries) != 2 || c.orders[0].Retries != 1 {
		t.Errorf("%+v", c.orders)
	}
}

// An array that was refused, or cancelled before the scheduler had it, is not submitted beside the ones that take its
// place: every entry runs once.
func TestAgainOfWhatWasNeverSubmitted(t *testing.T) {
	refused := func(c *cluster) {
		c.refuse = "invalid partition"
		if _, err := c.follow(t.Context()); !errors.Is(err, ErrRefused) {
			t.Errorf("%v", err)
		}
		c.refuse = ""
	}
	cancelled := func(c *cluster) {
		ctx, kill := context.WithCancel(t.Context())
		c.noSubmit = true
		c.step = func(_ *cluster, n int) {
			if n == 2 {
				kill()
			}
		}
		if _, err := c.follow(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		c.noSubmit = false
		s, err := Open(c.sub.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Cancel(t.Context(), s, c, func(int, int) {}); err != nil {
			t.Error(err)
		}
	}
	for what, never := range map[string]func(*cluster){"refused": refused, "cancelled": cancelled} {
		c := submitted(t, 2, plan.Resources{})
		never(c)
		s, err := Newest(filepath.Dir(c.sub.Dir), "", true)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := s.Again(); n != 2 || err != nil {
			t.Fatalf("%s: %d %v", what, n, err)
		}
		asked := c.asked
		c.step = func(c *cluster, n int) {
			if n == asked+3 {
				for _, entry := range []int{1, 2} {
					c.measure(entry, 2)
					c.set(entry, "COMPLETED")
				}
			}
		}
		tasks := c.mustFollow()
		var entries []int
		for _, o := range c.orders {
			entries = append(entries, o.Entries...)
		}
		if slices.Sort(entries); !slices.Equal(entries, []int{1, 2}) || !tasks[0].OK() || !tasks[1].OK() {
			t.Errorf("%s: submitted %v: %+v", what, entries, tasks)
		}
	}
}

// alone makes the entries of a cluster ones that measure a server that runs already, and fails the test when two
// arrays, or two entries of those that are submitted alone, are under way at once.
func (c *cluster) alone() {
	for i := range c.sub.Groups {
		c.sub.Groups[i].Server = Server{URL: "http://svc"}
	}
	if err := c.sub.Write(func(*Submission, Group) (string, error) { return "", nil }); err != nil {
		c.t.Fatal(err)
	}
	c.taken = func(o Array) {
		for _, r := range c.records {
			if r.Phase == Active {
				c.t.Errorf("%s is submitted beside %s_%d, which is %s", o.Name, r.Name, r.Entry, r.State)
			}
		}
	}
}

// Entries that measure one server are submitted again one after the other: by --retry, and when one of them reaches its
// time limit while the others of its array wait.
func TestAgainOneByOne(t *testing.T) {
	c := submitted(t, 3, plan.Resources{Retries: "1"})
	c.alone()
	c.step = func(c *cluster, n int) {
		switch n {
		case 3:
			c.set(1, "TIMEOUT")
			c.set(2, "RUNNING")
		case 20:
			c.set(2, "FAILED")
			c.set(3, "FAILED")
		case 30:
			c.set(1, "FAILED")
		}
	}
	if c.mustFollow(); len(c.orders) != 2 {
		t.Fatalf("%+v", c.orders)
	}
	s, err := Newest(filepath.Dir(c.sub.Dir), "", true)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Again(); n != 3 || err != nil {
		t.Fatalf("%d %v", n, err)
	}
	asked := c.asked
	c.step = func(c *cluster, n int) {
		if entry := (n - asked) / 10; (n-asked)%10 == 0 && entry >= 1 && entry <= 3 {
			c.measure(entry, 2)
			c.set(entry, "COMPLETED")
		}
	}
	for _, task := range c.mustFollow() {
		if !task.OK() {
			t.Errorf("%+v", task)
		}
	}
	if len(c.orders) != 5 {
		t.Errorf("%+v", c.orders)
	}
}

// Who does not follow is told of what waits; the next follower submits it.
func TestAgainOneByOneDetached(t *testing.T) {
	c := submitted(t, 2, plan.Resources{Retries: "0"})
	c.alone()
	c.step = func(c *cluster, _ int) { c.set(1, "FAILED"); c.set(2, "FAILED") }
	c.mustFollow()
	if s, err := Newest(filepath.Dir(c.sub.Dir), "", true); err != nil {
		t.Fatal(err)
	} else if n, err := s.Again(); n != 2 || err != nil {
		t.Fatalf("%d %v", n, err)
	}
	c.step, c.detach = nil, true
	tasks := c.mustFollow()
	if len(c.orders) != 2 || tasks[0].ID != "200_1" || tasks[1].ID != "" || tasks[1].Reason == "" {
		t.Errorf("%d orders, %+v", len(c.orders), tasks)
	}
	c.step, c.detach = func(c *cluster, _ int) {
		for _, o := range c.orders[1:] {
			c.measure(o.Entries[0], 2)
			c.set(o.Entries[0], "COMPLETED")
		}
	}, false
	if tasks := c.mustFollow(); len(c.orders) != 3 || !tasks[0].OK() || !tasks[1].OK() {
		t.Errorf("%d orders, %+v", len(c.orders), tasks)
	}
}

// What is not sent because another array was refused has ended, too.
func TestOneIsRefused(t *testing.T) {
	c := submitted(t, 2, plan.Resources{})
	c.sub.Groups = []Group{c.sub.Groups[0], c.sub.Groups[0]}
	for i := range c.sub.Groups {
		c.sub.Groups[i].Number, c.sub.Groups[i].Entries = i+1, []int{i + 1}
	}
	if err := c.sub.Write(func(*Submission, Group) (string, error) { return "", nil }); err != nil {
		t.Fatal(err)
	}
	c.refuse = "Invalid account"
	tasks, err := c.follow(t.Context())
	if !errors.Is(err, ErrRefused) || !tasks[1].Ended || tasks[1].Reason != "another job of this plan was refused" {
		t.Errorf("%v %+v", err, tasks)
	}
}
