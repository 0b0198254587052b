package ingest_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
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
		"mine": "data", "mine/results": "data", "mine/results/data.json": "data", "packed": "b", "packed/results/b": "b",
		"none": "data", "none/results": "data", "none/results/data.json": "data",
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

// A folder gives the same workloads by whatever path it is given, and so does each folder in it: of a repository, and
// of a tree that lies in the current folder.
func TestLabelsByEveryPath(t *testing.T) {
	for _, mark := range []string{"mine/.git/HEAD", "mine/none"} {
		dir := write(t, t.TempDir(), map[string]string{
			mark: "", "mine/tp4/run1/data.json": serve(`"request_throughput":1.25,`),
			"mine/fast/out/data.json": serve(`"request_throughput":2.25,`),
		}, time.Time{})
		for _, c := range []struct{ at, given, want string }{
			{".", "mine", "fast tp4"}, {".", dir + "/mine", "fast tp4"}, {"mine", ".", "fast tp4"},
			{"mine/tp4", "..", "fast tp4"},
			{".", "mine/tp4", "tp4"}, {".", "mine/fast/out", "fast"}, {".", "mine/fast/out/data.json", "fast"},
			{".", dir + "/mine/fast", "fast"},
		} {
			t.Chdir(filepath.Join(dir, c.at))
			root, err := ingest.OSRoot(c.given)
			if err != nil {
				t.Fatal(err)
			}
			set, err := ingest.Load(context.Background(), []ingest.Root{root}, ingest.Options{})
			labels := map[string]bool{}
			for _, p := range points(set) {
				labels[strings.Fields(p.Key.Dims[schema.DimLabel])[0]] = true
			}
			if got := strings.Join(slices.Sorted(maps.Keys(labels)), " "); err != nil || got != c.want {
				t.Errorf("%s: %s in %s: %q, want %q; %v", mark, c.given, c.at, got, c.want, err)
			}
		}
	}
}

// The numbers of repeats are no part of a workload, however they are written.
func TestRepeatsInLabels(t *testing.T) {
	for _, names := range []string{
		"m/chat_1 m/chat_2", "m/chat-run2 m/chat_run_3 m/chat", "m/chat(3) m/chat(4)", "m/chat.r4 m/chat.r5",
		"m/iter5-chat m/iter6-chat", "m/chat_trial_6 m/chat_trial-7", "m/chat-seed43 m/chat-seed=44",
		"m/chat_c8-0 m/chat_c8-1",
		"m/chat_001 m/chat_012", "m/chat_0a1b2c3d m/chat_4e5f6a7b", "m/chat-rep2of3 m/chat-rep3of3",
		"b6000/chat-rep1 b6001/chat-rep2", // of a model that is called so
	} {
		labels := map[string]bool{}
		for i, name := range strings.Fields(names) {
			text := strings.Replace(serve(fmt.Sprintf(`"request_throughput":%d.25,"max_concurrency":8,`, i+1)), "-000000",
				fmt.Sprintf("-%02d0000", 8*i), 1)
			if strings.HasPrefix(names, "b6000") {
				text = strings.Replace(text, "acme/x", "acme/chat", 1)
			}
			files := fstest.MapFS{name + ".json": {Data: []byte(text)}}
			set, err := ingest.Load(context.Background(), []ingest.Root{{FS: files}}, ingest.Options{})
			if err != nil || len(points(set)) != 1 {
				t.Fatal(err, set.Problems)
			}
			labels[points(set)[0].Key.Dims[schema.DimLabel]] = true
		}
		if len(labels) != 1 || !labels["chat"] {
			t.Errorf("%s: %v", names, labels)
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

// What is measured, and of what, is the same from wherever a folder is given that has no repository: the names of the
// folders above count, too, and that of what is given where nothing else names the model.
func TestNamesByEveryPath(t *testing.T) {
	score := `{"results":{"gsm8k":{"acc,none":0.53125}},"versions":{},"config":{}}`
	mteb := `{"mteb_version":"1.12","task_name":"NFCorpus","dataset_revision":"ec0fa4fe99da2ff19ca1214b7966684033a5",` +
		`"scores":{"test":[{"hf_subset":"default","languages":["eng-Latn"],"main_score":0.33125,"ndcg_at_10":0.33125}]}}`
	nameless := func(x string) string {
		return `{"completed":8,"mean_ttft_ms":10.25,"mean_tpot_ms":2.5,"output_throughput":` + x + `}`
	}
	dir := write(t, t.TempDir(), map[string]string{
		"in/modelA/bench.json": nameless("256.25"), "in/modelB/bench.json": nameless("356.25"),
		"in/evals_output/eval_Tiny-1B_n150/acme__Tiny-1B/results.json":             score,
		"in/acme__Embed-1B/0123456789abcdef0123456789abcdef01234567/NFCorpus.json": mteb,
	}, time.Time{})
	said := func(at string, given ...string) string {
		t.Chdir(filepath.Join(dir, at))
		var roots []ingest.Root
		for _, name := range given {
			root, err := ingest.OSRoot(name)
			if err != nil {
				t.Fatal(err)
			}
			roots = append(roots, root)
		}
		set, err := ingest.Load(context.Background(), roots, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range set.Runs {
			label := ""
			if len(r.Points) > 0 {
				label = r.Points[0].Key.Dims[schema.DimLabel]
			}
			out = append(out, strings.Join([]string{r.ID, r.Model.ID, r.Model.Name, r.Device.Name, label}, " "))
		}
		slices.Sort(out)
		return strings.Join(out, "\n")
	}
	want := said(".", "in")
	for _, part := range []string{"modelA", "modelB", "Tiny-1B n150", "acme/Embed-1B"} {
		if !strings.Contains(want, part) {
			t.Errorf("no %s in %s", part, want)
		}
	}
	eval, embed := "evals_output/eval_Tiny-1B_n150", "acme__Embed-1B/0123456789abcdef0123456789abcdef01234567"
	for _, c := range []struct {
		at    string
		given []string
	}{
		{"in", []string{"."}}, {"in", []string{"modelA", "modelB", eval, embed}},
		{".", []string{"in/modelA", "in/modelB", "in/" + eval + "/acme__Tiny-1B", "in/" + embed}},
		{"in/" + eval, []string{".", dir + "/in/modelA", "../../modelB", "../../" + embed + "/NFCorpus.json"}},
		{"in/" + embed, []string{".", "../../modelA/bench.json", "../../modelB", "../../" + eval}},
	} {
		if got := said(c.at, c.given...); got != want {
			t.Errorf("%v in %s:\n%s\nwant\n%s", c.given, c.at, got, want)
		}
	}
}
