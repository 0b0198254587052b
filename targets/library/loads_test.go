package library_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/library"
)

const overrideFile = `{"Llama-3.1-8B":{"n150":[
 {"isl":16010,"osl":1842,"max_concurrency":1,"num_prompts":8},
 {"isl":128,"osl":128,"max_concurrency":1,"num_prompts":8,"targets":{"theoretical":{"ttft_ms":38}}},
 {"isl":128,"osl":128,"max_concurrency":1,"task_type":"image","targets":{}}]}}`

const ownFile = `targets:
- {model: Llama-3.1-8B-Instruct, device: n150, workload: {isl: 128, osl: 128, concurrency: 1},
   metric: ttft, value: 40, source: us, as_of: 2026-01-01}
- {model: Llama-3.1-8B-Instruct, device: n150, workload: {isl: 2048, osl: 128, rate: 2.5},
   metric: ttft, value: 400, source: us, as_of: 2026-01-01}
evals:
- {model: Llama-3.1-8B-Instruct, task: gsm8k, value: 0.84, source: us, as_of: 2026-01-01, run: {limit: 100, fewshot: 5}}
- {model: Llama-3.1-8B-Instruct, task: mmlu, value: 0.6, source: us, as_of: 2026-01-01}
- {model: Other-7B, task: ifeval, value: 0.6, source: us, as_of: 2026-01-01, run: {}}
`

// An override file lists workloads without targets; both kinds are measured, each once.
func TestLoads(t *testing.T) {
	lib := library.New()
	bad := lib.Add("override.json", []byte(overrideFile), "2026-01-01", everyDevice)
	bad = append(bad, lib.Add("own.yaml", []byte(ownFile), "2026-01-01", everyDevice)...)
	for _, p := range bad {
		if p.Severity == schema.SevError {
			t.Error(p)
		}
	}
	model := schema.Model{Name: "Llama-3.1-8B-Instruct", Key: "Llama-3.1-8B"}
	got := lib.Loads(model, "N150")
	if len(got) != 3 || *got[0].Key.ISL != 16010 || got[0].Requests != 8 || got[2].Key.Rate == nil {
		t.Errorf("%+v", got)
	}
	evals := lib.Evals(model, "n150")
	if len(evals) != 1 || evals[0].Task != "gsm8k" || evals[0].Limit != 100 || *evals[0].Fewshot != 5 {
		t.Errorf("%+v", evals)
	}
	if got := lib.Loads(model, "t3k"); len(got) != 0 {
		t.Errorf("t3k has no targets: %+v", got)
	}
}
