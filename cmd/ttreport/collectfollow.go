package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"al.essio.dev/pkg/shellescape"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/kubernetes"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/progress"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/plaintext"
)

// followJobs follows a submission to its end, or until its jobs are submitted.
func (o collectOptions) followJobs(ctx context.Context, sh *shell, s *engine.Submission) error {
	at, err := o.scheduler.placing(kubernetes.Target(s.Target))
	if err != nil {
		return o.jobsError(err)
	}
	release, err := folderlock.Take(ctx, s.Dir, folderlock.Exclusive, folderlock.Wait{})
	if errors.Is(err, folderlock.ErrHeld) {
		return fail(exitLocked, "its table shows the jobs; end it to follow them here",
			"collect: another process follows these jobs already (%s)", s.Dir)
	}
	if err != nil {
		return failure{code: exitCollect, err: err}
	}
	defer release()
	if s, err = engine.Open(s.Dir); err != nil { // another process may have followed meanwhile
		return failure{code: exitInput, err: err}
	}
	sh.say("%-9s %s; what was submitted and logs are in %s", o.scheduler.on, plaintext.Plural(len(s.Jobs), "job"), s.Dir)
	leavesRunning(ctx)
	show := progress.NewJobs(jobStream(sh))
	at.begin(ctx, s)
	f := engine.Follower{
		Submission: s, Scheduler: at, Poll: o.scheduler.poll, Show: show.Show, Detach: o.scheduler.detach,
	}
	tasks, err := f.Run(ctx)
	show.End()
	switch {
	case ctx.Err() != nil:
		return o.leaveJobs(ctx, sh, s, at)
	case err != nil:
		return o.jobsError(err)
	case o.scheduler.detach:
		waits := len(slices.DeleteFunc(slices.Clone(tasks), func(t engine.Task) bool { return t.Ended || t.ID != "" }))
		if waits > 0 {
			sh.say("%-9s %s not submitted yet: they wait for the others that measure the same, and --follow submits them",
				o.scheduler.on, plaintext.Plural(waits, "job"))
		}
		fmt.Fprintf(sh.out, "%s submitted. Next: ttreport collect --on %s --follow, or --cancel\n",
			plaintext.Plural(len(tasks)-waits, "job"), o.scheduler.on)
		return nil
	}
	return o.endJobs(sh, s, tasks)
}

// jobStream is where jobs are shown.
func jobStream(sh *shell) progress.Stream {
	to := progress.Stream{Writer: sh.err}
	if fd, ok := terminalOf(sh.err); ok {
		to.Width = func() int { return widthOf(fd) }
	}
	return to
}

// endJobs prints how the jobs ended.
func (o collectOptions) endJobs(sh *shell, s *engine.Submission, tasks []engine.Task) error {
	progress.WriteJobs(sh.out, engine.View{Tasks: tasks})
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
		again := ""
		if len(s.Lacking()) > 0 {
			again = fmt.Sprintf("; ttreport collect --on %s --retry measures what is missing", o.scheduler.on)
		}
		return fail(exitCollect, "their logs are in "+s.Dir+again, "%d of %s did not measure everything", bad,
			plaintext.Plural(len(tasks), "job"))
	}
	return nil
}

// leaveJobs ends following: a person at a terminal is asked about the jobs, which go on otherwise.
func (o collectOptions) leaveJobs(ctx context.Context, sh *shell, s *engine.Submission, at placing) error {
	_, readable := terminalOf(sh.in)
	if _, shown := terminalOf(sh.err); readable && shown {
		answer := make(chan bool, 1)
		go func() { answer <- confirmed(sh.in, sh.err, "the jobs go on without this command. End them?") }()
		select {
		case yes := <-answer:
			if yes {
				return o.cancelJobs(context.WithoutCancel(ctx), sh, s, at)
			}
		case <-process.Hurry(ctx).Done():
		}
	}
	sh.say("the jobs go on: ttreport collect --on %s --follow shows them, --cancel ends them", o.scheduler.on)
	return ctx.Err()
}

// cancelJobs ends the jobs of a submission.
func (o collectOptions) cancelJobs(ctx context.Context, sh *shell, s *engine.Submission, at placing) error {
	n, err := engine.Cancel(ctx, s, at, func(active, left int) {
		switch {
		case active > 0 && at.fetches:
			sh.say("%-9s ending %s and fetching what they measured", o.scheduler.on, plaintext.Plural(active, "job"))
		case active > 0:
			sh.say("%-9s ending %s", o.scheduler.on, plaintext.Plural(active, "job"))
		case left > 0 && at.fetches:
			sh.say("%-9s fetching what %s measured", o.scheduler.on, plaintext.Plural(left, "job"))
		}
	})
	if err != nil && !errors.Is(err, engine.ErrUnfetched) {
		return o.jobsError(err)
	}
	ended := plaintext.Plural(n, "job") + " cancelled"
	if n == 0 {
		ended = "no job was left to cancel"
	}
	if err != nil {
		fmt.Fprintln(sh.out, ended)
		return fail(exitCollect, "results of the other jobs are in "+s.Out+"; measure again what is missing",
			"collect: %w", err)
	}
	fmt.Fprintf(sh.out, "%s; what was measured until now is in %s\n", ended, s.Out)
	return nil
}
