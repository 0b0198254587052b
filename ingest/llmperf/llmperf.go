package llmperf

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this package distinguishes.
const (
	Format    = "llmperf"
	Responses = "llmperf-responses" // the requests of a summary
)

// Detect asks for the names that a summary is made of.
func Detect(f *decode.File) schema.Match {
	v := f.First
	if one := v.Index(0); one.Has("end_to_end_latency_s") && one.Has("ttft_s") {
		return schema.Match{
			Format: Responses, Has: []string{"end_to_end_latency_s"}, Detail: "not a result: the requests of a summary",
		}
	}
	m := draft.Check{Match: schema.Match{Format: Format, Detail: "summary"}}
	m.Want(v.Has("results_ttft_s_mean") || v.Has("results_end_to_end_latency_s_mean"), "results_ttft_s_mean")
	m.Want(v.Has("num_concurrent_requests"), "num_concurrent_requests")
	return m.Match
}

// Read returns the point of a summary.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	r := schema.Reading{Format: m.Format, Detail: m.Detail}
	if m.Format == Responses {
		return r
	}
	v := f.First
	d := draft.New(f, &r, v, "llmperf")
	d.Key.ISL, d.Key.OSL = v.Get("mean_input_tokens").Ptr(), v.Get("mean_output_tokens").Ptr()
	d.Key.Concurrency = v.Get("num_concurrent_requests").Ptr()
	for dim, name := range map[string]string{
		"prompt_tokens_stdev": "stddev_input_tokens", "output_tokens_stdev": "stddev_output_tokens",
	} {
		if x, ok := v.Get(name).Float(); ok && x > 0 {
			d.Dim(dim, strconv.FormatFloat(x, 'f', -1, 64))
		}
	}
	for _, x := range []struct {
		theirs, metric, def string
		scale               float64
	}{
		{"ttft_s", "ttft", schema.DefFirstContent, 1000}, {"end_to_end_latency_s", "e2el", schema.DefLastContent, 1000},
		{"inter_token_latency_s", "ntpot", schema.DefInclFirst, 1000},
		{"request_output_throughput_token_per_s", "tps_user", schema.DefOutOverE2EL, 1},
	} {
		distribution(d, v, "results_"+x.theirs+"_", x.metric, x.def, x.scale)
	}
	d.Mean("isl", v.Get("results_number_input_tokens_mean"))
	d.Mean("osl", v.Get("results_number_output_tokens_mean"))
	d.Of("output_tps", v.Get("results_mean_output_throughput_token_per_s"))
	if x, ok := v.Get("results_num_completed_requests_per_min").Float(); ok {
		d.Derived("rps", "", "value", x/60)
	}
	d.Requests(v.Get("results_num_completed_requests").Ptr(), v.Get("results_number_errors").Ptr(), nil, "")
	r.Facts.Model.ID = v.Get("model").Str()
	if s, ok := v.Get("timestamp").Float(); ok && s > 1e8 && s < 1e11 {
		whole, _ := math.Modf(s)
		r.Facts.Start = time.Unix(int64(whole), 0).UTC()
		r.Facts.End = r.Facts.Start
		d.Start, d.End = r.Facts.Start, r.Facts.End
	}
	d.Foreign(v, draft.Names("results_* model version name mean_* stddev_* num_concurrent_requests timestamp"))
	d.Done()
	return r
}

func distribution(d *draft.Draft, v decode.Value, prefix, metric, def string, scale float64) {
	for _, m := range v.Members() {
		stat, ok := strings.CutPrefix(m.Key, prefix)
		x, has := m.Val.Float()
		if !ok || !has {
			continue
		}
		switch stat = strings.TrimPrefix(stat, "quantiles_"); stat {
		case "p50":
			stat = "median"
		case "stddev":
			stat = "std"
		case "mean", "min", "max", "p90", "p95", "p99":
		default:
			continue
		}
		d.Stat(metric, def, stat, x*scale)
	}
}
