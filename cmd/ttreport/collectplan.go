package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/spec"
	"github.com/ttreport/ttreport/collect/sweep"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/targets/library"
)

// needed refuses flags that say too little.
func (o collectOptions) needed() error {
	switch {
	case o.model != "" && o.device == "":
		return fail(exitUsage, "add --device NAME, as in --device n150", "collect: on which device does %s run? No server knows", o.model)
	case o.model == "":
		return fail(exitUsage, "ttreport collect --model sim-8b --device simulated --server sim", "collect: --model and --device are both needed: no server knows its device")
	case o.given["sweep"] && o.given["workload"]:
		return fail(exitUsage, "leave one of them out", "collect: --workload is instead of a --sweep")
	case o.only == "benchmarks" && len(o.evals) > 0:
		return fail(exitUsage, "leave one of them out", "collect: --only benchmarks and --evals contradict each other")
	}
	if o.repeat < 1 {
		return fail(exitUsage, "--repeat 3 measures each workload three times", "collect: --repeat %d is no number of times", o.repeat)
	}
	switch o.only {
	case "", "benchmarks", "evals":
	default:
		return fail(exitUsage, "say --only benchmarks or --only evals", "collect: --only %q", o.only)
	}
	if (o.batches == "") != (o.lengths == "") {
		return fail(exitUsage, `--batch-size "1;8" --input-output-len "60,20;128,20"`, "collect: --batch-size and --input-output-len belong together")
	}
	return checkChannel(o.channel)
}

// checkChannel refuses a channel that no baseline would ever be sought in.
func checkChannel(name string) error {
	switch name {
	case "", schema.ChannelRelease, schema.ChannelMain, schema.ChannelPR, schema.ChannelDev:
		return nil
	}
	return fail(exitUsage, "there are release, main, pr and dev", "no channel is called %q", name)
}

// known is what is stated of the model before it is measured: by --spec, by models.yaml, by the server's command line, by the server
// itself where it runs. Flags are nearer than all of them.
func (o collectOptions) known(ctx context.Context, sh *shell, ws *workspace.Workspace, key *string) (spec.Model, error) {
	m, err := o.specified(ws)
	if err != nil {
		return m, err
	}
	if argv, ok := o.started(); ok {
		c := spec.OfCommand(argv)
		m.Context, m.Concurrency = orInt(c.Context, m.Context), orInt(c.Concurrency, m.Concurrency)
	}
	if o.attaches() && !o.dryRun {
		end, err := o.look(ctx, sh, ws, key)
		if errors.Is(err, collect.ErrDenied) {
			return m, collectError(ctx, sh, ws, err)
		}
		m.Context = orInt(end.Context, m.Context) // one that is not ready yet is waited for later
	}
	m.Context, m.Concurrency = orInt(o.context, m.Context), orInt(o.concurrency, m.Concurrency)
	return m, nil
}

func orInt(a, b int) int {
	if a != 0 {
		return a
	}
	return b
}

// specified finds the model in --spec, or in models.yaml.
func (o collectOptions) specified(ws *workspace.Workspace) (spec.Model, error) {
	if o.spec != "" {
		data, err := namedFile(o.spec)
		if err != nil {
			return spec.Model{}, err
		}
		list, err := spec.Read(o.spec, data)
		if err != nil {
			return spec.Model{}, failure{code: exitUsage, err: fmt.Errorf("collect: %w", err)}
		}
		m, ok := spec.File{Models: list}.Find(o.model, o.device, o.impl)
		if !ok {
			return m, fail(exitUsage, "it specifies "+list[0].Model+" on "+list[0].Device, "collect: %s does not specify %s on %s", o.spec, o.model, o.device)
		}
		return m, nil
	}
	f, err := catalogue(filepath.Join(ws.Dir, spec.FileName))
	if err != nil {
		return spec.Model{}, err
	}
	m, _ := f.Find(o.model, o.device, o.impl)
	return m, nil
}

// plan turns flags, and what is known, into what to measure and on what.
func (o collectOptions) plan(sh *shell, ws *workspace.Workspace, known spec.Model) (collect.Plan, error) {
	p := collect.Plan{Release: o.release, Channel: o.channel, Model: manifest.Model{Name: path.Base(o.model), ID: known.ID, Status: known.Status}, Device: o.device, Impl: o.impl, Repeat: o.repeat, Seed: o.seed, EvalItems: 60}
	if strings.Contains(o.model, "/") {
		p.Model.ID = o.model
	}
	if p.Impl == "" {
		p.Impl = known.Impl
	}
	lib, override, err := o.promised(ws)
	if err != nil {
		return p, err
	}
	model := schema.Model{ID: p.Model.ID, Name: p.Model.Name, Key: lib.Key(p.Model.Name)}
	if override != nil {
		for _, t := range override.For(model, o.device) {
			p.Targets = append(p.Targets, manifest.Row(t))
		}
		lib = override
	}
	if p.Workloads, err = o.workloadList(sh, lib, model, known, override != nil); err != nil {
		return p, err
	}
	if o.only != "benchmarks" {
		if p.Evals, err = o.evalList(lib.Evals(model, o.device)); err != nil {
			return p, err
		}
	}
	if o.only == "evals" {
		p.Workloads = nil
	}
	switch {
	case o.only == "benchmarks" || len(p.Evals) > 0:
		p.EvalItems = 0
	case o.evalLimit > 0:
		p.EvalItems = min(p.EvalItems, o.evalLimit)
	}
	return p, nil
}

// evalList are the tasks of --evals, or those that target files plan for the model. Of their tools it names the tool alone.
func (o collectOptions) evalList(planned []library.PlannedEval) ([]collect.EvalTask, error) {
	var out []collect.EvalTask
	add := func(name, task string, limit int, params map[string]string) {
		out = append(out, collect.EvalTask{Tool: collect.Tool{Adapter: tool.Adapter{Name: name}}, Task: task, Limit: orInt(o.evalLimit, limit), Params: params})
	}
	asked := o.evals
	if len(asked) == 0 && len(planned) > 0 {
		asked = []string{"targets"}
	}
	for _, text := range asked {
		if text != "targets" {
			name, task, ok := strings.Cut(text, ":")
			if !ok {
				name, task = "lm-eval", text
			}
			add(name, task, 0, nil) // a tool that is none is said when it is looked for
			continue
		}
		if len(planned) == 0 {
			return nil, fail(exitUsage, "evals: in targets/*.yaml, with run: at each; ttreport help targets", "collect: no target file plans an eval of %s", o.model)
		}
		for _, e := range planned {
			name := e.Tool
			if name == "" {
				name = "lm-eval"
			}
			add(name, e.Task, e.Limit, evalParams(e.EvalRun))
		}
	}
	return out, nil
}

func evalParams(r library.EvalRun) map[string]string {
	p := map[string]string{}
	if r.Fewshot != nil {
		p["fewshot"] = fmt.Sprint(*r.Fewshot)
	}
	if r.Concurrent > 0 {
		p["num_concurrent"] = fmt.Sprint(r.Concurrent)
	}
	if r.Chat {
		p["chat"] = "true"
	}
	for name, v := range map[string]string{"gen_kwargs": r.GenKwargs, "tokenizer": r.Tokenizer} {
		if v != "" {
			p[name] = v
		}
	}
	return p
}

// promised are the targets of the workspace, and those of OVERRIDE_BENCHMARK_TARGETS, which replace them for this run.
func (o collectOptions) promised(ws *workspace.Workspace) (lib, override *library.Library, err error) {
	if lib, _, err = targetLibrary(ws, nil); err != nil {
		return nil, nil, err
	}
	name := os.Getenv("OVERRIDE_BENCHMARK_TARGETS")
	if name == "" {
		return lib, nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, failure{code: exitUsage, err: fmt.Errorf("OVERRIDE_BENCHMARK_TARGETS: %w", err)}
	}
	aliases, err := library.DefaultAliases()
	if err != nil {
		return nil, nil, err
	}
	override = library.NewLibrary(aliases)
	for _, p := range override.Add(name, data, time.Now().UTC().Format(time.DateOnly), func(string) bool { return true }) {
		if p.Severity == schema.SevError {
			return nil, nil, failure{code: exitUsage, err: fmt.Errorf("OVERRIDE_BENCHMARK_TARGETS: %s", p)}
		}
	}
	return lib, override, nil
}

// workloadList is what load is made: workloads that are named, else batches, else those of targets and of a sweep.
func (o collectOptions) workloadList(sh *shell, lib *library.Library, model schema.Model, known spec.Model, overridden bool) ([]sweep.Workload, error) {
	var out []sweep.Workload
	for _, text := range o.workloads {
		w, err := sweep.Parse(text)
		if err != nil {
			return nil, failure{code: exitUsage, err: fmt.Errorf("collect: %w", err)}
		}
		out = append(out, w)
	}
	if o.batches != "" {
		list, err := sweep.Batches(o.batches, o.lengths)
		if err != nil {
			return nil, failure{code: exitUsage, err: fmt.Errorf("collect: %w", err)}
		}
		out = append(out, list...)
	}
	if out = append(out, o.loads...); len(out) > 0 {
		return out, nil
	}
	name := o.sweep
	if only := os.Getenv("ONLY_BENCHMARK_TARGETS"); (only == "1" || strings.EqualFold(only, "true")) && name == "" {
		name = sweep.TargetsName
	}
	if name == sweep.TargetsName || name == sweep.StandardName || overridden {
		out = promisedLoads(lib, model, o.device)
	}
	switch {
	case (name == sweep.TargetsName || overridden) && len(out) == 0:
		return nil, fail(exitUsage, "put targets into targets/, or choose another --sweep", "collect: no target speaks of a workload of %s on %s", model.Name, o.device)
	case name == sweep.TargetsName, overridden && name == "":
		return o.fitting(sh, out, known.Context)
	case name == sweep.StandardName:
		l := o.limits(sh, known)
		return o.fitting(sh, sweep.Join(out, sweep.Standard(l)...), l.Context)
	case name == "":
		name = "quick"
	}
	list, err := sweep.Preset(name)
	if err != nil {
		return nil, failure{code: exitUsage, err: fmt.Errorf("collect: %w", err)}
	}
	return o.fitting(sh, sweep.Join(out, list...), known.Context)
}

// promisedLoads are the workloads that targets speak of.
func promisedLoads(lib *library.Library, model schema.Model, device string) []sweep.Workload {
	var out []sweep.Workload
	for _, l := range lib.Loads(model, device) {
		w := sweep.Workload{ISL: int(*l.Key.ISL), OSL: int(*l.Key.OSL), Requests: l.Requests}
		if l.Key.Concurrency != nil {
			w.Concurrency = int(*l.Key.Concurrency)
		}
		if l.Key.Rate != nil {
			w.Rate = *l.Key.Rate
		}
		if w.Requests == 0 {
			w.Requests = max(8, sweep.Requests(w.ISL, w.OSL, w.Concurrency))
		}
		out = append(out, w)
	}
	return out
}

// Limits that are assumed where nobody states them: they fit every server that is worth measuring, and are said.
const (
	assumedContext     = 4096
	assumedConcurrency = 32
)

// limits are those that the standard sweep is made of; what is assumed is said.
func (o collectOptions) limits(sh *shell, known spec.Model) sweep.Limits {
	l := sweep.Limits{Context: known.Context, Concurrency: known.Concurrency, AllUsers: known.AllUsers}
	if l.Context == 0 {
		l.Context = assumedContext
		sh.say("assumed   a context of %d tokens: nobody states it; --max-context does", l.Context)
	}
	if l.Concurrency == 0 {
		l.Concurrency = assumedConcurrency
		sh.say("assumed   %d requests at once: nobody states it; --max-concurrency does", l.Concurrency)
	}
	return l
}

// fitting leaves out workloads that are longer than the context, and says so. When nothing is left, that is an error: a line that asks for
// load must not end well without any.
func (o collectOptions) fitting(sh *shell, list []sweep.Workload, context int) ([]sweep.Workload, error) {
	var out []sweep.Workload
	for _, w := range list {
		if context > 0 && w.ISL+w.OSL > context {
			sh.say("left out  %s: the model takes %d tokens", w, context)
			continue
		}
		out = append(out, w)
	}
	if len(out) == 0 && o.only != "evals" {
		return nil, fail(exitUsage, "--workload names one that fits; --only evals makes no load", "collect: no workload fits a context of %d tokens", context)
	}
	return out, nil
}
