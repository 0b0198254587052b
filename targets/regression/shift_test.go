package regression_test

import (
	"github.com/ttreport/ttreport/ingest/schema"
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
	if len(found) != 2 || found[0].Word != schema.Regressed || found[0].Evidence != schema.Suspected ||
		found[1].Evidence != schema.Confirmed || math.Abs(math.Expm1(found[0].D)-.1) > .02 {
		t.Fatalf("%+v", found)
	}
	shifted := 0
	for c := range cells {
		r := j.Rows[tab.Cells[c].First+5]
		if r.Word == schema.Unchanged || r.Word == schema.Improved {
			t.Errorf("cell %d of a slower device: %+v", c, r)
		}
		if r.Why == schema.WhyGroup {
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
		why   schema.Why
	}{"seen again": {1.1, "W", schema.WhyRecheck}, "not seen again": {1, "o", schema.WhyNotSeenAgain}} {
		cells := quiet(7, 30, 8, .005)
		for i := range cells {
			cells[i][7] *= 1.1
		}
		tab := history(.05, cells...)
		for i := range tab.Cells {
			o := &tab.Obs[tab.Cells[i].First+7]
			o.Z2, o.K2 = o.Z+math.Log(c.again/1.1), 1
		}
		j := judge(t, tab)
		f := j.Findings[len(j.Findings)-1]
		confirmed := f.Evidence == schema.Confirmed
		if got := words(tab, j, 3); got[7:] != c.want || f.Why != c.why || confirmed != (c.want == "W") {
			t.Errorf("%s: reads %s, finding %+v", name, got, f)
		}
	}
}

// Where a device is measured on several hosts, one of them alone confirms no movement of it, whichever way it is seen
// again; another one does.
func TestAnotherHostConfirmsAShift(t *testing.T) {
	for name, c := range map[string]struct {
		hosts string // of each release
		again bool   // the first release that has it is measured twice
		want  [2]schema.Evidence
	}{
		"not stated":        {"--------", false, [2]schema.Evidence{schema.Suspected, schema.Confirmed}},
		"one host":          {"aaaaaaaa", false, [2]schema.Evidence{schema.Suspected, schema.Confirmed}},
		"in turns":          {"abababab", false, [2]schema.Evidence{schema.Suspected, schema.Confirmed}},
		"the same twice":    {"abababaa", false, [2]schema.Evidence{schema.Suspected, schema.Suspected}},
		"a re-run there":    {"abababaa", true, [2]schema.Evidence{schema.Suspected, schema.Suspected}},
		"a re-run, one":     {"aaaaaaaa", true, [2]schema.Evidence{schema.Confirmed, schema.NoEvidence}},
		"re-run, elsewhere": {"abababaa", true, [2]schema.Evidence{schema.Confirmed, schema.NoEvidence}},
	} {
		cells := quiet(7, 30, 8, .005)
		for i := range cells {
			cells[i][6] *= 1.1
			cells[i][7] *= 1.1
		}
		tab := history(.05, cells...)
		for i := range tab.Obs {
			o := &tab.Obs[i]
			if h := int16(c.hosts[o.Release]); h != '-' {
				o.Host = h
			}
			if c.again && o.Release == 6 {
				if o.Z2, o.K2, o.Host2 = o.Z, 1, o.Host; name == "re-run, elsewhere" {
					o.Host2 = 'b'
				}
			}
		}
		j := judge(t, tab)
		for _, f := range j.Findings {
			if i := int(f.Release) - 6; i >= 0 && f.Evidence != c.want[i] {
				t.Errorf("%s, release %d of the change: %+v, want %v", name, i+1, f, c.want[i])
			}
		}
	}
}
