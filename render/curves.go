package render

import (
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/compare"
)

// curveChanges compares the curves of the newest two releases of a model on a device.
func (r *Report) curveChanges(pair Pair) *Table {
	releases := r.with[pair.Pair]
	if len(releases) < 2 {
		return nil
	}
	a, b := releases[len(releases)-2], releases[len(releases)-1]
	runs := func(release int) []int { return r.runs[pair.Pair][release] }
	list := compare.ReleaseCurves(r.Gate.Judgement, a, b, runs, false)
	if len(list) == 0 {
		return nil
	}
	output := "output"
	if list[0].PerChip {
		output += " per accelerator"
	}
	sides := r.Releases[b].Name + " against " + r.Releases[a].Name
	return tableOf("Curves, "+sides, List, list, []Column[compare.Curve]{
		{col(sides).in("workload"), func(c compare.Curve) Cell {
			cell := head(words.WorkloadOverLoads(c.Key), "")
			cell.Sub = "against " + words.CurveAxis(c.Axis)
			return cell
		}},
		{medium("As a whole").in("95 % interval"), func(c compare.Curve) Cell { return text(words.CurveWhole(&c)) }},
		{medium("At a level").in(output), func(c compare.Curve) Cell { return text(words.CurveAt(&c, r.Releases[b].Name)) }},
		{medium("Where").in("of levels"), func(c compare.Curve) Cell { return text(words.CurveWhere(&c)) }},
	})
}

// deviceCurves compares a model on its devices, each two by the runs of their newest releases: how much more one gives
// at a level, and where. A device whose release was measured in several configurations is left out.
func (r *Report) deviceCurves(model string) *Table {
	type row struct {
		a, b Pair
		compare.Curve
	}
	var list []row
	runs := func(p Pair) []int {
		list := r.runs[p.Pair][p.Newest]
		for _, run := range list {
			h, first := &r.Columns.Runs[run], &r.Columns.Runs[list[0]]
			if h.Impl != first.Impl || h.Engine != first.Engine || h.Model.Precision != first.Model.Precision ||
				h.Chips != first.Chips {
				return nil
			}
		}
		return list
	}
	const most = 6 // devices: fifteen pairs
	pairs := r.shownOf[model]
	for i, b := range pairs[:min(most, len(pairs))] {
		for _, a := range pairs[:i] {
			for _, c := range compare.DeviceCurves(r.Columns, runs(a), runs(b)) {
				list = append(list, row{a, b, c})
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return tableOf("Curves of two devices", List, list, []Column[row]{
		{col("Devices"), func(x row) Cell {
			c := head(x.b.Device+" against "+x.a.Device, "")
			c.Sub = words.WorkloadOverLoads(x.Key) + " against " + words.CurveAxis(x.Axis)
			return c
		}},
		{medium("Output").in("at a level, 95 % interval"), func(x row) Cell {
			c := text(words.CurveAt(&x.Curve, x.b.Device))
			if x.PerChip {
				c.Sub = "per accelerator"
			}
			return c
		}},
		{medium("Where").in("of levels"), func(x row) Cell { return text(words.CurveWhere(&x.Curve)) }},
	}).cut("data/ has the numbers")
}
