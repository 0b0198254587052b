package inferencex

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this package distinguishes.
const (
	Format = "inferencex"     // aggregated rows
	Raw    = "inferencex-raw" // a client's own file, in seconds
)

// Detect looks for latencies without a unit in their names, together with the load or the row's identity.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Format}}
	v := f.First
	if v.Kind() == decode.Array {
		v = v.Index(0)
	}
	seconds, millis := false, false
	for _, x := range v.Members() {
		_, _, bare := draft.StatKey(x.Key, "")
		_, _, ms := draft.StatKey(x.Key, "_ms")
		seconds, millis = seconds || bare, millis || ms
	}
	row := v.Has("hw") && v.Has("conc")
	m.Want(seconds, "latencies without a unit (median_ttft)")
	m.Want(row || v.Get("completed").Kind() == decode.Number, "hw and conc, or completed")
	m.Not(millis, "seconds alone")
	if m.OK() && !row {
		m.Format, m.Detail = Raw, "raw file, in seconds"
	} else if m.OK() {
		m.Detail = "aggregated rows, in seconds"
	}
	return m.Match
}

// Read returns a point for each row; rows of different systems are different readings.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	out := schema.Reading{Format: m.Format, Detail: m.Detail}
	if m.Format == Raw {
		readRaw(f, f.First, &out)
		return out
	}
	if f.First.Kind() != decode.Array {
		readRow(f, f.First, &out)
		return out
	}
	first := true
	for v := range f.First.Items() {
		one := schema.Reading{Format: m.Format, Detail: m.Detail}
		readRow(f, v, &one)
		if first {
			out, first = one, false
			continue
		}
		if out.More = append(out.More, one); len(out.More) > f.Limits().Results {
			break // bound reports it
		}
	}
	return out
}

func latencies(v decode.Value, d *draft.Draft) {
	defs := map[string]string{
		"ttft": schema.DefFirstChunk, "tpot": schema.DefExclFirst, "itl": schema.DefChunkGap, "e2el": schema.DefLastChunk,
	}
	for _, x := range v.Members() {
		stat, family, ok := draft.StatKey(x.Key, "")
		if s, has := x.Val.Float(); ok && has && defs[family] != "" {
			d.Stat(family, defs[family], stat, s*1000)
		}
	}
}

func readRaw(f *decode.File, v decode.Value, r *schema.Reading) {
	d := draft.New(f, r, v, "inferencex")
	d.Key.Concurrency, d.Key.Rate = v.Get("max_concurrency").Ptr(), v.Get("request_rate").Ptr()
	latencies(v, d)
	d.Fields(v, map[string]string{
		"rps": "request_throughput", "output_tps": "output_throughput", "total_tps": "total_token_throughput",
		"duration_s": "duration", "goodput_rps": "request_goodput",
	})
	ok := v.Get("completed").Ptr()
	d.MeanTokens(v, ok)
	d.Condition("num_prompts", v.Get("num_prompts").Text())
	d.Requests(ok, v.Get("failed").Ptr(), v.Get("num_prompts").Ptr(), "")
	r.Facts.Model.ID = v.Get("model_id").Str()
	if t, note, ok := draft.ClientTime(v.Get("date")); ok {
		r.Facts.Start, r.Facts.End, r.Facts.StartNote = t, t, note
		if s, ok := v.Get("duration").Float(); ok && s > 0 && s < 1e7 {
			r.Facts.Start = t.Add(-time.Duration(s * float64(time.Second))).Truncate(time.Second)
		}
		d.Start, d.End = r.Facts.Start, t
	}
	d.Foreign(v, isKnown)
	d.Done()
}

func readRow(f *decode.File, v decode.Value, r *schema.Reading) {
	d := draft.New(f, r, v, "inferencex")
	d.Key.ISL, d.Key.OSL, d.Key.Concurrency = v.Get("isl").Ptr(), v.Get("osl").Ptr(), v.Get("conc").Ptr()
	for _, m := range v.Members() { // the use of the accelerators is a dimension of the workload
		if t := m.Val.Text(); isTopology(m.Key) && t != "" && t != "1" && t != "0" && t != "false" && t != "none" &&
			len(t) < 40 {
			d.Dim(m.Key, t)
		}
	}
	latencies(v, d)
	n, decoding := accelerators(v)
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
	r.Facts = schema.Facts{
		Model:  schema.Model{ID: v.Get("model").Str(), Precision: v.Get("precision").Str()},
		Device: schema.Device{Name: v.Get("hw").Str(), Chips: n},
		Stack:  schema.Stack{Engine: v.Get("framework").Str(), Image: v.Get("image").Str()},
	}
	d.Foreign(v, func(name string) bool { return isKnown(name) || isTopology(name) })
	d.Done()
	if len(d.Metrics) == 0 {
		d.Problem(schema.SevWarning, "no-numbers", v, fmt.Sprintf("a row of %s without a number", path.Base(f.Path)))
	}
}

// isTopology reports names that describe how the accelerators were used.
func isTopology(name string) bool {
	switch name {
	case "tp", "pp", "ep", "dp_attention", "spec_decoding", "disagg", "router", "kv_p2p_transfer", "num_prefill_gpu",
		"num_decode_gpu", "dcp_size", "pcp_size":
		return true
	}
	return strings.HasPrefix(name, "prefill_") || strings.HasPrefix(name, "decode_")
}

// accelerators returns by how many accelerators a row's throughputs were divided, and separately its output
// throughput: if prefill and decode run on separate accelerators, output is stated per decoding one. 0 when it is not
// stated.
func accelerators(v decode.Value) (all, decoding int) {
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

var isKnown = draft.Names(`
	date model_id num_prompts request_rate max_concurrency duration completed failed request_throughput output_throughput
	total_token_throughput request_goodput total_input_tokens total_output_tokens hw conc model precision framework image
	isl osl mean_* median_* std_* p50_* p90_* p95_* p99_* min_* max_* tput_per_gpu output_tput_per_gpu output_tput_tps
	total_tput_tps input_lens output_lens ttfts itls errors generated_texts`)
