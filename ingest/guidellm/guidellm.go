package guidellm

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"strconv"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Format is the name of the reports' format.
const Format = "guidellm"

// Detect looks for a list of benchmarks whose metrics have a request_latency.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Format}}
	if f.Form == decode.Text {
		return detectTable(f)
	}
	list := f.First.Get("benchmarks")
	m.Want(list.Kind() == decode.Array, "benchmarks")
	found := false
	for b := range list.Items() {
		if found = b.Get("metrics").Has("request_latency"); found {
			break
		}
	}
	m.Want(found, "benchmarks[].metrics.request_latency")
	if m.OK() {
		m.Detail = era(f.First)
	}
	return m.Match
}

func era(v decode.Value) string {
	switch version, _ := v.At("metadata", "version").Int(); {
	case v.At("metadata", "guidellm_version").Str() != "":
		return v.At("metadata", "guidellm_version").Str()
	case version >= 2:
		return "0.7 or later"
	case version == 1:
		return "0.4 to 0.6"
	}
	return "0.1 to 0.3"
}

// Read returns a point for each benchmark.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	if m.Format == Table {
		return readTable(f, m)
	}
	return readReport(f, m)
}

// readReport returns a point for each benchmark of a report.
func readReport(f *decode.File, m schema.Match) schema.Reading {
	r := schema.Reading{Format: m.Format, Detail: m.Detail}
	for b := range f.First.Get("benchmarks").Items() {
		if b.Get("metrics").Kind() == decode.Object {
			readBenchmark(f, b, &r)
		}
		if len(r.Points) > f.Limits().Results {
			break // bound reports it
		}
	}
	r.Extra = draft.Foreign(nil, f.First, draft.Names("benchmarks metadata args config type_"))
	r.Detail = fmt.Sprintf("%s, %d benchmarks", m.Detail, len(r.Points))
	return r
}

func readBenchmark(f *decode.File, b decode.Value, r *schema.Reading) {
	d := draft.New(f, r, b, "guidellm")
	d.Source.ToolVersion = f.First.At("metadata", "guidellm_version").Str()
	c := configOf(f.First, b)
	c.key(d)
	metrics := b.Get("metrics")
	for _, x := range []struct {
		theirs, metric, def string
		scale               float64
	}{{"time_to_first_token_ms", "ttft", schema.DefFirstContent, 1}, {
		"inter_token_latency_ms", "tpot", schema.DefExclFirst, 1,
	},
		{
			"time_per_output_token_ms", "ntpot", schema.DefInclFirst, 1,
		}, {"request_latency", "e2el", schema.DefLastChunk, 1000}} {
		distribution(d, metrics.At(x.theirs, "successful"), x.metric, x.def, x.scale)
	}
	for metric, name := range map[string]string{"isl": "prompt_token_count", "osl": "output_token_count"} {
		if block := metrics.At(name, "successful"); block.Get("count").Float0() > 0 {
			d.Mean(metric, block.Get("mean"))
		}
	}
	d.Start, d.End = epoch(b.Get("start_time")), epoch(b.Get("end_time"))
	if !d.Start.IsZero() && !d.End.Before(d.Start) {
		d.Value("duration_s", b.Get("end_time").Float0()-b.Get("start_time").Float0())
	}
	rates(b, d)
	counts(b, d)
	c.identify(r, d)
	if mean, ok := metrics.At("request_concurrency", "successful", "mean").Float(); ok {
		d.Client = map[string]string{"concurrency_reached": strconv.FormatFloat(mean, 'g', 4, 64)}
	}
	d.Foreign(b, isKnown)
	d.Done()
}

var isKnown = draft.Names(`
	metrics requests config args run_stats request_totals scheduler scheduler_state scheduler_metrics benchmarker worker
	request_loader environment request_samples start_time end_time duration type_ id_ run_id run_index extras
	warmup_duration cooldown_duration run_stats_v2 estimated_state`)

// percentile matches p50, p95, p999 (the 99.9th) and p001 (the 0.1th).
var percentile = regexp.MustCompile(`^p(\d\d|999)$`)

func distribution(d *draft.Draft, block decode.Value, metric, def string, scale float64) {
	if n, ok := block.Get("count").Float(); ok && n == 0 {
		d.Missing(metric, def, "no request that completed has one")
		return
	}
	put := func(stat string, v decode.Value) {
		if x, ok := v.Float(); ok {
			d.Stat(metric, def, stat, x*scale)
		}
	}
	for _, stat := range []string{"mean", "median", "min", "max"} {
		put(stat, block.Get(stat))
	}
	put("std", block.Get("std_dev"))
	for _, p := range block.Get("percentiles").Members() {
		k := percentile.FindStringSubmatch(p.Key)
		switch {
		case k == nil || k[1] < "10" || k[1] == "50":
		case k[1] == "999":
			put("p99.9", p.Val)
		default:
			put("p"+k[1], p.Val)
		}
	}
}

// visible is the relative difference of two rates from which on a person sees two numbers.
const visible = 1e-3

// rates divides what the requests that completed did by the length of the benchmark. The file's own means of rates are
// no throughputs: up to 0.6 they are means over moments (282 tok/s where 59 were made), and later ones leave out the
// requests at the end of a run that had failures, and count tokens from the first one to the last
// (rate_distribution_from_timings without a window), unlike requests. A difference that shows is a note.
func rates(b decode.Value, d *draft.Draft) {
	metrics := b.Get("metrics")
	total := func(name string) (sum float64, ok bool) {
		block := metrics.At(name, "successful")
		if sum, ok = block.Get("total_sum").Float(); ok {
			return sum, true
		}
		n, has := block.Get("count").Float()
		mean, ok := block.Get("mean").Float()
		return n * mean, ok && has
	}
	seconds := b.Get("end_time").Float0() - b.Get("start_time").Float0()
	n := metrics.At("request_latency", "successful", "count").Float0()
	if n <= 0 {
		return
	}
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		for _, metric := range []string{"rps", "output_tps", "total_tps"} {
			d.Missing(metric, "", "the file states no duration, and its own rates are means over moments")
		}
		return
	}
	set := func(metric, theirs string, rate float64) {
		block := metrics.At(theirs, "successful", "mean")
		stated, ok := block.Float()
		if ok && math.Abs(stated-rate) <= 1e-6*rate {
			d.Value(metric, stated)
			return
		}
		d.Derived(metric, "", "value", rate)
		if ok && math.Abs(stated-rate) > visible*rate {
			p := d.Problem(schema.SevNote, "own-rate", block, fmt.Sprintf("%s of %.4g in the file", theirs, stated))
			p.Expected = fmt.Sprintf("%.4g, what completed over the %.4g s of the benchmark", rate, seconds)
			p.Used = "what completed over the benchmark's length"
			p.Hint = "GuideLLM's mean is of another window: of moments up to 0.6, later from the first token to the last"
		}
	}
	set("rps", "requests_per_second", n/seconds)
	out, ok := total("output_token_count")
	if !ok {
		return
	}
	set("output_tps", "output_tokens_per_second", out/seconds)
	if in, ok := total("prompt_token_count"); ok {
		set("total_tps", "tokens_per_second", (in+out)/seconds)
	}
}

// counts reads request_totals; older reports have it in run_stats.
func counts(b decode.Value, d *draft.Draft) {
	totals := b.At("metrics", "request_totals")
	if totals.Kind() != decode.Object {
		totals = b.Get("request_totals")
	}
	if totals.Kind() != decode.Object {
		totals = b.At("run_stats", "requests_made")
	}
	ok, failed := totals.Get("successful").Ptr(), totals.Get("errored").Ptr()
	first := b.At("requests", "errored").Index(0)
	d.Requests(ok, failed, nil, draft.Quote(first.At("info", "error").Str()+first.Get("error").Str()))
	if n := totals.Get("incomplete").Float0(); n > 0 {
		d.Condition("incomplete", strconv.FormatFloat(n, 'f', -1, 64))
	}
	for _, metric := range []string{"ttft", "tpot", "ntpot", "e2el"} {
		if ok != nil {
			d.Size(metric, int(math.Min(*ok, 1e12)))
		}
	}
}

func epoch(v decode.Value) time.Time {
	s, ok := v.Float()
	if !ok || s < 1e8 || s > 1e11 {
		return time.Time{}
	}
	return time.UnixMilli(int64(s * 1000)).UTC().Truncate(time.Second)
}

// config finds the requested workload, wherever the era has it.
type config struct{ strategy, data, backend, args, model decode.Value }

func configOf(report, b decode.Value) config {
	c := config{strategy: b.At("config", "strategy"), args: b.Get("args"), model: report.At("args", "model")}
	spec := report.At("config", "spec")
	if c.strategy.Kind() != decode.Object { // before 0.7
		c.strategy = first(b.At("scheduler", "strategy"), c.args.Get("strategy"))
	}
	c.data = first(spec.Get("data").Index(0), report.At("args", "data").Index(0), report.At("args", "data"),
		c.args.Get("requests_loader"), b.At("request_loader"))
	c.backend = first(b.At("config", "backend"), spec.Get("backend"), report.At("args", "backend_kwargs"), b.Get("worker"),
		c.args.Get("backend"))
	return c
}

// first returns the first value that exists.
func first(list ...decode.Value) decode.Value {
	for _, v := range list {
		if v.Kind() == decode.Object || v.Kind() == decode.String {
			return v
		}
	}
	return decode.Value{}
}

// asked finds a length in "prompt_tokens=128,output_tokens=64", in an object, or in an object written as text.
func asked(data decode.Value, name string) *float64 {
	if p := data.Get(name).Ptr(); p != nil {
		return p
	}
	text := data.Str() + data.Get("data").Str()
	m := regexp.MustCompile(`"?` + name + `"?\s*[=:]\s*(\d+)`).FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	x, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return nil
	}
	return &x
}

func (c config) key(d *draft.Draft) {
	d.Key.ISL, d.Key.OSL = asked(c.data, "prompt_tokens"), asked(c.data, "output_tokens")
	d.Key.Dataset = c.data.Get("kind").Str()
	for _, name := range []string{"prompt_tokens_stdev", "output_tokens_stdev"} {
		if x := asked(c.data, name); x != nil && *x > 0 {
			d.Dim(name, strconv.FormatFloat(*x, 'f', -1, 64))
		}
	}
	kind := c.strategy.Get("type_").Str()
	switch kind {
	case "concurrent":
		d.Key.Concurrency = c.strategy.Get("streams").Ptr()
		if d.Key.Concurrency == nil {
			d.Key.Concurrency = c.strategy.Get("max_concurrency").Ptr()
		}
	case "synchronous":
		one := 1.
		d.Key.Concurrency = &one
	case "throughput":
		d.Dim("arrival", "as fast as possible")
	default:
		d.Key.Rate = c.strategy.Get("rate").Ptr()
		if kind == "constant" { // the field's default is a Poisson process
			d.Dim("arrival", kind)
		}
	}
	if n, ok := c.data.Get("turns").Float(); ok && n > 1 {
		d.Dim("turns", c.data.Get("turns").Text())
	}
	d.Condition("streaming", c.backend.Get("stream").Text())
	d.Condition("endpoint", c.backend.Get("request_format").Str())
}

func (c config) identify(r *schema.Reading, d *draft.Draft) {
	if id := c.backend.Get("model").Str(); id != "" && r.Facts.Model.ID == "" {
		r.Facts.Model.ID = id
	}
	if id := c.model.Str(); id != "" && r.Facts.Model.ID == "" {
		r.Facts.Model.ID = id
	}
	if id := c.backend.Get("backend_model").Str(); id != "" && r.Facts.Model.ID == "" {
		r.Facts.Model.ID = id
	}
	if r.Facts.Start.IsZero() || (!d.Start.IsZero() && d.Start.Before(r.Facts.Start)) {
		r.Facts.Start = d.Start
	}
	if d.End.After(r.Facts.End) {
		r.Facts.End = d.End
	}
	if d.Key.ISL == nil && d.Key.OSL == nil {
		if text := c.data.Str(); text != "" && len(text) < 80 {
			d.Dim(schema.DimLabel, path.Base(text))
		}
	}
}
