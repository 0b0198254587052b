package render_test

import (
	"testing"

	"github.com/ttreport/ttreport/render"
)

// Levels that the gate decided are named, the newest first; those that only the drawing has are on no page of changes.
func TestLevelsOfAPanel(t *testing.T) {
	p := render.Panel{Steps: []render.Step{
		{At: 1, Level: "changes/#a"}, {At: 2}, {At: 3, Level: "changes/#b"}, {At: 4, Level: "changes/#c"},
		{At: 5, Level: "changes/#d"}, {At: 6},
	}}
	var at []int
	for _, s := range p.Levels() {
		at = append(at, s.At)
	}
	if len(at) != 3 || at[0] != 5 || at[1] != 4 || at[2] != 3 {
		t.Errorf("levels of releases %v", at)
	}
}
