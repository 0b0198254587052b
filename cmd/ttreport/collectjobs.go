package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/kubernetes"
	"github.com/ttreport/ttreport/collect/engine/slurm"
	"github.com/ttreport/ttreport/collect/engine/transfer"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/progress"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/plaintext"
)

// schedulerOptions are the flags of a collection that a scheduler places.
type schedulerOptions struct {
	on, node               string
	detach, follow, cancel bool
	retry                  bool
	poll                   time.Duration

	backends []engine.Backend
	own      map[*pflag.Flag]string // flags that are of one backend, and its name
}

// declare declares the flags of the schedulers that can be used.
func (o *schedulerOptions) declare(fs *pflag.FlagSet) {
	o.backends = append(o.backends, slurm.Backend{}, &kubernetes.Backend{})
	o.own = map[*pflag.Flag]string{}
	for _, b := range o.backends {
		flags := pflag.NewFlagSet(b.About().Name, pflag.ContinueOnError)
		flags.SortFlags = false
		b.Flags(flags)
		flags.VisitAll(func(f *pflag.Flag) { o.own[f] = b.About().Name })
		fs.AddFlagSet(flags)
	}
}

// names are the schedulers that can be used.
func (o *schedulerOptions) names() (out []string) {
	for _, b := range o.backends {
		out = append(out, b.About().Name)
	}
	return out
}

// backend returns the one that --on names; nil for none.
func (o *schedulerOptions) backend() engine.Backend {
	if i := slices.Index(o.names(), o.on); i >= 0 {
		return o.backends[i]
	}
	return nil
}

// attaches reports whether the jobs of an earlier command are meant.
func (o *schedulerOptions) attaches() bool { return o.on != "" && (o.follow || o.cancel || o.retry) }

// check refuses flags that do not go together.
func (o *schedulerOptions) check() error {
	if o.on != "" && o.backend() == nil {
		return fail(exitUsage, "as in --on "+o.names()[0], "collect: --on must be %s, got %q",
			strings.Join(o.names(), " or "), o.on)
	}
	for f, name := range o.own {
		if f.Changed && name != o.on {
			return fail(exitUsage, "add --on "+name, "collect: --%s needs --on %s", f.Name, name)
		}
	}
	return nil
}

// asArguments are the arguments that give a flag its value.
func asArguments(f *pflag.Flag) (out []string) {
	values := []string{f.Value.String()}
	if list, ok := f.Value.(interface{ GetSlice() []string }); ok {
		values = list.GetSlice()
	}
	for _, v := range values {
		out = append(out, "--"+f.Name+"="+v)
	}
	return out
}

// onScheduler submits the entries of a plan as jobs and follows them, or follows or ends those of an earlier command.
func (o collectOptions) onScheduler(ctx context.Context, entries []plan.Entry) error {
	state, err := filepath.Abs(filepath.Join(o.ws.State(), o.scheduler.on))
	if err != nil {
		return err
	}
	if o.scheduler.attaches() {
		return o.attachJobs(ctx, state)
	}
	b := o.scheduler.backend()
	target, missing := b.Find(ctx)
	s, err := o.submission(ctx, entries, target)
	if err != nil {
		return err
	}
	s = engine.Prepare(*s, state, s.Out, time.Now())
	var files []string
	for _, g := range s.Groups {
		text, err := b.Render(s, g)
		if err != nil {
			return o.jobsError(err)
		}
		files = append(files, text)
	}
	for _, g := range s.Groups {
		o.sh.say("%-9s array of %s: %s", o.scheduler.on, plaintext.Plural(len(g.Entries), "job"), g)
	}
	if o.dryRun {
		fmt.Fprint(o.sh.out, strings.Join(files, b.About().Between))
		return nil
	}
	if missing != nil {
		return o.jobsError(missing)
	}
	if !o.Run.NoResume {
		earlier, err := o.earlier(state, s.Digest)
		if err != nil {
			return failure{code: exitInput, err: err}
		}
		if earlier != nil {
			return o.followJobs(ctx, earlier)
		}
	}
	if s, err = b.Check(ctx, s); err != nil {
		return o.jobsError(err)
	}
	if err := s.Write(b.Render); err != nil {
		return failure{code: exitCollect, err: fmt.Errorf("collect: %w", err)}
	}
	return o.followJobs(ctx, s)
}

// earlier returns a submission of the same plan that is under way; nil for none. It says what the last one did not
// measure: this one measures all of it again.
func (o collectOptions) earlier(state, digest string) (*engine.Submission, error) {
	s, err := engine.Newest(state, digest, false)
	if err != nil {
		return nil, err
	}
	if s != nil {
		o.sh.say("%-9s the same plan has been running since %s; following it", o.scheduler.on, s.Since())
		return s, nil
	}
	last, err := engine.Newest(state, "", true)
	if err == nil && last != nil && last.Digest == digest && len(last.Lacking()) > 0 {
		o.sh.say("%-9s %d of %s of the same plan, submitted %s, did not measure everything: --retry runs only these, "+
			"this command runs all", o.scheduler.on, len(last.Lacking()), plaintext.Plural(len(last.Jobs), "job"),
			last.Since())
	}
	return nil, err
}

// attachJobs follows or ends the jobs of an earlier command, or runs what they lack.
func (o collectOptions) attachJobs(ctx context.Context, state string) error {
	what := "are under way"
	if o.scheduler.retry {
		what = "were submitted"
	}
	s, err := engine.Newest(state, "", o.scheduler.retry)
	switch {
	case err != nil:
		return failure{code: exitInput, err: err}
	case s == nil:
		return fail(exitUsage, "ttreport collect --on "+o.scheduler.on+" submits the plan",
			"collect: no jobs %s in %s", what, o.ws.Dir)
	case o.scheduler.cancel:
		return o.cancelJobs(ctx, s)
	case o.scheduler.retry && !s.Over():
		o.sh.say("%-9s the jobs of %s are running; following them", o.scheduler.on, s.Since())
	case o.scheduler.retry:
		n, err := s.Again()
		if err != nil {
			return failure{code: exitCollect, err: err}
		}
		if n == 0 {
			fmt.Fprintf(o.sh.out, "the jobs of %s have complete runs: nothing is left to measure\n", s.Since())
			return nil
		}
	}
	return o.followJobs(ctx, s)
}

// submission makes jobs of entries; nothing is written.
func (o collectOptions) submission(
	ctx context.Context, entries []plan.Entry, target engine.Target,
) (*engine.Submission, error) {
	entries, err := o.forJobs(ctx, entries)
	if err != nil {
		return nil, err
	}
	about := o.scheduler.backend().About()
	sub := engine.Submission{
		Engine: about.Name, Suffix: about.Suffix, Target: target, Args: o.given(), After: o.Server.Args,
	}
	for _, args := range [][]string{sub.Args, sub.After, o.Server.RunArgs} {
		if err := o.scheduler.withoutSecret(args); err != nil {
			return nil, err
		}
	}
	if sub.Workspace, err = filepath.Abs(o.ws.Dir); err == nil {
		sub.Program, err = os.Executable()
	}
	if err == nil {
		sub.Out, err = filepath.Abs(o.resultsIn())
	}
	if err != nil {
		return nil, err
	}
	others := map[string]bool{}
	for i, e := range entries {
		j, err := o.jobOf(ctx, i+1, e)
		if err != nil {
			return nil, err
		}
		own, of := j.Resources.For(about.Name)
		j.Resources = own
		for _, name := range of {
			others[name] = true
		}
		sub.Jobs = append(sub.Jobs, j)
	}
	if len(others) > 0 {
		o.sh.say("%-9s resources of another scheduler are ignored: %s", about.Name,
			strings.Join(slices.Sorted(maps.Keys(others)), ", "))
	}
	if about.StartsImages { // those of a container on this machine are not of the client's
		sub.Args = slices.DeleteFunc(sub.Args, func(a string) bool {
			return strings.HasPrefix(a, "--image=") || strings.HasPrefix(a, "--container-port=")
		})
	}
	return &sub, nil
}

// forJobs are the entries that become jobs.
func (o collectOptions) forJobs(ctx context.Context, entries []plan.Entry) ([]plan.Entry, error) {
	if len(entries) == 0 && o.System.Model != "" {
		entries = []plan.Entry{{Model: o.System.Model, Device: o.System.Device}}
	}
	if len(entries) == 0 {
		return nil, fail(exitUsage, "name a plan: --plan FILE, plans: in ttreport.yaml, or --model with --device",
			"collect: there is nothing to measure with --on %s", o.scheduler.on)
	}
	if o.serverOnly {
		return nil, fail(exitUsage, "leave one of them out",
			"collect: --server-only leaves a server running, and %s ends it with its job", o.scheduler.backend().About().Title)
	}
	if err := o.scheduler.place(ctx, o.ws, entries); err != nil {
		return nil, err
	}
	if len(entries) > engine.MostJobs {
		return nil, fail(exitUsage, "split the plan", "collect: the plan has %d entries; an array can have at most %d",
			len(entries), engine.MostJobs)
	}
	return entries, nil
}

// jobOptions are the flags that a scheduler's job gives its own collect.
type jobOptions struct {
	once, allocated, print bool
	printer                *transfer.Printer // of the run folders, as they grow; nil where none are printed
}

// shown shows what happens; what a pod has measured is printed at once, for it and its disk may be gone at any time.
// The last line of its log stays the one that says what it does.
func (j jobOptions) shown(show *progress.Display) func(collect.Event) {
	return func(e collect.Event) {
		if e.Final {
			_ = j.printer.Print(server.LogName) // what cannot be printed is an error at the end
		}
		show.Event(e)
	}
}

// printPart prints a part of what is in a folder: the one of an index, counted from the first that is asked for.
func printPart(to io.Writer, args []string) error {
	if len(args) != 3 {
		return fail(exitUsage, "it is run by a pod that reads a claim",
			kubernetes.PrintCommand+": expected a folder, the first part and an index")
	}
	first, err := strconv.Atoi(args[1])
	index, wrong := strconv.Atoi(args[2])
	if err = errors.Join(err, wrong); err == nil {
		err = transfer.WritePart(to, args[0], first+index, transfer.PartBytes)
	}
	switch {
	case errors.Is(err, transfer.ErrNone):
		fmt.Fprintln(to, "nothing was measured")
	case err != nil:
		return failure{code: exitCollect, err: err}
	}
	return nil
}

// followJobs follows a submission to its end, or until its jobs are submitted.
func (o collectOptions) followJobs(ctx context.Context, s *engine.Submission) error {
	release, err := folderlock.Take(ctx, s.Dir, folderlock.Exclusive, folderlock.Wait{})
	if errors.Is(err, folderlock.ErrHeld) {
		return fail(exitLocked, "its table shows the jobs; stop it to follow them here",
			"collect: another process is already following these jobs (%s)", s.Dir)
	}
	if err != nil {
		return failure{code: exitCollect, err: err}
	}
	defer release()
	if s, err = engine.Open(s.Dir); err != nil { // another process may have followed meanwhile
		return failure{code: exitInput, err: err}
	}
	o.sh.say("%-9s %s; the submitted jobs and their logs are in %s",
		o.scheduler.on, plaintext.Plural(len(s.Jobs), "job"), s.Dir)
	leavesRunning(ctx)
	show := progress.NewJobs(streamOf(o.sh))
	f := engine.Follower{
		Submission: s, Backend: o.scheduler.backend(), Poll: o.scheduler.poll, Show: show.Show, Detach: o.scheduler.detach,
	}
	tasks, err := f.Run(ctx)
	show.End()
	switch {
	case ctx.Err() != nil: // a person at a terminal is asked about the jobs, which go on otherwise
		_, readable := terminalOf(o.sh.in)
		if _, shown := terminalOf(o.sh.err); readable && shown {
			answer := make(chan bool, 1)
			go func() { answer <- confirmed(o.sh.in, o.sh.err, "the jobs continue without this command. Cancel them?") }()
			select {
			case yes := <-answer:
				if yes {
					return o.cancelJobs(context.WithoutCancel(ctx), s)
				}
			case <-process.Hurry(ctx).Done():
			}
		}
		o.sh.say("the jobs continue: ttreport collect --on %s --follow shows them, --cancel cancels them", o.scheduler.on)
		return ctx.Err()
	case err != nil:
		return o.jobsError(err)
	case o.scheduler.detach:
		waits := len(slices.DeleteFunc(slices.Clone(tasks), func(t engine.Task) bool { return t.Ended || t.ID != "" }))
		if waits > 0 {
			o.sh.say("%-9s %s not submitted yet: they wait for other jobs that measure the same; --follow submits them",
				o.scheduler.on, plaintext.Plural(waits, "job"))
		}
		fmt.Fprintf(o.sh.out, "%s submitted. Next: ttreport collect --on %s --follow, or --cancel\n",
			plaintext.Plural(len(tasks)-waits, "job"), o.scheduler.on)
		return nil
	}
	return o.endJobs(s, tasks)
}

// endJobs prints how the jobs ended.
func (o collectOptions) endJobs(s *engine.Submission, tasks []engine.Task) error {
	for _, row := range progress.JobsTable(engine.View{Tasks: tasks}) {
		fmt.Fprintln(o.sh.out, row)
	}
	bad, measured := 0, 0
	for _, t := range tasks {
		measured += t.Done - t.Failed
		if !t.OK() {
			bad++
		}
	}
	build := []string{"ttreport", "build"}
	if o.out != "" {
		build = append(build, s.Out)
	}
	next := shellescape.QuoteCommand(build)
	fmt.Fprintf(o.sh.out, "%s made; results in %s. Next: %s\n", plaintext.Plural(measured, "measurement"), s.Out, next)
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

// cancelJobs ends the jobs of a submission.
func (o collectOptions) cancelJobs(ctx context.Context, s *engine.Submission) error {
	b := o.scheduler.backend()
	n, err := engine.Cancel(ctx, s, b, func(active, left int) {
		switch {
		case active > 0 && b.About().Fetches:
			o.sh.say("%-9s cancelling %s and fetching what they measured", o.scheduler.on, plaintext.Plural(active, "job"))
		case active > 0:
			o.sh.say("%-9s cancelling %s", o.scheduler.on, plaintext.Plural(active, "job"))
		case left > 0 && b.About().Fetches:
			o.sh.say("%-9s fetching what %s measured", o.scheduler.on, plaintext.Plural(left, "job"))
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
		fmt.Fprintln(o.sh.out, ended)
		return fail(exitCollect, "results of the other jobs are in "+s.Out+"; measure again what is missing",
			"collect: %w", err)
	}
	fmt.Fprintf(o.sh.out, "%s; what was measured so far is in %s\n", ended, s.Out)
	return nil
}

// jobsError gives an error of a scheduler its exit code and advice.
func (o collectOptions) jobsError(err error) error {
	about := o.scheduler.backend().About()
	f := failure{code: exitCollect, err: fmt.Errorf("collect: %w", err), hint: "ttreport help " + about.Name}
	switch refused, ok := errors.AsType[*engine.RefusedError](err); {
	case ok:
		f.code = exitUsage
		if refused.Have != "" {
			f.hint = "this cluster has: " + refused.Have
		}
	case errors.Is(err, engine.ErrMissing):
		f.hint = about.FixMissing
	case errors.Is(err, engine.ErrUnavailable):
		f.hint = about.FixUnavailable
	}
	return f
}
