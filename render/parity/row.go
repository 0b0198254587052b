package parity

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
)

// row is a measured workload.
type row struct {
	point  *schema.Point
	stamp  string         // when it was measured, as in file names
	values map[string]any // a [schema.Number], a text or a bool, by the names that columns have for them; unrounded
}

// isMedia reports a result of the clients for models that do not write text, which have tables of their own.
func isMedia(p *schema.Point) bool { return p.Key.Tool == schema.ToolMedia }

// isStress reports a result of the stress tests, which have tables of their own. Their names are those of
// stress_tests/stress_tests_core.py.
func isStress(p *schema.Point) bool {
	return strings.HasPrefix(path.Base(p.Source.Path), "stress_test_")
}

// rowsOf are the workloads that are wanted, in the order of a sweep, the newest measurement of each.
func (in *Input) rowsOf(wanted func(*schema.Point) bool) []*row {
	newest := map[string]*schema.Point{}
	for i := range in.Runs {
		for j := range in.Runs[i].Points {
			pt := &in.Runs[i].Points[j]
			if before := newest[pt.Key.String()]; wanted(pt) && (before == nil || before.End.Before(pt.End)) {
				newest[pt.Key.String()] = pt
			}
		}
	}
	var out []*row
	for _, pt := range newest {
		out = append(out, in.newRow(pt))
	}
	ratio := func(r *row) float64 { // what is off comes first
		v, err := strconv.ParseFloat(r.point.Key.Dims[structured], 64)
		if err != nil {
			return -1
		}
		return v
	}
	slices.SortFunc(out, func(a, b *row) int {
		return cmp.Or(slices.Compare(a.order(), b.order()), cmp.Compare(a.point.Key.Dataset, b.point.Key.Dataset),
			cmp.Compare(ratio(a), ratio(b)), cmp.Compare(a.point.Key.String(), b.point.Key.String()))
	})
	return out
}

// order is by ISL, OSL and concurrency, then by pictures.
func (r *row) order() []float64 {
	out := make([]float64, 0, 6)
	for _, name := range []string{"isl", "osl", "concurrency"} {
		v, _ := r.number(name).Get()
		out = append(out, v)
	}
	for _, name := range []string{"images", "height", "width"} {
		v, _ := strconv.ParseFloat(r.point.Key.Dims[name], 64)
		out = append(out, v)
	}
	return out
}

var (
	dated      = lazyregexp.New(`_(\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)_`)
	epochStamp = lazyregexp.New(`_(\d{9,}(?:\.\d+)?)\.json(?:\.gz)?$`)
)

// fileTime is how tt-inference-server writes a time into names; dataTime is how data since v0.19 have it.
const (
	fileTime = "2006-01-02_15-04-05"
	dataTime = "2006-01-02 15:04:05"
)

func timeText(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}

// newRow derives the numbers that the reports of both generations have of a workload. Formulas are those of
// benchmarking/summary_report.py.
func (in *Input) newRow(pt *schema.Point) *row {
	r := &row{point: pt}
	stat := r.stat
	name := path.Base(pt.Source.Path)
	if m := dated.FindStringSubmatch(name); m != nil {
		r.stamp = m[1]
	} else {
		r.stamp = timeText(cmp.Or(pt.End, pt.Start), fileTime)
	}
	completed := stat("requests_ok", "value")
	asked, isl, requested := completed, number(pt.Key.ISL), number(pt.Key.Concurrency)
	if n := parsed(pt.Conditions["num_prompts"]); !n.IsZero() {
		asked = n
	}
	if isl.IsZero() { // a dataset of its own: what was counted
		isl = rounded(stat("isl", "mean"), 0)
	}
	client, failed := pt.Key.Tool, stat("requests_failed", "value")
	if c := pt.Conditions["client"]; c != "" && client == "vllm" {
		client = c // v0.17 has the protocol of vLLM's client
	}
	if v, ok := failed.Get(); ok && v == 0 && !isMedia(pt) {
		failed = schema.Missing("none")
	}
	v := map[string]any{
		"timestamp": r.stamp, "model": in.Model, "model_id": in.repo(), "backend": client, "device": in.device(),
		"model_name": strings.TrimSuffix(in.modelID(), "_"+in.device()), "tool": pt.Key.Tool, "filename": name,
		"source": cmp.Or(map[string]string{"vllm": "vLLM", "genai-perf": "genai"}[client], client), "task_type": r.task(),
		"dataset": notMeasured, "isl": isl, "osl": number(pt.Key.OSL), "requested": requested, "asked": asked,
		"completed": completed, "failed": failed,
		"concurrency": of(func(v ...float64) float64 { return math.Min(v[0], v[1]) }, requested, asked),
		"input":       rounded(firstOf(stat("isl", "mean"), number(pt.Key.ISL)), 0),
		"output":      rounded(firstOf(stat("osl", "mean"), number(pt.Key.OSL)), 1),
		"output_tps":  stat("output_tps", "value"), "total_tps": stat("total_tps", "value"), "rps": stat("rps", "value"),
		"correct_rate_pct": stat("correct_rate", "value"), "correct_rate": notMeasured,
	}
	r.values = v
	if r.task() == "structured_output" && pt.Key.Dataset != "" { // of other workloads the reports have none
		v["dataset"] = pt.Key.Dataset
	}
	if n := r.number("correct_rate_pct"); !n.IsZero() {
		v["correct_rate"] = fixed(n, -1, "") + "%"
	}
	for key, dim := range map[string]string{"images_per_prompt": "images", "image_height": "height",
		"image_width": "width", "structured_output_ratio": structured} {
		v[key] = cmp.Or(pt.Key.Dims[dim], notMeasured)
	}
	r.derive()
	v["config"] = fmt.Sprintf("isl=%s/osl=%s/c=%s", fixed(isl, -1, notAvailable),
		fixed(number(pt.Key.OSL), -1, notAvailable), fixed(r.number("concurrency"), -1, notAvailable))
	v["measured"] = timeText(cmp.Or(pt.End, pt.Start), dataTime)
	if isMedia(pt) {
		in.mediaValues(r)
	}
	return r
}

func (r *row) stat(metric, name string) schema.Number {
	m, _ := r.point.Metric(metric)
	return m.Stat(name)
}

// derive adds the latencies in ms, and the rates that follow from them. A P99 of few requests is no number.
func (r *row) derive() {
	v := r.values
	for _, metric := range []string{"ttft", "tpot", "itl", "e2el"} {
		for _, s := range []string{"mean", "median", "std", "p5", "p25", "p90", "p95", "p99"} {
			v[s+"_"+metric+"_ms"] = r.stat(metric, s)
		}
		v["p50_"+metric+"_ms"] = r.stat(metric, "median")
		m, _ := r.point.Metric(metric)
		n := float64(m.N)
		if n == 0 {
			n, _ = r.number("completed").Get()
		}
		if !r.stat(metric, schema.TailStat).IsZero() && n > 0 && !schema.TailHolds(schema.TailStat, n) {
			v["p99_"+metric+"_ms"] = schema.Missing("n = " + strconv.FormatFloat(n, 'f', -1, 64))
		}
	}
	tpot := r.number("mean_tpot_ms")
	user := of(func(v ...float64) float64 { return 1000 / v[0] }, positive(tpot))
	v["mean_tps"] = user
	v["std_tps"] = of(func(v ...float64) float64 { return v[0] - 1000/(v[1]+v[2]) }, user, tpot,
		positive(r.number("std_tpot_ms")))
	v["decode"] = of(func(v ...float64) float64 { return v[0] * v[1] }, user, r.number("concurrency"))
	v["prefill"] = of(func(v ...float64) float64 { return v[0] * v[1] / (v[2] / 1000) }, r.number("isl"),
		r.number("concurrency"), positive(r.number("mean_ttft_ms")))
	v["input_tps"] = of(func(v ...float64) float64 { return v[0] - v[1] }, r.number("total_tps"), r.number("output_tps"))
	tokens := func(v ...float64) float64 { return math.Round(v[0] * v[1]) }
	v["total_input_tokens"] = of(tokens, r.stat("isl", "mean"), r.number("completed"))
	v["total_output_tokens"] = of(tokens, r.stat("osl", "mean"), r.number("completed"))
}

// mediaValues are what a client for a model that does not write text measures.
func (in *Input) mediaValues(r *row) {
	v, task := r.values, r.point.Key.Task
	metric := func(name string) schema.Number { return r.stat(name, "value") }
	if m := epochStamp.FindStringSubmatch(path.Base(r.point.Source.Path)); m != nil {
		v["timestamp"] = m[1] // seconds since 1970
	}
	v["full_id"], v["model_id"], v["model_name"], v["backend"] = in.modelID(), in.Model, in.Model, task
	v["steps"] = parsed(r.point.Conditions[schema.ConditionSteps])
	v["steps_rate"], v["rtr"], v["t/s/u"] = metric(schema.MetricSteps), metric(schema.MetricRealTime), metric("tps_user")
	v["requests_user"], v["prefill"] = metric(schema.MetricRequestsUser), metric(schema.MetricInputRate)
	v["user"], v["mean_tps"] = v["requests_user"], metric(schema.MetricInputUser)
	if task == "embedding" {
		v["user"] = v["mean_tps"]
	}
	for _, k := range mediaKinds() {
		if k.task == task {
			v["kind"] = k.backend
		}
	}
	for _, setting := range []string{"streaming", "preprocessing"} {
		if on, err := strconv.ParseBool(r.point.Conditions[setting]); err == nil {
			v[setting] = on
		}
	}
	// The latency of a client: the first sound of a voice, the whole answer of the others.
	for _, s := range []string{"mean", "median", "p90", "p95"} {
		n := r.number(s + "_e2el_ms")
		if n.IsZero() || task == "tts" {
			n = r.number(s + "_ttft_ms")
		}
		v[s+"_latency_ms"], v[s+"_latency_s"] = n, seconds(n)
		v[s+"_latency_shown"] = seconds(rounded(n, 2))
	}
	v["ttft_s"] = v["mean_latency_s"]
	if task == "asr" {
		v["ttft_s"] = seconds(r.number("mean_ttft_ms"))
	}
	if n := r.number("requested"); fixed(n, -1, "1") != "1" { // else one at a time
		v["concurrent"] = n
	}
	reached := isNA // the target level, as the number of a check
	if g := in.gradedRow(r); g != nil {
		reached = g.reached()
	}
	v["reached"], v["reached_word"] = strconv.Itoa(reached), word(reached)
}

// number is a value of a row that is a number; missing where it is another or none.
func (r *row) number(name string) schema.Number {
	n, _ := r.values[name].(schema.Number)
	return n
}

// task is the task type of the reports.
func (r *row) task() string {
	if r.point.Key.Dims[structured] != "" {
		return "structured_output"
	}
	return cmp.Or(r.point.Key.Task, "text")
}

// structured is the dimension with the share of structured requests.
const structured = "structured"

func firstOf(a, b schema.Number) schema.Number {
	if a.IsZero() {
		return b
	}
	return a
}

// positive is a number that can be divided by.
func positive(n schema.Number) schema.Number {
	if v, ok := n.Get(); ok && v <= 0 {
		return schema.Missing("0")
	}
	return n
}

// of applies a formula to numbers that are all there.
func of(formula func(...float64) float64, list ...schema.Number) schema.Number {
	values := make([]float64, len(list))
	for i, n := range list {
		v, ok := n.Get()
		if !ok {
			return n
		}
		values[i] = v
	}
	return schema.Num(formula(values...))
}

// seconds turns milliseconds into seconds.
func seconds(n schema.Number) schema.Number {
	return of(func(v ...float64) float64 { return v[0] / 1000 }, n)
}

// parsed is a number that is written as a text.
func parsed(s string) schema.Number {
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return schema.Num(v)
	}
	return schema.Number{}
}

func number(p *float64) schema.Number {
	if p == nil {
		return schema.Number{}
	}
	return schema.Num(*p)
}
