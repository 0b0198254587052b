package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/credentials"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/plan/spec"
	"github.com/ttreport/ttreport/collect/progress"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool/environment"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
)

const collectHelp = `
Measures latency and throughput of a served model, and evals, and leaves a run folder in results/: raw files, a
sidecar for each with the command and times, a manifest that states what was measured, and a journal.

Without a model, in a folder without real runs and without plans in ttreport.yaml, it runs the demo: six small releases
of a simulated model are measured, so that ttreport build has a history to show. Results of the simulator are marked as
simulated everywhere.

What is measured comes from --sweep (quick, standard, targets, tt-2025), --workload, --batch-size with
--input-output-len, a plan (--plan, -i for nm-vllm's configurations, plans: in ttreport.yaml), or --recheck: suspected
changes, with a control. The plan is printed first, with an estimate of time; --dry-run prints every command line as
well and stops.

A server does not know its device; --device states it. Engine and version are asked from the server, never guessed.
What is started is stopped on every path, with its children. An interrupted collection resumes when the same command is
run again.

Load is made by the client in this program, or by --tools; evals by --evals TASK,…. Tools are found on the PATH, or
installed once in an environment of their own; ttreport doctor lists them. A key is read from OPENAI_API_KEY, or made
from JWT_SECRET, in the environment or in .env, and is never written to a command line or a file. More: ttreport help
collect, ttreport help plans, ttreport help run-py.`

func collectCommand() command {
	return command{
		name: "collect", summary: "measure a served model, or run the demo without one",
		args: "[--model M --device D [--server URL|'command …'|docker|sim]] [-- ARG…]",
		help: collectHelp,
		examples: []example{
			{"run the demo and build its site", "ttreport collect && ttreport build"},
			{"the simulator as if it were a system under test",
				"ttreport collect --model sim-8b --device simulated --server sim"},
			{"a server that runs already",
				"ttreport collect --model Llama-3.1-8B-Instruct --device n150 --server http://127.0.0.1:8000 --release v0.17.0"},
			{"start a server, two clients, an eval",
				"ttreport collect --model acme/tiny --device cpu " +
					"--server 'command vllm serve ./tiny --served-model-name acme/tiny --port 8000' " +
					"--tokenizer ./tiny --tools builtin,vllm --evals gsm8k --eval-limit 100"},
			{"an image", "ttreport collect --model acme/tiny --device n150 --server docker " +
				"--image registry.example/acme@sha256:… --port 8000 -- --model acme/tiny"},
			{"what would be measured?",
				"ttreport collect --model sim-8b --device simulated --server sim --sweep tt-2025 --dry-run"},
			{"measure suspected changes again", "ttreport collect --recheck --server http://127.0.0.1:8000"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			var o collectOptions
			o.declare(fs)
			return func(ctx context.Context, sh *shell, args []string) error {
				if len(args) > 0 && o.Server.Name.Kind != plan.ServerDocker && !o.runPy.Docker {
					return fail(exitUsage, "ttreport collect --help", "collect: unexpected %q", args[0])
				}
				o.Server.Args = args
				return o.collect(ctx, sh)
			}
		},
	}
}

// collect finds what is to be measured, and measures it, one server after the other.
func (o collectOptions) collect(ctx context.Context, sh *shell) error {
	if err := o.complete(); err != nil {
		return planError(err)
	}
	ws, err := openWorkspace(".")
	if err != nil {
		return err
	}
	if o.runPy.Workflow == plan.WorkflowReports && o.dryRun {
		fmt.Fprintln(sh.out, "ttreport build")
		return nil
	}
	if o.runPy.Workflow == plan.WorkflowReports {
		return o.buildSite(ctx, sh, ws)
	}
	entries, err := o.entries(ctx, ws)
	if err != nil {
		return planError(err)
	}
	planned := o.planFile != "" || o.input != "" || o.Measure.Recheck
	if len(entries) > 0 || planned {
		return o.measureAll(ctx, sh, ws, entries)
	}
	if o.System.Model == "" && o.System.Device == "" && o.Server.Name.IsZero() {
		return collectDemo(ctx, sh, ws, o.dryRun)
	}
	if err := o.measure(ctx, sh, ws); err != nil || o.runPy.Workflow != plan.WorkflowRelease || o.dryRun {
		return err
	}
	return o.buildSite(ctx, sh, ws) // its report is part of that workflow
}

// measureAll measures the entries of a plan one after the other; the first error is returned when all were tried.
func (o collectOptions) measureAll(
	ctx context.Context, sh *shell, ws *workspace.Workspace, entries []plan.Entry,
) error {
	var first error
	for i, e := range entries {
		why := strings.ReplaceAll(e.Why, "\n", " ")
		if why != "" {
			why = ", " + why
		}
		sh.say("plan      %d of %d: %s%s", i+1, len(entries), e.Model, why)
		one := o
		one.Options = o.With(e)
		err := one.measure(ctx, sh, ws)
		if ctx.Err() != nil {
			return err
		}
		if err != nil && first == nil {
			first = err
		}
		if err != nil && i+1 < len(entries) {
			sh.say("error: %v", err)
		}
	}
	switch {
	case len(entries) == 0 && o.Measure.Recheck:
		fmt.Fprintln(sh.out, "no change is suspected, so there is nothing to measure again")
	case len(entries) == 0:
		fmt.Fprintln(sh.out, "the plan is empty, so nothing was measured")
	}
	return first
}

// entries are the plans to run: of a file, of the gate, or of ttreport.yaml when no model is named; none for what the
// flags alone state.
func (o collectOptions) entries(ctx context.Context, ws *workspace.Workspace) ([]plan.Entry, error) {
	switch {
	case o.planFile != "":
		return plan.ReadFile(o.planFile)
	case o.input != "":
		return plan.ReadNM(o.input)
	case o.Measure.Recheck:
		s := o.System
		report, at, err := checkOptions{release: s.Release, model: s.Model, device: s.Device}.judge(ctx, ws)
		if err != nil {
			return nil, err
		}
		g := report.Review(at, s.Model, s.Device)
		return recheckEntries(&g), nil
	case o.System.Model == "":
		return plan.OfConfiguration(workspace.ConfigName, ws.Config.Plans, o.System.Device)
	}
	return nil, nil
}

// measure measures one plan on one server.
func (o collectOptions) measure(ctx context.Context, sh *shell, ws *workspace.Workspace) error {
	if err := o.Check(); err != nil {
		return planError(err)
	}
	if o.Server.Name.IsZero() {
		o.Server.Name.Kind = plan.ServerSim
	}
	key, err := o.key(sh, ws)
	if err != nil {
		return err
	}
	known, err := o.known(ctx, sh, ws, &key)
	if err != nil {
		return err
	}
	o.Options = o.Complete(known)
	p, err := o.plan(ctx, sh, ws, known)
	if err != nil {
		return err
	}
	show, address := newProgress(sh), o.Server.Name.Address(o.Server.Port)
	srv, err := server.New(server.Request{
		System: o.System, Options: o.Server, Plan: p, APIKey: key, Dir: ws.Dir, Waiting: show.Waiting(address),
	})
	if err != nil {
		return planError(err)
	}
	if !o.serverOnly {
		about := estimate(ctx, ws, p)
		progress.WritePlan(sh.err, p, about)
		show.Expect(p, about)
	}
	if o.dryRun {
		for _, l := range collect.CommandLines(p, srv, address) {
			fmt.Fprintln(sh.out, l)
		}
		return nil
	}
	release, err := o.lock(address)
	if err != nil {
		return err
	}
	defer release()
	if o.serverOnly {
		return o.startServer(ctx, sh, ws, srv)
	}
	return o.run(ctx, sh, ws, p, srv, show)
}

// lock keeps other processes from measuring the same device or server. The simulator needs no lock: each process has
// its own.
func (o collectOptions) lock(address string) (release func(), err error) {
	if o.System.Device == schema.Simulated {
		return func() {}, nil
	}
	if release, err = collect.Lock("device "+o.System.Device, "address "+address); err != nil {
		const fix = "wait for it, or end it: two loads on one device measure each other"
		return nil, fail(exitCollect, fix, "collect: %w", err)
	}
	return release, nil
}

// key is the API key of the server. What .env has is warned about, and tools get the token of the hub from it.
func (o collectOptions) key(sh *shell, ws *workspace.Workspace) (string, error) {
	if o.Server.Name.Kind == plan.ServerSim {
		return "", nil
	}
	file, err := credentials.Open(ws.Dir)
	if err != nil {
		return "", failure{code: exitUsage, err: fmt.Errorf("collect: %w", err)}
	}
	if file.Warning != "" {
		sh.say("warning: %s", file.Warning)
	}
	if err := file.ExportToken(); err != nil {
		return "", fmt.Errorf("collect: %w", err)
	}
	docker := o.Server.Name.Kind == plan.ServerDocker && !o.Server.NoAuth && !o.dryRun
	return file.Key(docker && server.IsTenstorrent(o.System.Device), askFor(sh, ws))
}

// known is what is stated of the model: by --spec or models.yaml, and by the server where it runs already.
func (o collectOptions) known(
	ctx context.Context, sh *shell, ws *workspace.Workspace, key *string,
) (spec.Model, error) {
	stated, err := spec.Lookup(ws.Dir, o.spec, o.System.Model, o.System.Device, o.System.Impl)
	if err != nil {
		return stated, failure{code: exitUsage, err: fmt.Errorf("collect: %w", err)}
	}
	limit := 0
	if o.Server.Name.Kind == plan.ServerURL && !o.dryRun {
		end, err := o.probe(ctx, sh, ws, key)
		if errors.Is(err, server.ErrDenied) {
			return stated, collectError(ctx, sh, ws, err)
		}
		limit = end.Context // one that is not ready yet is waited for later
	}
	return o.Known(stated, limit), nil
}

// plan is the plan with its tools; what was assumed or left out is printed.
func (o collectOptions) plan(
	ctx context.Context, sh *shell, ws *workspace.Workspace, known spec.Model,
) (plan.Plan, error) {
	targets, err := readTargets(ws)
	if err != nil {
		return plan.Plan{}, err
	}
	p, notes, err := plan.Make(o.Options, known, targets)
	if err != nil {
		return p, planError(err)
	}
	for _, n := range notes {
		sh.say("%-9s %s", n.Kind, n.Text)
	}
	say := func(s string) { sh.say("tools     %s", s) }
	find := plan.Finder{
		Environments: environment.Tools{Configured: ws.Config.Tools, Say: say},
		Exec:         ws.Config.Exec, FindOnly: o.dryRun, Say: say,
	}
	return p, planError(find.Fill(ctx, &p, o.Tools))
}

// estimate is how long a plan may take, by what history has of it.
func estimate(ctx context.Context, ws *workspace.Workspace, p plan.Plan) plan.Estimate {
	past, _, err := history.Load(ctx, ws.Cache(), ws.History())
	if err != nil {
		past = nil
	}
	return plan.EstimateOf(p, past)
}

// run measures a plan and prints the result.
func (o collectOptions) run(
	ctx context.Context, sh *shell, ws *workspace.Workspace, p plan.Plan, srv server.Server, show *progress.Display,
) error {
	results := ws.Results()
	if o.out != "" {
		results = o.out
	}
	out, err := collect.Run(ctx, p, srv, results, show.Event)
	show.End()
	if err != nil {
		if len(out.Points)+out.Evals == 0 && ctx.Err() == nil && !errors.Is(err, server.ErrDied) {
			ws = nil // there is nothing to point at
		}
		return collectError(ctx, sh, ws, err)
	}
	what := plaintext.Plural(len(out.Points), "point")
	switch {
	case out.Evals > 0 && len(out.Points) > 0:
		what += " and " + plaintext.Plural(out.Evals, "eval")
	case out.Evals > 0:
		what = plaintext.Plural(out.Evals, "eval")
	}
	next := shellescape.QuoteCommand(append([]string{"ttreport", "build"}, o.outPath()...))
	fmt.Fprintf(sh.out, "%s measured; results in %s. Next: %s\n", what, out.Dir, next)
	if out.Failed > 0 {
		return fail(exitCollect, "the journal in "+out.Dir+" has the reasons",
			"%s failed", plaintext.Plural(out.Failed, "measurement"))
	}
	return nil
}

// buildSite makes the site of what was measured, as run.py's workflows end.
func (o collectOptions) buildSite(ctx context.Context, sh *shell, ws *workspace.Workspace) error {
	return build(ctx, sh, ws, o.outPath(), buildOptions{out: ws.Site()})
}

// outPath is the folder of --out, which build must be given because results are not where it looks.
func (o collectOptions) outPath() []string {
	if o.out == "" {
		return nil
	}
	return []string{o.out}
}

// probe asks a running server what it serves. One that wants a key is asked again with one that a person types, where
// one is there to type.
func (o collectOptions) probe(
	ctx context.Context, sh *shell, ws *workspace.Workspace, key *string,
) (server.Endpoint, error) {
	at := server.Attached{URL: o.Server.Name.URL, Model: o.System.Model, APIKey: *key}
	end, err := at.Probe(ctx)
	if !errors.Is(err, server.ErrDenied) {
		return end, err
	}
	typed, asked := askFor(sh, ws)(credentials.OpenAIKey, at.URL+" wants a key")
	if !asked {
		return end, err
	}
	*key, at.APIKey = typed, typed
	return at.Probe(ctx)
}

// startServer starts a server, prints how to use and to end it, and leaves it running.
func (o collectOptions) startServer(ctx context.Context, sh *shell, ws *workspace.Workspace, srv server.Server) error {
	d, ok := srv.(interface {
		Detach(ctx context.Context, dir string) (server.Detached, error)
	})
	if !ok {
		return fail(exitUsage, "--server docker, or --server 'command …'",
			"collect: --server-only starts a server, and %s is none that could be started", o.Server.Name)
	}
	s, err := d.Detach(ctx, filepath.Join(ws.Dir, ".ttreport", "servers"))
	if err != nil {
		return collectError(ctx, sh, ws, err)
	}
	measure := shellescape.QuoteCommand([]string{
		"ttreport", "collect", "--model", o.System.Model, "--device", o.System.Device, "--server", s.URL,
	})
	const text = "%s is ready at %s\n  log      %s\n  end it   %s\n  measure  %s\n"
	fmt.Fprintf(sh.out, text, s.Name, s.URL, s.Log, s.Stop, measure)
	return nil
}
