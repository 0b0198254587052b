package sglang

import (
	"regexp"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// Format is the name of this reader's format.
const Format = "sglang"

// statKey matches a statistic's key: "p99_e2e_latency_ms".
var statKey = regexp.MustCompile(`^(mean|median|std|min|max|p\d+(?:\.\d+)?)_(ttft|tpot|itl|e2e_latency)_ms$`)

// Detect tells sglang from vLLM, whose client it descends from, by the name of the end-to-end latency.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Format}}
	v := f.First
	e2e := false
	for _, x := range v.Members() {
		e2e = e2e || strings.HasSuffix(x.Key, "_e2e_latency_ms")
	}
	m.Want(v.Get("completed").Kind() == decode.Number, "completed")
	m.Want(e2e, "mean_e2e_latency_ms")
	return m.Match
}

// Read returns the point of a line.
func Read(f *decode.File) schema.Reading {
	v := f.First
	r := schema.Reading{Format: Format, Detail: "bench_serving"}
	d := draft.New(f, &r, v, "sglang")
	key(v, d)
	r.Facts = facts(v)
	for _, m := range v.Members() {
		k := statKey.FindStringSubmatch(m.Key)
		x, ok := m.Val.Float()
		if k == nil || !ok {
			continue
		}
		metric, def := family(k[2])
		d.Stat(metric, def, k[1], x)
	}
	for _, s := range [][2]string{{"rps", "request_throughput"}, {"output_tps", "output_throughput"}, {"total_tps", "total_throughput"}, {"duration_s", "duration"}} {
		d.Of(s[0], v.Get(s[1]))
	}
	ok := v.Get("completed").Ptr()
	if ok != nil && *ok > 0 {
		for _, s := range [][2]string{{"isl", "total_input_tokens"}, {"osl", "total_output_tokens"}} {
			if total, have := v.Get(s[1]).Float(); have {
				d.Stat(s[0], "", "mean", total / *ok)
			}
		}
	}
	d.Requests(ok, nil, nil, "")
	recompute(v, d)
	d.Foreign(v, func(name string) bool { return isKnown(name) || statKey.MatchString(name) })
	d.Done()
	return r
}

func family(theirs string) (metric, def string) {
	switch theirs {
	case "ttft":
		return "ttft", schema.DefFirstContent
	case "tpot":
		return "tpot", schema.DefExclFirst
	case "itl":
		return "itl", schema.DefChunkGap
	}
	return "e2el", schema.DefLastContent
}

func key(v decode.Value, d *draft.Draft) {
	d.Key.Concurrency, d.Key.Rate = v.Get("max_concurrency").Ptr(), v.Get("request_rate").Ptr()
	d.Key.Dataset = v.Get("dataset_name").Str()
	if v.Get("request_rate").Str() == "trace" {
		d.Dim("arrival", "trace")
	}
	if strings.HasPrefix(d.Key.Dataset, "random") {
		d.Key.ISL, d.Key.OSL = v.Get("random_input_len").Ptr(), v.Get("random_output_len").Ptr()
		if ratio, ok := v.Get("random_range_ratio").Float(); ok && ratio != 1 {
			d.Dim("range_ratio", v.Get("random_range_ratio").Text())
		}
	}
	d.Condition("client", v.Get("backend").Str())
}

// facts reads the model and the version from server_info, which newer versions write.
func facts(v decode.Value) schema.Facts {
	var f schema.Facts
	info := v.Get("server_info")
	for _, name := range []string{"model_path", "served_model_name"} {
		if f.Model.ID == "" {
			f.Model.ID = info.Get(name).Str()
		}
	}
	if version := info.Get("version").Str(); version != "" {
		f.Stack.Engine, f.Stack.Version = "sglang", version
	}
	return f
}

// recompute uses the arrays of --output-details.
func recompute(v decode.Value, d *draft.Draft) {
	requests, ok := d.Timelines(v)
	if !ok {
		return
	}
	duration, _ := v.Get("duration").Float()
	set := latency.Summarise(requests, duration)
	if set.Hollow > 0 {
		d.Hollow(v, set, "")
	}
	if set.OK == 0 || set.ITL.N() == 0 {
		return
	}
	for _, f := range []draft.Family{{Metric: "ttft", Def: schema.DefFirstContent, Sample: set.TTFT}, {Metric: "itl", Def: schema.DefChunkGap, Sample: set.ITL, Pooled: true}} {
		f.Key = func(stat string) string { return stat + "_" + f.Metric + "_ms" }
		d.Recompute(v, f, set.Hollow > 0)
	}
}

var isKnown = draft.Names(`completed backend dataset_name request_rate max_concurrency request_throughput output_throughput total_throughput duration
 random_input_len random_output_len random_range_ratio total_input_tokens total_output_tokens server_info input_lens output_lens ttfts itls errors
 generated_texts start_times`)
