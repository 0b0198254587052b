package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// foreignField stands for what a tool writes tomorrow; %s is the format's name.
const foreignField = `"colour_of_the_rack":"teal-%s",`

// foreign is a result of every format with a field that nobody knows, where points or files have room for one.
func foreign() map[string]string {
	files := map[string]string{
		"vllm/a.json":    `{FIELD"completed":8,"output_throughput":20.5,"mean_ttft_ms":10.25,"model_id":"m"}`,
		"pooling/a.json": `{FIELD"completed":8,"request_throughput":20.5,"mean_e2el_ms":10.75,"model_id":"m"}`,
		"throughput/t.json": `{FIELD"elapsed_time":2.0,"num_requests":4,"requests_per_second":2.5,` +
			`"tokens_per_second":99.5}`,
		"latency/l.json": `{FIELD"avg_latency":2.5,"latencies":[2.5],"percentiles":{"99":2.5}}`,
		"startup/s.json": `{FIELD"avg_cold_startup_time":30.5}`,
		"aiperf/p.json": `{FIELD"time_to_first_token":{"unit":"ms","avg":10},"request_count":{"unit":"requests",` +
			`"avg":8},"input_config":{"endpoint":{"model_names":["m"]}},"error_summary":[]}`,
		"genai/p.json": `{FIELD"request_throughput":{"unit":"requests/sec","avg":5.5},` +
			`"request_latency":{"unit":"ms","avg":900.0},"input_config":{"perf_analyzer":{}}}`,
		"lmeval/results.json": `{FIELD"results":{"t":{"acc,none":0.5}},"model_name":"m"}`,
		"lmeval03/r.json":     `{FIELD"results":{"t":{"acc":0.5}},"versions":{"t":0}}`,
		"lmms/r.json":         `{FIELD"results":{"t":{"acc,none":0.5}},"lmms_eval_version":"0.5"}`,
		"trtllm/b.log": "[BENCHMARK] model_name m batch_size 1 input_length 60 output_length 20 latency(ms) 10.5 " +
			"colour_of_the_rack teal-trtllm\n",
		"trtllmcsv/b.csv": "model_name,batch_size,input_length,output_length,latency(ms),colour_of_the_rack\nm,1,60,20," +
			"11.5,teal-trtllmcsv\n",
		"trtbench/r.json": `{FIELD"engine":{"model":"m"},"request_info":{"num_requests":4},` +
			`"performance":{"request_throughput_req_s":2.5}}`,
		"nmvllm/r.json": `{FIELD"json_schema_version":"0.0.0","benchmarking_context":{"vllm_version":"0.5.1"},` +
			`"model":"m","metrics":{"mean_ttft_ms":{"value":1.5,"unit":"ms"}}}`,
		"sglang/s.jsonl":   `{FIELD"completed":4,"mean_e2e_latency_ms":5.5,"output_throughput":9.5}`,
		"guidellm/b.json":  `{FIELD"benchmarks":[{"metrics":{"request_latency":{"successful":{"mean":1.5,"count":3}}}}]}`,
		"guidellm2/b.json": `{"benchmarks":[{FIELD"metrics":{"request_latency":{"successful":{"mean":2.5,"count":3}}}}]}`,
		"iperf/stage_0.json": `{FIELD"load_summary":{"count":4},"successes":{"count":4,` +
			`"latency":{"time_to_first_token":{"mean":0.5}}},"failures":{"count":0}}`,
		"inferencex/agg.json": `{FIELD"hw":"h200","conc":1,"model":"m","mean_ttft":0.25}`,
		"inferencex0/r.json":  `{FIELD"completed":4,"model_id":"m","mean_ttft":0.125}`,
		"llmd/r.yaml": "version: '0.2'\ncolour_of_the_rack: teal-llmd\nscenario: {load: {standardized: {tool: " +
			"vllm}}}\nresults: {request_performance: {aggregate: {requests: {total: 4, failures: 0}, latency: " +
			"{time_to_first_token: {units: s, mean: 0.75}}}}}\n",
		"ttis/aiperf_a.json": `{FIELD"completed":4,"mean_ttft_ms":6.25,"output_token_throughput":7.5,"model_id":"m",` +
			`"backend":"aiperf"}`,
		"inspect/l.json": `{FIELD"version":2,"status":"success","eval":{"task":"t","task_id":"x","model":"openai/m"},` +
			`"plan":{},"results":{"scores":[{"name":"match","metrics":{"accuracy":{"value":0.5}}}]}}`,
		"exec/metrics.json": `{FIELD"metrics":{"my_ms":{"value":8.25,"unit":"ms","better":"lower"}}}`,
		"own/doc.json": `{"schema":"ttreport/v1","id":"doc-1","start":"2026-01-02T03:04:05Z","model":{"id":"m"},` +
			`"extra":{FIELD"x":1},"points":[{"key":{"tool":"vllm","isl":1,"osl":1},"status":"ok",` +
			`"metrics":{"ttft":{"unit":"ms","mean":7.75}},"source":{"path":"x","format":"y"}}]}`,
	}
	for name, text := range files {
		format, _, _ := strings.Cut(name, "/")
		files[name] = strings.Replace(text, "FIELD", fmt.Sprintf(foreignField, format), 1)
	}
	return files
}

// A field that no reader knows is kept in history and shown on the page of its run, whatever the format.
func TestForeignFieldsAreShown(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	t.Chdir(t.TempDir())
	files := foreign()
	buildOf(t, files)
	all := map[string]string{}
	for _, root := range []string{"history", filepath.Join("_site", "data", "shards", "runs")} {
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			all[root] += unpacked(t, name)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range files {
		format, _, _ := strings.Cut(name, "/")
		for root, text := range all {
			if !strings.Contains(text, "teal-"+format) {
				t.Errorf("%s: the foreign field is not in %s", format, root)
			}
		}
	}
}

// unpacked is a file of a site as text, also where its data are packed.
func unpacked(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	_, packed, isPacked := strings.Cut(string(data), `","`)
	if !isPacked || !strings.HasPrefix(string(data), "ttreport.packed(") {
		return string(data)
	}
	text := base64.NewDecoder(base64.StdEncoding, strings.NewReader(strings.TrimSuffix(packed, "\");\n")))
	r, err := gzip.NewReader(text)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// buildOf writes files into the folder in, builds from it, and returns what was printed.
func buildOf(t *testing.T, files map[string]string) (output, messages string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join("in", filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("in", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"build", "in"}, nil, &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	return out.String(), errs.String()
}
