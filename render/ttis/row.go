package ttis

import (
	"cmp"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// row is a measured workload with the numbers that the reports of both generations derive from it, unrounded.
type row struct {
	point *schema.Point
	run   *schema.Run

	isl, osl, concurrency, asked, completed schema.Number
	ttft, tpot, e2el                        latencies
	user, userStd, decode, prefill          schema.Number // tok/s
	output, total, rps                      schema.Number
	inputTokens, outputTokens               schema.Number
	correct                                 schema.Number // %, of structured output
	stamp                                   string        // when it was measured, as in file names
}

// latencies are the statistics of a latency, in ms. A P99 of fewer than 100 requests is no number.
type latencies struct{ mean, median, p99, std schema.Number }

// rows are the workloads that are wanted, in the order of a sweep, the newest measurement of each.
func rows(runs []schema.Run, wanted func(*schema.Point) bool) []*row {
	var out []*row
	newest := map[string]*row{}
	for i := range runs {
		for j := range runs[i].Points {
			pt := &runs[i].Points[j]
			if !wanted(pt) {
				continue
			}
			key := pt.Key.String()
			if before := newest[key]; before != nil && !before.point.End.Before(pt.End) {
				continue
			}
			newest[key] = newRow(&runs[i], pt)
		}
	}
	for _, r := range newest {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *row) int {
		if c := slices.Compare(a.order(), b.order()); c != 0 {
			return c
		}
		if c := cmp.Or(cmp.Compare(a.point.Key.Dataset, b.point.Key.Dataset), cmp.Compare(a.ratio(), b.ratio())); c != 0 {
			return c
		}
		return cmp.Compare(a.point.Key.String(), b.point.Key.String())
	})
	return out
}

// order is by ISL, OSL and concurrency, then by pictures.
func (r *row) order() []float64 {
	out := make([]float64, 0, 6)
	for _, n := range []schema.Number{r.isl, r.osl, r.concurrency} {
		v, _ := n.Get()
		out = append(out, v)
	}
	for _, name := range []string{"images", "height", "width"} {
		v, _ := strconv.ParseFloat(r.point.Key.Dims[name], 64)
		out = append(out, v)
	}
	return out
}

func newRow(run *schema.Run, pt *schema.Point) *row {
	stat := func(metric, name string) schema.Number { return pt.Metrics[metric].Stat(name) }
	r := &row{
		point: pt, run: run, isl: number(pt.Key.ISL), osl: number(pt.Key.OSL),
		completed: stat("requests_ok", "value"), output: stat("output_tps", "value"), total: stat("total_tps", "value"),
		rps: stat("rps", "value"), stamp: stamp(pt), correct: stat("correct_rate", "value"),
	}
	r.asked = r.completed
	if n, err := strconv.ParseFloat(pt.Conditions["num_prompts"], 64); err == nil {
		r.asked = schema.Num(n)
	}
	if _, ok := r.isl.Get(); !ok { // a dataset of its own: what was counted
		r.isl = rounded(stat("isl", "mean"), 0)
	}
	r.concurrency = of(func(v ...float64) float64 { return math.Min(v[0], v[1]) }, number(pt.Key.Concurrency), r.asked)
	r.ttft, r.tpot, r.e2el = r.latencies("ttft"), r.latencies("tpot"), r.latencies("e2el")
	r.user = of(func(v ...float64) float64 { return 1000 / v[0] }, positive(r.tpot.mean))
	r.userStd = of(func(v ...float64) float64 { return v[0] - 1000/(v[1]+v[2]) }, r.user, r.tpot.mean,
		positive(r.tpot.std))
	r.decode = of(func(v ...float64) float64 { return v[0] * v[1] }, r.user, r.concurrency)
	r.prefill = of(func(v ...float64) float64 { return v[0] * v[1] / (v[2] / 1000) }, r.isl, r.concurrency,
		positive(r.ttft.mean))
	tokens := func(v ...float64) float64 { return math.Round(v[0] * v[1]) }
	r.inputTokens = of(tokens, stat("isl", "mean"), r.completed)
	r.outputTokens = of(tokens, stat("osl", "mean"), r.completed)
	return r
}

func positive(n schema.Number) schema.Number {
	if v, ok := n.Get(); ok && v <= 0 {
		return schema.Missing("0")
	}
	return n
}

func (r *row) latencies(metric string) latencies {
	m := r.point.Metrics[metric]
	out := latencies{mean: m.Stat("mean"), median: m.Stat("median"), p99: m.Stat("p99"), std: m.Stat("std")}
	n := float64(m.N)
	if n == 0 {
		n, _ = r.completed.Get()
	}
	if _, ok := out.p99.Get(); ok && n > 0 && n < schema.FewForTail {
		out.p99 = schema.Missing("n = " + strconv.FormatFloat(n, 'f', -1, 64))
	}
	return out
}

var stamped = regexp.MustCompile(`_(\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)_`)

// stamps is how tt-inference-server writes a time into names.
const stamps = "2006-01-02_15-04-05"

// stamp is the time in the name of the raw file, else when the measurement ended.
func stamp(pt *schema.Point) string {
	if m := stamped.FindStringSubmatch(path.Base(pt.Source.Path)); m != nil {
		return m[1]
	}
	return timeText(cmp.Or(pt.End, pt.Start), stamps)
}

func timeText(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}

// task is the task type of the reports.
func (r *row) task() string {
	switch {
	case r.point.Key.Dims[structured] != "":
		return "structured_output"
	case r.point.Key.Task == "":
		return "text"
	}
	return r.point.Key.Task
}

// structured is the dimension with the share of structured requests.
const structured = "structured"

// ratio is the share of structured requests; what is off comes first.
func (r *row) ratio() float64 {
	v, err := strconv.ParseFloat(r.point.Key.Dims[structured], 64)
	if err != nil {
		return -1
	}
	return v
}

// source is the name of the tool: v0.17 has the protocol of vLLM's client.
func (r *row) source() string {
	if client := r.point.Conditions["client"]; client != "" && r.point.Key.Tool == "vllm" {
		return client
	}
	return r.point.Key.Tool
}
