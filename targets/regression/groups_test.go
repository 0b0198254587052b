package regression_test

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"math"
	"slices"
	"testing"

	"github.com/ttreport/ttreport/targets/regression"
)

// systems is a history of systems of 14 cells each on one device.
func systems(cells [][]float64) *regression.Table {
	tab := history(.05, cells...)
	for i := range tab.Cells {
		tab.Cells[i].System = int32(i / 14)
	}
	return tab
}

// Half of the workloads of a model are 10 % slower: half is what is named, and the other half did not move.
func TestHalfOfASystemIsFoundAsHalf(t *testing.T) {
	cells := quiet(51, 42, 9, .004)
	for i := range 7 {
		for r := 7; r < 9; r++ {
			cells[i][r] *= 1.085
			cells[i+7][r] *= 1.012
		}
	}
	tab := systems(cells)
	for i := range tab.Cells { // two metrics of each workload
		tab.Cells[i].Stratum, tab.Cells[i].Point = int32(i%2), int32(i/2)
	}
	tab.Strata = 2
	j := judge(t, tab)
	for i := range 14 {
		row := j.Rows[tab.Cells[i].First+8]
		if slower := i < 7; (row.Word == schema.Regressed && row.Evidence == schema.Confirmed) != slower {
			t.Errorf("cell %d: %+v", i, row)
		}
	}
	for _, f := range j.Findings {
		if f.Release == 8 && (!f.Part || f.Kind != regression.OfSystem || len(f.Members) != 7) {
			t.Errorf("%+v", f)
		}
	}
}

// What is part of a change is told by all runs that show it: not by the newest alone, and not against that.
func TestMembersOverTheRunsOfAChange(t *testing.T) {
	cells := quiet(57, 42, 9, .004)
	for i := range 7 {
		cells[i][7] *= 1.10
		cells[i][8] *= 1.10
	}
	cells[0][7], cells[0][8] = cells[0][7]*1.04, cells[0][8]/1.06 // by chance
	cells[13][8] *= 1.055
	tab := systems(cells)
	for i := range tab.Cells {
		tab.Cells[i].Stratum, tab.Cells[i].Point = int32(i%2), int32(i/2)
	}
	tab.Strata = 2
	j := judge(t, tab)
	for _, f := range j.Findings {
		if f.Release != 8 {
			continue
		}
		if members := slices.Sorted(slices.Values(f.Members)); !slices.Equal(members, []int32{0, 1, 2, 3, 4, 5, 6}) {
			t.Errorf("%v of %+v", members, f)
		}
		return
	}
	t.Error("no group is found")
}

// A history that begins at twice its later speed is no baseline, and no level of the machine is made of it.
func TestFirstReleaseApart(t *testing.T) {
	cells := quiet(54, 14, 8, .01)
	for i := range cells {
		cells[i][0] *= 2.4
		cells[i][7] *= 2.4
	}
	tab := systems(cells)
	j := judge(t, tab)
	for i := range tab.Cells {
		for r := int32(4); r < 7; r++ {
			if row := j.Rows[tab.Cells[i].First+r]; math.Abs(row.D) > .05 {
				t.Errorf("cell %d did not move in release %d: %.3f", i, r, row.D)
			}
		}
		if row := j.Rows[tab.Cells[i].First+7]; math.Abs(row.D-math.Log(2.4)) > .05 {
			t.Errorf("cell %d changed by %.3f, want %.3f", i, row.D, math.Log(2.4))
		}
	}
}
