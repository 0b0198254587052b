package ingest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ttreport/ttreport/ingest"
)

// aiperfTrial is a summary of a trial under a concurrency.
func aiperfTrial(c, trial int) string {
	return fmt.Sprintf(`{"schema_version":"1.3","aiperf_version":"0.10.0","time_to_first_token":{"unit":"ms",`+
		`"avg":%d.37},"request_latency":{"unit":"ms","avg":%d.25},"request_count":{"unit":"requests","avg":10},`+
		`"error_summary":[],"start_time":"2026-03-01T10:0%d:0%d.0",`+
		`"input_config":{"models":{"items":[{"name":"acme/t"}]},"datasets":[{"prompts":{"isl":128,"osl":32}}],`+
		`"phases":[{"concurrency":%d}]}}`, 10*c+trial, 100*c+trial, trial, c, c)
}

// sweepRun is a result of one of vLLM's sweeps.
func sweepRun(rate, run int) string {
	return fmt.Sprintf(`{"run_number":%d,"request_rate":%d,"date":"20260101-0000%02d","model_id":"acme/t",`+
		`"completed":8,"random_input_len":128,"random_output_len":32,"output_throughput":%d.5,"mean_ttft_ms":%d.25}`, run,
		rate, 10*rate+run, 10*rate+run, 100*rate+run)
}

const aggregate = `{"metadata":{"aggregation_type":"confidence"},"metrics":{"time_to_first_token_avg":{"mean":1,` +
	`"ci_low":1}}}`

const sweepAggregate = `{"aggregation_type":"sweep","per_combination_metrics":[{"parameters":{"concurrency":1},` +
	`"metrics":{"time_to_first_token_avg":{"mean":11.87,"unit":"ms"}}}]}`

// sweepLayouts are the layouts of sweeps: two workloads, each measured twice.
func sweepLayouts() map[string]map[string]string {
	return map[string]map[string]string{
		"aiperf, independent": {
			"s/concurrency_1/profile_runs/trial_0001/p.json": aiperfTrial(1, 1),
			"s/concurrency_1/profile_runs/trial_0002/p.json": aiperfTrial(1, 2),
			"s/concurrency_8/profile_runs/trial_0001/p.json": aiperfTrial(8, 1),
			"s/concurrency_8/profile_runs/trial_0002/p.json": aiperfTrial(8, 2), "s/concurrency_8/aggregate/a.json": aggregate,
		},
		"aiperf, repeated": {"s/profile_runs/trial_0001/concurrency_1__isl_128/p.json": aiperfTrial(1, 1),
			"s/profile_runs/trial_0002/concurrency_1__isl_128/p.json": aiperfTrial(1, 2),
			"s/profile_runs/trial_0001/concurrency_8__isl_128/p.json": aiperfTrial(8, 1),
			"s/profile_runs/trial_0002/concurrency_8__isl_128/p.json": aiperfTrial(8, 2),
			"s/aggregate/concurrency_8__isl_128/a.json":               aggregate,
			"s/sweep_aggregate/profile_export_aiperf_sweep.json":      sweepAggregate},
		"aiperf, one trial": {"s/variation_0000_concurrency_1/p.json": aiperfTrial(1, 1),
			"s/variation_0001_concurrency_1/p.json": aiperfTrial(1, 2), "s/concurrency_8/p.json": aiperfTrial(8, 1),
			"s/concurrency8/p.json": aiperfTrial(8, 2)},
		"vllm bench sweep": {"s/BENCH--request_rate=1/run=0.json": sweepRun(1, 0),
			"s/BENCH--request_rate=1/run=1.json": sweepRun(1, 1), "s/BENCH--request_rate=4/run=0.json": sweepRun(4, 0),
			"s/BENCH--request_rate=4/run=1.json": sweepRun(4, 1)},
		"vllm, older": {"s/SERVE--tp=1-BENCH--n=8/request_rate=1/run=0.json": sweepRun(1, 0),
			"s/SERVE--tp=1-BENCH--n=8/request_rate=1/run=1.json": sweepRun(1, 1),
			"s/SERVE--tp=1-BENCH--n=8/request_rate=4/run=0.json": sweepRun(4, 0),
			"s/SERVE--tp=1-BENCH--n=8/request_rate=4/run=1.json": sweepRun(4, 1)},
	}
}

// A sweep is one run with its repeats, in every layout of the tools; aggregates are not counted.
func TestSweepsAreOneRun(t *testing.T) {
	for name, files := range sweepLayouts() {
		set := load(t, ingest.Options{}, files)
		if len(set.Runs) != 1 || len(set.Runs[0].Points) != 4 {
			t.Errorf("%s: %d runs, %d points: %v", name, len(set.Runs), len(points(set)), set.Problems)
			continue
		}
		keys := map[string]int{}
		for _, p := range set.Runs[0].Points {
			keys[p.Key.String()] = max(keys[p.Key.String()], p.Repeat)
		}
		if len(keys) != 2 {
			t.Errorf("%s: workloads with their repeats %v", name, keys)
		}
		for key, repeats := range keys {
			if repeats != 2 {
				t.Errorf("%s: %d repeats of %s", name, repeats, key)
			}
		}
	}
}

// Two folders without a stated identity are two runs, even if all files have the same time, as after a checkout.
func TestFoldersOfOneSecond(t *testing.T) {
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	roots := []ingest.Root{
		{
			FS: fstest.MapFS{
				"r.json": {Data: []byte(`{"completed":8,"output_throughput":5.5,"mean_ttft_ms":1.5}`), ModTime: when},
			},
			Name: "lab/a",
		},
		{
			FS: fstest.MapFS{
				"r.json": {Data: []byte(`{"completed":8,"output_throughput":6.5,"mean_ttft_ms":2.5}`), ModTime: when},
			},
			Name: "lab/b",
		},
	}
	set, err := ingest.Load(context.Background(), roots, ingest.Options{})
	if err != nil || len(set.Runs) != 2 || set.Runs[0].ID == set.Runs[1].ID || len(set.Problems) > 0 {
		t.Errorf("%v, %d runs, %v", err, len(set.Runs), set.Problems)
	}
}

// The evals of a tree of 2025, whose folders name the model without its organisation, are of one run with its
// benchmarks.
func TestEvalsOfATreeOf2025(t *testing.T) {
	bench := result("acme/Tiny-1B", "20250301-100000", 1)
	eval := `{"results":{"gsm8k":{"acc,none":0.53125,"acc_stderr,none":0.0123}},"versions":{},"config":{},` +
		`"date":1740830400.0}`
	set := load(t, ingest.Options{}, map[string]string{
		"benchmarks_output/benchmark_Tiny-1B_n150_2025-03-01_10-00-00_isl-128_osl-64_maxcon-1_n-8.json": bench,
		"evals_output/eval_Tiny-1B_n150/acme__Tiny-1B/results_2025-03-01T12-00-00.000000.json":          eval,
	})
	if len(set.Runs) != 1 || len(set.Runs[0].Points) != 1 || len(set.Runs[0].Scores) != 1 ||
		set.Runs[0].Device.Name != "n150" || set.Runs[0].Model.ID != "acme/Tiny-1B" {
		t.Errorf("%d runs: %+v", len(set.Runs), set.Runs)
	}
}

// Rows of one file at two precisions, or on another number of accelerators, are no repeats of one point.
func TestPrecisionsAreRunsOfTheirOwn(t *testing.T) {
	row := func(precision string, tp, conc int, ttft float64) string {
		return fmt.Sprintf(`{"hw":"b200","conc":%d,"model":"acme/big","framework":"trt","precision":%q,"isl":1024,"osl":128,`+
			`"tp":%d,"ep":1,"tput_per_gpu":9.5,"output_tput_per_gpu":1.25,"mean_ttft":%g}`, conc, precision, tp, ttft)
	}
	rows := []string{row("fp8", 4, 8, .5), row("fp4", 4, 8, .25), row("FP8", 4, 16, .75), row("fp8", 8, 8, .125)}
	tree := fstest.MapFS{"agg.json": {Data: []byte("[" + strings.Join(rows, ",") + "]")}}
	res, err := ingest.Load(context.Background(), []ingest.Root{{Name: "r", FS: tree}}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, r := range res.Runs {
		got[fmt.Sprintf("%s on %d", strings.ToLower(r.Model.Precision), r.Device.Chips)] += len(r.Points)
		for _, p := range r.Points {
			if p.Repeat > 1 {
				t.Errorf("%s: %s is a repeat", r.Model.Precision, p.Key)
			}
		}
	}
	if len(res.Runs) != 3 || got["fp8 on 4"] != 2 || got["fp4 on 4"] != 1 || got["fp8 on 8"] != 1 {
		t.Errorf("%d runs: %v", len(res.Runs), got)
	}
}

// A log of Inspect is an archive: those of one session are one run, as the same logs in JSON are.
func TestLogsOfInspectAreOneRun(t *testing.T) {
	names, err := filepath.Glob("../testdata/recorded/inspect-ai-*/json-a/logs/*.json")
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	log, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, task := range []string{"arith", "words"} {
		name := zipped(t, filepath.Join(t.TempDir(), task+".eval"), map[string]string{
			"header.json": strings.ReplaceAll(string(log), "demo_arith", "demo_"+task),
		})
		archive, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files["logs/"+task+".eval"] = string(archive)
	}
	set := load(t, ingest.Options{}, files)
	if len(set.Runs) != 1 || len(set.Runs[0].Scores) != 2 {
		t.Errorf("%d runs, %v", len(set.Runs), set.Files)
	}
}
