package regression_test

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"math"
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

// Half of the workloads of a model are 10 % slower: that is no shift of the model, which would hide them, and the other
// half did not move.
func TestHalfOfASystemIsNoShift(t *testing.T) {
	cells := quiet(51, 42, 8, .004)
	for i := range 7 {
		cells[i][7] *= 1.085
		cells[i+7][7] *= 1.012
	}
	tab := systems(cells)
	j := judge(t, tab)
	for i := range 14 {
		row := j.Rows[tab.Cells[i].First+7]
		if slower := i < 7; (row.Word == schema.Regressed) != slower || row.Why == schema.WhyShift {
			t.Errorf("cell %d: %+v", i, row)
		}
	}
}

// What another model did in the first run as in the second says nothing of the host of the second.
func TestOtherSystemsDoNotMoveARecheck(t *testing.T) {
	cells := quiet(52, 56, 8, .004)
	for i := range 7 {
		cells[i][7] *= 1.1
	}
	for i := 14; i < 42; i++ { // two models became faster
		cells[i][7] *= .9
	}
	tab := systems(cells)
	again := quiet(53, 56, 1, .004)
	for i := range tab.Cells {
		o := &tab.Obs[tab.Cells[i].First+7]
		o.Z2, o.K2, o.R2 = o.Z+math.Log(again[i][0]/100), 1, 1
	}
	j := judge(t, tab)
	for i := range 14 {
		row := j.Rows[tab.Cells[i].First+7]
		slower := i < 7
		if want := map[bool]float64{true: math.Log(1.1)}[slower]; math.Abs(row.D-want) > .02 {
			t.Errorf("cell %d changed by %.3f, want %.3f", i, row.D, want)
		}
		if confirmed := row.Evidence == schema.Confirmed; confirmed != slower {
			t.Errorf("cell %d: %+v", i, row)
		}
	}
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
