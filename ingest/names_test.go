package ingest_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// A model's name is the end of a path or of a hub's name, and of nothing else.
func TestModelNames(t *testing.T) {
	for id, want := range map[string]string{
		"acme/x": "x", "/models/acme/x/": "x", "/": "/", "<script>alert(1)</script>": "<script>alert(1)</script>",
	} {
		text := strings.Replace(serve(""), "acme/x", id, 1)
		files := fstest.MapFS{"x.json": {Data: []byte(text)}}
		set, err := ingest.Load(context.Background(), []ingest.Root{{FS: files}}, ingest.Options{})
		if err != nil || len(set.Runs) != 1 || set.Runs[0].Model.Name != want {
			t.Errorf("%s: %+v, want %s, %v", id, set.Runs, want, err)
		}
	}
}

// A table whose tool writes another file is said where nothing reads it.
func TestPrintedTablesAreSaid(t *testing.T) {
	for text, want := range map[string]string{
		"| model | test | t/s | peak t/s | ttfr (ms) |\n|:--|--:|\n| x | pp2048 | 2265.07 | | 979.34 |\n": "llama-benchy",
		"| Tasks | Owner |\n|---|---|\n": "",
		"|Tasks|Version|Filter|n-shot|Metric|   |Value |\n|---|---|\n|boolq|2|none|0|acc|↑|0.8|\n": "", // which is read
	} {
		files := fstest.MapFS{"x.md": {Data: []byte(text)}}
		set, err := ingest.Load(context.Background(), []ingest.Root{{FS: files}}, ingest.Options{})
		got := ""
		for _, p := range set.Problems {
			got += p.Found
		}
		if err != nil || (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// A byte order mark is no part of the first field.
func TestYAMLWithAByteOrderMark(t *testing.T) {
	var v struct {
		Title string `yaml:"title"`
	}
	if p := decode.YAML("ttreport.yaml", []byte("\xef\xbb\xbftitle: x\n"), &v); p != nil || v.Title != "x" {
		t.Error(p, v)
	}
}
