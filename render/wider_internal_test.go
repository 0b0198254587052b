package render

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// A part of a release is compared as one family with the rest of it: counts of the whole are not counts of the part.
func TestFitOfAPart(t *testing.T) {
	fit := gate.Fit{Cells: 40, Wider: true, Shown: judge.Sensitivity{Series: 40, Least: .1, Hidden: 9}}
	if got := words.Fit(fit); !strings.HasPrefix(got, "The release as a whole: 40 numbers compared as one family") {
		t.Error(got)
	}
	for wider, counted := range map[bool]bool{true: false, false: true} {
		fit.Wider = wider
		got := words.Basis(gate.Basis{Compared: 1, Unchanged: 1}, fit)
		if strings.Contains(got, "9 could hide") != counted {
			t.Errorf("of a part %v: %s", wider, got)
		}
	}
}
