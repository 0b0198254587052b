package library

import (
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Load is a workload to measure because a target covers it, or because a performance reference lists it.
type Load struct {
	Key      schema.Key
	Requests int // 0: not stated
}

// pairID is a model and a device, in lower case.
type pairID struct{ model, device string }

// loadOf reads the workload of a performance reference's entry.
func loadOf(entry decode.Value) Load {
	l := Load{Key: schema.Key{Task: entry.Get("task_type").Str(), ISL: entry.Get("isl").Ptr(),
		OSL: entry.Get("osl").Ptr(), Concurrency: entry.Get("max_concurrency").Ptr()}}
	if n, ok := entry.Get("num_prompts").Float(); ok && n >= 1 && n < 1e7 {
		l.Requests = int(n)
	}
	return l
}

// measurable reports whether a load client can make a workload: text of known lengths under a known load.
func measurable(k schema.Key) bool {
	return (k.Task == "" || k.Task == "text") && k.ISL != nil && k.OSL != nil && (k.Concurrency != nil ||
		k.Rate != nil) && len(k.Dims) == 0
}

// Loads lists the workloads that the targets of a model on a device cover, each once: first those of a performance
// reference, in its order, then those of other targets in force.
func (l *Library) Loads(model schema.Model, device string) []Load {
	var out []Load
	add := func(x Load) {
		listed := func(o Load) bool { return o.Key.Workload() == x.Key.Workload() }
		if measurable(x.Key) && !slices.ContainsFunc(out, listed) {
			x.Key = schema.Key{ISL: x.Key.ISL, OSL: x.Key.OSL, Concurrency: x.Key.Concurrency, Rate: x.Key.Rate}
			out = append(out, x)
		}
	}
	weights := l.aliases.weights(model.Name)
	for _, name := range append([]string{model.Key, weights[0], model.Name}, weights...) {
		for _, x := range l.loads[pairID{strings.ToLower(name), strings.ToLower(device)}] {
			add(x)
		}
		if len(out) > 0 {
			break
		}
	}
	for _, t := range l.For(model, device, nil) {
		if !t.Key.IsEval() {
			add(Load{Key: t.Key})
		}
	}
	return out
}

// askedEval is an eval of a target file that states how to run it.
type askedEval struct {
	pair pairID
	task string
	run  EvalRun
}

// PlannedEval is an eval task planned for a model.
type PlannedEval struct {
	Task string
	EvalRun
}

// Evals lists the tasks that target files plan for a model on a device, each once.
func (l *Library) Evals(model schema.Model, device string) []PlannedEval {
	names := append([]string{model.Name, model.ID, model.Key}, l.aliases.weights(model.Name)...)
	var out []PlannedEval
	for _, a := range l.asked {
		named := slices.ContainsFunc(names, func(n string) bool { return n != "" && strings.EqualFold(n, a.pair.model) })
		if !named || a.pair.device != anyDevice && !schema.SameDevice(a.pair.device, device) {
			continue
		}
		if !slices.ContainsFunc(out, func(p PlannedEval) bool { return p.Task == a.task && p.Tool == a.run.Tool }) {
			out = append(out, PlannedEval{a.task, a.run})
		}
	}
	return out
}
