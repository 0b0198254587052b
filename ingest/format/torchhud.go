// This file reads records of PyTorch's benchmark database: the *.pytorch.json that vLLM writes next to a
// result when SAVE_TO_PYTORCH_BENCHMARK_FORMAT is set, and the rows (schema v3) that its CI uploads.
//
// Source: convert_to_pytorch_benchmark_format of vllm/benchmarks, 2025 and 2026, and the wiki of pytorch/test-infra.
//
// Units are those of vLLM's own keys: "*_ms" milliseconds, latencies of the offline benchmark seconds.
//
// Traps: a record is one metric of one benchmark; several values are repeats, of which the mean counts; "inf" is a
// string; the result next to it has the same numbers, which count once, but the client's arguments are only here.

package format

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// TorchHUD is the format: an array in which every element has a benchmark and a metric, or such rows, one a line.
var TorchHUD = draft.Format{
	Name: "pytorch-hud", All: readTorchHUD,
	Sniff: func(f *decode.File, m *draft.Check) {
		n := 0
		for x := range f.First.Items() {
			if !isTorchHUDRecord(x) {
				n = 0
				break
			}
			n++
		}
		m.Want(n > 0, "an array of records with benchmark and metric")
		m.Detail = fmt.Sprintf("%d records", n)
	},
	Others: []draft.Format{{
		Name: "pytorch-hud", Detail: "rows", Wants: draft.Wants("benchmark{}&metric{}"), Records: true, All: readTorchHUD,
	}},
}

func isTorchHUDRecord(v decode.Value) bool {
	return v.Get("benchmark").Kind() == decode.Object && v.Get("metric").Kind() == decode.Object
}

// readTorchHUD groups records into points by everything but the metric.
func readTorchHUD(f *decode.File, out *schema.Reading) {
	type runID struct{ model, commit, workflow, job, device string }
	type pointID struct {
		run  runID
		args string // the arguments of the benchmark, as they are written
	}
	runs := draft.RunsOf[runID](out)
	var points []*draft.Draft // in order of occurrence
	known := map[pointID]*draft.Draft{}
	rows := f.First.Items()
	if f.First.Kind() == decode.Object {
		rows = f.Values()
	}
	for x := range rows {
		if !isTorchHUDRecord(x) || len(points) > f.Limits().Results { // bound reports it
			continue
		}
		run := runID{
			model: x.At("model", "name").Str(), commit: x.Get("head_sha").Str(), workflow: x.Get("workflow_id").Text(),
			job: x.Get("job_id").Text(), device: torchHUDDevice(x),
		}
		r := runs.Of(run, torchHUDFacts(x))
		args := x.At("benchmark", "extra_info", "args")
		point := pointID{run, string(args.Raw())}
		d := known[point]
		if d == nil {
			d = draft.New(f, r, x, "vllm")
			torchHUDWorkload(args, d)
			d.Start, d.End = r.Facts.Start, r.Facts.End
			known[point], points = d, append(points, d)
			info := x.At("metric", "extra_info") // counts and rates of the run, which vLLM writes with every metric
			d.Fields(info, map[string]string{
				"rps": "request_throughput", "output_tps": "output_throughput", "total_tps": "total_token_throughput",
				"duration_s": "duration", "goodput_rps": "request_goodput",
			})
			d.Requests(info.Get("completed").Ptr(), info.Get("failed").Ptr(), info.Get("num_prompts").Ptr(), "")
			if r.Facts.Start.IsZero() && draft.ClientTime(&r.Facts, info.Get("date"), decode.Value{}) {
				d.Start, d.End = r.Facts.Start, r.Facts.End
			}
			for _, p := range info.Get("percentiles").Members() {
				if stat, ok := schema.ParseStat("p" + p.Key); ok {
					d.Of("e2el s whole-batch "+stat, p.Val)
				}
			}
		}
		torchHUDPut(d, x.Get("metric"))
	}
	for _, d := range points {
		d.Done()
	}
	runs.Join(out.Detail)
}

func torchHUDDevice(x decode.Value) string {
	runner := x.Get("runners").Index(0)
	return cmp.Or(runner.Get("gpu_info").Str(), runner.Get("type").Str(), runner.Get("name").Str())
}

func torchHUDFacts(x decode.Value) schema.Facts {
	f := schema.Facts{Model: schema.Model{ID: x.At("model", "name").Str()}, Device: schema.Device{Name: torchHUDDevice(x)}}
	n, _ := x.Get("runners").Index(0).Get("gpu_count").Int()
	f.Device.Chips = max(n, 0)
	if sha := x.Get("head_sha").Str(); sha != "" {
		repo := x.Get("repo").Str()
		f.Stack.Commits = map[string]string{repo[strings.LastIndexByte(repo, '/')+1:]: sha}
	}
	if x.Get("head_branch").Str() == "main" {
		f.Channel = schema.ChannelMain
	}
	f.Start = draft.Epoch(x.Get("timestamp"))
	f.End = f.Start
	return f
}

// torchHUDWorkload reads the client's arguments, spelt with dashes or underscores.
func torchHUDWorkload(args decode.Value, d *draft.Draft) {
	d.Fields(args, map[string]string{
		"key dataset": "dataset_name|dataset-name", "key rate": "request_rate|request-rate",
		"key concurrency": "max_concurrency|max-concurrency|batch_size|batch-size",
		"degree tp":       "tensor-parallel-size|tensor_parallel_size",
	})
	if d.Key.Dataset == "random" || d.Key.Dataset == "" {
		d.Fields(args, map[string]string{
			"key isl": "random_input_len|random-input-len|input_len|input-len",
			"key osl": "random_output_len|random-output-len|output_len|output-len",
		})
	}
	for _, name := range []string{"num_prompts", "seed", "ignore_eos", "temperature", "burstiness", "backend"} {
		d.Fields(args, map[string]string{"condition " + name: strings.ReplaceAll(name, "_", "-") + "|" + name})
	}
}

var torchHUDFields = draft.VLLM("{}_X_ms", 1)

// torchHUDSingles are the metrics that are one number.
var torchHUDSingles = map[string]string{
	"request_throughput": "rps", "requests_per_second": "rps", "output_throughput": "output_tps",
	"total_token_throughput": "total_tps", "tokens_per_second": "total_tps", "request_goodput": "goodput_rps",
	"duration": "duration_s", "elapsed_time": "duration_s", "completed": "requests_ok", "num_requests": "requests_ok",
	"failed": "requests_failed",
}

// torchHUDPut takes one record's metric.
func torchHUDPut(d *draft.Draft, metric decode.Value) {
	name := metric.Get("name").Str()
	sum, n := 0., 0.
	for x := range metric.Get("benchmark_values").Items() {
		if v, ok := x.Float(); ok {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return
	}
	mean := sum / n
	for _, f := range torchHUDFields {
		if stat, ok := f.Stat(name); ok {
			d.Stat(f.Metric, f.Def, stat, mean)
			return
		}
	}
	switch {
	case torchHUDSingles[name] != "":
		d.Value(torchHUDSingles[name], mean)
		if name == "requests_per_second" || name == "tokens_per_second" {
			d.Key.Tool = "vllm-throughput"
		}
	case name == "latency" || name == "avg_latency":
		d.Key.Tool = "vllm-latency"
		d.Stat("e2el", schema.DefBatch, "mean", mean*1000)
		d.Size("e2el", int(n))
	default:
		d.Keep(name, fmt.Sprint(mean))
	}
}
