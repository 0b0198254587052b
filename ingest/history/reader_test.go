package history_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/history"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var reader = Reader{Detect: history.Reader.Detect, Read: history.Reader.Read}

const (
	documentOfOurs = `{"schema":"ttreport/v1","id":"r","start":"2026-01-02T03:04:05Z","model":{"id":"acme/tiny"},` +
		`"points":[{"key":{"task":"text","tool":"vllm","isl":128,"osl":64,"concurrency":1,"rate":null,"dataset":"",` +
		`"dims":{}},"status":"ok","metrics":{"ttft":{"unit":"ms","def":"first-chunk","mean":10.5}},` +
		`"source":{"path":"a.json","format":"vllm-serve"}}],"scores":[{"task":"t","metric":"acc","value":0.5}]}`
	listing = `{"schema":"ttreport/inspect/v1","files":[],"runs":[` + documentOfOurs + `]}`
)

// A document that another program wrote or changed is held against the rules of stored ones, and refused whole.
func TestUnsoundDocument(t *testing.T) {
	const score = `{"task":"t","metric":"acc","value":0.5}`
	document := func(metric, score string) string {
		return `{"schema":"ttreport/v1","id":"r","points":[{"key":{"task":"text","tool":"vllm","isl":1,"osl":1},` +
			`"status":"ok","metrics":{` + metric + `}}],"scores":[` + score + `]}`
	}
	for name, text := range map[string]string{
		"another unit":         document(`"ttft":{"unit":"s","mean":0.5}`, score),
		"a time below zero":    document(`"itl":{"unit":"ms","mean":-1}`, score),
		"an impossible number": document(`"output_tps":{"unit":"tok/s","value":7.2e18}`, score),
		"a score of no task":   document(`"ttft":{"unit":"ms","mean":5}`, `{"metric":"acc","value":0.5}`),
		"no score, no reason":  document(`"ttft":{"unit":"ms","mean":5}`, `{"task":"t","metric":"acc"}`),
	} {
		if r := reader.Must(t, "x.json", text); len(r.Points)+len(r.Scores) > 0 || Codes(r) != "unsound-document" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for _, text := range []string{document(`"ttft":{"unit":"ms","mean":5}`, score), documentOfOurs} {
		if r := reader.Must(t, "x.json", text); Codes(r) != "" || len(r.Points) != 1 || r.Points[0].Source.Format == "" ||
			r.Scores[0].Source.Format == "" {
			t.Errorf("%+v", r)
		}
	}
}

func FuzzRead(f *testing.F) {
	reader.Fuzz(f, "x.json", documentOfOurs, listing)
}
