package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/transfer"
	"github.com/ttreport/ttreport/collect/host"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/progress"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/session"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/library"
)

func collectCommand(sh *shell) *cobra.Command {
	c := command("collect", nil, nil)
	fs := c.Flags()
	o := collectOptions{sh: sh}
	o.declare(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 && o.Server.Name.Kind != plan.ServerDocker && !o.runPy.Docker {
			return fail(exitUsage, "ttreport collect --help", "collect: unexpected %q", args[0])
		}
		o.Server.Args, o.seeded = args, fs.Changed("seed")
		return o.collect(c.Context())
	}
	return c
}

// collect finds what is to be measured, and measures it, one server after the other.
func (o collectOptions) collect(ctx context.Context) (err error) {
	if err := o.complete(ctx); err != nil {
		return planError(err)
	}
	if o.ws, err = openWorkspace("."); err != nil {
		return err
	}
	switch reports := o.runPy.Workflow == plan.WorkflowReports; {
	case reports && o.dryRun:
		_, err := fmt.Fprintln(o.sh.out, "ttreport build")
		return err
	case reports:
		return o.buildSite(ctx)
	}
	if err := o.scheduler.check(); err != nil {
		return err
	}
	entries, err := o.entries(ctx)
	if err != nil {
		return planError(err)
	}
	if o.scheduler.on != "" {
		return o.onScheduler(ctx, entries)
	}
	if o.search != "" && !o.dryRun {
		return o.searchSettings(ctx, entries)
	}
	if named := o.planFile + o.input + o.Measure.Missing; len(entries)+len(named) > 0 || o.Measure.Recheck {
		return o.measureAll(ctx, entries)
	}
	if o.Server.Name.IsZero() && o.System.Model+o.System.Device+o.against.baseline == "" {
		return o.collectDemo(ctx)
	}
	return o.measureOne(ctx)
}

// measureOne measures what the flags alone state. run.py's workflow of a release ends with its report and its decision.
func (o collectOptions) measureOne(ctx context.Context) error {
	done, err := o.measure(ctx)
	if err != nil || o.runPy.Workflow != plan.WorkflowRelease || o.dryRun {
		return err
	}
	if err := o.buildSite(ctx); err != nil {
		return err
	}
	return checkOptions{release: done.release, format: "term"}.check(ctx, o.sh, nil)
}

// measureAll measures the entries of a plan one after the other; the first error is returned when all were tried.
func (o collectOptions) measureAll(ctx context.Context, entries []plan.Entry) error {
	var first error
	if o.job.print {
		o.job.printer = &transfer.Printer{To: o.sh.out, Dir: o.resultsIn()}
	}
	for i, e := range entries {
		why := strings.ReplaceAll(e.Why, "\n", " ")
		if why != "" {
			why = ", " + why
		}
		o.sh.say("plan      %d of %d: %s%s", i+1, len(entries), e.Model, why)
		one := o
		one.Options = o.With(e)
		_, err := one.measure(ctx)
		if ctx.Err() != nil {
			first = err
			break
		}
		if err != nil && first == nil {
			first = err
		}
		if err != nil && i+1 < len(entries) {
			o.sh.say("error: %v", err)
		}
	}
	switch {
	case len(entries) == 0 && o.Measure.Recheck:
		fmt.Fprintln(o.sh.out, "there is no suspected change that collect can measure again")
	case len(entries) == 0 && o.Measure.Missing != "":
		fmt.Fprintf(o.sh.out, "%s lacks nothing that a load client can measure\n", o.Measure.Missing)
	case len(entries) == 0:
		fmt.Fprintln(o.sh.out, "the plan is empty, so nothing was measured")
	}
	if err := o.job.printer.Print(); err != nil { // what was measured until now, also when it was told to end
		first = errors.Join(first, failure{code: exitCollect, err: err})
	}
	return first
}

// entries are the plans to run, one for each configuration of a server; none for what the flags alone state.
func (o collectOptions) entries(ctx context.Context) ([]plan.Entry, error) {
	list, err := o.stated(ctx)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 && len(o.params) > 0 && !o.scheduler.attaches() {
		list = []plan.Entry{{Model: o.System.Model, Device: o.System.Device}}
	}
	if o.search != "" && len(list) > 1 {
		return nil, fail(exitUsage, "name one --model, or one plan",
			"collect: --search chooses among the settings of one plan, and %d are given", len(list))
	}
	if list, err = plan.Configurations(list, o.params); err == nil && o.search != "" {
		_, err = o.climb(list)
	}
	return list, err
}

// stated are the plans of a file, of the gate, or of ttreport.yaml when no model is named.
func (o collectOptions) stated(ctx context.Context) ([]plan.Entry, error) {
	switch {
	case o.scheduler.attaches(): // the jobs have theirs
		return nil, nil
	case o.Measure.Recheck || o.Measure.Missing != "":
		return o.gateEntries(ctx)
	case o.planFile != "":
		return plan.ReadFile(o.planFile)
	case o.input != "":
		return plan.ReadNM(o.input, o.Server.Port, func(model string) int { return session.LongestOf(ctx, model, o.dryRun) })
	case o.System.Model == "":
		return plan.OfConfiguration(workspace.ConfigName, o.ws.Config.Plans, o.System.Device)
	}
	return nil, nil
}

// gateEntries are the plans that follow from the gate: what is suspected, or what a release lacks.
func (o collectOptions) gateEntries(ctx context.Context) ([]plan.Entry, error) {
	s := o.System
	report, at, err := judged(ctx, o.ws, checkOptions{by: "collect", release: cmp.Or(o.Measure.Missing, s.Release),
		model: s.Model, device: s.Device})
	if err != nil {
		return nil, err
	}
	g := report.Gate.Review(at, s.Model, s.Device)
	if o.Measure.Missing == "" {
		entries, left := recheckEntries(report, &g)
		if left > 0 {
			o.sh.say("%s", otherTools(left))
		}
		return entries, nil
	}
	entries, left := missingEntries(report, &g)
	if left > 0 {
		o.sh.say("%s of %s are not texts of known lengths under a known load: measure them with their own tools",
			plaintext.Plural(left, "point"), g.Release)
	}
	return entries, nil
}

// collected is what was measured: the name of its release or build, and its run folders, one a block.
type collected struct {
	release string
	dirs    []string
}

// measure measures one plan on one server.
func (o collectOptions) measure(ctx context.Context) (done collected, err error) {
	if o.against.baseline != "" {
		return done, o.againstBaseline(ctx)
	}
	show := newProgress(o.sh)
	s, err := o.session(ctx, show)
	if err != nil {
		return done, err
	}
	if _, detaches := s.Server.(server.Detacher); o.serverOnly && !detaches {
		return done, fail(exitUsage, "--server docker, or --server 'command …'",
			"collect: --server-only needs a server that collect starts, got %s", s.Options.Server.Name)
	}
	return o.perform(ctx, show, s)
}

// perform shows what is measured, on one server or on two that take turns, and measures it or starts the server.
func (o collectOptions) perform(
	ctx context.Context, show *progress.Display, sessions ...*session.Session,
) (done collected, err error) {
	newest := sessions[len(sessions)-1]
	started := 0
	for _, s := range sessions {
		if _, ours := s.Server.(server.Supervised); ours {
			started++
		}
	}
	if !o.serverOnly {
		about := estimate(ctx, o.ws, newest.Plan, started)
		progress.WritePlan(o.sh.err, newest.Plan, about)
		show.Expect(newest.Plan, about)
	}
	if o.dryRun { // the command lines that would be run, and what an interrupted run by itself has of them
		s := sessions[0]
		if o.serverOnly { // nothing is measured then
			s.Plan = plan.Plan{Model: s.Plan.Model}
		}
		var before map[string]bool
		if len(sessions) == 1 {
			var dir string
			if dir, before = collect.Interrupted(s.Plan, o.resultsIn()); dir != "" {
				o.sh.say("resume    %s has %d of %s", dir, len(before), plaintext.Plural(len(s.Plan.Items()), "measurement"))
			}
			if limit := s.Options.Server.StartupTimeout; limit > 0 {
				o.sh.say("wait      at most %s until %s answers", plaintext.Duration(limit), s.Address)
			}
		}
		for _, l := range collect.CommandLines(before, sidesOf(sessions)...) {
			fmt.Fprintln(o.sh.out, l)
		}
		return done, nil
	}
	unlock, err := o.lockDevice(ctx, sessions...)
	if err != nil {
		return done, err
	}
	defer unlock()
	if !o.serverOnly {
		return o.run(ctx, show, sessions)
	}
	srv := newest.Server.(server.Detacher) // measure has made sure of it
	d, err := srv.Detach(ctx, filepath.Join(o.ws.State(), "servers"))
	if err != nil {
		return done, collectError(ctx, o.sh, o.ws, err)
	}
	system := newest.Options.System
	measure := shellescape.QuoteCommand([]string{
		"ttreport", "collect", "--model", system.Model, "--device", system.Device, "--server", d.URL,
	})
	const text = "%s is ready at %s\n  log      %s\n  end it   %s\n  measure  %s\n"
	fmt.Fprintf(o.sh.out, text, d.Name, d.URL, d.Log, d.Stop, measure)
	return done, nil
}

// resultsIn is the folder of run folders.
func (o collectOptions) resultsIn() string { return cmp.Or(o.out, o.ws.Results()) }

// request is what the flags and the workspace say of one measurement.
func (o collectOptions) request(show *progress.Display) session.Request {
	sh, ws := o.sh, o.ws
	if o.Server.Name.Kind == plan.ServerURL {
		o.otherWords()
	}
	say := func(s string) { sh.say("tools     %s", s) }
	return session.Request{
		Options: o.Options, Spec: o.spec, Dir: ws.Dir, DryRun: o.dryRun, ServerOnly: o.serverOnly,
		Targets: func(m schema.Model, device string) (plan.TargetPlan, error) { return readTargets(ws, m, device) },
		Finder: plan.Finder{
			Environments: tool.Environments{Configured: ws.Config.Tools, Say: say},
			Exec:         ws.Config.Exec, FindOnly: o.dryRun, Say: say,
		},
		Ask:     askFor(sh, ws),
		Warn:    func(s string) { sh.say("warning: %s", s) },
		Note:    func(n plan.Note) { sh.say("%-9s %s", n.Kind, n.Text) },
		Waiting: show.Waiting(),
	}
}

// estimate is how long a plan may take by what history has of it, where so many servers are started for it.
func estimate(ctx context.Context, ws *workspace.Workspace, p plan.Plan, started int) plan.Estimate {
	past, _, err := history.Load(ctx, ws.History())
	if err != nil {
		past = nil
	}
	return plan.EstimateOf(p, past).WithServers(started, p, past)
}

// run measures a plan, or two sides of it in turns, and prints the result.
func (o collectOptions) run(
	ctx context.Context, show *progress.Display, sessions []*session.Session,
) (done collected, err error) {
	ws, results, newest := o.ws, o.resultsIn(), sessions[len(sessions)-1]
	if err := os.MkdirAll(results, 0o777); err != nil {
		return done, failure{code: exitCollect, err: err, hint: "choose another folder with --out"}
	}
	mode := folderlock.Shared // a demo has a folder for itself
	if o.job.once {
		mode = folderlock.Exclusive
	}
	unlock, err := o.sh.lock(ctx, results, mode)
	if err != nil {
		return done, err
	}
	defer unlock()
	if o.job.once {
		if dir := collect.Finished(newest.Plan, results); dir != "" {
			fmt.Fprintf(o.sh.out, "measured before; results in %s\n", dir)
			return collected{dirs: []string{dir}}, nil
		}
	}
	var outs []collect.Outcome
	folder, err := o.openFolder(ctx, func() (*collect.Folder, error) {
		return collect.Open(ctx, results, o.job.shown(show), sidesOf(sessions)...)
	})
	if err == nil {
		outs, err = folder.Measure(ctx)
	}
	show.End()
	if errors.As(err, &failure{}) { // no run folder was opened
		return done, err
	}
	var all collect.Outcome
	for _, out := range outs {
		all.Points, all.Empty = append(all.Points, out.Points...), all.Empty+out.Empty
		all.Evals, all.Failed = all.Evals+out.Evals, all.Failed+out.Failed
		done.dirs = append(done.dirs, out.Dir)
	}
	if err != nil {
		if len(all.Points)+all.Evals == 0 && ctx.Err() == nil && !errors.Is(err, server.ErrDied) {
			ws = nil // there is nothing to point at
		}
		return done, o.runError(ctx, ws, err)
	}
	what, journals := measured(all)+" measured", "the journal in %s has"
	next := append([]string{"ttreport", "build"}, o.outPath()...)
	if len(done.dirs) > 1 {
		what += fmt.Sprintf(" in %d blocks", o.against.blocks)
		next, journals = append([]string{"ttreport", "compare"}, done.dirs...), "the journals in %s have"
	}
	in := strings.Join(done.dirs, " and ")
	fmt.Fprintf(o.sh.out, "%s; results in %s. Next: %s\n", what, in, shellescape.QuoteCommand(next))
	if all.Failed > 0 {
		return done, fail(exitCollect, fmt.Sprintf(journals+" the reasons", in),
			"%s failed", plaintext.Plural(all.Failed, "measurement"))
	}
	done.release = cmp.Or(newest.Plan.Release, filepath.Base(done.dirs[len(done.dirs)-1]))
	return done, nil
}

// whileHeld tries something once a second, as long as another process holds it and the patience with it lasts; waiting
// is called once.
func (s *shell) whileHeld(ctx context.Context, held error, waiting func(error), try func(left *shell) error) error {
	for deadline, said := time.Now().Add(s.patience), false; ; said = true {
		left := *s
		left.patience = max(0, time.Until(deadline))
		err := try(&left)
		if !errors.Is(err, held) || !time.Now().Before(deadline) {
			return err
		}
		if !said {
			waiting(err)
		}
		if err := process.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// lockDevice keeps others from measuring the same device. A job waits for it: somebody else was given the host too.
func (o collectOptions) lockDevice(ctx context.Context, sessions ...*session.Session) (release func(), err error) {
	if o.job.allocated {
		return func() {}, nil
	}
	sh := *o.sh
	if !o.job.once {
		sh.patience = 0
	}
	err = sh.whileHeld(ctx, collect.ErrBusy, func(err error) { sh.say("waiting   %v", err) }, func(*shell) (err error) {
		release, err = sessions[0].Lock(sessions[1:]...)
		return err
	})
	if err != nil && ctx.Err() == nil {
		const fix = "wait for it, or stop it: two loads on one device disturb each other"
		return nil, fail(exitCollect, fix, "collect: %w", err)
	}
	return release, err
}

// openFolder makes the run folder, or takes over an interrupted one, while no other command works in the workspace:
// ingest and build see the folder with all that it holds or not at all. Measuring takes hours, in which what is there
// can be built; the folder has a lock of its own then. It waits while another process is at the folder that would be
// resumed.
func (o collectOptions) openFolder(
	ctx context.Context, open func() (*collect.Folder, error),
) (folder *collect.Folder, err error) {
	waiting := func(error) {
		o.sh.say("waiting for another ttreport that measures the same plan in %s", folder.Path())
	}
	err = o.sh.whileHeld(ctx, folderlock.ErrHeld, waiting, func(left *shell) error {
		release, err := left.lock(ctx, o.ws.Dir, folderlock.Exclusive)
		if err != nil {
			return err
		}
		defer release()
		folder, err = open()
		return err
	})
	switch {
	case err == nil || errors.As(err, &failure{}) || ctx.Err() != nil:
		return folder, err
	case errors.Is(err, folderlock.ErrHeld):
		return folder, fail(exitLocked, "wait for it, or stop it; --no-resume starts a new measurement", "collect: %w", err)
	}
	return folder, collectError(ctx, o.sh, nil, err)
}

// measured says what was measured: "4 points and 1 eval".
func measured(out collect.Outcome) string {
	points, evals := plaintext.Plural(len(out.Points)-out.Empty, "point"), plaintext.Plural(out.Evals, "eval")
	switch {
	case out.Evals == 0:
		return points
	case len(out.Points) == 0:
		return evals
	}
	return points + " and " + evals
}

// buildSite makes the site of what was measured, as run.py's workflows end.
func (o collectOptions) buildSite(ctx context.Context) error {
	return build(ctx, o.sh, o.ws, o.outPath(), buildOptions{out: o.ws.Site()})
}

// outPath is the folder of --out, which build must be given because results are not where it looks.
func (o collectOptions) outPath() []string {
	if o.out == "" {
		return nil
	}
	return []string{o.out}
}

// withoutSecret refuses arguments with secrets, also where one is the argument behind its flag, and lines with secrets.
func (o *schedulerOptions) withoutSecret(args []string, lines ...string) error {
	redacted := redact.Argv(append([]string{""}, args...))
	for _, line := range lines {
		redacted = append(redacted, redact.Text(line))
	}
	for i, a := range redacted {
		if !strings.Contains(a, redact.Mark) {
			continue
		}
		if a == redact.Mark {
			a = redacted[i-1] + " " + a
		}
		about := o.backend().About()
		return fail(exitUsage, about.FixSecret, "collect: %s has a secret, which would be written to %s",
			strings.TrimSpace(a), about.File)
	}
	return nil
}

// jobOf makes a job of an entry.
func (o collectOptions) jobOf(ctx context.Context, number int, e plan.Entry) (engine.Job, error) {
	one := o
	one.Options, one.dryRun = o.With(e), true
	s, err := session.New(ctx, one.request(newProgress(o.sh)))
	if err != nil {
		o.sh.say("plan      %d of the plan cannot be measured", number)
		return engine.Job{}, planError(err)
	}
	system := s.Options.System
	res := plan.ResourcesOf(e.Resources, o.ws.Config.Resources, system.Device)
	e.Resources = plan.Resources{}
	srv := engine.Server{}
	if o.scheduler.backend().About().StartsImages {
		if srv, err = one.inPod(&e); err != nil {
			return engine.Job{}, err
		}
	}
	text, err := plan.File{Plans: []plan.Entry{e}}.Marshal()
	if err != nil {
		return engine.Job{}, failure{code: exitUsage, err: fmt.Errorf("plans[%d]: %w", number-1, err)}
	}
	if err := o.scheduler.withoutSecret(res.RunArgs, strings.Split(string(text), "\n")...); err != nil {
		return engine.Job{}, err
	}
	about := estimate(ctx, o.ws, s.Plan, 0)
	start := cmp.Or(s.Options.Server.StartupTimeout, 10*time.Minute)
	const eval = 30 * time.Minute // at most, usually
	name := s.Plan.Model.Name + " on " + system.Device
	if system.Release != "" {
		name += ", " + system.Release
	}
	for _, p := range e.ServerParams {
		name += ", " + p
	}
	return engine.Job{
		Entry: number, Name: name, Total: len(s.Plan.Items()), Resources: res, Server: srv,
		Limit: engine.Derived(about.Total+eval*time.Duration(len(s.Plan.Evals)), start), Plan: text,
	}, nil
}

// inPod turns the server of an entry into what a pod has: an image is started beside the client, which measures it at
// an address; one that runs already is measured by one client after the other.
func (o collectOptions) inPod(e *plan.Entry) (engine.Server, error) {
	s := o.Server
	switch s.Name.Kind {
	case plan.ServerURL:
		return engine.Server{URL: s.Name.URL}, nil
	case plan.ServerDocker:
	default:
		return engine.Server{}, nil
	}
	for flag, given := range map[string]bool{
		"--volume": len(s.Volumes) > 0, "--run-arg": len(s.RunArgs) > 0, "--env-file": s.EnvFile != "",
		"--device-id": s.DeviceIDs != "", "--container-engine": s.ContainerEngine != "",
	} {
		if given {
			return engine.Server{}, fail(exitUsage, "state volumes:, secrets: and devices: in resources:",
				"collect: %s is for a container on this machine, and --on %s starts pods", flag, o.scheduler.on)
		}
	}
	if len(e.ServerParams) > 0 {
		return engine.Server{}, fail(exitUsage, "an entry for each, with the arguments of its image behind --",
			"collect: --server-param is for servers that collect starts, and --on %s starts pods", o.scheduler.on)
	}
	if s.Image == "" {
		return engine.Server{}, fail(exitUsage, "--image NAME, or image: in the entry",
			"collect: no image is named for the server of %s", e.Model)
	}
	port := cmp.Or(s.ContainerPort, s.Port, 8000)
	e.Server, e.Image = plan.ServerName{Kind: plan.ServerURL, URL: fmt.Sprintf("http://127.0.0.1:%d", port)}, ""
	return engine.Server{Image: s.Image, Args: s.Args, Port: port}, nil
}

// readTargets reads what the workspace's target files state about a model on a device, or those of
// OVERRIDE_BENCHMARK_TARGETS, which replace them for this run.
func readTargets(ws *workspace.Workspace, m schema.Model, device string) (out plan.TargetPlan, err error) {
	lib, name := (*library.Library)(nil), os.Getenv(workspace.OverrideVariable)
	if out.Replaced = name; name == "" {
		lib, _, err = soundTargets(ws, nil)
	} else {
		var problems []schema.Problem
		lib, problems, err = workspace.ReadTargets(name, func(string) bool { return true })
		wrong := func(p schema.Problem) bool { return p.Severity == schema.SevError }
		if i := slices.IndexFunc(problems, wrong); err == nil && i >= 0 {
			err = problems[i]
		}
		if err != nil {
			err = failure{code: exitUsage, err: fmt.Errorf("%s: %w", workspace.OverrideVariable, err)}
		}
	}
	if err != nil {
		return out, err
	}
	model := schema.Model{ID: m.ID, Name: m.Name, Key: lib.Key(m.Name)}
	if name != "" {
		out.InForce = lib.For(model, device, nil)
	}
	for _, l := range lib.Loads(model, device) {
		w := workloadOf(l.Key)
		w.Requests = l.Requests
		out.Workloads = append(out.Workloads, w)
	}
	for _, e := range lib.Evals(model, device) {
		of := tool.Tool{Adapter: tool.Adapter{Name: e.Tool}}
		out.Evals = append(out.Evals, plan.EvalTask{Tool: of, Task: e.Task, Limit: e.Limit, Params: e.Params()})
	}
	return out, nil
}

// recheckEntries are the plans that measure suspected regressions of a gate again.
// left counts the suspected scores of tools that collect does not run.
func recheckEntries(r *render.Report, g *gate.Review) (out []plan.Entry, left int) {
	for _, a := range g.Rechecks() {
		e := entryOf(r, g, a.System, a.Release, plan.OnlyBenchmarks)
		e.Why = "suspected regression"
		for _, k := range a.Workloads {
			e.Workloads = append(e.Workloads, likeLast(r, g.Release, a.System, k))
		}
		if a.Control != nil {
			e.Workloads = append(e.Workloads, likeLast(r, g.Release, a.System, *a.Control))
			e.Why += "; the last workload is a control"
		} else {
			e.Why += "; without a control: it has no other workload, or its device has one already"
		}
		out = append(out, e)
	}
	evals, left := r.EvalRechecks(g)
	for _, x := range evals {
		e := entryOf(r, g, x.System, x.Release, plan.OnlyEvals)
		e.Evals, e.EvalLimit, e.Why = x.Tasks, x.Limit, "suspected regression"
		out = append(out, e)
	}
	return out, left
}

// entryOf is the entry of a plan that measures a system again, on the simulator where the release was measured on one.
// A real device has another address on another host, so that the one who measures names it.
func entryOf(r *render.Report, g *gate.Review, of schema.System, release string, only plan.Only) plan.Entry {
	e := plan.Entry{Model: of.Model, Device: of.Device, Impl: r.StatedImpl(of), Release: release, Only: only}
	switch on := g.ServerOf(of); {
	case on.Kind == gate.StartsSimulator:
		e.Server.Kind = plan.ServerSim
	case on.Address != "" && schema.SameDevice(of.Device, schema.Simulated):
		e.Server = plan.ServerName{Kind: plan.ServerURL, URL: on.Address}
	}
	return e
}

// otherTools says that suspected scores are of tools that collect does not run.
func otherTools(n int) string {
	return plaintext.Plural(n, "suspected score") +
		" of tools that collect does not run: score them again with those tools"
}

// missingEntries are the plans that measure what a release lacks: what a release before it measured, what was planned,
// what is required. left counts points that no load client can make again, such as evals and images.
func missingEntries(r *render.Report, g *gate.Review) (out []plan.Entry, left int) {
	cover := r.Gate.Coverage(g)
	place := map[schema.System]int{}
	for i := range cover.Gaps {
		x := &cover.Gaps[i]
		if !x.Loadable() {
			left++
			continue
		}
		at, known := place[x.System]
		if !known {
			at = len(out)
			e := entryOf(r, g, x.System, g.Label, plan.OnlyBenchmarks)
			e.Why = "not measured in " + g.Release
			if e.Server.Kind == "" && schema.SameDevice(x.Device, schema.Simulated) {
				e.Server.Kind = plan.ServerSim
			}
			place[x.System], out = at, append(out, e)
		}
		out[at].Workloads = append(out[at].Workloads, likeLast(r, g.Release, x.System, x.Key))
	}
	return out, left
}

// likeLast is a workload to be measured again, with as many requests as its newest measurement has: fewer make more
// noise.
func likeLast(r *render.Report, release string, of schema.System, k schema.Key) plan.Workload {
	w := workloadOf(k)
	w.Requests = r.Requests(release, of, k)
	return w.WithRequests()
}

// workloadOf is a workload of text of known lengths under a known load, to be measured.
func workloadOf(k schema.Key) plan.Workload {
	w, _ := traffic.OfKey(k) // gate asks only for dimensions that can be read
	return w
}

// planError gives an error of planning its exit code and its advice. One that is no mistake in the request is a tool
// that is missing.
func planError(err error) error {
	if u, ok := errors.AsType[plan.UsageError](err); ok {
		return failure{code: exitUsage, err: u.Err, hint: u.Fix}
	}
	if err == nil || errors.As(err, &failure{}) {
		return err
	}
	return failure{code: exitCollect, err: err, hint: "ttreport doctor lists what is missing"}
}

// runError is collectError, also within a job.
func (o collectOptions) runError(ctx context.Context, ws *workspace.Workspace, err error) error {
	if o.job.once && ctx.Err() == nil && (errors.Is(err, collect.ErrFull) || errors.Is(err, server.ErrDied)) {
		const fix = "fix that, then where it was submitted: ttreport collect --on … --retry, which measures what is " +
			"missing. What has been measured so far is kept"
		return fail(exitCollect, fix, "collect: %w", err)
	}
	return collectError(ctx, o.sh, ws, err)
}

// collectError gives an error of measuring its exit code and what to do about it. ws is nil where nothing was measured.
func collectError(ctx context.Context, sh *shell, ws *workspace.Workspace, err error) error {
	if ctx.Err() != nil {
		const text = "what has been measured so far is kept in %s; ttreport build shows it and what is missing, " +
			"and the same command resumes"
		sh.say(text, ws.Results())
		return ctx.Err()
	}
	results := ""
	if ws != nil {
		results = ws.Results()
	}
	return fail(exitCollect, collect.Advice(err, results), "collect: %w", err)
}

// place gives entries the node that --node asks for: a change that is seen on another node too is not of the node, and
// one that is gone there may be.
func (o *schedulerOptions) place(ctx context.Context, ws *workspace.Workspace, entries []plan.Entry) error {
	if o.node == "" {
		return nil
	}
	past, _, err := history.Load(ctx, ws.History())
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		var nodes []string // that the scheduler measured the release on, the newest last
		for _, h := range slices.Backward(past.RunsOn(e.Model, e.Device)) {
			for n := range strings.SplitSeq(h.Setting[o.on+"_node"], ",") {
				if n = strings.TrimSpace(n); n != "" && h.Release == e.Release {
					nodes = append(slices.DeleteFunc(nodes, func(o string) bool { return o == n }), n)
				}
			}
		}
		if len(nodes) == 0 {
			return fail(exitUsage, "leave --node out, or state nodelist: or exclude: in its resources",
				"collect: history does not say on which node %s on %s was measured for %q", e.Model, e.Device, e.Release)
		}
		if o.node == "same" {
			e.Resources.Nodelist = nodes[len(nodes)-1]
		} else {
			e.Resources.Exclude = strings.Join(nodes, ",")
		}
	}
	return nil
}

// collectOptions are the flags of collect: what package plan needs, and what this command does with the plan.
type collectOptions struct {
	plan.Options
	runPy plan.RunPy
	sh    *shell
	ws    *workspace.Workspace

	planFile, input, spec, out string
	search                     string   // the metric by which settings of the server are chosen
	params                     []string // of the server, with their values
	seeded                     bool     // --seed is given
	dryRun, serverOnly         bool
	against                    againstOptions
	trt                        string // a flag of benchmark.py that is given
	printDocker                bool

	scheduler schedulerOptions
	job       jobOptions
	given     func() []string // flags that were given, as arguments for a job of --on
}

// complete translates flags of run.py and variables, and refuses flags that exclude each other.
func (o *collectOptions) complete(ctx context.Context) error {
	if o.Server.Port == 0 && o.Server.Name.Kind != plan.ServerURL && o.Server.Name.Kind != plan.ServerSim {
		o.Server.Port, _ = strconv.Atoi(os.Getenv("SERVICE_PORT")) // as run.py; other text than a number states none
		o.Server.AmbientPort = true
	}
	if _, err := os.Stat(o.Server.EnvFile); o.Server.EnvFile != "" && err != nil {
		return plan.Usage("name a file with NAME=value lines", "collect: --env-file: %w", err)
	}
	if _, err := os.Stat(o.input); o.input == "t" && err != nil { // run.py's -it
		o.runPy.Refuse("interactive", "--print-docker-cmd prints the line; run it with -it")
	}
	only := os.Getenv("ONLY_BENCHMARK_TARGETS")
	o.Measure.TargetsOnly = only == "1" || strings.EqualFold(only, "true")
	o.serverOnly = o.serverOnly || o.runPy.Workflow == plan.WorkflowServer
	o.serverOnly, o.dryRun = o.serverOnly || o.printDocker, o.dryRun || o.printDocker
	if err := o.completeTRT(); err != nil {
		return err
	}
	notes, err := o.ApplyRunPy(o.runPy)
	if err != nil {
		return err
	}
	for _, n := range notes {
		o.sh.say("%-9s %s", n.Kind, n.Text)
	}
	o.findDevice(ctx)
	return o.Contradictions()
}

// findDevice takes the device of this machine where a model is named without one, and its server is on this machine.
func (o *collectOptions) findDevice(ctx context.Context) {
	kind := o.Server.Name.Kind
	here := kind == plan.ServerDocker || kind == plan.ServerCommand || o.runPy.LocalServer
	if o.System.Model == "" || o.System.Device != "" || !here {
		return
	}
	var boards string
	if o.System.Device, boards = host.Device(ctx); o.System.Device != "" {
		o.sh.say("device    %s: tt-smi lists %s; --device names another", o.System.Device, boards)
	}
}

// declare declares the flags: those of the text, and those of other programs.
func (o *collectOptions) declare(c *cobra.Command) {
	fs := c.Flags()
	m, s, t, e, a, on, r := &o.Measure, &o.Server, &o.Tools, &o.Evals, &o.against, &o.scheduler, &o.runPy
	m.Repeat, m.Seed, a.blocks, on.poll = 1, 1, 4, 10*time.Second
	bind(c, map[string]any{
		"model": &o.System.Model, "device": &o.System.Device, "new-device": &o.System.New, "impl": &o.System.Impl,
		"release": &o.System.Release, "channel": &o.System.Channel, "sweep": &m.Sweep, "workload": &m.Workloads,
		"batch-size": &m.Batches, "input-output-len": &m.Lengths, "plan": &o.planFile, "input": &o.input,
		"recheck": &m.Recheck, "missing": &m.Missing, "only": (*string)(&m.Only), "slo": &m.SLO, "until": &m.Until,
		"budget": &m.Budget, "repeat": &m.Repeat, "clients": &m.Clients, "seed": &m.Seed, "spec": &o.spec,
		"max-context": &m.MaxContext, "max-concurrency": &m.MaxConcurrency,

		"server": &s.Name, "port": &s.Port, "server-param": &o.params, "search": &o.search, "image": &s.Image,
		"container-engine": &s.ContainerEngine, "container-port": &s.ContainerPort, "env-file": &s.EnvFile,
		"volume": &s.Volumes, "run-arg": &s.RunArgs, "device-id": &s.DeviceIDs, "startup-timeout": &s.StartupTimeout,
		"server-only": &o.serverOnly,

		"against": &a.baseline, "blocks": &a.blocks, "live": &a.live, "against-port": &a.port,
		"against-release": &a.release,

		"tools": &t.Names, "tokenizer": &t.Tokenizer, "chat": &t.Chat, "tool-arg": &t.Args, "mpi-ranks": &t.MPIRanks,
		"evals": &e.Tasks, "eval-limit": &e.Limit, "eval-tasks": &e.TaskDir,

		"out": &o.out, "dry-run": &o.dryRun, "no-resume": &o.Run.NoResume, "no-warmup": &o.Run.NoWarmup,
		"dcgm": &o.Run.DCGM, "lock-timeout": &o.sh.patience, "point-timeout": &o.Run.PointTimeout,

		"on": &on.on, "detach": &on.detach, "follow": &on.follow, "cancel": &on.cancel, "retry": &on.retry,
		"node": &on.node, "@backends": on.declare, "poll": &on.poll,

		"once": &o.job.once, "allocated": &o.job.allocated, "print-results": &o.job.print,

		"workflow": &r.Workflow, "tt-device": &o.System.Device, "docker-server": &r.Docker,
		"local-server": &r.LocalServer, "limit-samples-mode": &r.LimitMode, "ci-mode": &r.CIMode,
		"server-url": &r.ServerURL, "service-port": &s.Port, "disable-trace-capture": &o.Run.NoWarmup,
		"override-docker-image": &s.Image, "runtime-model-spec-json": &o.spec, "no-auth": &s.NoAuth,
		"dev-mode": &r.DevMode, "override-tt-config": &r.TTConfig, "vllm-override-args": &r.VLLMArgs,
		"eval-samples": &r.Samples, "goodput": &r.Goodput, "print-docker-cmd": &o.printDocker,
		"@run.py":    o.declareRunPy,
		"batch_size": &m.Batches, "input_output_len": &m.Lengths, "@benchmark.py": o.declareTRT,
	})
	var pages []string
	for _, name := range on.names() {
		pages = append(pages, "ttreport help "+name)
	}
	f := fs.Lookup("on")
	f.Usage = strings.NewReplacer("{schedulers}", strings.Join(on.names(), " or "), "{pages}",
		strings.Join(pages, ", ")).Replace(f.Usage)
	// Without those of schedulers, and those of the plan, which a job has as a file, and of where and when it is run.
	own := []string{"plan", "input", "recheck", "server-param", "dry-run", "out", "no-resume", "lock-timeout"}
	o.given = func() (out []string) {
		fs.Visit(func(f *pflag.Flag) {
			if !slices.Contains(own, f.Name) && !slices.Contains(f.Annotations[groupOf], "Scheduler") {
				out = append(out, asArguments(f)...)
			}
		})
		return out
	}
	fs.VisitAll(func(f *pflag.Flag) { // help run-py lists those of run.py
		f.Hidden = strings.HasSuffix(strings.Join(f.Annotations[groupOf], ""), "run.py")
	})
}

// otherWords gives prompts words that no earlier collection had, unless --seed fixes them: a server that kept running
// may have the others in its prefix cache. Lengths and times of requests stay those of the seed, so that what was
// measured before is comparable.
func (o *collectOptions) otherWords() {
	const most = 1 << 40 // a float64 has it exactly
	if !o.seeded && o.Measure.Text == 0 {
		o.Measure.Text = 1 + rand.Uint64N(most)
	}
}
