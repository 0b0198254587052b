// Package perfref reads the performance reference entries of tt-inference-server, which state targets for a workload:
// {isl, osl, max_concurrency, task_type, …, targets: {level: {ttft_ms, tput_user, tput, tolerance}}}.
//
// The same entries are in model_performance_reference.json, in override files and in runtime specs, so the reader of
// runs and the reader of targets share this package. Where only a theoretical value is given, three levels follow
// from it: functional at 10 %, complete at 50 % and target at 100 % of the theoretical performance, which divides a
// latency and multiplies a rate. Source: tt-inference-server, benchmarking/benchmark_targets.
package perfref

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// levels are the levels that follow from a stated one, each with the share of the performance that it asks for.
var levels = map[string]map[string]float64{
	schema.LevelFunctional: {schema.LevelFunctional: 1},
	schema.LevelComplete:   {schema.LevelComplete: 1},
	schema.LevelTarget:     {schema.LevelTarget: 1},
	"theoretical":          {schema.LevelFunctional: .1, schema.LevelComplete: .5, schema.LevelTarget: 1},
	// early files have one level, the target itself
	"reference": {schema.LevelTarget: 1}, "customer_sellable": {schema.LevelTarget: 1},
	"customer_functional": {schema.LevelFunctional: 1}, "customer_complete": {schema.LevelComplete: 1},
}

// Levels are the names that people write, for messages.
const Levels = "functional, complete, target or theoretical"

// IsLevel reports a name of a level.
func IsLevel(name string) bool { return levels[name] != nil }

// quantity is a metric under the name that entries give it: theirs times the factor is in our unit.
type quantity struct {
	theirs, metric string
	factor         float64
}

// names maps the entries' metric names to ours. A metric that is not listed has no canonical name; its target is kept
// under its own name, so that it is shown and not lost.
var names = []quantity{
	{"ttft_ms", "ttft", 1}, {"tput_user", "tps_user", 1}, {"tput", "output_tps", 1}, {"e2el_ms", "e2el", 1},
	{"tput_prefill", schema.MetricInputRate, 1}, {"ttft_streaming_ms", "ttft", 1}, {"end_to_end_latency_ms", "e2el", 1},
	{"tpot_ms", "tpot", 1}, {"goodput", "goodput_share", 1},
	{"rtr", schema.MetricRealTime, 1}, {"inference_steps_per_second", schema.MetricSteps, 1},
	{"latency", "e2el", 1000}, // in seconds, of reports about media before v0.19
}

// number is the number that a target is about. Entries use the names of text for other models: there, ttft_ms limits
// the time of a whole answer, as the clients measure it, and tput_user is in what a user gets of the model.
func number(task, theirs string) quantity {
	switch {
	case theirs == "ttft_ms" && wholeAnswers(task):
		return quantity{theirs, "e2el", 1}
	case theirs == "tput_user" && wholeAnswers(task):
		return quantity{theirs, schema.MetricRequestsUser, 1}
	case theirs == "latency" && task == "tts":
		return quantity{theirs, "ttft", 1000}
	case theirs == "tput_user" && task == "embedding":
		return quantity{theirs, schema.MetricInputUser, 1}
	}
	for _, q := range names {
		if q.theirs == theirs {
			return q
		}
	}
	return quantity{theirs, theirs, 1}
}

// wholeAnswers reports tasks whose answers come as a whole.
func wholeAnswers(task string) bool { return task == "cnn" || task == "image" || task == "video" }

// withoutStream reports the limit of a client that does not stream, which an entry cannot know.
func withoutStream(task, theirs string, level decode.Value) bool {
	return theirs == "ttft_ms" && task == "asr" && level.Has("ttft_streaming_ms")
}

// set makes a target one of a metric.
func set(t *schema.Target, metric string) (better schema.Better) {
	info, _ := schema.MetricByName(metric)
	t.Metric, t.Stat, t.Unit = metric, "value", info.Unit
	if info.Latency {
		t.Stat = "mean"
	}
	return info.Better
}

// Targets expands one entry. An entry without targets gives none. Problems report what was not understood.
func Targets(
	f *decode.File, entry decode.Value, source schema.Target,
) (out []schema.Target, problems []schema.Problem) {
	base := source
	base.Key = keyOf(entry)
	report := func(code string, at decode.Value, found, expected string) {
		p := f.Problem(schema.SevWarning, code, at)
		p.Found, p.Expected = found, expected
		problems = append(problems, p)
	}
	for _, level := range entry.Get("targets").Members() {
		if stated := level.Val.Get("tolerance"); stated.Float0() != toleranceOf(stated) {
			report("bad-target", stated, fmt.Sprintf("tolerance = %s", stated.Raw()), "a share below 1, such as 0.05")
		}
		shares := levels[level.Key]
		if shares == nil {
			report("unknown-level", level.Val, fmt.Sprintf("level %q", level.Key), Levels)
			continue
		}
		for _, m := range level.Val.Members() {
			if m.Key == "tolerance" || m.Val.Kind() == decode.Null {
				continue
			}
			v := m.Val.Float0()
			if !(v > 0) {
				report("bad-target", m.Val, fmt.Sprintf("%s = %s", m.Key, m.Val.Raw()), "a number above zero")
				continue
			}
			if m.Key == "end_to_end_latency_ms" && level.Val.Has("ttft_ms") && wholeAnswers(base.Key.Task) {
				continue // nothing of theirs compares with it, and ttft_ms limits the same
			}
			t, q := base, number(base.Key.Task, m.Key)
			t.Tolerance = toleranceOf(level.Val.Get("tolerance"))
			better := set(&t, q.metric)
			if withoutStream(base.Key.Task, m.Key, level.Val) {
				t.Metric, t.Priority = "e2el", "should"
			}
			for _, level := range schema.Levels() {
				if t.Level, t.Value = level, v*q.factor*shares[level]; better == schema.Lower {
					t.Value = v * q.factor / shares[level]
				}
				if shares[level] > 0 {
					out = append(out, t)
				}
			}
		}
	}
	return out, problems
}

// keyOf is the workload of an entry. One of media is the model's: how its client loads it is not asked.
func keyOf(entry decode.Value) schema.Key {
	k := schema.Key{Task: entry.Get("task_type").Str()}
	if schema.IsMediaTask(k.Task) {
		return k
	}
	k.ISL, k.OSL, k.Concurrency = entry.Get("isl").Ptr(), entry.Get("osl").Ptr(), entry.Get("max_concurrency").Ptr()
	for name, dim := range map[string]string{
		"images_per_prompt": "images", "image_height": "height", "image_width": "width",
	} {
		if v := entry.Get(name).Float0(); v > 0 { // entries of text state 0 images, which is none
			if k.Dims == nil {
				k.Dims = map[string]string{}
			}
			k.Dims[dim] = fmt.Sprintf("%g", v)
		}
	}
	return k
}

// Checked returns the targets that a row of a report was checked against, as target_checks: {level: {metric: limit,
// metric_ratio, metric_check}}. A limit that was not checked is no target. entry has the levels that the checks were
// made of, where the report repeats them, with their tolerance. base has the workload, the source and the priority of
// metrics that target_priorities does not state.
func Checked(row, entry decode.Value, base schema.Target) (out []schema.Target) {
	for _, level := range schema.Levels() {
		for _, m := range row.Get("target_checks").Members() {
			if x := levels[m.Key]; len(x) != 1 || x[level] != 1 {
				continue
			}
			base.Level, base.Tolerance = level, tolerance(m.Val, entry.At(m.Key, "tolerance"), base.Key.Task)
			for _, n := range names {
				theirs := checkedAs(m.Val, n)
				v := m.Val.Get(theirs).Float0()
				if !(v > 0) || !m.Val.Has(theirs+"_check") {
					continue
				}
				t, q := base, number(base.Key.Task, n.theirs)
				set(&t, q.metric)
				t.Value = v * q.factor
				t.Priority = cmp.Or(row.Get("target_priorities").Get(theirs).Str(), base.Priority)
				if t.Priority != "should" {
					t.Priority = "" // what must be met follows from the model's status
				}
				out = append(out, t)
			}
		}
	}
	return out
}

// usual is the tolerance of tt-inference-server's entries that have one.
const usual = .05

// tolerance is that of a level. Where a report does not repeat it, it is 0, or the usual one if a number that misses
// its limit by less passed there.
func tolerance(of, stated decode.Value, task string) float64 {
	if _, ok := stated.Float(); ok {
		return toleranceOf(stated)
	}
	const passed = 2
	for _, n := range names {
		theirs := checkedAs(of, n)
		ratio, ok := of.Get(theirs + "_ratio").Float()
		miss := ratio - 1
		if info, _ := schema.MetricByName(number(task, n.theirs).metric); info.Better == schema.Higher {
			miss = 1 - ratio
		}
		if ok && of.Get(theirs+"_check").Float0() == passed && miss > 0 && miss < usual {
			return usual
		}
	}
	return 0
}

// toleranceOf is the share by which the values of a level may be missed; none where what is stated is no share below 1.
func toleranceOf(stated decode.Value) float64 {
	if x := stated.Float0(); x > 0 && x < 1 {
		return x
	}
	return 0
}

// checkedAs is the name of a metric in the checks of a report, which v0.20 writes without its unit.
func checkedAs(of decode.Value, q quantity) string {
	if of.Has(q.theirs + "_check") {
		return q.theirs
	}
	return strings.TrimSuffix(q.theirs, "_ms")
}
