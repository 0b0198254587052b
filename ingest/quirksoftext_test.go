package ingest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

// GuideLLM: blocks of count 0, several benchmarks in a file.
func TestQuirk25(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{
		"b.json": `{"benchmarks":[{"config":{"strategy":{"type_":"concurrent","streams":1}},` +
			`"metrics":{"request_latency":{"successful":{"mean":1.5,"count":3}},` +
			`"time_to_first_token_ms":{"successful":{"mean":0.0,"count":0}}}},{"config":{"strategy":{"type_":"concurrent",` +
			`"streams":2}},"metrics":{"request_latency":{"successful":{"mean":1.5,"count":3}}}}]}`,
	})
	if list := points(set); len(list) != 2 || drafttest.Metric(list[0], "ttft").Kind().Why == "" {
		t.Errorf("%d points", len(list))
	}
}

// A model by its hub id, served name, path or snapshot.
func TestQuirk26(t *testing.T) {
	for id, want := range map[string]string{
		"acme/x": "x", "/data/models/x/": "x", "x": "x",
		"/root/.cache/huggingface/hub/models--acme--x/snapshots/0123456789abcdef0123456789abcdef01234567": "x",
	} {
		set, _ := loadOne(t, "a.json", strings.Replace(serve(""), "acme/x", id, 1))
		if set.Runs[0].Model.Name != want {
			t.Errorf("%s is called %q", id, set.Runs[0].Model.Name)
		}
	}
}

// Unknown keys are kept, unknown files named with the nearest format.
func TestQuirk27(t *testing.T) {
	_, p := loadOne(t, "a.json", serve(`"my_note":"hello",`))
	set := load(t, ingest.Options{}, map[string]string{"n.json": `{"completed":3,"x":1}`})
	if string(p.Extra["my_note"]) != `"hello"` || set.Files[0].Format != ingest.Unknown ||
		!strings.Contains(set.Problems[0].Expected, "output_throughput") {
		t.Errorf("%v %v", p.Extra, set.Problems)
	}
}

// Prompts and answers are never kept.
func TestQuirk28(t *testing.T) {
	set, _ := loadOne(t, "a.json",
		serve(`"generated_texts":["the secret answer"],"prompt":"the secret question","output":"secret","gold":"secret",`+
			hollowArrays))
	if bytes.Contains(history.Encode(&set.Runs[0]), []byte("secret")) {
		t.Error("a text reached the document")
	}
}

// Secrets and home folders are removed.
func TestQuirk29(t *testing.T) {
	set, _ := loadOne(t, "a.json",
		strings.Replace(serve(`"api_key":"sesame-open-1234","url":"https://u:pass@host/",`+
			`"tokenizer_id":"/home/somebody/tok",`), "acme/x", "/home/somebody/models/x", 1))
	if doc := string(history.Encode(&set.Runs[0])); strings.Contains(doc, "sesame") ||
		strings.Contains(doc, "somebody") || strings.Contains(doc, "u:pass") {
		t.Error(doc)
	}
}
