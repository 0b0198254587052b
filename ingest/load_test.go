package ingest_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// runtimeSpec is a runtime spec of tt-inference-server.
func runtimeSpec(version string) string {
	return `{"runtime_model_spec":{"model_id":"id_impl_M_n150","impl":{"impl_name":"impl"},"hf_model_repo":"acme/M",` +
		`"model_name":"M","device_type":"N150","version":"` + version + `"}}`
}

func TestEachResultHasTheSpecThatWasThereBeforeIt(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{
		"w/runtime_model_specs/runtime_model_spec_2025-01-01_00-00-00_id_impl_M_n150_a.json": runtimeSpec("1"),
		"w/runtime_model_specs/runtime_model_spec_2025-02-01_00-00-00_id_impl_M_n150_b.json": runtimeSpec("2"),
		"w/b/benchmark_id_impl_M_n150_2025-01-01_01-00-00_isl-128_osl-128_maxcon-1_n-8.json": result("acme/M",
			"20250101-010000", 1),
		"w/b/benchmark_id_impl_M_n150_2025-02-01_01-00-00_isl-128_osl-128_maxcon-1_n-8.json": result("acme/M",
			"20250201-010000", 1),
	})
	if len(set.Runs) != 2 || set.Runs[0].Release != "1" || set.Runs[1].Release != "2" {
		t.Errorf("%d runs", len(set.Runs))
	}
}

func TestResultsOfTwoModelsAppendedToOneFile(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{
		"a.json": result("acme/A", "20260101-000000", 1) + "\n" + result("acme/B", "20260301-000000", 1),
	})
	if len(set.Runs) != 2 || set.Runs[0].Model.Name != "A" || set.Runs[1].Model.Name != "B" || len(set.Files) != 1 ||
		set.Files[0].Points != 2 {
		t.Errorf("%d runs, files %+v", len(set.Runs), set.Files)
	}
}

func TestAForeignValueBeforeAResult(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{
		"a.json": `{"note":"x"}` + "\n" + result("acme/A", "20260101-000000", 1),
	})
	if len(set.Runs) != 1 || codes(set.Problems) != "foreign-value" {
		t.Errorf("%d runs, %v", len(set.Runs), set.Problems)
	}
}

func TestOverlappingRoots(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "r"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "r", "a.json"), []byte(result("acme/A", "20260101-000000", 1)),
		0o644); err != nil {
		t.Fatal(err)
	}
	var roots []ingest.Root
	for _, name := range []string{dir, dir + "/./r", dir + "//r/", dir + "/r/a.json"} {
		root, err := ingest.OSRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, root)
	}
	set, err := ingest.Load(context.Background(), roots, ingest.Options{})
	if err != nil || len(set.Files) != 1 || len(set.Runs) != 1 {
		t.Errorf("%v: %d files, %d runs", err, len(set.Files), len(set.Runs))
	}
}

func TestOneFileKeepsWhatSpeaksForIt(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "x/y"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"x/" + manifest.FileName: "release: v7\n",
		"x/y/a.json":             result("acme/A", "20260101-000000", 1),
		"x/y/b.json":             result("acme/A", "20260101-000000", 2),
		"x/y/a.json" + manifest.SidecarSuffix: `{"schema":"ttreport/sidecar/v1","result":"a.json","tool":"mine",` +
			`"workload":{},"exit_code":0}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := ingest.OSRoot(filepath.Join(dir, "x/y/a.json"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := ingest.Load(context.Background(), []ingest.Root{root}, ingest.Options{})
	if err != nil || len(set.Runs) != 1 || set.Runs[0].Release != "v7" || set.Runs[0].Points[0].Key.Tool != "mine" ||
		len(set.Runs[0].Points) != 1 || set.Runs[0].Start.Year() != 2025 {
		t.Errorf("%v %+v", err, set.Runs)
	}
}

// What was read beside a file of two loads is of both together: neither has a power, an energy or a course of its own.
func TestPowerOfSeveralLoadsIsOfNone(t *testing.T) {
	side := `{"schema":"ttreport/sidecar/v1","result":"a.json","tool":"vllm","workload":{},"exit_code":0,` +
		`"power_of":"accelerator-boards","power":{"names":["s","power"],"rows":[[0,90],[1,100],[2,110],[3,100],[4,100]]}}`
	for name, c := range map[string]struct {
		text  string
		known bool
	}{
		"one": {result("acme/A", "20260101-000000", 1), true},
		"two": {result("acme/A", "20260101-000000", 1) + "\n" + result("acme/A", "20260101-000001", 2), false},
	} {
		set := load(t, ingest.Options{}, map[string]string{"a.json": c.text, "a.json" + manifest.SidecarSuffix: side})
		for _, r := range set.Runs {
			for _, p := range r.Points {
				if _, known := p.Metric(schema.MetricPower); known != c.known || (len(p.Slices.Series) > 0) != c.known {
					t.Errorf("%s: %s has power %v and %d slices", name, p.Key, drafttest.Metric(p, schema.MetricPower),
						len(p.Slices.Series))
				}
			}
		}
		if len(set.Runs) == 0 {
			t.Errorf("%s: nothing was read: %v", name, set.Problems)
		}
	}
}

// Where lengths are not stated, a folder that names a build is no workload: the next build's is the same series.
// Measured lengths keep workloads apart, and a folder that names anything else stays their label.
func TestFoldersOfBuildsAreNoWorkload(t *testing.T) {
	for name, c := range map[string]struct{ a, b, want string }{
		"days":      {"serve/2026-01-02", "serve/2026-01-03", "serve in 130 out 64"},
		"nights":    {"serve/nightly-20260102", "serve/nightly-20260103", "serve in 130 out 64"},
		"numbers":   {"serve/build-1234", "serve/build-1235", "serve in 130 out 64"},
		"versions":  {"serve/v1.2.0", "serve/v1.3.0-rc1", "serve in 130 out 64"},
		"commits":   {"serve/0a1b2c3d4e", "serve/1a1b2c3d4e", "serve in 130 out 64"},
		"workloads": {"night/short", "night/long", "short, long"},
		"loads":     {"night/temp-0.5", "night/temp-0.75", "temp-0.5, temp-0.75"},
	} {
		set := load(t, ingest.Options{}, map[string]string{
			c.a + "/results.json": result("acme/A", "20260102-000000", 1),
			c.b + "/results.json": result("acme/A", "20260103-000000", 1),
		})
		var labels []string
		for _, r := range set.Runs {
			for _, p := range r.Points {
				if label := p.Key.Dims[schema.DimLabel]; !slices.Contains(labels, label) {
					labels = append(labels, label)
				}
			}
		}
		if got := strings.Join(labels, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	longer := strings.Replace(result("acme/A", "20260103-000000", 1), `"total_input_tokens":1024`,
		`"total_input_tokens":16384`, 1)
	set := load(t, ingest.Options{}, map[string]string{
		"serve/run1/results.json": result("acme/A", "20260102-000000", 1), "serve/run2/results.json": longer})
	if len(set.Runs) != 2 || set.Runs[0].Points[0].Key.String() == set.Runs[1].Points[0].Key.String() {
		t.Errorf("prompts of 128 and of 2048 tokens are one series: %+v", set.Runs)
	}
}

func TestALongRunWithAPauseInItsMiddleIsOne(t *testing.T) {
	// from 00:00 to 10:00
	long := strings.Replace(result("acme/A", "20260101-100000", 1), `"duration":2.0`, `"duration":36000`, 1)
	set := load(t, ingest.Options{}, map[string]string{
		"a/1.json": long, "a/2.json": result("acme/A", "20260101-020000", 2),
		"a/3.json": result("acme/A", "20260101-090000", 3),
	})
	if len(set.Runs) != 1 {
		t.Errorf("%d runs", len(set.Runs))
	}
}

func TestThreeRunsOfOneId(t *testing.T) {
	files := map[string]string{}
	for _, v := range []string{"v1", "v2", "v3"} {
		files[v+"/"+manifest.FileName] = "id: X\nrelease: " + v + "\n"
		files[v+"/a.json"] = result("acme/A", "20260101-00000"+v[1:], 1)
	}
	set := load(t, ingest.Options{}, files)
	got := map[string]string{}
	for _, r := range set.Runs {
		got[r.ID] = r.Release
	}
	if len(got) != 3 || codes(set.Problems) != "run-id-taken run-id-taken" {
		t.Errorf("%v %v", got, set.Problems)
	}
}

func TestTheSameBytesOfTwoReleasesAreTold(t *testing.T) {
	p, _ := manifest.NewPattern("{release}/*")
	text := result("acme/A", "20260101-000000", 1)
	set := load(t, ingest.Options{
		Patterns: []manifest.Pattern{p},
	}, map[string]string{"v1/a.json": text, "v2/a.json": text})
	if len(set.Problems) != 1 || set.Problems[0].Severity != schema.SevWarning {
		t.Errorf("%v", set.Problems)
	}
}
