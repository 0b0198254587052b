package ttis

import (
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
)

// harmonised are the flat copies of results of AIPerf, GenAI-Perf and GuideLLM that v0.17 writes beside vLLM's, so that
// scripts read all tools alike: see benchmarking/run_aiperf_benchmarks.py. A metric that a tool does not measure is
// left out; theirs have 0 there, and TPOT a second time as ITL.
func (in *Input) harmonised() ([]File, error) {
	var out []File
	for _, t := range tools() {
		if t.file == "" {
			continue
		}
		for _, r := range in.of(t.name, "") {
			data, err := document(in.harmonisedCopy(r))
			if err != nil {
				return nil, err
			}
			out = append(out, File{"benchmarks_output/" + in.harmonisedName(t, r), append(data, '\n')})
		}
	}
	return out, nil
}

// harmonisedName is the name with the workload, which their reports read from it.
func (in *Input) harmonisedName(t tool, r *row) string {
	prefix := t.file
	if t.name == "genai-perf" {
		prefix = "genai"
	}
	name := fmt.Sprintf("%s_benchmark_%s_%s_isl-%s_osl-%s_maxcon-%s_n-%s", prefix, in.modelID(), r.stamp,
		whole(r.isl, "0"), whole(r.osl, "0"), whole(number(r.point.Key.Concurrency), "0"), whole(r.asked, "0"))
	if r.task() == "vlm" {
		name += fmt.Sprintf("_images-%s_height-%s_width-%s", r.dim("images"), r.dim("height"), r.dim("width"))
	}
	return fileName(name) + ".json"
}

func (in *Input) harmonisedCopy(r *row) object {
	var o object
	o.add("date", timeText(r.point.End, "20060102-150405"))
	o.add("backend", r.point.Key.Tool)
	o.add("model_id", in.repo())
	if s := r.point.Conditions["tokenizer"]; s != "" {
		o.add("tokenizer_id", s)
	} else {
		o.add("tokenizer_id", in.repo())
	}
	known := func(name string, n schema.Number) {
		if v, ok := n.Get(); ok {
			o.add(name, v)
		}
	}
	known("num_prompts", r.asked)
	known("max_concurrency", number(r.point.Key.Concurrency))
	for _, l := range []struct {
		name string
		of   latencies
	}{{"ttft", r.ttft}, {"tpot", r.tpot}, {"itl", r.latencies("itl")}, {"e2el", r.e2el}} {
		known("mean_"+l.name+"_ms", l.of.mean)
		known("median_"+l.name+"_ms", l.of.median)
		known("p99_"+l.name+"_ms", l.of.p99)
		known("std_"+l.name+"_ms", l.of.std)
	}
	known("output_token_throughput", r.output)
	known("total_token_throughput", r.total)
	known("request_throughput", r.rps)
	known("completed", r.completed)
	known("total_input_tokens", r.inputTokens)
	known("total_output_tokens", r.outputTokens)
	o.add(Mark, in.facts()[Mark])
	return o
}
