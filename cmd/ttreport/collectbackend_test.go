package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/collect/engine"
)

// batch is a third scheduler: at(1), if you like. It runs the jobs of an array one after the other when it gets it.
type batch struct {
	queue string // of its flag
	jobs  []engine.JobStatus
}

func (*batch) About() engine.About {
	return engine.About{Name: "batch", Title: "Batch", Server: "atd", Succeeded: "DONE", Suffix: ".txt", Between: "\n",
		File: "the list of the job", FixMissing: "start atd"}
}

func (b *batch) Flags(fs *pflag.FlagSet) {
	fs.StringVar(&b.queue, "at-queue", "", "`letter` of the queue, for --on batch")
}

func (b *batch) Find(context.Context) (engine.Target, error) {
	return engine.Target{Namespace: b.queue}, nil
}

func (*batch) Render(s *engine.Submission, g engine.Group) (string, error) {
	return fmt.Sprintf("queue %s: %d jobs of %s\n", s.Target.Namespace, len(g.Entries), s.NameOf(g.Entries[0])), nil
}

func (*batch) Check(_ context.Context, s *engine.Submission) (*engine.Submission, error) {
	if s.Target.Namespace == "z" {
		return nil, &engine.RefusedError{Job: s.Jobs[0].Name, Why: "z is for the night", Have: "a, b"}
	}
	return s, nil
}

func (b *batch) Submit(ctx context.Context, s *engine.Submission, a engine.Array) (string, error) {
	for _, entry := range a.Entries {
		var log bytes.Buffer
		args := append([]string{"collect", "--once", "--plan", s.EntryOf(entry), "--out", s.OutOf(entry)}, s.Args...)
		j := engine.JobStatus{Name: a.Name, Array: "7", Entry: entry, State: "DONE", Phase: engine.Succeeded, Node: "here"}
		if run(ctx, args, strings.NewReader(""), &log, &log) != 0 {
			j.State, j.Phase = "BROKEN", engine.Failed
		}
		if err := os.WriteFile(s.LogOf(entry), log.Bytes(), 0o600); err != nil {
			return "", err
		}
		b.jobs = append(b.jobs, j)
	}
	return "7", nil
}

func (b *batch) Queue(context.Context, *engine.Submission, []string) ([]engine.JobStatus, error) {
	return b.jobs, nil
}

func (*batch) Accounts(context.Context, *engine.Submission, []string, time.Time) ([]engine.Account, error) {
	return nil, engine.ErrNoAccounting
}

func (*batch) Fetch(context.Context, *engine.Submission, engine.JobStatus) error    { return nil }
func (*batch) Cancel(context.Context, *engine.Submission, []engine.JobStatus) error { return nil }

// A scheduler is one implementation of an interface: flags, help, files, refusals, following and results come of it.
func TestAnotherScheduler(t *testing.T) {
	t.Chdir(t.TempDir())
	plan := "plans:\n"
	for i := range 2 {
		plan += fmt.Sprintf("- {model: sim-8b, device: simulated, server: sim, release: v%d, only: benchmarks, "+
			"workloads: ['isl=8,osl=4,c=1,n=4'], resources: {cpus: 1, gres: 'gpu:1', image: x}}\n", i)
	}
	if err := os.WriteFile("plan.yaml", []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	collect := func(args ...string) (code int, out string) {
		var said bytes.Buffer
		o := collectOptions{sh: &shell{in: strings.NewReader(""), out: &said, err: &said}}
		o.scheduler.backends = []engine.Backend{&batch{}}
		c := command("collect", nil, nil)
		o.declare(c)
		fs := c.Flags()
		if err := fs.Parse(append([]string{"--plan", "plan.yaml", "--poll", "1ms"}, args...)); err != nil {
			t.Fatal(err)
		}
		if err := o.collect(t.Context()); err != nil {
			fmt.Fprintf(&said, "%v %s", err, fs.Lookup("on").Usage)
			return 1, said.String()
		}
		return 0, said.String()
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--on batch --at-queue a --dry-run", 0, "queue a: 2 jobs of sim-8b on simulated, v0\n"},
		{"--on batch --at-queue a --dry-run", 0, "resources of another scheduler are ignored: gres, image"},
		{"--on slurm --at-queue a", 1, "collect: --at-queue needs --on batch"},
		{"--on batch --at-queue z", 1, "resources: z is for the night"},
		{"--on at", 1, "--on must be batch or slurm or kubernetes, got \"at\""},
		{"--on at", 1, "`scheduler` that runs servers and their load: batch or slurm or kubernetes"},
		{"--on batch", 0, "2 measurements made"}, {"--on batch --retry", 0, "nothing is left to measure"},
		{"--on batch --follow", 1, "no jobs are under way"},
	} {
		if code, said := collect(strings.Fields(c.args)...); code != c.code || !strings.Contains(said, c.want) {
			t.Errorf("%s: exit %d: %s", c.args, code, said)
		}
	}
}
