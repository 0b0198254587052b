package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	retry                  bool
	poll                   time.Duration
}

func (o *schedulerOptions) declare(fs *pflag.FlagSet) {
	fs.StringVar(&o.on, "on", "",
		"`scheduler` that places servers and their load: slurm or kubernetes, one job an entry of a plan; see ttreport "+
			"help slurm, ttreport help kubernetes")
	fs.BoolVar(&o.detach, "detach", false, "return when the jobs are submitted")
	fs.BoolVar(&o.follow, "follow", false, "follow the jobs that were submitted last")
	fs.BoolVar(&o.cancel, "cancel", false, "end the jobs that were submitted last")
	fs.BoolVar(&o.retry, "retry", false, "submit again what the jobs that were submitted last did not measure")
	fs.StringVar(&o.node, "node", "",
		"same or other: measure on the `node` of the run that history has of an entry's release, or on another one")
	fs.StringVar(&o.target.Context, "context", "",
		"`context` of the kubeconfig, for --on kubernetes (default the current)")
	fs.StringVar(&o.target.Namespace, "namespace", "",
		"`namespace` of the jobs, for --on kubernetes (default the context's)")
	fs.DurationVar(&o.poll, "poll", 10*time.Second, "how often the scheduler is asked")
}

// attaches reports whether the jobs of an earlier command are meant.
func (o schedulerOptions) attaches() bool { return o.on != "" && (o.follow || o.cancel || o.retry) }

// Values of --node.
const (
	nodeSame  = "same"
	nodeOther = "other"
)

// check refuses flags that do not go together.
func (o schedulerOptions) check(dryRun bool) error {
	switch {
	case o.on == "" && (o.detach || o.follow || o.cancel || o.retry):
		return fail(exitUsage, "ttreport collect --on slurm --follow",
			"collect: --detach, --follow, --retry and --cancel are about jobs of a scheduler, and --on names none")
	case o.on != "" && o.on != plan.OnSlurm && o.on != plan.OnKubernetes:
		return fail(exitUsage, "ttreport collect --on slurm",
			"collect: --on %q: the schedulers that can be used are slurm and kubernetes", o.on)
	case o.target != kubernetes.Target{} && o.on != plan.OnKubernetes:
		return fail(exitUsage, "add --on kubernetes", "collect: --context and --namespace are of Kubernetes")
	case o.node != "" && o.node != nodeSame && o.node != nodeOther, o.node != "" && o.on == "":
		return fail(exitUsage, "ttreport collect --on slurm --recheck --node other",
			"collect: --node %q: it is same or other, with --on", o.node)
	case o.follow && (o.cancel || o.retry || o.detach) || o.cancel && (o.detach || o.retry):
		return fail(exitUsage, "leave all but one out",
			"collect: --follow, --cancel and --detach or --retry exclude each other")
	case o.attaches() && dryRun:
		return fail(exitUsage, "leave one of them out",
			"collect: --dry-run is about jobs that are not submitted yet; --follow, --cancel and --retry are about others")
	case o.poll <= 0:
		return fail(exitUsage, "--poll 10s", "collect: --poll %s is no interval", o.poll)
	}
	return nil
}

// notOfJobs are flags that a job does not get: they are about the plan, which it has as a file, and about following.
func notOfJobs() []string {
	return []string{"on", "node", "detach", "follow", "cancel", "retry", "poll", "plan", "input", "recheck", "dry-run",
		"out", "no-resume", "lock-timeout", "context", "namespace"}
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
		if err := o.sayLacking(sh, state, s.Digest); err != nil {
			return err
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

// sayLacking says what the last submission of the same plan did not measure: this one measures all of it again.
func (o collectOptions) sayLacking(sh *shell, state, digest string) error {
	last, err := engine.Last(state)
	if err != nil {
		return failure{code: exitInput, err: err}
	}
	if last == nil || last.Digest != digest {
		return nil
	}
	if n := len(last.Lacking()); n > 0 {
		sh.say("%-9s %d of %s of the same plan, submitted %s, did not measure everything: --retry runs these alone, and "+
			"this command all of them", o.scheduler.on, n, plaintext.Plural(len(last.Jobs), "job"), last.Since())
	}
	return nil
}

// retryJobs submits what the last submission did not measure again, and follows it.
func (o collectOptions) retryJobs(ctx context.Context, sh *shell, ws *workspace.Workspace, state string) error {
	s, err := engine.Last(state)
	switch {
	case err != nil:
		return failure{code: exitInput, err: err}
	case s == nil:
		return fail(exitUsage, "ttreport collect --on "+o.scheduler.on+" submits the plan",
			"collect: no jobs were submitted in %s", ws.Dir)
	case !s.Over():
		sh.say("%-9s the jobs of %s are under way; they are followed", o.scheduler.on, s.Since())
		return o.followJobs(ctx, sh, s)
	}
	n, err := s.Again()
	if err != nil {
		return failure{code: exitCollect, err: err}
	}
	if n == 0 {
		fmt.Fprintf(sh.out, "the jobs of %s have complete runs: nothing is left to measure\n", s.Since())
		return nil
	}
	return o.followJobs(ctx, sh, s)
}

// attachJobs follows or ends the jobs of an earlier command, or runs what they lack.
func (o collectOptions) attachJobs(ctx context.Context, sh *shell, ws *workspace.Workspace, state string) error {
	if o.scheduler.retry {
		return o.retryJobs(ctx, sh, ws, state)
	}
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
	n := own.Nodes
	several := n != "" && n != "1"
	if several && o.scheduler.on == plan.OnKubernetes && n != strconv.Itoa(o.Measure.Clients) {
		return fail(exitUsage, "add --clients "+n+", or state as many nodes: as there are clients",
			"collect: %s: resources: nodes: %s, and on Kubernetes each of them has one client, of --clients %d", j.Name, n,
			o.Measure.Clients)
	}
	if several && o.Measure.Clients <= 1 {
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
