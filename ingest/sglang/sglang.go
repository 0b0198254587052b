package sglang

import (
	"fmt"
	"slices"
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
	parts(v, d)
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
	infos := append([]decode.Value{v.Get("server_info")}, disaggregated(v)...)
	for _, info := range infos {
		for _, name := range []string{"model_path", "served_model_name"} {
			if f.Model.ID == "" {
				f.Model.ID = info.Get(name).Str()
			}
		}
	}
	versions := versionsOf(infos)
	if len(versions) > 0 {
		f.Stack.Engine, f.Stack.Version = "sglang", strings.Join(versions, " + ")
	}
	return f
}

// disaggregated returns what the router of a disaggregated server states of its prefill and decode servers, in this
// order.
func disaggregated(v decode.Value) []decode.Value {
	var out []decode.Value
	for _, part := range []string{"prefill", "decode"} {
		servers := v.At("server_info", part)
		for i := range min(servers.Len(), 100) {
			out = append(out, servers.Index(i))
		}
	}
	return out
}

// versionsOf lists the versions that servers state, each once, in their order.
func versionsOf(infos []decode.Value) []string {
	var out []string
	for _, info := range infos {
		if version := info.Get("version").Str(); version != "" && !slices.Contains(out, version) {
			out = append(out, version)
		}
	}
	return out
}

// parts describes a disaggregated server: how many servers prefill and decode, and where these differ in version or
// model.
func parts(v decode.Value, d *draft.Draft) {
	servers := disaggregated(v)
	if len(servers) == 0 {
		return
	}
	prefill, decoding := v.At("server_info", "prefill").Len(), v.At("server_info", "decode").Len()
	d.Dim("disaggregated", fmt.Sprintf("%dp%dd", prefill, decoding))
	for _, what := range []string{"version", "model_path"} {
		var said []string
		for i, info := range servers {
			part := "prefill"
			if i >= prefill {
				part = "decode"
			}
			if text := info.Get(what).Str(); text != "" && !slices.Contains(said, part+" "+text) {
				said = append(said, part+" "+text)
			}
		}
		if slices.ContainsFunc(said, func(s string) bool { return value(s) != value(said[0]) }) {
			p := d.Problem(schema.SevWarning, "servers-differ", v.Get("server_info"),
				fmt.Sprintf("servers with different %s: %s", what, strings.Join(said, ", ")))
			p.Expected, p.Used = "one "+what+" on all servers", "both, as the engine's version"
			if what == "model_path" {
				p.Used = "that of the prefill server"
			}
		}
	}
}

// value is what follows the name of a part.
func value(said string) string {
	_, v, _ := strings.Cut(said, " ")
	return v
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
