package ingest_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// A release of nothing but copies of another release's files is there, with an error; a single copy is left out of a
// release that measured others, with a warning of its run. The earlier release by name is the one that measured.
func TestCopiesOfAnotherRelease(t *testing.T) {
	p, err := manifest.NewPattern("{release}/{device}/*")
	if err != nil {
		t.Fatal(err)
	}
	one, two := result("acme/x", "20260101-000000", 1), result("acme/x", "20260101-000100", 2)
	for _, c := range []struct {
		name     string
		files    map[string]string
		points   map[string]int // by release
		of       string         // the release with the copies
		severity schema.Severity
	}{
		{"all", map[string]string{
			"v0.9/n150/1.json": one, "v0.9/n150/2.json": two, "v0.10/n150/1.json": one, "v0.10/n150/2.json": two,
		}, map[string]int{"v0.9": 2, "v0.10": 2}, "v0.10", schema.SevError},
		{"one", map[string]string{
			"v0.9/n150/1.json": one, "v0.10/n150/1.json": one, "v0.10/n150/2.json": two,
		}, map[string]int{"v0.9": 1, "v0.10": 1}, "v0.10", schema.SevWarning},
		{"all of one device", map[string]string{
			"v0.9/n150/1.json": one, "v0.10/n150/1.json": one, "v0.10/t3k/2.json": two,
		}, map[string]int{"v0.9": 1, "v0.10": 2}, "v0.10", schema.SevError},
		{"none", map[string]string{
			"v0.9/n150/1.json": one, "v0.10/n150/2.json": two,
		}, map[string]int{"v0.9": 1, "v0.10": 1}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := load(t, ingest.Options{Patterns: []manifest.Pattern{p}}, c.files)
			points, found := map[string]int{}, false
			for i := range set.Runs {
				r := &set.Runs[i]
				points[r.Release] += len(r.Points)
				for _, x := range r.Problems {
					if x.Code != schema.CodeCopy {
						continue
					}
					found = true
					if r.Release != c.of || x.Severity != c.severity || !strings.Contains(x.Found, "v0.9/n150/") {
						t.Errorf("%s: %+v", r.Release, x)
					}
				}
			}
			for release, n := range c.points {
				if points[release] != n {
					t.Errorf("%s has %d points, want %d", release, points[release], n)
				}
			}
			if found != (c.of != "") {
				t.Errorf("found %v: %+v", found, set.Problems)
			}
		})
	}
}
