package targets

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

// A tier is reached when nothing at it or below it is open, and never by what was not measured.
func TestTier(t *testing.T) {
	for name, tt := range map[string]struct {
		given [][2]string // level and word
		want  string
	}{
		"no targets":           {nil, ""},
		"ungraded":             {[][2]string{{"functional", "ungraded"}}, ""},
		"only a reference":     {[][2]string{{"reference", "pass"}}, ""},
		"all":                  {[][2]string{{"functional", "pass"}, {"complete", "pass"}, {"target", "pass"}}, "target"},
		"the middle":           {[][2]string{{"functional", "pass"}, {"complete", "pass"}, {"target", "fail"}}, "complete"},
		"not shown to be met":  {[][2]string{{"functional", "pass"}, {"complete", "inconclusive"}, {"target", "pass"}}, "functional"},
		"one of two":           {[][2]string{{"functional", "pass"}, {"functional", "missing"}}, NoTier},
		"the lowest fails":     {[][2]string{{"functional", "fail"}, {"target", "pass"}}, NoTier},
		"only the highest":     {[][2]string{{"target", "pass"}}, "target"},
		"impossible, not open": {[][2]string{{"functional", "pass"}, {"target", "impossible"}}, "functional"},
	} {
		r := rungs{}
		for _, g := range tt.given {
			r.count(&schema.Verdict{Level: g[0], Word: g[1]})
		}
		if got := r.tier(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
