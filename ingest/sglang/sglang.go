package sglang

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// Format is the name of this reader's format.
const Format = "sglang"

// Detect distinguishes sglang from vLLM, whose client it descends from, by the name of the end-to-end latency.
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
		stat, of, ok := draft.StatKey(m.Key, "_ms")
		if x, has := m.Val.Float(); ok && has {
			metric, def := family(of)
			d.Stat(metric, def, stat, x)
		}
	}
	d.Fields(v, map[string]string{
		"rps": "request_throughput", "output_tps": "output_throughput", "total_tps": "total_throughput",
		"duration_s": "duration",
	})
	ok := v.Get("completed").Ptr()
	d.MeanTokens(v, ok)
	d.Requests(ok, nil, nil, "")
	recompute(v, d)
	claimed(v, d)
	d.Foreign(v, func(name string) bool {
		_, _, isStat := draft.StatKey(name, "_ms")
		return isStat || isKnown(name)
	})
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
	for _, name := range []string{"tp_size", "dp_size", "pp_size", "ep_size"} {
		if n, ok := v.At("server_info", name).Float(); ok && n > 1 {
			d.Dim(name[:2], v.At("server_info", name).Text())
		}
	}
}

// claimed compares the output tokens that rates are computed from with the tokens counted in the answers.
func claimed(v decode.Value, d *draft.Draft) {
	out, a := v.Get("total_output_tokens").Float()
	again, b := v.Get("total_output_tokens_retokenized").Float()
	if !a || !b || out <= 0 || again >= .9*out {
		return
	}
	p := d.Problem(schema.SevWarning, "tokens-claimed", v.Get("total_output_tokens_retokenized"),
		fmt.Sprintf("%.0f output tokens, of which the answers hold %.0f", out, again))
	p.Expected, p.Used, p.Hint = "the two within 10 %", "the rates as stated, which count the tokens asked for",
		"the server ended answers early; pass --extra-request-body '{\"ignore_eos\": true}'"
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
	for _, f := range []draft.Family{
		{Metric: "ttft", Def: schema.DefFirstContent, Sample: set.TTFT},
		{Metric: "itl", Def: schema.DefChunkGap, Sample: set.ITL, Pooled: true},
	} {
		f.Key = func(stat string) string { return stat + "_" + f.Metric + "_ms" }
		d.Recompute(v, f, set.Hollow > 0)
	}
}

var isKnown = draft.Names(`
	completed backend dataset_name request_rate max_concurrency request_throughput output_throughput total_throughput
	duration random_input_len random_output_len random_range_ratio total_input_tokens total_output_tokens server_info
	input_lens output_lens ttfts itls errors generated_texts start_times`)
