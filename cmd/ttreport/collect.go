package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/planfile"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
)

func collectCommand() command {
	return command{
		name: "collect", summary: "measure a served model, or rehearse without one",
		args: "[--model M --device D [--server URL|'command …'|docker|sim]] [-- ARG…]",
		help: `Measures latency and throughput of a served model, and evals, and leaves a run folder in results/: raw files, a sidecar
beside each with the command and times, a manifest that says who was measured, and a journal.

Without a model, in a folder without real runs and without plans in ttreport.yaml, it rehearses: six small releases of a simulated model
are measured on the embedded server, so that ttreport build has a history to show. What was measured on the simulator says so everywhere.

What is measured comes from --sweep (quick, standard, targets, tt-2025), --workload, --batch-size with --input-output-len, a plan
(--plan, -i for nm-vllm's configurations, plans: in ttreport.yaml), or --recheck: what the gate saw once, with a control.
The table of it, with an estimate of time, is printed first; --dry-run prints every command line and stops.

The device is not known to a server; --device states it. Engine and version are asked from the server, never guessed. What is started
is stopped on every path, with its children. A collection that was interrupted goes on where it stopped when the same line is given.

Load is made by the client in this program, or by --tools; evals by --evals TASK,…. Tools are found on the PATH, or made once in an
environment of their own: ttreport doctor tells. A key is read from OPENAI_API_KEY, or made of JWT_SECRET, in the environment or in
.env, and never stands on a command line or in a file. More: ttreport help collect, ttreport help plans, ttreport help run-py.`,
		examples: []example{
			{"rehearse, then look", "ttreport collect && ttreport build"},
			{"the simulator as if it were a system under test", "ttreport collect --model sim-8b --device simulated --server sim"},
			{"a server that runs already", "ttreport collect --model Llama-3.1-8B-Instruct --device n150 --server http://127.0.0.1:8000 --release v0.17.0"},
			{"a server that is started for it, two clients, an eval", "ttreport collect --model acme/tiny --device cpu --server 'command vllm serve ./tiny --served-model-name acme/tiny --port 8000' --tokenizer ./tiny --tools builtin,vllm --evals gsm8k --eval-limit 100"},
			{"an image", "ttreport collect --model acme/tiny --device n150 --server docker --image registry.example/acme@sha256:… --port 8000 -- --model acme/tiny"},
			{"what would be measured?", "ttreport collect --model sim-8b --device simulated --server sim --sweep tt-2025 --dry-run"},
			{"what the gate saw once, measured again", "ttreport collect --recheck --server http://127.0.0.1:8000"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			var o collectOptions
			o.flags(fs)
			return func(ctx context.Context, sh *shell, args []string) error {
				if len(args) > 0 && o.server != "docker" && !o.dockerSrv {
					return fail(exitUsage, "ttreport collect --help", "collect: unexpected %q", args[0])
				}
				o.given = map[string]bool{}
				fs.Visit(func(f *pflag.Flag) { o.given[f.Name] = true })
				o.args, o.serverSet = args, fs.Changed("server") || fs.Changed("server-url")
				return o.collect(ctx, sh)
			}
		},
	}
}

// collect finds what is to be measured, and measures it, one server after the other.
func (o collectOptions) collect(ctx context.Context, sh *shell) error {
	if err := o.aliases(); err != nil {
		return err
	}
	ws, err := workspace.Open(".")
	if err != nil {
		return failure{code: exitUsage, err: err}
	}
	o.server = strings.TrimSuffix(strings.TrimSuffix(o.server, "/"), "/v1") // as clients of OpenAI's interface are given it
	if o.workflow == "reports" && o.dryRun {
		fmt.Fprintln(sh.out, "ttreport build")
		return nil
	}
	if o.workflow == "reports" {
		return o.report(ctx, sh, ws)
	}
	entries, err := o.entries(ctx, ws)
	if err != nil {
		return err
	}
	if len(entries) == 0 && o.model == "" && o.device == "" && !o.serverSet && !o.planned() {
		return rehearse(ctx, sh, ws, o.dryRun)
	}
	if len(entries) == 0 && !o.planned() {
		if err := o.measure(ctx, sh, ws); err != nil || o.workflow != "release" || o.dryRun {
			return err
		}
		return o.report(ctx, sh, ws) // its report is part of that workflow
	}
	var first error
	for i, e := range entries {
		sh.say("plan      %d of %d: %s%s", i+1, len(entries), e.Model, because(e.Why))
		err := o.with(e).measure(ctx, sh, ws)
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
	case len(entries) == 0 && o.recheck:
		fmt.Fprintln(sh.out, "nothing was seen once, so there is nothing to measure again")
	case len(entries) == 0:
		fmt.Fprintln(sh.out, "the plan is empty, so nothing was measured")
	}
	return first
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ", " + strings.ReplaceAll(why, "\n", " ")
}

// planned reports whether a plan was asked for.
func (o collectOptions) planned() bool { return o.planFile != "" || o.input != "" || o.recheck }

// with is the flags for an entry of a plan: what stands on the command line is nearer than what the plan says. A recheck is of what was
// judged, whatever selected it.
func (o collectOptions) with(e planfile.Entry) collectOptions {
	for _, x := range []struct {
		flag  string
		at    *string
		value string
	}{{"model", &o.model, e.Model}, {"device", &o.device, e.Device}, {"impl", &o.impl, e.Impl}, {"release", &o.release, e.Release}, {"channel", &o.channel, e.Channel}, {"image", &o.image, e.Image}, {"only", &o.only, e.Only}, {"sweep", &o.sweep, e.Sweep}} {
		if x.value != "" && (!o.given[x.flag] || o.recheck) {
			*x.at = x.value
		}
	}
	if o.tokenizer == "" { // where it lies is this machine's
		o.tokenizer = e.Tokenizer
	}
	if !o.serverSet && e.Server != "" {
		o.server = e.Server
	}
	if len(o.tools) == 0 {
		o.tools = e.Tools
	}
	if len(e.Workloads)+len(e.Loads) > 0 && !o.given["workload"] && (!o.given["sweep"] || o.recheck) {
		o.workloads, o.loads = e.Workloads, e.Loads
	}
	if len(o.evals) == 0 {
		o.evals = e.Evals
	}
	o.evalLimit = orInt(o.evalLimit, e.EvalLimit)
	o.repeat, o.chat = max(o.repeat, e.Repeat), o.chat || e.Chat
	return o
}

// rehearse runs the rehearsal where nothing real could be mixed with it.
func rehearse(ctx context.Context, sh *shell, ws *workspace.Workspace, dryRun bool) error {
	if ws.Configured || hasRealRuns(ctx, ws) {
		return fail(exitUsage, "measure with ttreport collect --model MODEL --device DEVICE, or rehearse in a folder of its own with ttreport demo",
			"collect: this folder has a configuration or real runs; a rehearsal would mix simulated numbers with them")
	}
	if dryRun {
		sh.say("rehearsal: six releases of a simulated model, each:")
		plan, err := collect.RehearsalPlan()
		if err != nil {
			return err
		}
		writePlan(sh, plan, estimate{})
		return nil
	}
	outs, took, err := rehearsed(ctx, sh, ws)
	if err != nil {
		return err
	}
	if len(outs) == 0 {
		fmt.Fprintf(sh.out, "the rehearsal in %s is complete already; remove the folder to rehearse anew. Next: ttreport build\n", ws.Results())
		return nil
	}
	fmt.Fprintf(sh.out, "%s rehearsed in %s, all simulated; results in %s. Next: ttreport build\n", plural(len(outs), "run"), age(took), ws.Results())
	return nil
}

// hasRealRuns reports whether history holds a run that was not simulated.
func hasRealRuns(ctx context.Context, ws *workspace.Workspace) bool {
	cols, _, err := history.Load(ctx, "", ws.History())
	if err != nil {
		return false
	}
	for i := range cols.Runs {
		if !cols.Runs[i].IsSimulated() {
			return true
		}
	}
	return false
}

// measure measures one plan on one server.
func (o collectOptions) measure(ctx context.Context, sh *shell, ws *workspace.Workspace) error {
	if err := o.needed(); err != nil {
		return err
	}
	key, err := o.key(sh, ws)
	if err != nil {
		return err
	}
	known, err := o.known(ctx, sh, ws, &key)
	if err != nil {
		return err
	}
	if o.image == "" {
		o.image = known.Image
	}
	if o.wait == 0 && o.server == "docker" { // weights may have to be converted first
		o.wait = max(time.Hour, 2*time.Duration(known.Wait)*time.Second)
	}
	if !strings.Contains(o.model, "/") && o.server == "docker" && known.ID != "" {
		o.model = known.ID
	}
	plan, err := o.plan(sh, ws, known)
	if err != nil {
		return err
	}
	if err := o.tooling(ctx, sh, ws, &plan); err != nil {
		return err
	}
	show := newProgress(sh)
	srv, err := o.serverKind(ws, plan, key, show.waiting(o.address()))
	if err != nil {
		return err
	}
	if !o.serverOnly {
		about := o.estimate(ctx, ws, plan)
		writePlan(sh, plan, about)
		show.expect(plan, about)
	}
	if o.dryRun {
		for _, l := range collect.Lines(plan, srv, o.address()) {
			fmt.Fprintln(sh.out, l)
		}
		return nil
	}
	if o.device != schema.Simulated {
		release, err := collect.Lock("device "+o.device, "address "+o.address())
		if err != nil {
			return fail(exitCollect, "wait for it, or end it: two loads on one device measure each other", "collect: %w", err)
		}
		defer release()
	}
	if o.serverOnly {
		return o.leave(ctx, sh, ws, srv)
	}
	return o.run(ctx, sh, ws, plan, srv, show)
}

// run measures a plan and says what came of it.
func (o collectOptions) run(ctx context.Context, sh *shell, ws *workspace.Workspace, plan collect.Plan, srv collect.Server, show *progress) error {
	out, err := collect.Run(ctx, plan, srv, o.results(ws), versionLine(), show.event)
	show.end()
	if err != nil {
		if len(out.Points)+out.Evals == 0 && ctx.Err() == nil && !errors.Is(err, collect.ErrServerDied) {
			ws = nil // there is nothing to point at
		}
		return collectError(ctx, sh, ws, err)
	}
	what := plural(len(out.Points), "point")
	switch {
	case out.Evals > 0 && len(out.Points) > 0:
		what += " and " + plural(out.Evals, "eval")
	case out.Evals > 0:
		what = plural(out.Evals, "eval")
	}
	fmt.Fprintf(sh.out, "%s measured; results in %s. Next: %s\n", what, out.Dir, shellescape.QuoteCommand(append([]string{"ttreport", "build"}, o.elsewhere()...)))
	if out.Failed > 0 {
		return fail(exitCollect, "the journal in "+out.Dir+" has the reasons", "%s failed", plural(out.Failed, "measurement"))
	}
	return nil
}

// results is where run folders go.
func (o collectOptions) results(ws *workspace.Workspace) string {
	if o.output != "" {
		return o.output
	}
	return ws.Results()
}

// report makes the site of what was measured, as run.py's workflows end.
func (o collectOptions) report(ctx context.Context, sh *shell, ws *workspace.Workspace) error {
	return build(ctx, sh, ws, o.elsewhere(), &identity{}, buildOptions{out: ws.Site()})
}

// elsewhere is the folder that build must be told of, because results are not where it looks.
func (o collectOptions) elsewhere() []string {
	if o.output != "" {
		return []string{o.output}
	}
	return nil
}

// rehearsed measures what the rehearsal still lacks, with progress, and says how long that took.
func rehearsed(ctx context.Context, sh *shell, ws *workspace.Workspace) ([]collect.Outcome, time.Duration, error) {
	show := newProgress(sh)
	began := time.Now()
	outs, err := collect.Rehearse(ctx, ws.Results(), versionLine(), show.event)
	show.end()
	if err != nil {
		err = collectError(ctx, sh, ws, err)
	}
	return outs, time.Since(began), err
}

func collectError(ctx context.Context, sh *shell, ws *workspace.Workspace, err error) error {
	if ctx.Err() != nil {
		sh.say("what was measured until now is kept in %s; ttreport build shows it and names what is missing, and the same line goes on", ws.Results())
		return ctx.Err()
	}
	hint := "nothing was measured"
	if ws != nil {
		hint = "what was measured until now is kept in " + ws.Results()
	}
	for _, h := range []struct {
		is   error
		hint string
	}{
		{collect.ErrDenied, "set OPENAI_API_KEY, or JWT_SECRET for tt-inference-server's images, in the environment or in .env; nothing was measured"},
		{collect.ErrNotStarted, "nothing was measured"},
		{collect.ErrOtherModel, "--model is the name that the server lists; nothing was measured"},
		{collect.ErrNotReady, "is the server running, and is the port right? nothing was measured"},
		{collect.ErrFull, "make room and give the same line again: it goes on where this stopped. " + hint},
		{collect.ErrServerDied, "its log is server.log in the run folder; the same line goes on where this stopped. " + hint},
		{collect.ErrOtherServer, "measure with the server as it was, or begin anew with --fresh"},
		{collect.ErrSimulated, "--device simulated is for the simulator, and the simulator for it"},
		{collect.ErrTaken, "nothing was measured"},
		{os.ErrPermission, "the current folder cannot be written to"},
	} {
		if errors.Is(err, h.is) {
			hint = h.hint
			break
		}
	}
	return failure{code: exitCollect, err: fmt.Errorf("collect: %w", err), hint: hint}
}
