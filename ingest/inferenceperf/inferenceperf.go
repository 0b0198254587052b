package inferenceperf

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this package distinguishes.
const (
	Format = "inference-perf"
	Aside  = "inference-perf-aside"
)

// Detect looks for the two objects that every lifecycle report has.
func Detect(f *decode.File) schema.Match {
	v := f.First
	if v.Kind() == decode.Object && v.Len() > 0 && isPrometheus(v) {
		return schema.Match{
			Format: Aside, Has: []string{"metrics of the server"}, Detail: "not a result: the server's own metrics",
		}
	}
	if one := v.Index(0); one.Has("request") && one.Has("response") && one.Get("info").Has("output_token_times") {
		return schema.Match{
			Format: Aside, Has: []string{"output_token_times"},
			Detail: "not a result: the requests that were sent and their answers",
		}
	}
	m := draft.Check{Match: schema.Match{Format: Format, Detail: "lifecycle report"}}
	m.Want(v.Get("load_summary").Kind() == decode.Object, "load_summary")
	m.Want(v.Get("successes").Kind() == decode.Object, "successes")
	return m.Match
}

// isPrometheus recognises the server's metrics that the tool writes next to each report.
func isPrometheus(v decode.Value) bool {
	return v.Has("avg_queue_length") || v.Has("avg_kv_cache_usage") || v.Get("successes").Kind() == decode.Object &&
		v.Get("successes").Has("rate") ||
		v.Has("prompt_tokens_per_second") && !v.Has("load_summary")
}

var stage = regexp.MustCompile(`stage_(\d+)_`)

// IsSummary reports a file's name as that of the pool of all stages.
func IsSummary(name string) bool { return strings.HasPrefix(path.Base(name), "summary_lifecycle") }

// Read returns the point of a report.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	r := schema.Reading{Format: m.Format, Detail: m.Detail}
	if m.Format == Aside {
		return r
	}
	v := f.First
	d := draft.New(f, &r, v, "inference-perf")
	load, good := v.Get("load_summary"), v.Get("successes")
	if IsSummary(f.Path) {
		d.Dim("stages", "all")
		r.Detail = "pool of all stages"
	} else {
		d.Key.Rate, d.Key.Concurrency = load.Get("requested_rate").Ptr(), load.Get("concurrency").Ptr()
		if s := stage.FindStringSubmatch(path.Base(f.Path)); s != nil {
			d.Condition("stage", s[1])
		}
	}
	latencies(good, d)
	d.Mean("isl", good.At("prompt_len", "mean"))
	d.Mean("osl", good.At("output_len", "mean"))
	rate := good.Get("throughput")
	d.Fields(rate, map[string]string{
		"rps": "requests_per_sec", "output_tps": "output_tokens_per_sec", "total_tps": "total_tokens_per_sec",
	})
	if !d.Of("duration_s", v.Get("benchmark_time_seconds")) {
		rps, n := rate.Get("requests_per_sec").Float0(), good.Get("count").Float0()
		if rps > 0 && n > 0 {
			d.Derived("duration_s", "", "value", n/rps)
		}
	}
	d.Requests(good.Get("count").Ptr(), v.At("failures", "count").Ptr(), nil, "")
	for _, metric := range []string{"ttft", "ntpot", "e2el"} {
		if n, ok := good.Get("count").Int(); ok {
			d.Size(metric, n)
		}
	}
	d.Foreign(load, draft.Names("requested_rate concurrency count schedule_delay.p* schedule_delay"))
	d.Foreign(v, draft.Names("load_summary successes failures benchmark_time_seconds"))
	client(load, d)
	d.Done()
	return r
}

// latencies reads the distributions of times, which are in seconds.
func latencies(good decode.Value, d *draft.Draft) {
	for _, x := range []struct{ theirs, metric, def string }{
		{"time_to_first_token", "ttft", schema.DefFirstChunk},
		{"request_latency", "e2el", schema.DefLastChunk},
		{"normalized_time_per_output_token", "ntpot", schema.DefInclFirst},
		{"inter_token_latency", "itl", schema.DefChunkGap},
		{"time_per_output_token", "tpot", schema.DefChunkMean},
	} {
		block := good.At("latency", x.theirs)
		if block.Kind() != decode.Object {
			block = good.Get(x.theirs) // before latencies had a separate object
		}
		distribution(d, block, x.metric, x.def)
	}
}

// client keeps how well the tool kept its schedule.
func client(load decode.Value, d *draft.Draft) {
	if late, ok := load.At("schedule_delay", "p99").Float(); ok {
		d.Client = map[string]string{"send_late_p99_ms": formatted(late * 1000)}
	}
	if got, ok := load.Get("achieved_rate").Float(); ok {
		if d.Client == nil {
			d.Client = map[string]string{}
		}
		d.Client["rate_reached"] = formatted(got)
	}
}

// distribution reads {mean, min, p0.1 … p99.9, max, median}, in seconds.
func distribution(d *draft.Draft, block decode.Value, metric, def string) {
	for _, s := range block.Members() {
		x, ok := s.Val.Float()
		switch s.Key {
		case "mean", "median", "min", "max", "p10", "p25", "p75", "p90", "p95", "p99", "p99.9":
			if ok {
				d.Stat(metric, def, s.Key, x*1000)
			}
		}
	}
}

func formatted(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
