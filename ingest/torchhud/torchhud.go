package torchhud

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Format is the name of this reader's format.
const Format = "pytorch-hud"

// Detect asks for an array in which every element has a benchmark and a metric.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Format}}
	all, n := true, 0
	for x := range f.First.Items() {
		n++
		if all = x.Get("benchmark").Kind() == decode.Object && x.Get("metric").Kind() == decode.Object; !all {
			break
		}
	}
	m.Want(f.First.Kind() == decode.Array && all && n > 0, "an array of records with benchmark and metric")
	if m.OK() {
		m.Detail = fmt.Sprintf("%d records", n)
	}
	return m.Match
}

// Read groups records into points by everything but the metric.
func Read(f *decode.File) schema.Reading {
	out := schema.Reading{Format: Format, Detail: Detect(f).Detail}
	readings := map[string]*schema.Reading{}
	drafts := map[string]*draft.Draft{}
	var order, points []string
	for x := range f.First.Items() {
		run := fmt.Sprint(x.At("model", "name").Str(), "\x00", x.Get("head_sha").Str(), "\x00", x.Get("workflow_id").Text(), "\x00", x.Get("job_id").Text(), "\x00", device(x))
		r := readings[run]
		if r == nil {
			r = &schema.Reading{Format: Format, Detail: out.Detail, Facts: facts(x)}
			readings[run] = r
			order = append(order, run)
		}
		args := x.At("benchmark", "extra_info", "args")
		point := run + "\x00" + string(args.Raw())
		d := drafts[point]
		if d == nil {
			d = draft.New(f, r, x, "vllm")
			workload(args, d)
			d.Start, d.End = r.Facts.Start, r.Facts.End
			drafts[point] = d
			points = append(points, point)
		}
		put(d, x.Get("metric"))
	}
	for _, p := range points {
		drafts[p].Done()
	}
	for i, run := range order {
		if i == 0 {
			out.Facts, out.Points, out.Problems = readings[run].Facts, readings[run].Points, readings[run].Problems
			continue
		}
		out.More = append(out.More, *readings[run])
	}
	return out
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
	d.Key.Concurrency, d.Key.Rate = get("max_concurrency").Ptr(), get("request_rate").Ptr()
	if n := get("tensor_parallel_size").Text(); n != "" && n != "1" {
		d.Dim("tp", n)
	}
	for _, name := range []string{"num_prompts", "seed", "ignore_eos", "temperature", "burstiness", "backend"} {
		d.Condition(name, get(name).Text())
	}
}

var statKey = regexp.MustCompile(`^(mean|median|std|p\d+(?:\.\d+)?)_(ttft|tpot|itl|e2el)_ms$`)

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
	defs := map[string]string{"ttft": schema.DefFirstChunk, "tpot": schema.DefExclFirst, "itl": schema.DefChunkGap, "e2el": schema.DefLastChunk}
	if m := statKey.FindStringSubmatch(name); m != nil {
		d.Stat(m[2], defs[m[2]], strings.Replace(m[1], "p50", "median", 1), mean)
		return
	}
	single := map[string]string{"request_throughput": "rps", "requests_per_second": "rps", "output_throughput": "output_tps", "total_token_throughput": "total_tps",
		"tokens_per_second": "total_tps", "request_goodput": "goodput_rps", "duration": "duration_s", "elapsed_time": "duration_s"}[name]
	switch {
	case single != "":
		d.Value(single, mean)
		if name == "requests_per_second" || name == "tokens_per_second" {
			d.Key.Tool = "vllm-throughput"
		}
	case name == "latency" || name == "avg_latency":
		d.Key.Tool = "vllm-latency"
		d.Stat("e2el", schema.DefBatch, "mean", mean*1000)
	case name == "completed" || name == "num_requests":
		d.Value("requests_ok", mean)
	case name == "failed":
		d.Value("requests_failed", mean)
	default:
		d.Keep(name, fmt.Sprint(mean))
	}
}
