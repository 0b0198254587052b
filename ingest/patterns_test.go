package ingest_test

import (
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
