package torchhud

import (
	"fmt"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Format is the name of this reader's format.
const Format = "pytorch-hud"

// Detect looks for an array in which every element has a benchmark and a metric, or for such rows, one per line.
func Detect(f *decode.File) schema.Match {
	if isRecord(f.First) {
		return schema.Match{Format: Format, Has: []string{"benchmark", "metric"}, Detail: "rows", Records: true}
	}
	m := draft.Check{Match: schema.Match{Format: Format}}
	n := 0
	for x := range f.First.Items() {
		if !isRecord(x) {
			n = 0
			break
		}
		n++
	}
	m.Want(n > 0, "an array of records with benchmark and metric")
	if m.OK() {
		m.Detail = fmt.Sprintf("%d records", n)
	}
	return m.Match
}

func isRecord(v decode.Value) bool {
	return v.Get("benchmark").Kind() == decode.Object && v.Get("metric").Kind() == decode.Object
}

// Read groups records into points by everything but the metric.
func Read(f *decode.File) schema.Reading {
	g := grouping{f: f, detail: Detect(f).Detail, drafts: map[pointID]*draft.Draft{}}
	rows := f.First.Items()
	if f.First.Kind() == decode.Object {
		rows = f.Values()
	}
	for x := range rows {
		if isRecord(x) && len(g.points) <= f.Limits().Results { // bound reports it
			g.add(x)
		}
	}
	for _, d := range g.points {
		d.Done()
	}
	return g.runs.Join(Format, g.detail)
}

// runID is what records of one run have in common.
type runID struct{ model, commit, workflow, job, device string }

// pointID is what records of one point have in common: the arguments of the benchmark, as they are written.
type pointID struct {
	run  runID
	args string
}

// grouping collects records into points, and points into runs.
type grouping struct {
	f      *decode.File
	detail string
	runs   draft.Runs[runID]
	drafts map[pointID]*draft.Draft
	points []*draft.Draft // in order of occurrence
}

func (g *grouping) add(x decode.Value) {
	run := runID{
		model: x.At("model", "name").Str(), commit: x.Get("head_sha").Str(), workflow: x.Get("workflow_id").Text(),
		job: x.Get("job_id").Text(), device: device(x),
	}
	r := g.runs.Of(run, func() schema.Reading {
		return schema.Reading{Format: Format, Detail: g.detail, Facts: facts(x)}
	})
	args := x.At("benchmark", "extra_info", "args")
	point := pointID{run, string(args.Raw())}
	d := g.drafts[point]
	if d == nil {
		d = draft.New(g.f, r, x, "vllm")
		workload(args, d)
		d.Start, d.End = r.Facts.Start, r.Facts.End
		g.drafts[point] = d
		g.points = append(g.points, d)
		extraInfo(x.At("metric", "extra_info"), d, r)
	}
	put(d, x.Get("metric"))
}

// extraInfo reads the counts and rates of the run, which vLLM writes with every metric.
func extraInfo(info decode.Value, d *draft.Draft, r *schema.Reading) {
	d.Fields(info, map[string]string{
		"rps": "request_throughput", "output_tps": "output_throughput", "total_tps": "total_token_throughput",
		"duration_s": "duration", "goodput_rps": "request_goodput",
	})
	d.Requests(info.Get("completed").Ptr(), info.Get("failed").Ptr(), info.Get("num_prompts").Ptr(), "")
	if t, note, ok := draft.ClientTime(info.Get("date")); ok && r.Facts.Start.IsZero() {
		r.Facts.Start, r.Facts.End, r.Facts.StartNote = t, t, note
		d.Start, d.End = t, t
	}
	for _, p := range info.Get("percentiles").Members() {
		if x, ok := p.Val.Float(); ok {
			d.Stat("e2el", schema.DefBatch, strings.Replace("p"+p.Key, "p50", "median", 1), x*1000)
		}
	}
}

func device(x decode.Value) string {
	runner := x.Get("runners").Index(0)
	for _, name := range []string{"gpu_info", "type", "name"} {
		if s := runner.Get(name).Str(); s != "" {
			return s
		}
	}
	return ""
}

func facts(x decode.Value) schema.Facts {
	f := schema.Facts{Model: schema.Model{ID: x.At("model", "name").Str()}, Device: schema.Device{Name: device(x)}}
	if n, ok := x.Get("runners").Index(0).Get("gpu_count").Int(); ok && n > 0 {
		f.Device.Chips = n
	}
	if sha := x.Get("head_sha").Str(); sha != "" {
		repo := x.Get("repo").Str()
		f.Stack.Commits = map[string]string{repo[strings.LastIndexByte(repo, '/')+1:]: sha}
	}
	if x.Get("head_branch").Str() == "main" {
		f.Channel = schema.ChannelMain
	}
	if s, ok := x.Get("timestamp").Float(); ok && s > 1e8 && s < 1e11 {
		f.Start = time.Unix(int64(s), 0).UTC()
		f.End = f.Start
	}
	return f
}

// workload reads the client's arguments, spelt with dashes or underscores.
func workload(args decode.Value, d *draft.Draft) {
	get := func(names ...string) decode.Value {
		for _, n := range names {
			if args.Has(n) {
				return args.Get(n)
			}
			if dashed := strings.ReplaceAll(n, "_", "-"); args.Has(dashed) {
				return args.Get(dashed)
			}
		}
		return decode.Value{}
	}
	d.Key.Dataset = get("dataset_name").Str()
	if d.Key.Dataset == "random" || d.Key.Dataset == "" {
		d.Key.ISL, d.Key.OSL = get("random_input_len", "input_len").Ptr(), get("random_output_len", "output_len").Ptr()
	}
	d.Key.Concurrency, d.Key.Rate = get("max_concurrency", "batch_size").Ptr(), get("request_rate").Ptr()
	if n := get("tensor_parallel_size").Text(); n != "" && n != "1" {
		d.Dim("tp", n)
	}
	for _, name := range []string{"num_prompts", "seed", "ignore_eos", "temperature", "burstiness", "backend"} {
		d.Condition(name, get(name).Text())
	}
}

// put takes one record's metric.
func put(d *draft.Draft, metric decode.Value) {
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
	defs := map[string]string{
		"ttft": schema.DefFirstChunk, "tpot": schema.DefExclFirst, "itl": schema.DefChunkGap, "e2el": schema.DefLastChunk,
	}
	if stat, family, ok := draft.StatKey(name, "_ms"); ok && defs[family] != "" {
		d.Stat(family, defs[family], stat, mean)
		return
	}
	single := map[string]string{
		"request_throughput": "rps", "requests_per_second": "rps",
		"output_throughput": "output_tps", "total_token_throughput": "total_tps",
		"tokens_per_second": "total_tps", "request_goodput": "goodput_rps", "duration": "duration_s",
		"elapsed_time": "duration_s",
	}[name]
	switch {
	case single != "":
		d.Value(single, mean)
		if name == "requests_per_second" || name == "tokens_per_second" {
			d.Key.Tool = "vllm-throughput"
		}
	case name == "latency" || name == "avg_latency":
		d.Key.Tool = "vllm-latency"
		d.Stat("e2el", schema.DefBatch, "mean", mean*1000)
		d.Size("e2el", int(n))
	case name == "completed" || name == "num_requests":
		d.Value("requests_ok", mean)
	case name == "failed":
		d.Value("requests_failed", mean)
	default:
		d.Keep(name, fmt.Sprint(mean))
	}
}
