package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/judge"
)

// sweep is one workload over concurrency.
type sweep struct {
	name   string // ISL/OSL and tool
	key    schema.Key
	series map[string]map[float64]*judge.Series // by metric and concurrency
	at     []float64                            // concurrencies, ascending
}

// statOf is the statistic that a sweep draws of a metric: means, or medians where a file has no mean.
func (w *sweep) statOf(metric string) string {
	mean, median := false, false
	for _, s := range w.series[metric] {
		median = median || s.Stat == "median"
		mean = mean || s.Stat != "median"
	}
	switch {
	case mean && median:
		return "mean or median"
	case median:
		return "median"
	}
	return "mean"
}

// sweeps finds the workloads of a model and device that were measured at three concurrencies or more, those with most
// first.
func (r *Report) sweeps(pair Pair) []sweep {
	const fewest, most = 3, 2
	type all struct{ impl, key string } // of a series but its concurrency
	var by groups[all, sweep]
	impls := map[string]bool{}
	for _, s := range r.series[pair.Pair] {
		k := s.Key
		if k.Concurrency == nil || k.Rate != nil || !slices.Contains([]string{"tpot", "ttft", "output_tps"}, s.Metric) ||
			!slices.Contains(append(schema.CenterStats(), ""), s.Stat) {
			continue
		}
		c := *k.Concurrency
		k.Concurrency = nil
		w, known := by.of(all{s.Impl, k.String()})
		if !known {
			*w = sweep{words.WorkloadOverLoads(k), k, map[string]map[float64]*judge.Series{}, nil}
			impls[s.Impl] = true
		}
		if w.series[s.Metric] == nil {
			w.series[s.Metric] = map[float64]*judge.Series{}
		}
		if w.series[s.Metric][c] == nil || s.Stat != "median" {
			w.series[s.Metric][c] = s
		}
	}
	for i := range by.list {
		by.list[i].at = slices.Sorted(maps.Keys(by.list[i].series["output_tps"]))
		for id, at := range by.at {
			if at == i && len(impls) > 1 && id.impl != "" {
				by.list[i].name += ", " + id.impl
			}
		}
	}
	out := slices.DeleteFunc(by.list, func(w sweep) bool { return len(w.at) < fewest })
	slices.SortStableFunc(out, func(a, b sweep) int { return cmp.Compare(len(b.at), len(a.at)) })
	return out[:min(most, len(out))]
}

// curveSection draws output against speed per user and against the wait for the first token, one line a release.
func (r *Report) curveSection(pair Pair) Section {
	s := Section{ID: "curves", Title: "Throughput against speed and against wait",
		Intro: "Each mark is one concurrency. Filled marks are worth choosing: no other gives more output at no worse a " +
			"speed. The newest release is bold, the one before it dashed."}
	const lines = 4
	for n, w := range r.sweeps(pair) {
		releases := r.with[pair.Pair]
		sweeps := r.sweepsOf(w, releases[max(0, len(releases)-lines):])
		block := Curves{Name: w.name, Table: curvesTable(w.name, sweeps).cut("data/ has all, by release")}
		for _, c := range []struct {
			Curve
			unit string
			x    func(sweepPoint) schema.Number
		}{
			{Curve{ID: "speed", Title: "Output against speed", Right: true,
				XTitle: "speed per user by " + w.statOf("tpot") + " TPOT, tok/s (right is better)"},
				"tok/s/user", func(p sweepPoint) schema.Number { return p.speed }},
			{Curve{ID: "wait", Title: "Output against wait", XTitle: w.statOf("ttft") + " TTFT, ms (left is better)"},
				"ms TTFT", func(p sweepPoint) schema.Number { return p.ttft }},
		} {
			c.ID = fmt.Sprintf("curve-%d-%s", n+1, c.ID)
			c.Title += ", " + w.name
			c.YTitle = "output, tok/s"
			if drawn := drawnCurve(c.Curve, sweeps, c.unit, c.x); len(drawn.Lines) > 0 {
				block.Curves = append(block.Curves, drawn)
			}
		}
		if len(block.Curves) > 0 {
			s.Blocks = append(s.Blocks, block)
		}
	}
	if t := r.curveChanges(pair); t != nil {
		s.Blocks = append(s.Blocks, t)
	}
	return s
}

// curveChanges compares the curves of the newest two releases of a model on a device.
func (r *Report) curveChanges(pair Pair) *Table {
	releases := r.with[pair.Pair]
	if len(releases) < 2 {
		return nil
	}
	a, b := releases[len(releases)-2], releases[len(releases)-1]
	list := compare.ReleaseCurves(r.Gate.Judgement, a, b, func(h *columns.RunHead) bool {
		return h.Pair() == pair.Pair
	}, false)
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

// sweepsOf are the numbers of a workload in some releases, oldest first.
func (r *Report) sweepsOf(w sweep, releases []int) []releaseSweep {
	var out []releaseSweep
	ages := []Age{Newest, Previous, Older}
	for i, ri := range releases {
		s := releaseSweep{name: r.Releases[ri].Name, age: ages[min(len(ages)-1, len(releases)-1-i)]}
		for _, c := range w.at {
			p := sweepPoint{
				concurrency: c, output: valueAt(w.series["output_tps"][c], ri),
				ttft: valueAt(w.series["ttft"][c], ri),
			}
			p.speed = valueAt(w.series["tpot"][c], ri)
			if tpot, ok := p.speed.Get(); ok {
				p.speed = schema.Num(1000 / tpot) // ms to tok/s
			}
			s.at = append(s.at, p)
		}
		out = append(out, s)
	}
	return out
}

// whole is a concurrency as people write it.
func whole(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func valueAt(s *judge.Series, release int) schema.Number {
	if s != nil {
		if v, ok := s.At(release); ok {
			return schema.Num(v)
		}
	}
	return schema.Missing("not measured")
}
