// This file reads the JSON Lines of sglang's serving benchmark, "python -m sglang.bench_serving --output-file".
//
// Source: python/sglang/bench_serving.py, December 2024 to 2026, and forks that write fewer fields.
//
// Units: "*_ms" keys are milliseconds, the arrays of --output-details seconds.
//
// Traps: request_rate may be the literal Infinity or "trace"; the file has no number of requested prompts, no failed
// count and no date, and the model only in server_info; random_input_len and random_output_len are written for every
// dataset, and with random_range_ratio below 1 lengths are drawn from a range: they count only if the dataset is
// random; without streaming TPOT is -0.00 and ITL 0, which means not measured; "concurrency" is the measured one.

package format

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// SGLang is the format. It differs from vLLM's, whose client it descends from, by the name of the end-to-end latency.
var SGLang = draft.Format{
	Name: "sglang", Tool: "sglang", Wants: draft.Wants("completed#"), Point: readSGLang,
	Sniff: func(f *decode.File, m *draft.Check) {
		m.Want(draft.StatIn(f.First, draft.Field{Key: "{}_e2e_latency_ms"}) != "", "mean_e2e_latency_ms")
	},
}

func readSGLang(d *draft.Draft) {
	v := d.In
	d.Reading.Detail = "bench_serving"
	d.Fields(v, map[string]string{
		"key concurrency": "max_concurrency", "key rate": "request_rate", "key dataset": "dataset_name",
		"condition client": "backend", "ttft first-content": "{}_ttft_ms", "tpot excl-first": "{}_tpot_ms",
		"itl chunk-gap": "{}_itl_ms", "e2el last-content": "{}_e2el_ms|{}_e2e_latency_ms|{}_ttfo_ms",
		"rps": "request_throughput", "output_tps": "output_throughput", "total_tps": "total_throughput",
		"duration_s": "duration", "input_tps": "input_throughput", "acceptance_length": "accept_length",
	})
	if v.Get("request_rate").Str() == "trace" {
		d.Dim("arrival", "trace")
	}
	isl, osl, ratio := v.Get("random_input_len"), v.Get("random_output_len"), v.Get("random_range_ratio")
	if strings.HasPrefix(d.Key.Dataset, "random") {
		d.Key.ISL, d.Key.OSL = isl.Ptr(), osl.Ptr()
		if x, ok := ratio.Float(); ok && x != 1 {
			d.Dim("range_ratio", ratio.Text())
		}
	}
	d.Fields(v.Get("server_info"), map[string]string{
		"degree tp": "tp_size", "degree dp": "dp_size", "degree pp": "pp_size", "degree ep": "ep_size",
	})
	sglangServers(d)
	ok := v.Get("completed").Ptr()
	d.MeanTokens(v, ok)
	d.Requests(ok, nil, nil, "")
	sglangRecompute(d)
	// The rates are computed from the output tokens that were asked for; the answers may hold fewer.
	out, again := v.Get("total_output_tokens").Float0(), d.File.First.Get("total_output_tokens_retokenized")
	if n := again.Ptr(); n != nil && out > 0 && *n < .9*out {
		d.Problem(schema.SevWarning, "tokens-claimed", again,
			fmt.Sprintf("%.0f output tokens, of which the answers hold %.0f", out, *n), "the two within 10 %",
			"the rates as stated, which count the tokens asked for",
			"the server ended answers early; pass --extra-request-body '{\"ignore_eos\": true}'")
	}
	d.Foreign(v, "server_info")
}

// sglangServers reads the model and the version from server_info, which newer versions write. The router of a
// disaggregated server states its prefill and decode servers: how many, and where these differ in version or model.
func sglangServers(d *draft.Draft) {
	router, f := d.In.Get("server_info"), &d.Reading.Facts
	list, parts := []decode.Value{router}, []string{""}
	for _, part := range []string{"prefill", "decode"} {
		for server := range router.Get(part).Items() {
			if list, parts = append(list, server), append(parts, part); len(list) > 200 {
				break
			}
		}
	}
	var versions []string
	for _, server := range list {
		f.Model.ID = cmp.Or(f.Model.ID, server.Get("model_path").Str(), server.Get("served_model_name").Str())
		if text := server.Get("version").Str(); text != "" && !slices.Contains(versions, text) {
			versions = append(versions, text)
		}
	}
	if len(versions) > 0 {
		f.Stack.Engine, f.Stack.Version = "sglang", strings.Join(versions, " + ")
	}
	if len(list) == 1 {
		return
	}
	servers := fmt.Sprintf("%dp%dd", router.Get("prefill").Len(), router.Get("decode").Len())
	if servers == "1p1d" { // newer routers state the first of each kind, of however many
		servers = "yes"
	}
	d.Dim("disaggregated", servers)
	for _, x := range []struct{ what, used string }{
		{"version", "both, as the engine's version"}, {"model_path", "that of the prefill server"},
	} {
		var said, texts []string // in their order
		for i, server := range list[1:] {
			if text := server.Get(x.what).Str(); text != "" && !slices.Contains(said, parts[i+1]+" "+text) {
				said, texts = append(said, parts[i+1]+" "+text), append(texts, text)
			}
		}
		if len(slices.Compact(texts)) > 1 {
			d.Problem(schema.SevWarning, "servers-differ", router,
				fmt.Sprintf("servers with different %s: %s", x.what, strings.Join(said, ", ")), "one "+x.what+" on all servers",
				x.used)
		}
	}
}

// sglangRecompute uses the arrays of --output-details.
func sglangRecompute(d *draft.Draft) {
	requests, ok := d.Timelines(d.In)
	if !ok {
		return
	}
	set := latency.Summarise(requests, d.In.Get("duration").Float0())
	if set.Hollow > 0 {
		d.Hollow(d.In, set, "")
	}
	if set.OK == 0 || set.ITL.N() == 0 {
		return
	}
	stated := draft.Table("ttft first-content: {}_ttft_ms", "itl chunk-gap: {}_itl_ms")
	d.Recompute(d.In, stated[0], set.TTFT, "", set.Hollow > 0)
	d.Recompute(d.In, stated[1], set.ITL, "", set.Hollow > 0)
}
