package ingest_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ttreport/ttreport/ingest"
)

// tt-inference-server keeps AIPerf's own files apart from its flat copy of them. They are one measurement, with the
// statistics of AIPerf's files and the model and device that the names state.
func TestHarmonisedCopyOfRawFiles(t *testing.T) {
	raw, err := os.ReadFile("../testdata/recorded/aiperf-0.13.0/isl128-osl128-c8-n32/out/profile_export_aiperf.json")
	if err != nil {
		t.Fatal(err)
	}
	var d map[string]any
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	of := func(metric, stat string) any { m, _ := d[metric].(map[string]any); return m[stat] }
	flat := map[string]any{
		"date": "20261121-023430", "backend": "aiperf", "num_prompts": 32, "max_concurrency": 8, "completed": 32,
		"output_token_throughput": of("output_token_throughput", "avg"),
		"request_throughput":      of("request_throughput", "avg"),
	}
	for name, metric := range map[string]string{
		"ttft": "time_to_first_token", "tpot": "inter_token_latency", "e2el": "request_latency",
	} {
		flat["mean_"+name+"_ms"], flat["median_"+name+"_ms"] = of(metric, "avg"), of(metric, "p50")
	}
	text, err := json.Marshal(flat)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const id = "id_tt_sim_n150"
	for name, data := range map[string][]byte{
		".workflow_venvs/.venv_benchmarks_aiperf/artifacts/" + id + "/bench_128_128_8/profile_export_aiperf.json": raw,
		"workflow_logs/benchmarks_output/aiperf_benchmark_" + id +
			"_2026-11-21_02-34-30_isl-128_osl-128_maxcon-8_n-32.json": text,
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	root, err := ingest.OSRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	set, err := ingest.Load(context.Background(), []ingest.Root{root}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Runs) != 1 || len(set.Runs[0].Points) != 1 {
		t.Fatalf("%d runs", len(set.Runs))
	}
	run := set.Runs[0]
	if p := run.Points[0]; p.Source.Format != "aiperf" || run.Device.Name != "n150" || run.Impl != "tt" {
		t.Errorf("kept %s of %q on %q", p.Source.Format, run.Impl, run.Device.Name)
	}
}
