package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/plaintext"
)

const controls = "\x1b[2J\x1b]0;title\x07\r\x08\x7f\u009b31m\u202e"

func TestControlsDoNotReachATerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	name, err := json.Marshal("acme/x" + controls)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"results/a.json": `{"date":"20260101-000000","model_id":` + string(name) + `,"num_prompts":10,"max_concurrency":1,` +
			`"completed":10,"duration":2.0,"output_throughput":20.5,"mean_ttft_ms":10.25}`,
		"results/" + "b\x1b[31m.json": `{"completed":`,
		"ttreport.yaml":               "title: \"x\\e[2J\"\n",
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"inspect", "results"}, {"build"}, {"check"}, {"ingest", "results"}, {"bad\x1b[31m"},
		{"check", "--release", "x\x1b[2J"},
	} {
		var out, errs bytes.Buffer
		run(context.Background(), args, strings.NewReader(""), &out, &errs)
		if text := out.String() + errs.String(); plaintext.Printable(text) != text {
			t.Errorf("%q prints %q", args, text)
		}
	}
}
