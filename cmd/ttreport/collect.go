package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/sweep"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

func collectCommand() command {
	return command{
		name: "collect", summary: "measure a served model, or rehearse without one",
		args: "[--model M --device D [--server URL|'command …'|docker|sim]] [-- ARG…]",
		help: `Measures latency and throughput of a served model, and a small eval, and leaves a run folder in results/: raw files, a sidecar
beside each with the command and times, a manifest that says who was measured, and a journal.

Without a model, in a folder without real runs, it rehearses: six small releases of a simulated model are measured on the
embedded server, so that ttreport build has a history to show. What was measured on the simulator says so everywhere.

The device is not known to a server; --device states it. Engine and version are asked from the server, never guessed. What is started
is stopped on every path, with its children. A collection that was interrupted goes on where it stopped when the same line is given.

Load is made by the client in this program, or by --tools vllm,aiperf,guidellm; evals by --evals TASK,… with lm-eval. Tools are found on
the PATH, or made once in an environment of their own: ttreport doctor tells. A key is read from OPENAI_API_KEY, or made of JWT_SECRET, in
the environment or in .env, and never stands on a command line or in a file. More: ttreport help collect.`,
		examples: []example{
			{"rehearse, then look", "ttreport collect && ttreport build"},
			{"the simulator as if it were a system under test", "ttreport collect --model sim-8b --device simulated --server sim"},
			{"a server that runs already", "ttreport collect --model Llama-3.1-8B-Instruct --device n150 --server http://127.0.0.1:8000 --release v0.17.0"},
			{"a server that is started for it, two clients, an eval", "ttreport collect --model acme/tiny --device cpu --server 'command vllm serve ./tiny --served-model-name acme/tiny --port 8000' --tokenizer ./tiny --tools builtin,vllm --evals gsm8k --eval-limit 100"},
			{"an image", "ttreport collect --model acme/tiny --device n150 --server docker --image registry.example/acme@sha256:… --port 8000 -- --model acme/tiny"},
			{"what would be measured?", "ttreport collect --model sim-8b --device simulated --server sim --sweep tt-2025 --dry-run"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			var o collectOptions
			fs.StringVar(&o.model, "model", "", "`name` of the model as the server serves it")
			fs.StringVar(&o.device, "device", "", "`name` of the device that serves")
			fs.StringVar(&o.impl, "impl", "", "`name` of the implementation")
			fs.StringVar(&o.server, "server", "sim", "sim, or the `URL` of a running OpenAI-compatible server")
			fs.StringVar(&o.release, "release", "", "`label` of the release that is measured")
			fs.StringVar(&o.channel, "channel", "", "release, main, pr or dev")
			fs.StringVar(&o.sweep, "sweep", "quick", "workloads to measure: "+strings.Join(sweep.Names(), ", "))
			fs.StringArrayVar(&o.workloads, "workload", nil, "one workload, as `isl=128,osl=128,c=1,n=8`; instead of a sweep, may be repeated")
			fs.StringVar(&o.only, "only", "", "benchmarks or evals")
			fs.IntVar(&o.repeat, "repeat", 1, "measure each workload this many `times`, interleaved")
			fs.Uint64Var(&o.seed, "seed", 1, "`number` that fixes prompts and arrivals")
			fs.BoolVar(&o.dryRun, "dry-run", false, "print what would be measured, with every command line, and stop")
			o.more(fs)
			return func(ctx context.Context, sh *shell, args []string) error {
				if len(args) > 0 && o.server != "docker" {
					return fail(exitUsage, "ttreport collect --help", "collect: unexpected %q", args[0])
				}
				o.args = args
				if err := o.aliases(); err != nil {
					return err
				}
				ws, err := workspace.Open(".")
				if err != nil {
					return failure{code: exitUsage, err: err}
				}
				if o.model == "" && o.device == "" && !fs.Changed("server") {
					return rehearse(ctx, sh, ws, o.dryRun)
				}
				return o.measure(ctx, sh, ws)
			}
		},
	}
}

type collectOptions struct {
	model, device, impl, server, release, channel, sweep, only string
	workloads                                                  []string
	repeat                                                     int
	seed                                                       uint64
	dryRun                                                     bool
	foreignOptions
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
		writePlan(sh, plan)
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

func (o collectOptions) measure(ctx context.Context, sh *shell, ws *workspace.Workspace) error {
	plan, err := o.plan()
	if err != nil {
		return err
	}
	key, err := o.key(sh, ws)
	if err != nil {
		return err
	}
	srv, err := o.serverKind(key)
	if err != nil {
		return err
	}
	if err := o.tooling(ctx, sh, ws, &plan); err != nil {
		return err
	}
	writePlan(sh, plan)
	if o.dryRun {
		return writeLines(sh, plan, srv, o.address())
	}
	if o.device != schema.Simulated {
		release, err := collect.Lock("device "+o.device, "address "+o.address())
		if err != nil {
			return fail(exitCollect, "wait for it, or end it: two loads on one device measure each other", "collect: %w", err)
		}
		defer release()
	}
	show := newProgress(sh)
	waiting := func(err error) { show.line("waiting   %s: %v", o.address(), err) }
	switch s := srv.(type) {
	case *collect.Attached:
		s.Waiting = waiting
	case *collect.Command:
		s.Waiting = waiting
	case *collect.Container:
		s.Waiting = waiting
	}
	out, err := collect.Run(ctx, plan, srv, ws.Results(), versionLine(), show.event)
	show.end()
	if err != nil {
		return collectError(ctx, sh, ws, err)
	}
	fmt.Fprintf(sh.out, "%s measured; results in %s. Next: ttreport build\n", plural(len(out.Points), "point"), out.Dir)
	if out.Failed > 0 {
		return fail(exitCollect, "the journal in "+out.Dir+" has the reasons", "%s failed", plural(out.Failed, "measurement"))
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
		sh.say("what was measured until now is kept in %s; ttreport build shows it and names what is missing", ws.Results())
		return ctx.Err()
	}
	hint := "what was measured until now is kept in " + ws.Results()
	switch {
	case errors.Is(err, collect.ErrNotReady):
		hint = "is the server running, and is the port right? nothing was measured"
	case errors.Is(err, collect.ErrServerDied):
		hint = "its log is server.log in the run folder; the same line goes on where this stopped. " + hint
	case errors.Is(err, collect.ErrOtherServer):
		hint = "measure with the server as it was, or begin anew with --fresh"
	case errors.Is(err, collect.ErrSimulated):
		hint = "--device simulated is for the simulator, and the simulator for it"
	case errors.Is(err, collect.ErrTaken):
		hint = "nothing was measured"
	case errors.Is(err, os.ErrPermission):
		hint = "the current folder cannot be written to"
	}
	return failure{code: exitCollect, err: fmt.Errorf("collect: %w", err), hint: hint}
}

// plan turns flags into what to measure and on what.
func (o collectOptions) plan() (collect.Plan, error) {
	var p collect.Plan
	if o.model == "" || o.device == "" {
		return p, fail(exitUsage, "ttreport collect --model sim-8b --device simulated --server sim", "collect: --model and --device are both needed: no server knows its device")
	}
	if o.repeat < 1 {
		return p, fail(exitUsage, "--repeat 3 measures each workload three times", "collect: --repeat %d", o.repeat)
	}
	if err := checkChannel(o.channel); err != nil {
		return p, err
	}
	p = collect.Plan{Release: o.release, Channel: o.channel, Model: manifest.Model{Name: path.Base(o.model)}, Device: o.device, Impl: o.impl, Repeat: o.repeat, Seed: o.seed, EvalItems: 60}
	if strings.Contains(o.model, "/") {
		p.Model.ID = o.model
	}
	var err error
	if p.Workloads, err = sweep.Preset(o.sweep); err != nil {
		return p, failure{code: exitUsage, err: fmt.Errorf("collect: %w", err)}
	}
	if len(o.workloads) > 0 {
		p.Workloads = nil
		for _, text := range o.workloads {
			w, err := collect.ParseSpec(text)
			if err != nil {
				return p, failure{code: exitUsage, err: fmt.Errorf("collect: %w", err)}
			}
			p.Workloads = append(p.Workloads, w)
		}
	}
	switch o.only {
	case "":
	case "benchmarks":
		p.EvalItems = 0
	case "evals":
		p.Workloads = nil
	default:
		return p, fail(exitUsage, "say --only benchmarks or --only evals", "collect: --only %q", o.only)
	}
	return p, nil
}

// checkChannel refuses a channel that no baseline would ever be sought in.
func checkChannel(name string) error {
	switch name {
	case "", schema.ChannelRelease, schema.ChannelMain, schema.ChannelPR, schema.ChannelDev:
		return nil
	}
	return fail(exitUsage, "there are release, main, pr and dev", "no channel is called %q", name)
}

// writePlan prints the table of parameters before anything runs.
func writePlan(sh *shell, p collect.Plan) {
	sh.say("%s on %s: %s x %d, %s", p.Model.Name, p.Device, plural(len(p.Workloads), "workload"), max(1, p.Repeat), plural(p.EvalItems, "eval question"))
	tw := tabwriter.NewWriter(sh.err, 2, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "#\tISL\tOSL\tconcurrency\treq/s\tN\t")
	for i, w := range p.Workloads {
		fmt.Fprintf(tw, "%d\t%d\t%d\t%s\t%s\t%d\t\n", i+1, w.ISL, w.OSL, dash(w.Concurrency), dashFloat(w.Rate), w.Requests)
	}
	tw.Flush()
}

func dashFloat(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%g", v)
}

// progress shows what a collection does: one line that is rewritten on a terminal, one line a finished step otherwise.
type progress struct {
	sh    *shell
	tty   bool
	drawn bool
	run   string
}

func newProgress(sh *shell) *progress { return &progress{sh: sh, tty: isTerminal(sh.err)} }

func (p *progress) event(e collect.Event) {
	if e.Run != p.run {
		p.run = e.Run
		p.line("run       %s", e.Run)
	}
	what := e.Text
	if e.Count > 0 {
		what = fmt.Sprintf("%d/%d  %-36s", e.Index, e.Count, e.Text)
	}
	if !e.Final {
		if p.tty {
			fmt.Fprintf(p.sh.err, "\r\033[K%-9s %s %d/%d %s", e.Step, what, e.Done, e.Total, e.Err)
			p.drawn = true
		}
		return
	}
	line := fmt.Sprintf("%-9s %s", e.Step, what)
	if e.Took >= time.Second/20 {
		line += fmt.Sprintf("  %6s", age(e.Took))
	}
	if e.TTFT > 0 {
		line += fmt.Sprintf("   TTFT %7.2f ms   TPOT %6.2f ms", e.TTFT, e.TPOT)
	}
	if e.Err != "" {
		line += "   failed: " + e.Err
	}
	p.line("%s", line)
}

func (p *progress) line(format string, args ...any) {
	p.end()
	p.sh.say(format, args...)
}

// end clears the line that is being rewritten.
func (p *progress) end() {
	if p.drawn {
		fmt.Fprint(p.sh.err, "\r\033[K")
		p.drawn = false
	}
}
