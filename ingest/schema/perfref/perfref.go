package perfref

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// shares returns the share of the theoretical performance that each level asks for.
func shares() map[string]float64 {
	return map[string]float64{schema.LevelFunctional: .1, schema.LevelComplete: .5, schema.LevelTarget: 1}
}

// names maps the entries' metric names to ours. A metric that is not listed has no canonical name; its target is kept
// under its own name, so that it is shown and not lost.
var names = []struct{ theirs, metric, stat, unit string }{
	{"ttft_ms", "ttft", "mean", "ms"},
	{"tput_user", "tps_user", "value", "tok/s"},
	{"tput", "output_tps", "value", "tok/s"},
	{"e2el_ms", "e2el", "mean", "ms"},
	{"tput_prefill", "input_tps", "value", "tok/s"},
	{"ttft_streaming_ms", "ttft_streaming", "mean", "ms"},
	{"end_to_end_latency_ms", "e2el", "mean", "ms"},
	{"rtr", "rtr", "value", ""},
	{"inference_steps_per_second", "inference_steps_per_second", "value", "1/s"},
}

// lower reports metrics for which lower is better, in addition to those whose direction is in the schema.
func lower(metric string) bool {
	info, ok := schema.MetricByName(metric)
	return ok && info.Better == schema.Lower || metric == "ttft_streaming"
}

// Targets expands one entry. An entry without targets gives none. Problems report what was not understood.
func Targets(f *decode.File, entry decode.Value, source schema.Target) ([]schema.Target, []schema.Problem) {
	base := source
	base.Key = schema.Key{
		Task: entry.Get("task_type").Str(), ISL: entry.Get("isl").Ptr(), OSL: entry.Get("osl").Ptr(),
		Concurrency: entry.Get("max_concurrency").Ptr(), Dims: dims(entry),
	}
	var out []schema.Target
	var problems []schema.Problem
	for _, level := range entry.Get("targets").Members() {
		share, known := levelShares(level.Key)
		if !known {
			p := f.Problem(schema.SevWarning, "unknown-level", level.Val)
			p.Found, p.Expected = fmt.Sprintf("level %q", level.Key), "functional, complete, target or theoretical"
			problems = append(problems, p)
			continue
		}
		tolerance, _ := level.Val.Get("tolerance").Float()
		for _, m := range level.Val.Members() {
			if m.Key == "tolerance" || m.Val.Kind() == decode.Null {
				continue
			}
			v, ok := m.Val.Float()
			if !ok || v <= 0 {
				p := f.Problem(schema.SevWarning, "bad-target", m.Val)
				p.Found, p.Expected = fmt.Sprintf("%s = %s", m.Key, m.Val.Raw()), "a number above zero"
				problems = append(problems, p)
				continue
			}
			t := base
			t.Metric, t.Stat = m.Key, "value"
			for _, n := range names {
				if n.theirs == m.Key {
					t.Metric, t.Stat, t.Unit = n.metric, n.stat, n.unit
				}
			}
			t.Tolerance = tolerance
			for _, s := range share {
				t.Level, t.Value = s.level, v*s.share
				if lower(t.Metric) {
					t.Value = v / s.share
				}
				out = append(out, t)
			}
		}
	}
	return out, problems
}

type levelShare struct {
	level string
	share float64
}

// levelShares returns the levels that follow from a stated one.
func levelShares(name string) ([]levelShare, bool) {
	switch name {
	case schema.LevelFunctional, schema.LevelComplete, schema.LevelTarget:
		return []levelShare{{name, 1}}, true
	case "theoretical":
		shares := shares()
		var out []levelShare
		for _, l := range schema.Levels() {
			out = append(out, levelShare{l, shares[l]})
		}
		return out, true
	case "reference", "customer_sellable": // early files: one level, the target itself
		return []levelShare{{schema.LevelTarget, 1}}, true
	}
	return nil, false
}

// dims returns the dimensions of an entry's workload.
func dims(entry decode.Value) map[string]string {
	var out map[string]string
	for _, d := range [][2]string{
		{"images_per_prompt", "images"}, {"image_height", "height"}, {"image_width", "width"},
		{"num_inference_steps", "steps"},
	} {
		if v, ok := entry.Get(d[0]).Float(); ok {
			if out == nil {
				out = map[string]string{}
			}
			out[d[1]] = fmt.Sprintf("%g", v)
		}
	}
	return out
}

// Checked returns the targets that a report checked a measurement against, in the form {level: {metric: limit,
// metric_ratio, metric_check}}. A limit that was not checked is no target. base has the workload and the source.
func Checked(checks decode.Value, base schema.Target) []schema.Target {
	var out []schema.Target
	for _, level := range schema.Levels() {
		of := checks.Get(level)
		for _, n := range names {
			theirs := strings.TrimSuffix(n.theirs, "_ms")
			v, ok := of.Get(theirs).Float()
			if !ok || v <= 0 || !of.Has(theirs+"_check") {
				continue
			}
			t := base
			t.Metric, t.Stat, t.Unit, t.Level, t.Value = n.metric, n.stat, n.unit, level, v
			out = append(out, t)
		}
	}
	return out
}
