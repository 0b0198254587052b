package gate

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

// A level is reached when nothing at or below it is open; targets that were not measured are open.
func TestReachedLevel(t *testing.T) {
	const functional, complete, target = schema.LevelFunctional, schema.LevelComplete, schema.LevelTarget
	type at struct {
		level   string
		outcome schema.Outcome
	}
	for name, c := range map[string]struct {
		given []at
		want  string
	}{
		"no targets":       {nil, ""},
		"none that covers": {[]at{{functional, schema.NoTarget}}, ""},
		"only a reference": {[]at{{schema.LevelReference, schema.Pass}}, ""},
		"all":              {[]at{{functional, schema.Pass}, {complete, schema.Pass}, {target, schema.Pass}}, target},
		"the middle":       {[]at{{functional, schema.Pass}, {complete, schema.Pass}, {target, schema.Fail}}, complete},
		"not shown to be met": {
			[]at{{functional, schema.Pass}, {complete, schema.Inconclusive}, {target, schema.Pass}}, functional},
		"one of two":             {[]at{{functional, schema.Pass}, {functional, schema.NotMeasured}}, NoLevel},
		"the lowest fails":       {[]at{{functional, schema.Fail}, {target, schema.Pass}}, NoLevel},
		"only the highest":       {[]at{{target, schema.Pass}}, target},
		"unattainable, not open": {[]at{{functional, schema.Pass}, {target, schema.Unattainable}}, functional},
	} {
		l := levels{}
		for _, g := range c.given {
			l.count(&schema.Verdict{Level: g.level, Outcome: g.outcome})
		}
		if got := l.reached(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
