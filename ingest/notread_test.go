package ingest_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest"
)

// Results of tools that are not read are reported with their tool, and neither as unknown nor as no results.
func TestOtherToolsAreNamed(t *testing.T) {
	for text, tool := range map[string]string{
		`{"config":{"model":"x"},"timestamp":"2026-01-01",` +
			`"mm_processor_stats":{"preprocess":{"mean":1}}}`: "vllm bench mm-processor",
		`{"commit_hash":"060ab1","env_name":"py3.9","date":1653153144000,"params":{},"version":2,` +
			`"result_columns":["result"],"results":{"a.time_b":[[1.5]]}}`: "asv",
	} {
		set := load(t, ingest.Options{}, map[string]string{"x.json": text})
		f := set.Files[0]
		if f.Format != ingest.NotRead || !strings.HasPrefix(f.Detail, tool) || codes(set.Problems) != "not-read" ||
			set.Problems[0].Severity != "note" {
			t.Errorf("%s: %+v", tool, f)
		}
	}
}

// Files next to results are recognised by their content, not by their name.
func TestWhatIsNoResultIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		`{"metadata":{"x_request_id":"a","benchmark_phase":"profiling"},"payload":{"messages":[]},` +
			`"responses":[]}`: "the requests that were sent",
		`{"task":"gsm8k","grader_name":"x","passed":true,"expected":"4"}`:      "graded answers",
		`{"timestamp_ns":1,"endpoint_url":"http://x","metrics":{"vllm:x":[]}}`: "server metrics",
		`{"schema_version":"1.0.0","metadata":{"runs":3},"metrics":{"ttft":{"unit":"ms",` +
			`"avg":1}}}`: "pooled over runs",
		"Timeslice,Metric,Unit,Stat,Value\n0,TTFT,ms,avg,5\n":                   "time slices",
		"task,total,passed,unparsed,accuracy_rate\ngsm8k,100,80,1,0.8\n":        "graded answers",
		`[{"request":"x","response":"y","info":{"output_token_times":[1]}}]`:    "the requests that were sent",
		`{"$schema":"https://json-schema.org/x","properties":{"completed":{}}}`: "JSON schema",
		"load:\n  type: constant\n":                                             "text",
		"\x00\x01\x02":                                                          "binary",
	} {
		set := load(t, ingest.Options{}, map[string]string{"some-file": text})
		if f := set.Files[0]; f.Format == ingest.Unknown || f.Points+f.Scores > 0 || !strings.Contains(f.Detail, want) ||
			len(set.Problems) > 0 {
			t.Errorf("%.40q: %+v", text, f)
		}
	}
}

// A folder with logs or tables of a benchmark that nothing reads never ends in "no problems".
func TestLogsOfABenchmarkAreNamed(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"run.log":     {"Throughput: 3.45 requests/s\nAvg latency: 12.3 s\n", "benchmark-text"},
		"bench":       {"TTFT p50 = 12 ms\nInter-token latency 3.2\n", "benchmark-text"},
		"results.csv": {"model,batch,ttft_ms,tokens_per_second\nx,1,30.5,200\n", "benchmark-text"},
		"server.log":  {strings.Repeat("INFO Avg prompt throughput: 5.0 tokens/s, Running: 1 reqs\n", 9), ""},
		"names.csv":   {"name,city\nx,y\n", ""},
		"notes.txt":   {"we looked at the throughput of 3 machines\n", ""},
		"guide.md":    {"Throughput: 3.45 requests/s\nAvg latency: 12.3 s\n", ""},
	} {
		set := load(t, ingest.Options{}, map[string]string{name: c.text})
		if codes(set.Problems) != c.want || len(set.Files) != 1 || set.Files[0].Format != ingest.NotResult {
			t.Errorf("%s: %v", name, set.Problems)
		}
	}
	beside := load(t, ingest.Options{}, map[string]string{
		"run.log": "Throughput: 3.45 requests/s\nAvg latency: 12.3 s\n", "out/a.json": serve(""),
	})
	if codes(beside.Problems) != "" {
		t.Errorf("a log beside its result: %v", beside.Problems)
	}
}
