// This file reads results of SemiAnalysis' InferenceX (before 2026 InferenceMAX): aggregated rows agg_*.json,
// and the raw files of its experiments, which are those of a vLLM fork in other units.
//
// Source: utils/process_result.py and experimental/, 2025 and 2026.
//
// Traps: every latency is in seconds, which no key states; throughputs of aggregated rows are per accelerator and
// have to be multiplied by their number; where prefill and decode run on separate accelerators, output throughput is
// per decoding accelerator and total throughput per accelerator; "*_intvty" is 1000 over a statistic of TPOT, so that
// p99_intvty is the first percentile of the speed; power is that of the boards, and counts where the file calls
// it valid; aggregated rows do not state failures.

package format

import (
	"fmt"
	"path"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// InferenceX is the format of aggregated rows, or of a client's own file in seconds: latencies without a unit in their
// names, together with the load or the row's identity.
var InferenceX = draft.Format{
	Name: "inferencex", Detail: "aggregated rows, in seconds", All: readInferenceX,
	Sniff: func(f *decode.File, m *draft.Check) {
		v := f.First
		if v.Kind() == decode.Array {
			v = v.Index(0)
		}
		seconds, millis := draft.StatIn(v, inferenceXFields...) != "", draft.StatIn(v, inferenceXMillis...) != ""
		row := v.Has("hw", "conc")
		m.Want(seconds, "latencies without a unit (median_ttft)")
		m.Want(row || v.Get("completed").Kind() == decode.Number, "hw and conc, or completed")
		m.Not(millis, "seconds alone")
		if m.OK() && !row {
			m.Format, m.Detail = inferenceXRaw, "raw file, in seconds"
		}
	},
}

const inferenceXRaw = "inferencex-raw"

// readInferenceX returns a point for each row; rows of different systems are different readings.
func readInferenceX(f *decode.File, r *schema.Reading) {
	switch {
	case r.Format == inferenceXRaw:
		readInferenceXRaw(f, r)
	case f.First.Kind() != decode.Array:
		readInferenceXRow(f, f.First, r)
	default:
		rows := draft.RunsOf[int](r)
		for v := range draft.Each(f, f.First.Items()) {
			readInferenceXRow(f, v, rows.Of(rows.Len(), schema.Facts{}))
		}
		rows.Join(r.Detail)
	}
}

// Fields of the format, and of what it is not.
var (
	inferenceXFields = draft.VLLM("{}_X", 1000)
	inferenceXMillis = draft.VLLM("{}_X_ms", 1)
)

// inferenceXRepeated are keys of statistics, also of speeds that are one over another, and the date of a row.
const inferenceXRepeated = "date mean_* median_* std_* p50_* p90_* p95_* p99_* min_* max_*"

func readInferenceXRaw(f *decode.File, r *schema.Reading) {
	d := draft.New(f, r, f.First, "inferencex")
	v := d.In
	d.Flat(v, inferenceXFields)
	d.Fields(v, map[string]string{
		"key concurrency": "max_concurrency", "key rate": "request_rate", "fact model.id": "model_id",
		"condition num_prompts": "num_prompts", "rps": "request_throughput", "output_tps": "output_throughput",
		"total_tps": "total_token_throughput", "duration_s": "duration", "goodput_rps": "request_goodput",
	})
	ok := v.Get("completed").Ptr()
	d.MeanTokens(v, ok)
	d.Requests(ok, v.Get("failed").Ptr(), v.Get("num_prompts").Ptr(), "")
	draft.ClientTime(&r.Facts, v.Get("date"), v.Get("duration"))
	d.Foreign(v, inferenceXRepeated)
	d.Done()
}

// isInferenceXTopology reports names that describe how the accelerators were used.
var isInferenceXTopology = draft.Names(`tp pp ep dp_attention spec_decoding disagg router kv_p2p_transfer
	num_prefill_gpu num_decode_gpu dcp_size pcp_size prefill_* decode_*`)

func readInferenceXRow(f *decode.File, v decode.Value, r *schema.Reading) {
	d := draft.New(f, r, v, "inferencex")
	v = d.In
	d.Key.ISL, d.Key.OSL, d.Key.Concurrency = v.Get("isl").Ptr(), v.Get("osl").Ptr(), v.Get("conc").Ptr()
	for i, m := range v.Members() { // the use of the accelerators is a dimension of the workload
		if isInferenceXTopology(m.Key) {
			v.MarkAt(i)
			if t := m.Val.Text(); t != "1" && t != "0" && t != "false" && t != "none" && len(t) < 40 {
				d.Dim(m.Key, t)
			}
		}
	}
	d.Flat(v, inferenceXFields)
	n, decoding := inferenceXAccelerators(v)
	for _, s := range []struct {
		metric, whole, each string
		n                   int
	}{
		{"output_tps", "output_tput_tps", "output_tput_per_gpu", decoding},
		{"total_tps", "total_tput_tps", "tput_per_gpu", n},
	} {
		x, ok := v.Get(s.each).Float()
		switch {
		case d.Of(s.metric, v.Get(s.whole)): // newer rows also state the rate of the whole deployment
		case ok && s.n > 0:
			d.Derived(s.metric, "", "value", x*float64(s.n))
		case ok:
			d.Missing(s.metric, "", "stated for each accelerator, and not how many there are")
		}
	}
	inferenceXStated(d, n)
	r.Facts = schema.Facts{
		Model:  schema.Model{ID: v.Get("model").Str(), Precision: v.Get("precision").Str()},
		Device: schema.Device{Name: v.Get("hw").Str(), Chips: n},
		Stack:  schema.Stack{Engine: v.Get("framework").Str(), Image: v.Get("image").Str()},
	}
	d.Foreign(v, inferenceXRepeated)
	d.Done()
	if len(d.Metrics) == 0 {
		d.Problem(schema.SevWarning, "no-numbers", v, fmt.Sprintf("a row of %s without a number", path.Base(f.Path)))
	}
}

// inferenceXStated reads what newer rows state of their accelerators, of which there are n, and of slow requests.
func inferenceXStated(d *draft.Draft, n int) {
	v := d.In
	for metric, of := range map[string]string{
		"output_tps_accelerator": "output_tps", "total_tps_accelerator": "total_tps",
	} {
		if x := d.Number(of); x != nil && n > 0 {
			d.Derived(metric, "", "value", *x/float64(n))
		}
	}
	d.Fields(v, map[string]string{"interactivity_p75": "p75_intvty", "interactivity_p90": "p90_intvty"})
	if valid, stated := v.Get("power_valid").Float(); !stated || valid == 1 {
		d.Fields(v, map[string]string{
			schema.MetricPower + " accelerator-boards":  "avg_total_gpu_power_w",
			schema.MetricEnergy + " accelerator-boards": "joules_per_output_token",
		})
	}
}

// inferenceXAccelerators returns by how many accelerators a row's throughputs were divided, and separately its output
// throughput: if prefill and decode run on separate accelerators, output is stated per decoding one. 0 when it is not
// stated.
func inferenceXAccelerators(v decode.Value) (all, decoding int) {
	at := func(name string) int { n, _ := v.Get(name).Int(); return min(max(n, 0), 1<<20) }
	if prefill, decode := at("num_prefill_gpu"), at("num_decode_gpu"); prefill+decode > 0 {
		if decode == 0 {
			return prefill, prefill
		}
		return prefill + decode, decode
	}
	n := at("tp")
	for _, name := range []string{"pp", "pcp_size"} { // decode context parallelism is part of tp
		n = min(n*max(at(name), 1), 1<<20)
	}
	return n, n
}
