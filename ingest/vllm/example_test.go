package vllm_test

import (
	"fmt"
	"time"

	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/vllm"
)

// A reader takes a file's bytes, says whether it has the format, and returns points with metrics in the units of the
// registry. The file does not say which lengths were asked for: its workload has none until a sidecar states them.
func ExampleReader() {
	data := `{"date": "20260102-030405", "model_id": "acme/tiny", "num_prompts": 4, "max_concurrency": 2,
		"request_rate": "inf", "duration": 2.0, "completed": 4, "total_input_tokens": 40, "total_output_tokens": 20,
		"request_throughput": 2.0, "output_throughput": 10.0, "mean_ttft_ms": 10.5, "median_ttft_ms": 9,
		"p99_ttft_ms": 20, "mean_tpot_ms": 2, "median_tpot_ms": 2, "p99_tpot_ms": 3}`
	f := decode.NewFile("result.json", []byte(data), time.Time{}, decode.DefaultLimits())
	if m := vllm.Reader.Detect(&f); !m.OK() {
		fmt.Println("another format: it lacks", m.Lacks)
		return
	}
	r := vllm.Reader.Read(&f)
	p := r.Points[0]
	ttft, _ := p.Value("ttft", "mean")
	fmt.Printf("%s, %s: %s, TTFT mean %g ms\n", r.Format, r.Facts.Model.ID, p.Key.Workload(), ttft)
	// Output: vllm-serve, acme/tiny: -/-/2, TTFT mean 10.5 ms
}
