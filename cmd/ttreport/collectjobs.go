package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/kubernetes"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/plaintext"
)

// schedulerOptions are the flags of a collection that a scheduler places.
type schedulerOptions struct {
	on, node               string
	target                 kubernetes.Target
	detach, follow, cancel bool
	poll                   time.Duration
}

func (o *schedulerOptions) declare(fs *pflag.FlagSet) {
	fs.StringVar(&o.on, "on", "",
		"`scheduler` that places servers and their load: slurm or kubernetes, one job an entry of a plan; see ttreport "+
			"help slurm, ttreport help kubernetes")
	fs.BoolVar(&o.detach, "detach", false, "return when the jobs are submitted")
	fs.BoolVar(&o.follow, "follow", false, "follow the jobs that were submitted last")
	fs.BoolVar(&o.cancel, "cancel", false, "end the jobs that were submitted last")
	fs.StringVar(&o.node, "node", "",
		"same or other: measure on the `node` of the run that history has of an entry's release, or on another one")
	fs.StringVar(&o.target.Context, "context", "",
		"`context` of the kubeconfig, for --on kubernetes (default the current)")
	fs.StringVar(&o.target.Namespace, "namespace", "",
		"`namespace` of the jobs, for --on kubernetes (default the context's)")
	fs.DurationVar(&o.poll, "poll", 10*time.Second, "how often the scheduler is asked")
}

// attaches reports whether the jobs of an earlier command are meant.
func (o schedulerOptions) attaches() bool { return o.on != "" && (o.follow || o.cancel) }

// Values of --node.
const (
	nodeSame  = "same"
	nodeOther = "other"
)

// check refuses flags that do not go together.
func (o schedulerOptions) check() error {
	switch {
	case o.on == "" && (o.detach || o.follow || o.cancel):
		return fail(exitUsage, "ttreport collect --on slurm --follow",
			"collect: --detach, --follow and --cancel are about jobs of a scheduler, and --on names none")
	case o.on != "" && o.on != plan.OnSlurm && o.on != plan.OnKubernetes:
		return fail(exitUsage, "ttreport collect --on slurm",
			"collect: --on %q: the schedulers that can be used are slurm and kubernetes", o.on)
	case o.target != kubernetes.Target{} && o.on != plan.OnKubernetes:
		return fail(exitUsage, "add --on kubernetes", "collect: --context and --namespace are of Kubernetes")
	case o.node != "" && o.node != nodeSame && o.node != nodeOther, o.node != "" && o.on == "":
		return fail(exitUsage, "ttreport collect --on slurm --recheck --node other",
			"collect: --node %q: it is same or other, with --on", o.node)
	case o.follow && o.cancel || o.detach && (o.follow || o.cancel):
		return fail(exitUsage, "leave all but one out", "collect: --detach, --follow and --cancel exclude each other")
	case o.poll <= 0:
		return fail(exitUsage, "--poll 10s", "collect: --poll %s is no interval", o.poll)
	}
	return nil
}

// notOfJobs are flags that a job does not get: they are about the plan, which it has as a file, and about following.
func notOfJobs() []string {
	return []string{"on", "node", "detach", "follow", "cancel", "poll", "plan", "input", "recheck", "dry-run", "out",
		"no-resume", "lock-timeout", "context", "namespace"}
}

// givenFlags returns the flags that were given, as arguments for a job.
func givenFlags(fs *pflag.FlagSet) []string {
	var out []string
	fs.Visit(func(f *pflag.Flag) {
		if slices.Contains(notOfJobs(), f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(interface{ GetSlice() []string }); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			out = append(out, "--"+f.Name+"="+v)
		}
	})
	return out
}

// onScheduler submits the entries of a plan as jobs and follows them, or follows or ends those of an earlier command.
func (o collectOptions) onScheduler(
	ctx context.Context, sh *shell, ws *workspace.Workspace, entries []plan.Entry,
) error {
	state, err := filepath.Abs(filepath.Join(ws.State(), o.scheduler.on))
	if err != nil {
		return err
	}
	if o.scheduler.attaches() {
		return o.attachJobs(ctx, sh, ws, state)
	}
	at, missing := o.scheduler.placing(o.scheduler.target)
	s, err := o.submission(ctx, sh, ws, entries, at)
	if err != nil {
		return err
	}
	s = engine.Prepare(*s, state, s.Out, time.Now())
	for _, g := range s.Groups {
		sh.say("%-9s array of %s: %s", o.scheduler.on, plaintext.Plural(len(g.Entries), "job"), g)
	}
	if o.dryRun {
		return at.print(sh.out, s)
	}
	if missing != nil {
		return o.jobsError(missing)
	}
	if !o.Run.NoResume {
		switch earlier, err := engine.Newest(state, s.Digest); {
		case err != nil:
			return failure{code: exitInput, err: err}
		case earlier != nil:
			sh.say("%-9s the same plan is under way since %s; it is followed", o.scheduler.on, earlier.Since())
			return o.followJobs(ctx, sh, earlier)
		}
	}
	if s, err = at.accepted(ctx, s); err != nil {
		return o.jobsError(err)
	}
	if err := s.Write(func(g engine.Group) (string, error) { return at.text(s, g) }); err != nil {
		return failure{code: exitCollect, err: fmt.Errorf("collect: %w", err)}
	}
	return o.followJobs(ctx, sh, s)
}

// attachJobs follows or ends the jobs of an earlier command.
func (o collectOptions) attachJobs(ctx context.Context, sh *shell, ws *workspace.Workspace, state string) error {
	s, err := engine.Newest(state, "")
	switch {
	case err != nil:
		return failure{code: exitInput, err: err}
	case s == nil:
		return fail(exitUsage, "ttreport collect --on "+o.scheduler.on+" submits the plan",
			"collect: no jobs are under way in %s", ws.Dir)
	case o.scheduler.cancel:
		at, err := o.scheduler.placing(kubernetes.Target(s.Target))
		if err != nil {
			return o.jobsError(err)
		}
		at.begin(ctx, s)
		return o.cancelJobs(ctx, sh, s, at)
	}
	return o.followJobs(ctx, sh, s)
}

// submission makes jobs of entries; nothing is written.
func (o collectOptions) submission(
	ctx context.Context, sh *shell, ws *workspace.Workspace, entries []plan.Entry, at placing,
) (*engine.Submission, error) {
	entries, err := o.forJobs(ctx, ws, entries)
	if err != nil {
		return nil, err
	}
	sub := engine.Submission{
		Engine: o.scheduler.on, Suffix: at.suffix, Target: at.target, Args: o.given(), After: o.Server.Args,
	}
	for _, args := range [][]string{sub.Args, sub.After, o.Server.RunArgs} {
		if err := o.scheduler.withoutSecret(args); err != nil {
			return nil, err
		}
	}
	if sub.Workspace, err = filepath.Abs(ws.Dir); err == nil {
		sub.Program, err = os.Executable()
	}
	if err == nil {
		sub.Out, err = filepath.Abs(cmp.Or(o.out, ws.Results()))
	}
	if err != nil {
		return nil, err
	}
	others := map[string]bool{}
	for i, e := range entries {
		j, err := o.jobOf(ctx, sh, ws, i+1, e)
		if err != nil {
			return nil, err
		}
		if err := o.ownResources(&j, others); err != nil {
			return nil, err
		}
		sub.Jobs = append(sub.Jobs, j)
	}
	if len(others) > 0 {
		sh.say("%-9s not used of resources, because they are of another scheduler: %s", o.scheduler.on,
			strings.Join(slices.Sorted(maps.Keys(others)), ", "))
	}
	if err := at.check(sub.Jobs); err != nil {
		return nil, o.jobsError(err)
	}
	if o.scheduler.on == plan.OnKubernetes {
		sub.Args = podArgs(sub)
	}
	return &sub, nil
}

// ownResources leaves a job the resources that its scheduler has a word for, adds the names of the rest to others, and
// refuses nodes that no client would use.
func (o collectOptions) ownResources(j *engine.Job, others map[string]bool) error {
	own, of := j.Resources.For(o.scheduler.on)
	for _, name := range of {
		others[name] = true
	}
	j.Resources = own
	if n := own.Nodes; n != "" && n != "1" && o.Measure.Clients <= 1 {
		return fail(exitUsage, "add --clients "+n+", of which each node gets one",
			"collect: %s: resources: nodes: %s, and one client uses one of them", j.Name, n)
	}
	return nil
}

// forJobs are the entries that become jobs.
func (o collectOptions) forJobs(
	ctx context.Context, ws *workspace.Workspace, entries []plan.Entry,
) ([]plan.Entry, error) {
	if len(entries) == 0 && o.System.Model != "" {
		entries = []plan.Entry{{Model: o.System.Model, Device: o.System.Device}}
	}
	if len(entries) == 0 {
		return nil, fail(exitUsage, "name a plan: --plan FILE, plans: in ttreport.yaml, or --model with --device",
			"collect: there is nothing to measure with --on %s", o.scheduler.on)
	}
	if o.serverOnly {
		return nil, fail(exitUsage, "leave one of them out",
			"collect: --server-only leaves a server running, and %s ends it with its job", o.scheduler.title())
	}
	if err := o.scheduler.place(ctx, ws, entries); err != nil {
		return nil, err
	}
	if len(entries) > engine.MostJobs {
		return nil, fail(exitUsage, "split the plan", "collect: the plan has %d entries, and an array at most %d",
			len(entries), engine.MostJobs)
	}
	return entries, nil
}
