package ingest_test

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// loadSeed is two files of one folder.
type loadSeed struct{ name, text, second, more string }

func loadSeeds() []loadSeed {
	summary := `{"time_to_first_token":{"unit":"ms","avg":10},"request_count":{"unit":"requests","avg":1},` +
		`"input_config":{"endpoint":{"model_names":["m"]}},"error_summary":[]}`
	record := `{"metadata":{"x_request_id":"a","request_start_ns":1790000000000000000},` +
		`"metrics":{"request_latency":{"value":5},"output_sequence_length":{"value":5}}}`
	return []loadSeed{
		{
			"a.json", serve(hollowArrays), "a.json.ttreport.json",
			`{"schema":"ttreport/sidecar/v1","result":"a.json","tool":"t","argv":["t"],"start":"2026-01-01T05:00:00Z",` +
				`"exit_code":0}`,
		},
		{"a.json", serve(""), "ttreport.manifest.yaml", "device: {name: n150}\nrelease: v1\n"},
		{
			"a.json", serve(""), "a.commands",
			`{"gpu_type":"H100","server_command":"vllm serve m","client_command":"x --random-input-len 5"}`,
		},
		{"profile_export_aiperf.json", summary, "profile_export.jsonl", record + "\n" + record},
		{
			"results.json", `{"results":{"t":{"acc,none":0.5}}}`, "samples_t.jsonl",
			`{"doc_id":0,"target":"a","arguments":{},"filtered_resps":[],"acc":1.0}`,
		},
		{
			"a.log", "[BENCHMARK] model_name m batch_size 1 input_length 60 output_length 20 latency(ms) 10.5\n", "a.csv",
			"Metric,avg,min,max\nTime to First Token (ms),5,1,9\n",
		},
		{
			"runtime_model_specs/s.json",
			`{"runtime_model_spec":{"model_id":"id_i_M_n150","device_type":"N150","version":"1"}}`,
			"benchmark_id_i_M_n150_2026-01-01_00-00-00_isl-1_osl-1_maxcon-1_n-1.json", serve(""),
		},
		{
			"data.js",
			`window.BENCHMARK_DATA = {"lastUpdate":1,"entries":{"s":[{"commit":{"id":"a"},"date":1720492032018,` +
				`"benches":[{"name":"{\"name\":\"mean_ttft_ms\"}","value":1,"extra":"{}"}]}]}}`,
			"report.yaml", "version: '0.2'\nscenario: {}\nresults: {}\n",
		},
	}
}

// FuzzLoad feeds two files of one folder to the whole load: no reader may panic, and the runs can be stored.
func FuzzLoad(f *testing.F) {
	for _, s := range loadSeeds() {
		f.Add(s.name, []byte(s.text), s.second, []byte(s.more))
	}
	lim := decode.Limits{
		Bytes: 1 << 20, Packed: 1 << 20, Text: 1 << 20, Depth: 50, Values: 1000, Results: 100, Members: 50, Total: 1 << 20,
		Nesting: 2,
	}
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f.Fuzz(func(t *testing.T, name string, data []byte, second string, more []byte) {
		files := fstest.MapFS{}
		for name, data := range map[string][]byte{name: data, second: more} {
			if len(name) > 0 && len(name) < 200 {
				files[name] = &fstest.MapFile{Data: data, ModTime: when}
			}
		}
		set, err := ingest.Load(context.Background(), []ingest.Root{{FS: files, Name: "in"}},
			ingest.Options{Limits: lim})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range set.Problems {
			if p.Code == "reader-failed" {
				t.Fatal(p)
			}
		}
		for i := range set.Runs {
			if _, problem := decode.Document("x.json", history.Encode(&set.Runs[i])); problem != nil {
				t.Fatalf("a document that cannot be read: %v", problem)
			}
		}
	})
}
