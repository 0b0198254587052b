package ingest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

func result(model, date string, c int) string {
	return fmt.Sprintf(`{"date":%q,"model_id":%q,"num_prompts":8,"request_rate":"inf","max_concurrency":%d,`+
		`"duration":2.0,"completed":8,"failed":0,"total_input_tokens":1024,"total_output_tokens":512,`+
		`"request_throughput":4.0,"output_throughput":256.0,"mean_ttft_ms":10,"mean_tpot_ms":2}`, date, model, c)
}

// lengths adds the lengths that --metadata may state.
func lengths(text string) string { return strings.Replace(text, "{", `{"isl":"128","osl":"64",`, 1) }

func load(t *testing.T, opt ingest.Options, files map[string]string) ingest.Set {
	t.Helper()
	fs := fstest.MapFS{}
	for name, text := range files {
		fs[name] = &fstest.MapFile{Data: []byte(text)}
	}
	set, err := ingest.Load(context.Background(), []ingest.Root{{FS: fs, Name: "in"}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func codes(problems []schema.Problem) string {
	var out []string
	for _, p := range problems {
		out = append(out, p.Code)
	}
	return strings.Join(out, " ")
}

// Two models that guess have a share of right answers in common: what a person calls by two names stays two.
func TestEqualSharesOfTwoModels(t *testing.T) {
	file := func(by string) string {
		return `{"results":{"koref":{"acc":0.5093730208993034,"acc_stderr":0.012567}},"versions":{"koref":0},"config":` +
			`{"model":"hf","model_args":"pretrained=` + by + `","num_fewshot":5}}`
	}
	set := load(t, ingest.Options{}, map[string]string{"a/r.json": file("/m/xglm/"), "b/r.json": file("/m/llama"),
		"a/ttreport.manifest.yaml": "model: {name: A}\n", "b/ttreport.manifest.yaml": "model: {name: B}\n"})
	if len(set.Runs) != 2 {
		t.Errorf("%d runs, %s", len(set.Runs), codes(set.Problems))
	}
}

// A configuration that a person states of scores keeps them from being compared with those of another one.
func TestConfigurationOfScores(t *testing.T) {
	text := `{"results":{"koref":{"acc":0.5}},"versions":{"koref":0},"config":{"model":"hf",` +
		`"model_args":"pretrained=a/m"}}`
	pattern, err := manifest.NewPattern("{release}/{config}/*")
	if err != nil {
		t.Fatal(err)
	}
	set := load(t, ingest.Options{Patterns: []manifest.Pattern{pattern}}, map[string]string{"v1/bf16/r.json": text})
	if got := set.Runs[0].Scores[0].Unknown.Text(schema.Settings); got != "config=bf16" {
		t.Errorf("%q", got)
	}
}

// Of copies the one stays of which more is known, whichever is read first: the other one said of nobody what it was.
func TestCopyOfWhom(t *testing.T) {
	text := strings.Replace(lengths(result("", "20260101-000000", 1)), `"model_id":"",`, "", 1)
	for _, known := range []string{"a", "b"} {
		set := load(t, ingest.Options{}, map[string]string{"a/1.json": text, "b/1.json": text,
			known + "/ttreport.manifest.yaml": "model: {name: x}\ndevice: {name: h100}\n"})
		if len(set.Runs) != 1 || set.Runs[0].Model.Name != "x" || set.Runs[0].Device.Name != "h100" {
			t.Errorf("%s: %d runs, of %q on %q", known, len(set.Runs), set.Runs[0].Model.Name, set.Runs[0].Device.Name)
		}
	}
}

func TestGrouping(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{
		"a/1.json": lengths(result("acme/x", "20260101-000000", 1)),
		"a/2.json": lengths(result("acme/x", "20260101-010000", 8)),
		"a/3.json": lengths(result("acme/x", "20260101-020000", 8)), // a repeat
		"a/4.json": result("acme/x", "20260101-120000", 1),          // after a pause of ten hours
		"a/5.json": result("acme/y", "20260101-000500", 1),          // another model
		"b/1.json": result("acme/x", "20260101-000001", 1),          // another folder
	})
	if len(set.Runs) != 4 || codes(set.Problems) != "" {
		t.Fatalf("%d runs, problems %v", len(set.Runs), set.Problems)
	}
	for _, r := range set.Runs {
		if len(r.Points) == 3 {
			if r.Points[1].Repeat != 1 || r.Points[2].Repeat != 2 || !strings.HasPrefix(r.ID, "20251231T") &&
				!strings.HasPrefix(r.ID, "20260101T") {
				t.Errorf("%s: repeats %d %d", r.ID, r.Points[1].Repeat, r.Points[2].Repeat)
			}
			if set.Grouping[r.ID] == "" {
				t.Error("no reason for the grouping")
			}
			return
		}
	}
	t.Error("no run of three points")
}

// The id depends neither on where the tree is, nor on what else is loaded with it, nor on what of it is given.
func TestIDsAreStable(t *testing.T) {
	files := map[string]string{"w/a/1.json": result("acme/x", "20260101-000000", 1)}
	one := load(t, ingest.Options{}, files)
	dir := write(t, t.TempDir(), files, time.Time{})
	files["z/other.json"] = result("acme/z", "20250101-000000", 1)
	two := load(t, ingest.Options{}, files)
	if one.Runs[0].ID != two.Runs[1].ID {
		t.Errorf("%s became %s", one.Runs[0].ID, two.Runs[1].ID)
	}
	for _, given := range []string{"", "w", "w/a", "w/a/1.json"} {
		root, err := ingest.OSRoot(filepath.Join(dir, given))
		if err != nil {
			t.Fatal(err)
		}
		set, err := ingest.Load(context.Background(), []ingest.Root{root}, ingest.Options{})
		if err != nil || len(set.Runs) != 1 || set.Runs[0].ID != one.Runs[0].ID {
			t.Errorf("%q: %v, %+v, want %s", given, err, set.Runs, one.Runs[0].ID)
		}
	}
}

func TestSameBytesCountOnce(t *testing.T) {
	text := result("acme/x", "20260101-000000", 1)
	set := load(t, ingest.Options{}, map[string]string{"a.json": text, "copy/a.json": text})
	if len(set.Runs) != 1 || len(set.Runs[0].Points) != 1 || codes(set.Problems) != "duplicate" {
		t.Errorf("%d runs, %v", len(set.Runs), set.Problems)
	}
}

func TestIdentityHasAnOrderAndAnOrigin(t *testing.T) {
	files := map[string]string{
		"r1/n150/x.json": result("acme/x", "20260101-000000", 1),
		"r1/n150/x.json" + manifest.SidecarSuffix: `{"schema":"ttreport/sidecar/v1","result":"x.json","tool":"mytool",` +
			`"tool_version":"7","workload":{"isl":128,"osl":64},"conditions":{"seed":"3"},"argv":["run","--api-key",` +
			`"sesame-open"],"start":"2026-01-01T05:00:00Z","end":"2026-01-01T05:01:00Z","exit_code":0}`,
		"r1/" + manifest.FileName: "device: {name: t3k}\nstack: {engine: vllm}\n",
	}
	p, err := manifest.NewPattern("{release}/{device}/*")
	if err != nil {
		t.Fatal(err)
	}
	set := load(t, ingest.Options{
		Patterns: []manifest.Pattern{p}, Flags: schema.Facts{Impl: "impl", Release: "r9"},
	}, files)
	r := set.Runs[0]
	pt := r.Points[0]
	if r.Device.Name != "t3k" || r.Release != "r9" || r.Impl != "impl" || r.Stack.Engine != "vllm" || r.Model.Name != "x" {
		t.Errorf("%+v %s %s %+v", r.Device, r.Release, r.Impl, r.Stack)
	}
	for field, from := range map[string]schema.From{
		"device.name": "manifest", "release": "flag", "impl": "flag", "model.id": "file", "model.name": "derived",
		"start": "sidecar",
	} {
		if r.Provenance[field].From != from {
			t.Errorf("%s comes from %+v, want %s", field, r.Provenance[field], from)
		}
	}
	if pt.Key.Tool != "mytool" || *pt.Key.ISL != 128 || *pt.Key.OSL != 64 || pt.Conditions["seed"] != "3" ||
		strings.Contains(strings.Join(pt.Command, " "), "sesame") || pt.Start.Hour() != 5 {
		t.Errorf("%s %v %v %s", pt.Key, pt.Conditions, pt.Command, pt.Start)
	}
	// The path states another device and another release than a manifest and a flag: both are reported, and the pattern.
	if got := codes(set.Problems); got != "pattern contradiction contradiction" {
		t.Errorf("%s: %v", got, set.Problems)
	}
}

func TestUnknownStaysUnknown(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{
		"serving_qps4-20260101-000000.json": result("acme/x", "20260101-000000", 1),
	})
	r := set.Runs[0]
	if r.Device.Name != "" || r.Stack.Engine != "" || r.Release != "" || r.Points[0].Key.ISL != nil {
		t.Errorf("something was guessed: %+v", r)
	}
	if got := r.Points[0].Key.Dims[schema.DimLabel]; got != "serving_qps4" {
		t.Errorf("label %q", got)
	}
}

func TestNothingStopsTheOthers(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{
		"good.json": result("acme/x", "20260101-000000", 1), "empty.json": "",
		"cut.json":   result("a", "20260101-000000", 1)[:100],
		"two.json":   result("acme/x", "20260101-000100", 2) + "\n" + result("acme/x", "20260101-000200", 3),
		"array.json": "[]", "near.json": `{"completed":3,"hello":1}`, "log.txt": "hello", "bad.yaml.json": "{]",
		"x/" + manifest.FileName: "nonsense: [", "x.json" + manifest.SidecarSuffix: "{",
	})
	points := 0
	for _, r := range set.Runs {
		points += len(r.Points)
	}
	if points != 3 {
		t.Errorf("%d points", points)
	}
	by := map[string]ingest.File{}
	for _, f := range set.Files {
		by[f.Path] = f
		if f.Format == ingest.Unknown && len(f.Problems) == 0 {
			t.Errorf("%s is unknown and has no problem", f.Path)
		}
	}
	if f := by["in/log.txt"]; f.Format != ingest.NotResult || len(f.Problems) > 0 {
		t.Errorf("a log is no result and no problem: %+v", f)
	}
	near := by["in/near.json"]
	if near.Format != ingest.Unknown || near.Detail != "vllm-serve" ||
		!strings.Contains(near.Problems[0].Expected, "output_throughput") {
		t.Errorf("%+v", near)
	}
	for name, want := range map[string]string{
		"in/empty.json": "empty-file", "in/cut.json": "truncated-json", "in/bad.yaml.json": "bad-json",
		"in/x/" + manifest.FileName: "bad-yaml", "in/x.json" + manifest.SidecarSuffix: "bad-sidecar",
	} {
		if codes(by[name].Problems) != want {
			t.Errorf("%s: %v", name, by[name].Problems)
		}
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a/1.json", result("acme/x", "20260101-000000", 1))
	write("a/.store/2.json", result("acme/x", "20260101-000000", 2))
	write("elsewhere/4.json", result("acme/x", "20260101-000000", 4))
	write("a/.hidden/3.json", result("acme/x", "20260101-000000", 3))
	for link, to := range map[string]string{
		"a/loop": "../a", "a/linked": ".store", "a/dangling": "nowhere", "a/out": "../elsewhere",
		"a/5.json": "/proc/self/environ",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := ingest.OSRoot(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := ingest.Load(context.Background(), []ingest.Root{root}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range set.Runs {
		n += len(r.Points)
	}
	if got := codes(set.Problems); n != 2 || !strings.Contains(got, "directory-loop") ||
		!strings.Contains(got, "unreadable") || strings.Count(got, "leads-out") != 2 {
		t.Errorf("%d points, %v", n, set.Problems)
	}
	if len(set.Files) > 4 {
		t.Errorf("a loop was walked: %d files", len(set.Files))
	}
}

func TestLimits(t *testing.T) {
	set := load(t, ingest.Options{Limits: decode.Limits{Bytes: 50, Depth: 10, Values: 10}}, map[string]string{
		"a.json": result("acme/x", "20260101-000000", 1),
	})
	if codes(set.Problems) != "too-large" {
		t.Errorf("%v", set.Problems)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ingest.Load(ctx, []ingest.Root{
		{FS: fstest.MapFS{"a.json": {Data: []byte("{}")}}},
	}, ingest.Options{}); err == nil {
		t.Error("a cancelled load ended well")
	}
}

// The real files, where they are: every one is read or reported in a problem, and the trees give the expected runs.
func TestRealFiles(t *testing.T) {
	corpus := os.Getenv("TTREPORT_CORPUS")
	if corpus == "" {
		t.Skip("TTREPORT_CORPUS names no folder of real files")
	}
	for dir, want := range map[string]struct{ runs, points, scores int }{
		"vllm": {12, 79, 0}, "aiperf": {2, 4, 0}, "tenstorrent/era1-synthetic": {1, 51, 11}, "lm-eval": {0, 0, 1},
	} {
		root, err := ingest.OSRoot(filepath.Join(corpus, dir))
		if err != nil {
			t.Fatal(err)
		}
		set, err := ingest.Load(context.Background(), []ingest.Root{root}, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		points, scores := 0, 0
		for _, r := range set.Runs {
			points, scores = points+len(r.Points), scores+len(r.Scores)
		}
		if dir == "lm-eval" {
			if scores < 500 {
				t.Errorf("lm-eval: %d scores", scores)
			}
		} else if points != want.points || scores != want.scores || len(set.Runs) != want.runs {
			t.Errorf("%s: %d runs, %d points, %d scores; want %+v", dir, len(set.Runs), points, scores, want)
		}
		for _, f := range set.Files {
			if f.Format == ingest.Unknown && len(f.Problems) == 0 {
				t.Errorf("%s is neither understood nor named", f.Path)
			}
		}
		for _, p := range set.Problems {
			if p.Code == "disagreement" && !strings.Contains(p.Path, "mi300x") {
				t.Errorf("%s", p)
			}
		}
	}
}
