package parity

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Numbers of a check in JSON, and its word.
const (
	isNA   = 1
	isPass = 2
	isFail = 3
)

// check is a verdict of the gate on a number with a target, in the terms of a report; the zero check is none.
type check struct{ schema.Verdict }

func (v *check) ratio() schema.Number {
	return of(func(v ...float64) float64 { return v[0] / v[1] }, v.Value, positive(v.Ref))
}

// name is what a report calls the number of a target: "ttft".
func (v *check) name() string {
	name, names := v.Metric, map[string]string{"tps_user": "tput_user", "output_tps": "tput"}
	if schema.IsMediaTask(v.Key.Task) {
		names = map[string]string{"e2el": "latency", "ttft": "latency", "tps_user": "tput_user",
			schema.MetricRequestsUser: "tput_user", schema.MetricInputUser: "tput_user",
			schema.MetricInputRate: "tput_prefill", schema.MetricRealTime: "rtr",
			schema.MetricSteps: "inference_steps_per_second"}
		if v.Key.Task == "embedding" {
			names["e2el"] = "e2el_ms"
		}
	} else if names[name] == "" && !slices.Contains([]string{"", "value", "mean"}, v.Stat) {
		name += "_" + v.Stat
	}
	return cmp.Or(names[v.Metric], name)
}

func (v *check) result() int { return result(v.Outcome) }

// result turns the outcome of a verdict into the number of a check. A number that meets its target with an interval
// across the limit passes, as it does by their rule; a target that cannot be reached is not graded.
func result(o schema.Outcome) int {
	switch o {
	case schema.Pass, schema.Inconclusive:
		return isPass
	case schema.Fail:
		return isFail
	}
	return isNA
}

// tiers are the levels in the order of a report, then any other.
func tiers(list []check) []string {
	out := schema.Levels()
	for _, c := range list {
		if !slices.Contains(out, c.Level) {
			out = append(out, c.Level)
		}
	}
	return slices.DeleteFunc(out, func(tier string) bool {
		return !slices.ContainsFunc(list, func(c check) bool { return c.Level == tier })
	})
}

// metricsOf are the metrics that are graded, those that every report has first.
func metricsOf(list []check) []string {
	out := []string{"ttft", "tput_user", "tput"}
	for _, c := range list {
		if m := c.name(); !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// metrics are those of the columns of a workload.
func (g *graded) metrics() []string {
	if !schema.IsMediaTask(g.key.Task) {
		return metricsOf(g.checks)
	}
	all := []string{"latency", "tput_user", "tput_prefill", "e2el_ms", "rtr", "inference_steps_per_second"}
	return slices.DeleteFunc(all, func(m string) bool {
		return !slices.ContainsFunc(g.checks, func(c check) bool { return c.name() == m })
	})
}

// graded are the checks of a workload; tool is "" for one that was not measured.
type graded struct {
	key    schema.Key
	checks []check
}

// gradedOf groups the verdicts against targets of benchmarks by workload, in the order of a sweep.
func gradedOf(list []schema.Verdict) []*graded {
	var out []*graded
	at := map[string]*graded{}
	for i := range list {
		v := &list[i]
		if v.Key.IsEval() || v.Metric == "" || v.Outcome == schema.NoTarget {
			continue
		}
		id := v.Key.String()
		if at[id] == nil {
			at[id] = &graded{key: v.Key}
			out = append(out, at[id])
		}
		at[id].checks = append(at[id].checks, check{*v})
	}
	slices.SortStableFunc(out, func(a, b *graded) int { return a.key.Compare(b.key) })
	return out
}

// find returns the check of a metric at a tier.
func (g *graded) find(tier, metric string) check {
	for _, c := range g.checks {
		if c.Level == tier && c.name() == metric {
			return c
		}
	}
	return check{}
}

// measured reports whether any number of the workload was there to grade.
func (g *graded) measured() bool {
	return slices.ContainsFunc(g.checks, func(c check) bool { _, ok := c.Value.Get(); return ok })
}

// targetChecks are the checks as the data of both generations have them.
func (g *graded) targetChecks() object {
	var out object
	metrics := g.metrics()
	for _, tier := range tiers(g.checks) {
		var one object
		for _, m := range metrics {
			c := g.find(tier, m)
			if m == "latency" {
				m = "ttft" // since v0.19
			}
			if _, ok := c.Ref.Get(); ok {
				one.Add(m, value(c.Ref))
			}
			if ratio, ok := c.ratio().Get(); ok {
				one.Add(m+"_ratio", ratio)
			}
			one.Add(m+"_check", c.result())
		}
		out.Add(tier, one)
	}
	return out
}

// failure says what was measured and what was asked for.
func (v check) failure() string {
	name := v.name()
	if name == "latency" {
		v.Value, v.Ref = seconds(v.Value), seconds(v.Ref)
	}
	out := v.Level + " " + name + "_check: not measured"
	if _, ok := v.Value.Get(); ok {
		out = fmt.Sprintf("%s %s_check failed; actual %[2]s=%s", v.Level, name, fixed(v.Value, 4, ""))
	}
	if _, ok := v.Ref.Get(); ok {
		out += fmt.Sprintf("; threshold %s=%s", name, fixed(v.Ref, 4, ""))
	}
	if _, ok := v.ratio().Get(); ok {
		out += "; ratio=" + fixed(v.ratio(), 4, "")
	}
	return out + "."
}

// word is a check in a table of v0.17.
func word(result int) string {
	return map[int]string{isNA: notAvailable, isPass: "PASS ✅", isFail: "FAIL ⛔"}[result]
}

// badge is a check in a table of v0.19.
func badge(result int) string {
	return cmp.Or(map[int]string{isPass: "✅ PASS", isFail: "❌ FAIL"}[result], "🟨 NA")
}

// gradedRow are the checks of a result, or nil.
func (in *Input) gradedRow(r *row) *graded {
	key := r.point.Key.String()
	if i := slices.IndexFunc(in.graded, func(g *graded) bool { return g.key.String() == key }); i >= 0 {
		return in.graded[i]
	}
	return nil
}

// reached says whether the target level was reached, as the number of a check.
func (g *graded) reached() int {
	out := isNA
	for _, c := range g.checks {
		if c.Level == schema.LevelTarget {
			out = max(out, c.result())
		}
	}
	return out
}

// blocks reports a check that has to be met, and that nobody excused.
func (v *check) blocks() bool { return v.Required && !v.Decision.Excuses() }
