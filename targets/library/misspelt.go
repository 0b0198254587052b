package library

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Misspelt warns of targets whose model was not measured, where one of nearly the same name was: they would grade
// nothing, and a required one would never fail.
func (l *Library) Misspelt(runs []schema.Run) []schema.Problem {
	names := map[string]bool{} // of what was measured, as targets may call it
	var measured []string
	for i := range runs {
		m := &runs[i].Model
		for _, name := range []string{m.Name, m.ID, m.Key, l.Key(m.Name)} {
			names[strings.ToLower(name)] = true
		}
		if m.Name != "" && !slices.Contains(measured, m.Name) {
			measured = append(measured, m.Name)
		}
	}
	var out []schema.Problem
	for _, e := range l.List() {
		if names[strings.ToLower(e.Model)] || len(e.Targets) == 0 {
			continue
		}
		at := slices.IndexFunc(measured, func(name string) bool { return nearlyNamed(e.Model, name) })
		if at < 0 {
			continue
		}
		names[strings.ToLower(e.Model)] = true // one warning for all its devices
		path, _, _ := strings.Cut(e.Targets[0].Source, "#")
		out = append(out, schema.Problem{Severity: schema.SevWarning, Path: path, Code: "unknown-model",
			Found:    fmt.Sprintf("targets of model %q, which was not measured", e.Model),
			Expected: "the name of a model as results state it", Hint: "did you mean " + measured[at] + "?"})
	}
	return out
}

// nearlyNamed reports whether two names differ in punctuation, or in one letter that is missing or two neighbours that
// are swapped. A replaced letter or another digit makes another model: gemma-7b-it and gemma-7b-pt.
func nearlyNamed(a, b string) bool {
	only := func(s string, is func(rune) bool) string {
		return strings.Map(func(r rune) rune {
			if is(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	plain := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	x, y := only(a, plain), only(b, plain)
	if x == y || only(x, unicode.IsDigit) != only(y, unicode.IsDigit) || len(x) < 6 {
		return x == y
	}
	alike := 0 // letters at the beginning
	for alike < min(len(x), len(y)) && x[alike] == y[alike] {
		alike++
	}
	x, y = x[alike:], y[alike:]
	for len(x)*len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return len(x)+len(y) == 1 || len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
}
