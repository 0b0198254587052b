package ingest_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// A model's name is the end of a path or of a hub's name, and of nothing else.
func TestModelNames(t *testing.T) {
	for id, want := range map[string]string{
		"/w/Qwen/global_step10/hf": "Qwen-global_step10-hf", "/models/merged": "merged",
		"../checkpoint-500":                  "checkpoint-500",
		"/w/Llama-2-7b-eus/global_step10000": "Llama-2-7b-eus-global_step10000", "checkpoint-500": "checkpoint-500",
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

// The day of a measurement in the name of its folder is no part of its workload.
func TestDaysInLabels(t *testing.T) {
	labels := map[string]bool{}
	for name, date := range map[string]string{"ds-0904-gds/results.json": "20260904-120000",
		"ds-0911-gds/results.json": "20260911-120000", "ds-gds_20260912.json": "20260912-120000",
		"ds-gds-2026-09-13.json": "20260913-120000", "a10240-1024.json": "20261024-120000"} {
		text := strings.ReplaceAll(serve(""), "20260101-000000", date)
		files := fstest.MapFS{name: {Data: []byte(text)}}
		set, err := ingest.Load(context.Background(), []ingest.Root{{FS: files}}, ingest.Options{})
		if err != nil || len(set.Runs) != 1 {
			t.Fatal(err, set.Problems)
		}
		labels[set.Runs[0].Points[0].Key.Dims[schema.DimLabel]] = true
	}
	if len(labels) != 2 || !labels["ds-gds"] || !labels["a10240-1024"] {
		t.Error(labels)
	}
}

// What a repository is called on somebody's disk is no part of a workload's label.
func TestCheckoutsInLabels(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{
		"mine/.git/HEAD": "", "mine/results/data.json": serve(`"request_throughput":1.25,`),
		"packed/LICENSE": "", "packed/results/b/data.json": serve(`"request_throughput":2.25,`),
		"none/results/data.json": serve(`"request_throughput":3.25,`),
	}, time.Time{})
	for name, want := range map[string]string{
		"mine": "data", "mine/results": "data", "mine/results/data.json": "data", "packed": "b", "none": "none",
	} {
		root, err := ingest.OSRoot(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		set, err := ingest.Load(context.Background(), []ingest.Root{root}, ingest.Options{})
		if got := points(set); err != nil || len(got) != 1 || got[0].Key.Dims[schema.DimLabel] != want {
			t.Errorf("%q: %v, want %q; %v", name, got, want, err)
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
