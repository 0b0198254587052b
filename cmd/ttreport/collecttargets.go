package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets"
)

// planTargets is what target files state, in the types of package plan.
type planTargets struct {
	library  *targets.Library
	replaced bool // by OVERRIDE_BENCHMARK_TARGETS, for this run
}

// readTargets reads the workspace's target files, or those of OVERRIDE_BENCHMARK_TARGETS, which replace them for this
// run.
func readTargets(ws *workspace.Workspace) (planTargets, error) {
	name := os.Getenv("OVERRIDE_BENCHMARK_TARGETS")
	if name == "" {
		lib, _, err := targetLibrary(ws, nil)
		return planTargets{library: lib}, err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return planTargets{}, failure{code: exitUsage, err: fmt.Errorf("OVERRIDE_BENCHMARK_TARGETS: %w", err)}
	}
	aliases, err := targets.DefaultAliases()
	if err != nil {
		return planTargets{}, err
	}
	lib := targets.NewLibrary(aliases)
	today := time.Now().UTC().Format(time.DateOnly)
	for _, p := range lib.Add(name, data, today, func(string) bool { return true }) {
		if p.Severity == schema.SevError {
			return planTargets{}, failure{code: exitUsage, err: fmt.Errorf("OVERRIDE_BENCHMARK_TARGETS: %s", p)}
		}
	}
	return planTargets{library: lib, replaced: true}, nil
}

// For implements plan.Targets.
func (t planTargets) For(m manifest.Model, device string) plan.TargetPlan {
	model := schema.Model{ID: m.ID, Name: m.Name, Key: t.library.Key(m.Name)}
	out := plan.TargetPlan{Replaced: t.replaced}
	if t.replaced {
		for _, row := range t.library.For(model, device) {
			out.InForce = append(out.InForce, manifest.Row(row))
		}
	}
	for _, l := range t.library.Loads(model, device) {
		w := plan.Workload{ISL: int(*l.Key.ISL), OSL: int(*l.Key.OSL), Requests: l.Requests}
		if l.Key.Concurrency != nil {
			w.Concurrency = int(*l.Key.Concurrency)
		}
		if l.Key.Rate != nil {
			w.Rate = *l.Key.Rate
		}
		out.Workloads = append(out.Workloads, w)
	}
	for _, e := range t.library.Evals(model, device) {
		planned := plan.PlannedEval{Tool: e.Tool, Task: e.Task, Limit: e.Limit, Params: evalParams(e.EvalRun)}
		out.Evals = append(out.Evals, planned)
	}
	return out
}

func evalParams(r targets.EvalRun) map[string]string {
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

// recheckEntries are the plans that measure suspected changes of a gate again.
func recheckEntries(g *render.Gate) ([]plan.Entry, error) {
	var out []plan.Entry
	var bad error
	for _, r := range g.Rechecks() {
		e := plan.Entry{Model: r.Model, Device: r.Device, Impl: r.Impl, Release: r.Release, Only: plan.OnlyBenchmarks}
		e.Why = "suspected regression"
		texts := r.Workloads
		if r.Control != "" {
			texts = append(texts[:len(texts):len(texts)], r.Control)
			e.Why += "; the last workload is a control"
		} else {
			e.Why += "; without a control, because every other workload of it changed too or is one of another device's"
		}
		for _, text := range texts {
			var w plan.Workload
			bad = errors.Join(bad, w.UnmarshalText([]byte(text)))
			e.Workloads = append(e.Workloads, w)
		}
		if r.Device == schema.Simulated {
			e.Server.Kind = plan.ServerSim
		}
		out = append(out, e)
	}
	return out, bad
}
