package plan

import (
	"strings"

	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/collect/tool"
)

// until reads the rule that ends a workload's measurement, and refuses it where something else does.
func (p *Plan) until(o Options) error {
	if o.Measure.Until == "" {
		return nil
	}
	var err error
	if p.Until, err = precision.ParseRule(o.Measure.Until); err != nil {
		return usage("", "collect: --until %w", err)
	}
	p.Budget = o.Measure.Budget
	for _, name := range o.Tools.Names {
		if name != tool.Builtin().Name {
			return usage("leave it out, or measure with --tools builtin",
				"collect: --until is for the builtin client, and --tools names %s", strings.Join(o.Tools.Names, ", "))
		}
	}
	if p.Clients > 1 {
		return usage("leave one of them out",
			"collect: --until and --clients contradict each other: one client looks at all requests")
	}
	for _, w := range p.Workloads {
		if why := w.neverSteady(); why != "" {
			return usage("leave --until out for it: --workload measures a number of requests",
				"collect: --until measures until means are known, and %s %s", w, why)
		}
	}
	return nil
}

// neverSteady says why a workload has no mean that more of the same would make more exact; "" where it has.
func (w Workload) neverSteady() string {
	switch {
	case w.Dataset == DatasetTrace:
		return "replays a recorded load, which has an end"
	case w.Shape.Turns > 1:
		return "has conversations, whose turns differ"
	case w.Shape.Arrivals.Changes():
		return "changes its rate"
	case w.Rate == 0 && w.Concurrency == 0 && !w.SLO.Set():
		return "sends everything at once"
	}
	return ""
}

// oneClient refuses workloads that several clients cannot divide.
func (p *Plan) oneClient() error {
	for _, w := range p.Workloads {
		if p.Clients > 1 && w.Shape.Turns > 1 {
			return usage("leave one of them out", "collect: --clients divides requests, and %s has conversations", w)
		}
	}
	return nil
}
