package history_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/history"
)

// What an editor or a merge may leave in the metrics of a document is read as any JSON is, or refused with its place.
func TestMetricsAsText(t *testing.T) {
	const head, tail = `{"schema":"ttreport/v1","id":"x","points":[{"key":{"task":"text","tool":"vllm"},"metrics":`, `}]}`
	for metrics, want := range map[string]string{
		`{"ttft":{"unit":"ms","mean":1.5,"n":8}}`:                                          "ttft 1.5 8",
		" {\n\t\"ttft\" : { \"unit\" : \"ms\" , \"mean\" : 1.5e0,\n\"n\":8 }\r\n} ":        "ttft 1.5 8",
		`{"tt\u0066t":{"\u0075nit":"\u006ds","mean":1.5,"n":8}}`:                           "ttft 1.5 8",
		`{"ttft":{"unit":"ms","mean":1.5,"n":8,"new":{"a":["}",{"b":"\"]"}]}}}`:            "ttft 1.5 8",
		`{"ttft":{"new":[[]],"unit":"ms","mean":1.5,"n":8,"x":null},"e2el":{"unit":"ms"}}`: "ttft 1.5 8",
		`{"ttft":{"unit":"ms","mean":"1.5"}}`:                                              "mean of ttft as a string",
		`{"ttft":{"unit":"ms","mean":null}}`:                                               "mean of ttft as a null",
		`{"ttft":{"unit":"ms","mean":1e999}}`:                                              "mean of ttft as a number",
		`{"ttft":{"unit":5,"mean":1.5}}`:                                                   "unit of ttft as a number",
		`{"ttft":{"unit":"ms","n":1.5}}`:                                                   "n of ttft as a number",
		`{"ttft":[1.5]}`:                                                                   "ttft of metrics as a list",
		`[1.5]`:                                                                            "metrics of points[0] as a list",
		`{"ttft":{"unit":"ms","mean":1,"mean":2}}`:                                         "two members mean of ttft",
		`{"ttft":{"unit":"ms"},"ttft":{"unit":"ms"}}`:                                      "two members ttft of metrics",
	} {
		r, problem := history.Decode("a.json", []byte(head+metrics+tail))
		if problem != nil {
			if !strings.Contains(problem.Found, want) {
				t.Errorf("%s: %q, want %q", metrics, problem.Found, want)
			}
			continue
		}
		m, _ := r.Points[0].Metric("ttft")
		if x, ok := m.Stats.Get("mean"); !ok || x != 1.5 || m.N != 8 || want != "ttft 1.5 8" {
			t.Errorf("%s: %+v, want %q", metrics, m, want)
		}
		text := string(history.Encode(&r))
		again, problem := history.Decode("a.json", []byte(text))
		if problem != nil || string(history.Encode(&again)) != text {
			t.Errorf("%s: written again as %s", metrics, text)
		}
	}
}
