package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/collect/plan"
)

// cluster is a scheduler of a test: a clock, and what it does at each question.
type cluster struct {
	t        *testing.T
	sub      *Submission
	clock    time.Time
	orders   []Array
	records  []JobStatus
	accounts []Account
	noSacct  bool
	lose     bool   // a submission arrives, and its answer does not
	refuse   string // the reason for which it takes no job
	detach   bool
	taken    func(Array)             // at each submission
	noSubmit bool                    // it answers questions alone
	step     func(c *cluster, n int) // before the n-th look at the queue
	asked    int
	away     func(time.Duration) bool // by the time since the start
	began    time.Time
	fetch    func(JobStatus) error
	most     time.Duration // that the controller was away
}

func (c *cluster) gone() error {
	if c.away != nil && c.away(c.clock.Sub(c.began)) {
		return fmt.Errorf("%w: Connection refused", ErrUnavailable)
	}
	return nil
}

func (c *cluster) About() About {
	return About{Name: "slurm", Server: "the controller", Succeeded: "COMPLETED"}
}
func (c *cluster) Flags(*pflag.FlagSet)                                        {}
func (c *cluster) Find(context.Context) (Target, error)                        { return Target{}, nil }
func (c *cluster) Render(*Submission, Group) (string, error)                   { return "", nil }
func (c *cluster) Check(_ context.Context, s *Submission) (*Submission, error) { return s, nil }
func (c *cluster) Fetch(_ context.Context, _ *Submission, r JobStatus) error {
	if c.fetch == nil {
		return nil
	}
	return c.fetch(r)
}
func (c *cluster) Cancel(context.Context, *Submission, []JobStatus) error {
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

func (c *cluster) Queue(_ context.Context, _ *Submission, names []string) ([]JobStatus, error) {
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
	other := func(r JobStatus) bool { return !slices.Contains(names, r.Name) }
	return slices.DeleteFunc(slices.Clone(c.records), other), nil
}

func (c *cluster) Submit(_ context.Context, _ *Submission, o Array) (string, error) {
	if err := c.gone(); err != nil {
		return "", err
	}
	if c.noSubmit {
		return "", fmt.Errorf("%w: Connection refused", ErrUnavailable)
	}
	if c.refuse != "" {
		return "", fmt.Errorf("%w: %s", ErrRefused, c.refuse)
	}
	if c.taken != nil {
		c.taken(o)
	}
	c.orders = append(c.orders, o)
	id := fmt.Sprint(100 * len(c.orders))
	for _, e := range o.Entries {
		c.records = append(c.records, JobStatus{Name: o.Name, Array: id, Entry: e, State: "PENDING", Reason: "Resources"})
	}
	if c.lose {
		c.lose = false
		return "", fmt.Errorf("%w: Socket timed out", ErrUnavailable)
	}
	return id, nil
}

func (c *cluster) Accounts(_ context.Context, _ *Submission, names []string, _ time.Time) ([]Account, error) {
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
	if err := s.Write(func(*Submission, Group) (string, error) { return "", nil }); err != nil {
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
		Submission: s, Backend: c, Poll: 10 * time.Second, Now: func() time.Time { return c.clock }, Detach: c.detach,
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
