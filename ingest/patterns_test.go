package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// A pattern that matches no file is an error with its text and the number of files, also where another one matches; so
// is one that states what the files state already.
func TestPatternThatMatchesNothing(t *testing.T) {
	files := map[string]string{
		"v1/n150/run-c1.json": result("acme/x", "20260101-000000", 1),
		"v1/n150/run-c2.json": result("acme/x", "20260101-000100", 2),
	}
	const whole, short = "{release}/{device}/run-c{concurrency}.json", "{release}/{device}/run-c{concurrency}"
	for _, c := range []struct {
		patterns []string
		severity schema.Severity // of the problem with the short one; "": none
	}{
		{[]string{whole}, ""},
		{[]string{short}, schema.SevError},
		{[]string{whole, short}, schema.SevError},
		{nil, ""},
	} {
		var opt ingest.Options
		for _, text := range c.patterns {
			p, err := manifest.NewPattern(text)
			if err != nil {
				t.Fatal(err)
			}
			opt.Patterns = append(opt.Patterns, p)
		}
		var got schema.Severity
		for _, p := range load(t, opt, files).Problems {
			if p.Code != "pattern" {
				continue
			}
			got = p.Severity
			if p.Path != "--pattern "+short || !strings.Contains(p.Found, "2 files") {
				t.Errorf("%q: %s", c.patterns, p)
			}
		}
		if got != c.severity {
			t.Errorf("%q: %q, want %q", c.patterns, got, c.severity)
		}
	}
}

// A pattern of a manifest or of the command line that says only what is known already, or nothing that the results have
// a place for, is an error.
func TestPatternThatStatesNothingNew(t *testing.T) {
	files := map[string]string{"v1/n150/run-c1.json": result("acme/x", "20260101-000000", 1)}
	p, err := manifest.NewPattern("{release}/*/*")
	if err != nil {
		t.Fatal(err)
	}
	opt := ingest.Options{Patterns: []manifest.Pattern{p}}
	if got := codes(load(t, opt, files).Problems); got != "" {
		t.Error(got)
	}
	files["v1/"+manifest.FileName] = "release: v1\n"
	if got := codes(load(t, opt, files).Problems); got != "pattern" {
		t.Error(got)
	}
	files["v1/"+manifest.FileName] = "pattern: '{release}/*/run-{concurrency}.json'\n"
	if got := codes(load(t, ingest.Options{}, files).Problems); got != "pattern" {
		t.Error(got)
	}
}

// What a pattern states of a workload wins, and what the file had stays beside it; one note says so of all folders.
func TestAPatternCorrectsALoad(t *testing.T) {
	p, err := manifest.NewPattern("isl{isl}_n{n}/*")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("%02d/isl256_n99/a.json", i)] = lengths(result("acme/x", fmt.Sprintf("202601%02d-000000", i+1), 1))
	}
	set := load(t, ingest.Options{Patterns: []manifest.Pattern{p}}, files)
	if got := codes(set.Problems); got != "contradiction" {
		t.Errorf("problems %s", got)
	}
	for _, p := range points(set) {
		if *p.Key.ISL != 256 || p.Conditions["num_prompts"] != "99" || string(p.Extra["isl_by_the_file"]) != "128" {
			t.Fatalf("%+v %v %s", p.Key, p.Conditions, p.Extra)
		}
	}
}

// What a pattern states wins over what a table in the file calls it, as a name and as an id.
func TestAPatternNamesTheModel(t *testing.T) {
	p, err := manifest.NewPattern("{model}/*")
	if err != nil {
		t.Fatal(err)
	}
	set := load(t, ingest.Options{Patterns: []manifest.Pattern{p}}, map[string]string{
		"Qwen3.5-35B/a.json": result("qwen35moe", "20260101-000000", 1),
		"Qwen3.6-35B/a.json": result("qwen35moe", "20260102-000000", 1),
	})
	if len(set.Runs) != 2 || set.Runs[0].Model.Name != "Qwen3.5-35B" || set.Runs[0].Model.ID != "" ||
		set.Runs[0].Provenance["model.name"].Over != "qwen35moe by the file" {
		t.Errorf("%+v %+v", set.Runs[0].Model, set.Runs[0].Provenance)
	}
}

// A pattern gives the same runs in a manifest above the folders as on the command line: such a manifest is of many
// runs. A model that one file of a folder knows by its name alone, and another by its id, is one. What the pattern
// reads is no part of a label.
func TestPatternOfManyRuns(t *testing.T) {
	const pattern = "results_{device}/{_}_{model}_tp*"
	bench := strings.Replace(result("acme/tiny-8b", "", 1), `"date":"",`, "", 1)
	offline := `{"elapsed_time":12.5,"num_requests":100,"total_num_tokens":51200,"requests_per_second":8.125,` +
		`"tokens_per_second":4096.25}`
	files := map[string]string{}
	for i, device := range []string{"a100", "h100"} {
		files["results_"+device+"/acme_tiny-8b_tp1_serve.json"] = strings.Replace(bench, `"mean_ttft_ms":10`,
			[]string{`"mean_ttft_ms":10.137`, `"mean_ttft_ms":7.219`}[i], 1)
		files["results_"+device+"/acme_tiny-8b_tp1_offline.json"] = strings.Replace(offline, "12.5",
			[]string{"12.517", "9.731"}[i], 1)
	}
	p, err := manifest.NewPattern(pattern)
	if err != nil {
		t.Fatal(err)
	}
	flag := load(t, ingest.Options{Patterns: []manifest.Pattern{p}}, files)
	files["ttreport.manifest.yaml"] = "pattern: \"" + pattern + "\"\n"
	for name, set := range map[string]ingest.Set{"flag": flag, "manifest": load(t, ingest.Options{}, files)} {
		if len(set.Runs) != 2 {
			t.Fatalf("%s: %d runs, want one a device: %v", name, len(set.Runs), set.Grouping)
		}
		for i, run := range set.Runs {
			if run.Model.ID != "acme/tiny-8b" || len(run.Points) != 2 || run.ID != flag.Runs[i].ID {
				t.Errorf("%s: %s on %s with %d points, %s", name, run.Model.ID, run.Device.Name, len(run.Points), run.ID)
			}
			for _, point := range run.Points {
				if label := point.Key.Dims[schema.DimLabel]; label != "tp1_serve" && label != "tp1_offline" {
					t.Errorf("%s: label %q", name, label)
				}
			}
		}
	}
}

// A manifest has a pattern on each line: the first that matches a file counts, and one that cannot be read is an error.
func TestSeveralPatternsOfAManifest(t *testing.T) {
	files := map[string]string{
		"bench/h100/t/01/r.json": result("acme/x", "20260101-000000", 1),
		"evals/acme/a100/r.json": result("acme/x", "20260102-000000", 2),
		manifest.FileName:        "pattern: |\n  bench/{device}/*/*/*\n  {device}/*\n",
	}
	var devices []string
	set := load(t, ingest.Options{}, files)
	for _, r := range set.Runs {
		devices = append(devices, r.Device.Name)
	}
	if got := strings.Join(devices, " "); got != "h100 a100" || len(set.Problems) > 0 {
		t.Errorf("%s %v", got, set.Problems)
	}
	files[manifest.FileName] = "pattern: |\n  {device}/*\n  {gpu}/*\n"
	if p := load(t, ingest.Options{}, files).Problems; len(p) != 1 || p[0].Code != "bad-manifest" ||
		!strings.Contains(p[0].Found, "it names {gpu}") {
		t.Errorf("%v", p)
	}
}

// A point whose folder is called after its load is of the run of the folder above: by itself each would be a build.
func TestFoldersOfLoads(t *testing.T) {
	files := map[string]string{}
	for i, c := range []int{1, 4, 16} {
		name := fmt.Sprintf("m/01/%d-isl128-osl64/r.json", c)
		files[name] = lengths(result("acme/x", fmt.Sprintf("20260101-00000%d", i), c))
	}
	if set := load(t, ingest.Options{}, files); len(set.Runs) != 1 || len(points(set)) != 3 {
		t.Errorf("%d runs, %v", len(set.Runs), set.Problems)
	}
}
