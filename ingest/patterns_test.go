package ingest_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// A pattern that matches no file is an error with its text and the number of files; where another one matches, a
// warning.
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
		{[]string{whole, short}, schema.SevWarning},
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
