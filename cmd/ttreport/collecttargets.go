package main

import (
	"fmt"
	"os"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/library"
)

// planTargets is what target files state, in the types of package plan.
type planTargets struct {
	library  *library.Library
	replaced bool // by OVERRIDE_BENCHMARK_TARGETS, for this run
}

// readTargets reads the workspace's target files, or those of OVERRIDE_BENCHMARK_TARGETS, which replace them for this
// run.
func readTargets(ws *workspace.Workspace) (planTargets, error) {
	name := os.Getenv(workspace.OverrideVariable)
	if name == "" {
		lib, _, err := soundTargets(ws, nil)
		return planTargets{library: lib}, err
	}
	lib, problems, err := workspace.ReadTargets(name, func(string) bool { return true })
	if err != nil {
		return planTargets{}, failure{code: exitUsage, err: fmt.Errorf("%s: %w", workspace.OverrideVariable, err)}
	}
	for _, p := range problems {
		if p.Severity == schema.SevError {
			return planTargets{}, failure{code: exitUsage, err: fmt.Errorf("%s: %s", workspace.OverrideVariable, p)}
		}
	}
	return planTargets{library: lib, replaced: true}, nil
}

// For implements plan.Targets.
func (t planTargets) For(m manifest.Model, device string) plan.TargetPlan {
	model := schema.Model{ID: m.ID, Name: m.Name, Key: t.library.Key(m.Name)}
	out := plan.TargetPlan{Replaced: t.replaced}
	if t.replaced {
		for _, row := range t.library.For(model, device, nil) {
			out.InForce = append(out.InForce, manifest.Row(row))
		}
	}
	for _, l := range t.library.Loads(model, device) {
		w := workloadOf(l.Key)
		w.Requests = l.Requests
		out.Workloads = append(out.Workloads, w)
	}
	for _, e := range t.library.Evals(model, device) {
		planned := plan.PlannedEval{Tool: e.Tool, Task: e.Task, Limit: e.Limit, Params: e.Params()}
		out.Evals = append(out.Evals, planned)
	}
	return out
}

// recheckEntries are the plans that measure suspected regressions of a gate again.
// left counts the suspected scores of tools that collect does not run.
func recheckEntries(r *render.Report, g *gate.Review) (out []plan.Entry, left int) {
	for _, a := range g.Rechecks() {
		e := plan.Entry{Model: a.Model, Device: a.Device, Impl: a.Impl, Release: a.Release, Only: plan.OnlyBenchmarks}
		e.Why = "suspected regression"
		for _, k := range a.Workloads {
			e.Workloads = append(e.Workloads, likeLast(r, g.Release, a.System, k))
		}
		if a.Control != nil {
			e.Workloads = append(e.Workloads, likeLast(r, g.Release, a.System, *a.Control))
			e.Why += "; the last workload is a control"
		} else {
			e.Why += "; without a control, because every other workload of it changed too or is one of another device's"
		}
		e.Server = serverOf(g, a.System)
		out = append(out, e)
	}
	evals, left := r.EvalRechecks(g)
	for _, x := range evals {
		e := plan.Entry{Model: x.Model, Device: x.Device, Impl: x.Impl, Release: x.Release, Only: plan.OnlyEvals,
			Evals: x.Tasks, EvalLimit: x.Limit, Why: "suspected regression"}
		e.Server = serverOf(g, x.System)
		out = append(out, e)
	}
	return out, left
}

// serverOf is the simulator that a release was measured on, for a plan. A real device has another address on another
// host, so that the one who measures names it.
func serverOf(g *gate.Review, of schema.System) (out plan.ServerName) {
	switch on := g.ServerOf(of); {
	case on.Kind == gate.StartsSimulator:
		out.Kind = plan.ServerSim
	case on.Address != "" && schema.SameDevice(of.Device, schema.Simulated):
		out = plan.ServerName{Kind: plan.ServerURL, URL: on.Address}
	}
	return out
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
			e := plan.Entry{Model: x.Model, Device: x.Device, Impl: x.Impl, Release: g.Label, Only: plan.OnlyBenchmarks}
			e.Why = "not measured in " + g.Release
			if e.Server = serverOf(g, x.System); e.Server.Kind == "" && schema.SameDevice(x.Device, schema.Simulated) {
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
	w := plan.Workload{ISL: int(*k.ISL), OSL: int(*k.OSL)}
	w.Shape, _ = traffic.OfDims(k.Dims) // gate asks only for dimensions that can be read
	if k.Concurrency != nil {
		w.Concurrency = int(*k.Concurrency)
	}
	if k.Rate != nil {
		w.Rate = *k.Rate
	}
	return w
}
