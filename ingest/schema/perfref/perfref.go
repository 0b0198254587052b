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

// quantity is a number that we know under a name: theirs times the factor is in our unit.
type quantity struct {
	metric, stat, unit string
	factor             float64
}

// names maps the entries' metric names to ours. A metric that is not listed has no canonical name; its target is kept
// under its own name, so that it is shown and not lost.
var names = []struct {
	theirs string
	ours   quantity
}{
	{"ttft_ms", quantity{"ttft", "mean", "ms", 1}},
	{"tput_user", quantity{"tps_user", "value", "tok/s", 1}},
	{"tput", quantity{"output_tps", "value", "tok/s", 1}},
	{"e2el_ms", quantity{"e2el", "mean", "ms", 1}},
	{"tput_prefill", quantity{schema.MetricInputRate, "value", "tok/s", 1}},
	{"ttft_streaming_ms", quantity{"ttft", "mean", "ms", 1}},
	{"end_to_end_latency_ms", quantity{"e2el", "mean", "ms", 1}},
	{"rtr", quantity{schema.MetricRealTime, "value", "x", 1}},
	{"inference_steps_per_second", quantity{schema.MetricSteps, "value", "1/s", 1}},
	{"latency", quantity{"e2el", "mean", "ms", 1000}}, // in seconds, of reports about media before v0.19
}

// number is the number that a target is about. Entries use the names of text for other models: there, ttft_ms limits
// the time of a whole answer, as the clients measure it, and tput_user is in what a user gets of the model.
func number(task, theirs string) quantity {
	switch {
	case theirs == "ttft_ms" && wholeAnswers(task):
		return quantity{"e2el", "mean", "ms", 1}
	case theirs == "tput_user" && wholeAnswers(task):
		return quantity{schema.MetricRequestsUser, "value", "req/s", 1}
	case theirs == "latency" && task == "tts":
		return quantity{"ttft", "mean", "ms", 1000}
	case theirs == "tput_user" && task == "embedding":
		return quantity{schema.MetricInputUser, "value", "tok/s", 1}
	}
	for _, n := range names {
		if n.theirs == theirs {
			return n.ours
		}
	}
	return quantity{theirs, "value", "", 1}
}

// isWithoutStream reports the limit of a client that does not stream, which an entry cannot know.
func isWithoutStream(base *schema.Target, level decode.Value, theirs string) bool {
	return theirs == "ttft_ms" && base.Key.Task == "asr" && level.Has("ttft_streaming_ms")
}

// wholeAnswers reports tasks whose answers come as a whole.
func wholeAnswers(task string) bool {
	return task == "cnn" || task == "image" || task == "video"
}

// lower reports metrics for which lower is better.
func lower(metric string) bool {
	info, ok := schema.MetricByName(metric)
	return ok && info.Better == schema.Lower
}

// Targets expands one entry. An entry without targets gives none. Problems report what was not understood.
func Targets(f *decode.File, entry decode.Value, source schema.Target) ([]schema.Target, []schema.Problem) {
	base := source
	base.Key = keyOf(entry)
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
			if m.Key == "end_to_end_latency_ms" && level.Val.Has("ttft_ms") && wholeAnswers(base.Key.Task) {
				continue // nothing of theirs compares with it, and ttft_ms limits the same
			}
			t.Tolerance = tolerance
			q := number(base.Key.Task, m.Key)
			if t.Metric, t.Stat, t.Unit = q.metric, q.stat, q.unit; isWithoutStream(&base, level.Val, m.Key) {
				t.Metric, t.Priority = "e2el", "should"
			}
			for _, s := range share {
				t.Level, t.Value = s.level, v*q.factor*s.share
				if lower(t.Metric) {
					t.Value = v * q.factor / s.share
				}
				out = append(out, t)
			}
		}
	}
	return out, problems
}

// keyOf is the workload of an entry. One of media is the model's: how its client loads it is not asked.
func keyOf(entry decode.Value) schema.Key {
	k := schema.Key{
		Task: entry.Get("task_type").Str(), ISL: entry.Get("isl").Ptr(), OSL: entry.Get("osl").Ptr(),
		Concurrency: entry.Get("max_concurrency").Ptr(), Dims: dims(entry),
	}
	if schema.IsMediaTask(k.Task) {
		return schema.Key{Task: k.Task}
	}
	return k
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
			theirs := n.theirs
			if !of.Has(theirs + "_check") {
				theirs = strings.TrimSuffix(n.theirs, "_ms")
			}
			v, ok := of.Get(theirs).Float()
			if !ok || v <= 0 || !of.Has(theirs+"_check") {
				continue
			}
			t, q := base, number(base.Key.Task, n.theirs)
			t.Metric, t.Stat, t.Unit, t.Level, t.Value = q.metric, q.stat, q.unit, level, v*q.factor
			out = append(out, t)
		}
	}
	return out
}
