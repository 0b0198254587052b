package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/engine/slurm"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/progress"
	"github.com/ttreport/ttreport/collect/session"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
)

// slurmOptions are the flags of a collection that a scheduler places.
type slurmOptions struct {
	on, node               string
	detach, follow, cancel bool
	poll                   time.Duration
}

func (o *slurmOptions) declare(fs *pflag.FlagSet) {
	fs.StringVar(&o.on, "on", "",
		"`scheduler` that places servers and their load: slurm, one job an entry of a plan; see ttreport help slurm")
	fs.BoolVar(&o.detach, "detach", false, "return when the jobs are submitted")
	fs.BoolVar(&o.follow, "follow", false, "follow the jobs that were submitted last")
	fs.BoolVar(&o.cancel, "cancel", false, "end the jobs that were submitted last")
	fs.StringVar(&o.node, "node", "",
		"same or other: measure on the `node` of the run that history has of an entry's release, or on another one")
	fs.DurationVar(&o.poll, "poll", 10*time.Second, "how often the scheduler is asked")
}

// attaches reports whether the jobs of an earlier command are meant.
func (o slurmOptions) attaches() bool { return o.on != "" && (o.follow || o.cancel) }

// Values of --node.
const (
	nodeSame  = "same"
	nodeOther = "other"
)

// check refuses flags that do not go together.
func (o slurmOptions) check() error {
	switch {
	case o.on == "" && (o.detach || o.follow || o.cancel):
		return fail(exitUsage, "ttreport collect --on slurm --follow",
			"collect: --detach, --follow and --cancel are about jobs of a scheduler, and --on names none")
	case o.on != "" && o.on != "slurm":
		return fail(exitUsage, "ttreport collect --on slurm",
			"collect: --on %q: the scheduler that can be used is slurm", o.on)
	case o.node != "" && o.node != nodeSame && o.node != nodeOther, o.node != "" && o.on == "":
		return fail(exitUsage, "ttreport collect --on slurm --recheck --node other",
			"collect: --node %q: it is same or other, with --on slurm", o.node)
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
		"no-resume", "lock-timeout"}
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

// onSlurm submits the entries of a plan as jobs and follows them, or follows or ends those of an earlier command.
func (o collectOptions) onSlurm(
	ctx context.Context, sh *shell, ws *workspace.Workspace, entries []plan.Entry,
) error {
	state, err := filepath.Abs(filepath.Join(ws.State(), "slurm"))
	if err != nil {
		return err
	}
	var cluster slurm.Programs
	if o.slurm.attaches() {
		return o.attachSlurm(ctx, sh, ws, state)
	}
	s, err := o.submission(ctx, sh, ws, entries, state)
	if err != nil {
		return err
	}
	if o.dryRun {
		for _, text := range s.Scripts() {
			fmt.Fprintf(sh.out, "%s\n", text)
		}
		return nil
	}
	if err := cluster.Installed(); err != nil {
		return slurmError(err)
	}
	if !o.Run.NoResume {
		switch earlier, err := slurm.Newest(state, s.Digest); {
		case err != nil:
			return failure{code: exitInput, err: err}
		case earlier != nil:
			sh.say("slurm     the same plan is under way since %s; it is followed", earlier.Since())
			return o.followSlurm(ctx, sh, earlier, cluster)
		}
	}
	if s, err = s.Accepted(ctx, cluster); err != nil {
		return slurmError(err)
	}
	if err := s.Write(); err != nil {
		return failure{code: exitCollect, err: fmt.Errorf("collect: %w", err)}
	}
	return o.followSlurm(ctx, sh, s, cluster)
}

// attachSlurm follows or ends the jobs of an earlier command.
func (o collectOptions) attachSlurm(ctx context.Context, sh *shell, ws *workspace.Workspace, state string) error {
	var cluster slurm.Programs
	s, err := slurm.Newest(state, "")
	switch {
	case err != nil:
		return failure{code: exitInput, err: err}
	case s == nil:
		return fail(exitUsage, "ttreport collect --on slurm submits the plan",
			"collect: no jobs are under way in %s", ws.Dir)
	case o.slurm.cancel:
		return cancelSlurm(ctx, sh, s, cluster)
	}
	return o.followSlurm(ctx, sh, s, cluster)
}

// submission makes jobs of entries; nothing is written.
func (o collectOptions) submission(
	ctx context.Context, sh *shell, ws *workspace.Workspace, entries []plan.Entry, state string,
) (*slurm.Submission, error) {
	if len(entries) == 0 && o.System.Model != "" {
		entries = []plan.Entry{{Model: o.System.Model, Device: o.System.Device}}
	}
	if len(entries) == 0 {
		return nil, fail(exitUsage, "name a plan: --plan FILE, plans: in ttreport.yaml, or --model with --device",
			"collect: there is nothing to measure with --on slurm")
	}
	if o.serverOnly {
		return nil, fail(exitUsage, "leave one of them out",
			"collect: --server-only leaves a server running, and Slurm ends it with its job")
	}
	if err := o.slurm.place(ctx, ws, entries); err != nil {
		return nil, err
	}
	if len(entries) > slurm.MostJobs {
		return nil, fail(exitUsage, "split the plan", "collect: the plan has %d entries, and an array at most %d",
			len(entries), slurm.MostJobs)
	}
	sub := slurm.Submission{Args: o.given(), After: o.Server.Args}
	err := withoutSecret(slices.Concat(sub.Args, sub.After))
	if err != nil {
		return nil, err
	}
	if sub.Workspace, err = filepath.Abs(ws.Dir); err != nil {
		return nil, err
	}
	if sub.Program, err = os.Executable(); err != nil {
		return nil, err
	}
	results, err := filepath.Abs(cmp.Or(o.out, ws.Results()))
	if err != nil {
		return nil, err
	}
	for i, e := range entries {
		j, err := o.slurmJob(ctx, sh, ws, i+1, e)
		if err != nil {
			return nil, err
		}
		sub.Jobs = append(sub.Jobs, j)
	}
	s := slurm.Prepare(sub, state, results, time.Now())
	for _, g := range s.Groups {
		sh.say("slurm     array of %s: %s", plaintext.Plural(len(g.Entries), "job"), g)
	}
	return s, nil
}

// withoutSecret refuses arguments with secrets.
func withoutSecret(args []string) error {
	for _, a := range args {
		if strings.Contains(redact.Text(a), redact.Mark) {
			return fail(exitUsage, "put it into .env, which the job reads on its node",
				"collect: %s has a secret, which would be written to the script of the job", strings.TrimSpace(redact.Text(a)))
		}
	}
	return nil
}

// slurmJob makes a job of an entry.
func (o collectOptions) slurmJob(
	ctx context.Context, sh *shell, ws *workspace.Workspace, number int, e plan.Entry,
) (slurm.Job, error) {
	one := o
	one.Options, one.dryRun = o.With(e), true
	s, err := session.New(ctx, one.request(sh, ws, newProgress(sh)))
	if err != nil {
		sh.say("plan      %d of the plan cannot be measured", number)
		return slurm.Job{}, planError(err)
	}
	system := s.Options.System
	res := plan.ResourcesOf(e.Resources, ws.Config.Resources, system.Device)
	e.Resources = plan.Resources{}
	text, err := plan.File{Plans: []plan.Entry{e}}.Marshal()
	if err != nil {
		return slurm.Job{}, failure{code: exitUsage, err: fmt.Errorf("plans[%d]: %w", number-1, err)}
	}
	if err := withoutSecret(append(slices.Clone(res.RunArgs), strings.Split(string(text), "\n")...)); err != nil {
		return slurm.Job{}, err
	}
	about := estimate(ctx, ws, s.Plan)
	start := cmp.Or(s.Options.Server.StartupTimeout, 10*time.Minute)
	const eval = 30 * time.Minute // at most, usually
	name := s.Plan.Model.Name + " on " + system.Device
	if system.Release != "" {
		name += ", " + system.Release
	}
	return slurm.Job{
		Entry: number, Name: name, Total: len(s.Plan.Items()), Resources: res,
		Limit: slurm.Derived(about.Total+eval*time.Duration(len(s.Plan.Evals)), start), Plan: text,
	}, nil
}

// followSlurm follows a submission to its end, or until its jobs are submitted.
func (o collectOptions) followSlurm(
	ctx context.Context, sh *shell, s *slurm.Submission, cluster slurm.Cluster,
) error {
	release, err := folderlock.Take(ctx, s.Dir, folderlock.Exclusive, folderlock.Wait{})
	if errors.Is(err, folderlock.ErrHeld) {
		return fail(exitLocked, "its table shows the jobs; end it to follow them here",
			"collect: another process follows these jobs already (%s)", s.Dir)
	}
	if err != nil {
		return failure{code: exitCollect, err: err}
	}
	defer release()
	if s, err = slurm.Open(s.Dir); err != nil { // another process may have followed meanwhile
		return failure{code: exitInput, err: err}
	}
	sh.say("slurm     %s; scripts and logs in %s", plaintext.Plural(len(s.Jobs), "job"), s.Dir)
	leavesRunning(ctx)
	show := progress.NewJobs(jobStream(sh))
	f := slurm.Follower{Submission: s, Cluster: cluster, Poll: o.slurm.poll, Show: show.Show, Detach: o.slurm.detach}
	tasks, err := f.Run(ctx)
	show.End()
	switch {
	case ctx.Err() != nil:
		return leaveSlurm(ctx, sh, s, cluster)
	case err != nil:
		return slurmError(err)
	case o.slurm.detach:
		fmt.Fprintf(sh.out, "%s submitted. Next: ttreport collect --on slurm --follow, or --cancel\n",
			plaintext.Plural(len(tasks), "job"))
		return nil
	}
	return o.endSlurm(sh, s, tasks)
}

// jobStream is where jobs are shown.
func jobStream(sh *shell) progress.Stream {
	to := progress.Stream{Writer: sh.err}
	if fd, ok := terminalOf(sh.err); ok {
		to.Width = func() int { return widthOf(fd) }
	}
	return to
}

// endSlurm prints how the jobs ended.
func (o collectOptions) endSlurm(sh *shell, s *slurm.Submission, tasks []slurm.Task) error {
	progress.WriteJobs(sh.out, slurm.View{Tasks: tasks})
	bad, measured := 0, 0
	for _, t := range tasks {
		measured += t.Done - t.Failed
		if !t.OK() {
			bad++
		}
	}
	paths := []string(nil)
	if o.out != "" {
		paths = []string{s.Out}
	}
	next := shellescape.QuoteCommand(append([]string{"ttreport", "build"}, paths...))
	fmt.Fprintf(sh.out, "%s made; results in %s. Next: %s\n", plaintext.Plural(measured, "measurement"), s.Out, next)
	if bad > 0 {
		return fail(exitCollect, "their logs are in "+s.Dir, "%d of %s did not measure everything", bad,
			plaintext.Plural(len(tasks), "job"))
	}
	return nil
}

// leaveSlurm ends following: a person at a terminal is asked about the jobs, which go on otherwise.
func leaveSlurm(ctx context.Context, sh *shell, s *slurm.Submission, cluster slurm.Cluster) error {
	_, readable := terminalOf(sh.in)
	if _, shown := terminalOf(sh.err); readable && shown {
		answer := make(chan bool, 1)
		go func() { answer <- confirmed(sh.in, sh.err, "the jobs go on without this command. End them?") }()
		select {
		case yes := <-answer:
			if yes {
				return cancelSlurm(context.WithoutCancel(ctx), sh, s, cluster)
			}
		case <-process.Hurry(ctx).Done():
		}
	}
	sh.say("the jobs go on: ttreport collect --on slurm --follow shows them, --cancel ends them")
	return ctx.Err()
}

// cancelSlurm ends the jobs of a submission.
func cancelSlurm(ctx context.Context, sh *shell, s *slurm.Submission, cluster slurm.Cluster) error {
	n, err := slurm.Cancel(ctx, s, cluster)
	if err != nil {
		return slurmError(err)
	}
	fmt.Fprintf(sh.out, "%s cancelled; what was measured until now is kept in %s\n", plaintext.Plural(n, "job"), s.Out)
	return nil
}

// slurmError gives an error of Slurm its exit code and advice.
func slurmError(err error) error {
	var refused *slurm.RefusedError
	switch {
	case errors.As(err, &refused):
		return failure{code: exitUsage, err: fmt.Errorf("collect: %w", err), hint: "this cluster has: " + refused.Have}
	case errors.Is(err, slurm.ErrNoSlurm):
		return failure{code: exitCollect, err: fmt.Errorf("collect: %w", err),
			hint: "run this on a login node; --dry-run prints the scripts anywhere"}
	case errors.Is(err, slurm.ErrAway):
		return failure{code: exitCollect, err: fmt.Errorf("collect: %w", err),
			hint: "squeue must answer before jobs are submitted"}
	}
	return failure{code: exitCollect, err: fmt.Errorf("collect: %w", err), hint: "ttreport help slurm"}
}
