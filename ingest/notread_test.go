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
