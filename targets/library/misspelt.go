package library

import (
	"fmt"
	"slices"
	"strings"

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
		at := slices.IndexFunc(measured, func(name string) bool { return schema.NearlyNamed(e.Model, name) })
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
