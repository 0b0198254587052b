package console_test

import (
	"strings"
	"testing"

	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

const limited = `============ Serving Benchmark Result ============
Successful requests:                     200
Failed requests:                         0
Maximum request concurrency:             16
Request rate configured (RPS):           8.00
Benchmark duration (s):                  211.90
Request throughput (req/s):              0.94
Output token throughput (tok/s):         120.81
Peak output token throughput (tok/s):    216.00
Mean TTFT (ms):                          215.50
==================================================
`

// A rate that vLLM prints within the block is the workload's, and so is burstiness printed above it.
func TestConfiguredRate(t *testing.T) {
	text := "Burstiness factor: 0.5 (Gamma distribution)\n" + limited + strings.Replace(limited, "8.00", "1.00", 1)
	r := reader.Must(t, "x.log", text)
	if len(r.Points) != 2 {
		t.Fatal(len(r.Points))
	}
	first, second := r.Points[0], r.Points[1]
	if first.Key.Rate == nil || *first.Key.Rate != 8 || second.Key.Rate == nil || *second.Key.Rate != 1 ||
		first.Key.Dims["burstiness"] != "0.5" || len(second.Key.Dims) > 0 {
		t.Errorf("%s and %s", first.Key, second.Key)
	}
	if string(first.Extra["max_output_tokens_per_s"]) != "216" {
		t.Error(first.Extra)
	}
}

// The command above a block states the model and the lengths, where no variable of the shell stands for them.
func TestCommandAboveABlock(t *testing.T) {
	text := "$ docker exec x vllm bench serve --backend openai-chat --model 'acme/Small 1B' \\\n" +
		"    --dataset-name random --random-input-len 4000 \\\n  --random-output-len=500 --seed 42 --ignore-eos \\\n" +
		"    --num-prompts $N | tee --model other\n" + limited +
		"python3 -m sglang.bench_serving --model $MODEL --dataset-name random --random-input 128 --random-output 64\n" +
		limited
	r := reader.Must(t, "x.log", text)
	if len(r.Points) != 2 || r.Facts.Model.ID != "acme/Small 1B" {
		t.Fatalf("%d points of %q", len(r.Points), r.Facts.Model.ID)
	}
	p, q := r.Points[0], r.Points[1]
	if p.Key.String() != "text/vllm/isl=4000/osl=500/c=16/rate=8/random" || p.Conditions["ignore_eos"] != "True" ||
		p.Conditions["seed"] != "42" || p.Conditions["num_prompts"] != "" || p.Conditions["client"] != "openai-chat" {
		t.Errorf("%s %v", p.Key, p.Conditions)
	}
	if q.Key.String() != "text/vllm/isl=128/osl=64/c=16/rate=8/random" {
		t.Error(q.Key)
	}
	Expect(t, p, map[string]float64{"ttft.mean": 215.5})
}
