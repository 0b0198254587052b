package format_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var optimumReader = Reader{Detect: format.Optimum.Detect, Read: format.Optimum.Read}

const optimumReport = `{"config":{"name":"x",` +
	`"backend":{"name":"pytorch","version":"2.4.0","model":"acme/m","device":"cuda",` +
	`"torch_dtype":"float16"},"scenario":{"input_shapes":{"batch_size":2,"sequence_length":128},"generate_kwargs":` +
	`{"max_new_tokens":64}},"environment":{"gpu":["NVIDIA A100"],"gpu_count":1,"cpu":"AMD"}},"report":{` +
	`"prefill":{"latency":{"unit":"s","count":10,"mean":0.1315,` +
	`"stdev":0.0001,"p50":0.1316,"p99":0.14,"values":[0.1]}},"decode":{"latency":` +
	`{"unit":"s","mean":6.2},"throughput":{"unit":"tokens/s","value":20.3}},"per_token":{"latency":{"unit":"s",` +
	`"mean":0.05}}}}`

func TestOptimumReport(t *testing.T) {
	r := optimumReader.Must(t, "benchmark.json", optimumReport)
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"ttft.mean": 131.5, "ttft.median": 131.6, "output_tps.value": 20.3, "itl.mean": 50,
	})
	if *p.Key.ISL != 128 || *p.Key.OSL != 64 || *p.Key.Concurrency != 2 || r.Facts.Device.Name != "NVIDIA A100" ||
		r.Facts.Model.ID != "acme/m" || r.Facts.Stack.Version != "2.4.0" {
		t.Errorf("%s %+v", p.Key, r.Facts)
	}
}

// A machine of five accelerators of which two were used, and a model that is quantised.
func TestOptimumWhatWasUsed(t *testing.T) {
	const gpus = `"gpu":["NVIDIA DGX Display","NVIDIA A100","NVIDIA A100"],"gpu_count":3`
	used := strings.NewReplacer(`"gpu":["NVIDIA A100"],"gpu_count":1`, gpus, `"device":"cuda"`,
		`"device":"cuda","device_ids":"1,2","quantization_scheme":"gptq","quantization_config":{"bits":2}`)
	r := optimumReader.Must(t, "benchmark.json", used.Replace(optimumReport))
	if d := r.Facts.Device; d.Chips != 2 || d.Name != "NVIDIA A100" || r.Facts.Model.Precision != "gptq 2 bits" ||
		r.Points[0].Conditions["quantization"] != "gptq 2 bits" {
		t.Errorf("%+v %+v", r.Facts, r.Points[0].Conditions)
	}
	plain := strings.NewReplacer(`"device":"cuda"`, `"device":"cuda","quantization_scheme":null`)
	r = optimumReader.Must(t, "benchmark.json", plain.Replace(optimumReport))
	if r.Points[0].Conditions["quantization"] != "none" || r.Facts.Model.Precision != "float16" {
		t.Errorf("%+v", r.Points[0].Conditions)
	}
}

func FuzzOptimum(f *testing.F) { optimumReader.Fuzz(f, "benchmark.json", optimumReport) }
