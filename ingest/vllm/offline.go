package vllm

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// Names of the formats of the offline benchmarks.
const (
	Throughput = "vllm-throughput"
	Latency    = "vllm-latency"
)

// startupKey is a part of vLLM's start-up, or, of ttreport's own collector, the time until a server answers.
var startupKey = lazyregexp.New(`^avg_(cold|warm|server)_(\w+)_time$`)

// Batch is the latency benchmark of the offline ones.
var Batch = draft.Format{
	Name: Latency, Detail: "latency of a batch", Tool: Latency, Point: batch,
	Wants: draft.Wants("avg_latency", "latencies[]", "percentiles{}"),
}

// Offline is the throughput benchmark, or that of the start-up, which has a point for each part.
var Offline = draft.Format{
	Name: Throughput, Detail: "offline throughput", Tool: Throughput, Point: throughput,
	Wants: draft.Wants("elapsed_time", "num_requests", "requests_per_second"),
	Sniff: func(f *decode.File, m *draft.Check) {
		m.Not(f.First.Has("completed"), "an offline run (completed is of a client)")
	},
	Others: []draft.Format{{
		Name: "vllm-startup", Detail: "start-up times", All: startup,
		Sniff: func(f *decode.File, m *draft.Check) {
			m.Want(slices.ContainsFunc(f.First.Members(), func(x decode.Member) bool {
				return startupKey.MatchString(x.Key)
			}), "avg_cold_startup_time")
		},
	}},
}

func throughput(d *draft.Draft) {
	v := d.In
	d.Key.ISL = v.Number("input_len", "input")
	d.Key.OSL = v.Number("output_len", "output", "ouput") // users add these by hand
	d.Dim("requests", v.Get("num_requests").Text())
	d.Fields(v, map[string]string{
		"fact model.id": "model",
		"rps":           "requests_per_second", "total_tps": "tokens_per_second", "duration_s": "elapsed_time",
	})
	n, total, elapsed := v.Get("num_requests").Ptr(), v.Get("total_num_tokens").Ptr(), v.Get("elapsed_time").Ptr()
	if m := inOut.FindStringSubmatch(path.Base(d.File.Path)); m != nil && d.Key.ISL == nil && d.Key.OSL == nil {
		in, _ := strconv.ParseFloat(m[1], 64) // digits
		out, _ := strconv.ParseFloat(m[2], 64)
		if v.Get("num_requests").Float0()*(in+out) == v.Get("total_num_tokens").Float0() && in > 0 && out > 0 {
			d.Key.ISL, d.Key.OSL = &in, &out
			d.Stated = map[string]string{"isl": "path", "osl": "path"}
		}
	}
	if d.Key.ISL != nil && d.Key.OSL != nil && n != nil && total != nil && elapsed != nil && *elapsed > 0 &&
		*total == *n*(*d.Key.ISL+*d.Key.OSL) {
		d.Derived("output_tps", "", "value", *n**d.Key.OSL / *elapsed)
	}
	d.Requests(n, nil, nil, "")
	d.Foreign(v, "")
}

// inOut matches the lengths in a file's name, which count if the total of tokens agrees.
var inOut = lazyregexp.New(`(?i)(?:^|[^a-z0-9])i[np][-_]?(\d{1,9})[-_]o(?:ut|p)[-_]?(\d{1,9})`)

func batch(d *draft.Draft) {
	v := d.In
	field := draft.Field{Key: "avg_latency|{}", Metric: "e2el", Def: schema.DefBatch, Scale: 1000}
	d.Put(field, "mean", v.Get("avg_latency"))
	percentiles(d, field, v.Get("percentiles"))
	recomputeList(d, v, field, v.Get("latencies"))
	d.Fields(v, map[string]string{
		"key concurrency": "batch_size", "key isl": "input_len", "key osl": "output_len", "fact model.id": "model",
	})
	d.Foreign(v, "")
}

// percentiles reads {"50": 1.2, "99": 1.3}.
func percentiles(d *draft.Draft, field draft.Field, block decode.Value) {
	for _, p := range block.Members() {
		if stat, ok := schema.ParseStat("p" + p.Key); ok {
			d.Put(field, stat, p.Val)
		}
	}
}

// recomputeList recomputes the statistics of a list.
func recomputeList(d *draft.Draft, in decode.Value, field draft.Field, values decode.Value) {
	list, ok := values.Floats()
	if !ok || len(list) == 0 {
		return
	}
	list = slices.Clone(list)
	for i := range list {
		list[i] *= field.Scale
	}
	d.Recompute(in, field, latency.NewSample(list), "", false)
}

func startup(f *decode.File, r *schema.Reading) {
	v := f.First.Track()
	for i, x := range v.Members() {
		k := startupKey.FindStringSubmatch(x.Key)
		if k == nil {
			continue
		}
		v.MarkAt(i)
		if x.Val.Ptr() == nil {
			continue
		}
		tool := r.Format
		if k[1] == "server" {
			tool = schema.ToolBuiltin
		}
		d := draft.New(f, r, x.Val, tool)
		d.Key.Task = schema.TaskStartup
		d.Dim(schema.DimLabel, k[1]+" "+strings.ReplaceAll(k[2], "_", " "))
		field := draft.Field{Key: x.Key, Metric: "startup_s", Scale: 1}
		d.Put(field, "mean", x.Val)
		percentiles(d, field, v.Get(k[1]+"_"+k[2]+"_percentiles"))
		recomputeList(d, v, field, v.Get(k[1]+"_"+k[2]+"_times"))
		d.Done()
	}
	r.Extra = draft.Foreign(nil, v, "")
	r.Detail = fmt.Sprintf("start-up times, %d parts", len(r.Points))
}
