package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/library"
)

// misspeltModels warns of targets whose model was not measured, where one of nearly the same name was: they would grade
// nothing, and a required one would never fail.
func misspeltModels(lib *library.Library, runs []schema.Run) []schema.Problem {
	names := map[string]bool{} // of what was measured, as targets may call it
	var measured []string
	for i := range runs {
		m := &runs[i].Model
		for _, name := range []string{m.Name, m.ID, m.Key, lib.Key(m.Name)} {
			names[strings.ToLower(name)] = true
		}
		if m.Name != "" && !slices.Contains(measured, m.Name) {
			measured = append(measured, m.Name)
		}
	}
	var out []schema.Problem
	warned := map[string]bool{}
	for _, e := range lib.List() {
		if names[strings.ToLower(e.Model)] || warned[e.Model] || len(e.Targets) == 0 {
			continue
		}
		at := slices.IndexFunc(measured, func(name string) bool { return nearlyNamed(e.Model, name) })
		if at < 0 {
			continue
		}
		warned[e.Model] = true
		path, _, _ := strings.Cut(e.Targets[0].Source, "#")
		out = append(out, schema.Problem{Severity: schema.SevWarning, Path: path, Code: "unknown-model",
			Found:    fmt.Sprintf("targets of model %q, which was not measured", e.Model),
			Expected: "the name of a model as results state it", Hint: "did you mean " + measured[at] + "?"})
	}
	return out
}

// nearlyNamed reports whether two names differ in punctuation, or in one letter that is missing or two that are
// swapped. A replaced letter or another digit makes another model: gemma-7b-it and gemma-7b-pt.
func nearlyNamed(a, b string) bool {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	digits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return r
			}
			return -1
		}, s)
	}
	x, y := plain(a), plain(b)
	swapped := func() bool {
		p, q := []rune(x), []rune(y)
		slices.Sort(p)
		slices.Sort(q)
		return slices.Equal(p, q)
	}
	return x == y || digits(x) == digits(y) && len(x) > 5 && editDistance(x, y) == 1 && (len(x) != len(y) || swapped())
}
