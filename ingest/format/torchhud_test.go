package format_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var torchHUDReader = Reader{Detect: format.TorchHUD.Detect, Read: format.TorchHUD.Read}

const torchHUDArgs = `"benchmark":{"name":"vLLM benchmark","extra_info":{"args":{"dataset_name":"random",` +
	`"random_input_len":128,"random_output_len":32,"max_concurrency":8,"request_rate":"inf","tensor_parallel_size":4,` +
	`"num_prompts":100}}},"model":{"name":"acme/tiny"}`

const torchHUDRecords = `[{` + torchHUDArgs + `,` +
	`"metric":{"name":"mean_ttft_ms","benchmark_values":[10.0,20.0],"extra_info":{}}},` +
	`{` + torchHUDArgs + `,"metric":{"name":"output_throughput","benchmark_values":[500.0]}},{` + torchHUDArgs + `,` +
	`"metric":{"name":"p99_tpot_ms","benchmark_values":[NaN]}},
 {"timestamp":1750000000,"schema_version":"v3","repo":"vllm-project/vllm","head_branch":"main","head_sha":"abc",` +
	`"runners":[{"name":"linux","gpu_info":"NVIDIA H100","gpu_count":4}],` + torchHUDArgs + `,` +
	`"metric":{"name":"latency","benchmark_values":[1.5]}}]`

func TestTorchHUDRecords(t *testing.T) {
	r := torchHUDReader.Must(t, "x.pytorch.json", torchHUDRecords)
	if len(r.Points) != 1 || len(r.More) != 1 {
		t.Fatalf("%d points, %d more", len(r.Points), len(r.More))
	}
	p := r.Points[0]
	Expect(t, p, map[string]float64{"ttft.mean": 15, "output_tps.value": 500})
	if *p.Key.ISL != 128 || *p.Key.Concurrency != 8 || p.Key.Rate != nil || p.Key.Dims["tp"] != "4" ||
		p.Conditions["num_prompts"] != "100" || r.Facts.Model.ID != "acme/tiny" {
		t.Errorf("%s %v", p.Key, p.Conditions)
	}
	row := r.More[0]
	Expect(t, row.Points[0], map[string]float64{"e2el.mean": 1500})
	if row.Facts.Device.Name != "NVIDIA H100" || row.Facts.Device.Chips != 4 ||
		row.Facts.Stack.Commits["vllm"] != "abc" || row.Facts.Channel != "main" {
		t.Errorf("%+v", row.Facts)
	}
	if m := format.TorchHUD.Detect(File("x", `[{"benchmark":{},"metric":{}},{"a":1}]`)); m.OK() {
		t.Error("an array of other things")
	}
}

func FuzzTorchHUD(f *testing.F) { torchHUDReader.Fuzz(f, "x.pytorch.json", torchHUDRecords) }
