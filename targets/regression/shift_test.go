package regression_test

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/targets/regression"
)

// A whole device that becomes slower is one finding, and none of its cells is unchanged or improved.
func TestRunWideShift(t *testing.T) {
	cells := quiet(10, 40, 7, .01)
	for i := range cells {
		cells[i][5] *= 1.1
		cells[i][6] *= 1.1
	}
	cells[3][5] = 100 // one cell that did not move with the others
	tab := history(.05, cells...)
	j := judge(t, tab)
	var found []regression.Finding
	for _, f := range j.Findings {
		if f.Release >= 5 {
			found = append(found, f)
		}
	}
	if len(found) != 2 || found[0].Word != regression.Regressed || found[0].Evidence != regression.Suspected ||
		found[1].Evidence != regression.Confirmed || math.Abs(math.Expm1(found[0].D)-.1) > .02 {
		t.Fatalf("%+v", found)
	}
	shifted := 0
	for c := range cells {
		r := j.Rows[tab.Cells[c].First+5]
		if r.Word == regression.Unchanged || r.Word == regression.Improved {
			t.Errorf("cell %d of a slower device: %+v", c, r)
		}
		if r.Why == regression.WhyShift {
			shifted++
		}
	}
	if shifted < 35 {
		t.Errorf("only %d cells name the shift", shifted)
	}
}

// Later runs of a release decide what its first one shows of a whole device.
func TestShiftRechecked(t *testing.T) {
	for name, c := range map[string]struct {
		again float64
		want  string
		why   regression.Why
	}{"seen again": {1.1, "W", regression.WhyRecheck}, "not seen again": {1, "o", regression.WhyNotSeenAgain}} {
		cells := quiet(7, 30, 8, .005)
		for i := range cells {
			cells[i][7] *= 1.1
		}
		tab := history(.05, cells...)
		for i := range tab.Cells {
			o := &tab.Obs[tab.Cells[i].First+7]
			o.Z2, o.K2, o.R2 = o.Z+math.Log(c.again/1.1), 1, 1
		}
		j := judge(t, tab)
		f := j.Findings[len(j.Findings)-1]
		confirmed := f.Evidence == regression.Confirmed
		if got := words(tab, j, 3); got[7:] != c.want || f.Why != c.why || confirmed != (c.want == "W") {
			t.Errorf("%s: reads %s, finding %+v", name, got, f)
		}
	}
}
