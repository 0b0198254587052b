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

// What no version of ttreport writes is refused whole, and says what it is.
func TestUnwritten(t *testing.T) {
	const score = `{"task":"t","metric":"acc","value":0.5}`
	document := func(metric, score string) string {
		return `{"schema":"ttreport/v1","id":"r","points":[{"key":{"task":"text","tool":"vllm","isl":1,"osl":1},` +
			`"status":"ok","metrics":{` + metric + `}}],"scores":[` + score + `]}`
	}
	for text, want := range map[string]string{
		document(`"ttft":{"unit":"ms","mean":5}`, score):                           "",
		document(`"ttft":{"unit":"s","mean":0.5}`, score):                          `ttft in "s", which is stored in ms`,
		document(`"itl":{"unit":"ms","mean":-1}`, score):                           "itl of -1 ms",
		document(`"my{W,lower}":{"unit":"W","value":-1}`, score):                   "",
		document(`"output_tps":{"unit":"tok/s","value":7.2e18}`, score):            "output_tps of 7.2e+18 tok/s",
		document(`"ttft":{"unit":"ms","mean":5}`, `{"metric":"acc","value":0.5}`):  "a score without a task",
		document(`"ttft":{"unit":"ms","mean":5}`, `{"task":"t","metric":"acc"}`):   "neither a value nor a reason",
		strings.Replace(document("", score), `"status":"ok"`, `"status":"odd"`, 1): `a point of status "odd"`,
	} {
		_, problem := history.Decode("a.json", []byte(text))
		if (problem == nil) != (want == "") || problem != nil && !strings.Contains(problem.Found, want) {
			t.Errorf("%s: %v, want %q", text, problem, want)
		}
	}
}
