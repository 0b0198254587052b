package targets

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/validity"
)

// slow names what became worse so slowly that no release failed: steps that the search found in this release, whose cost began
// earlier, and creeps of the level that holds which add up to more than matters. They are warnings: a gate that failed on them
// would blame the release in which they were noticed for what others did.
func (j *Judgement) slow(release int) []schema.Lint {
	var found []slowness
	for _, l := range j.rows.ChangePoints {
		if int(l.Found) == release && l.Source == regression.BySearch && l.D >= j.table.Cells[l.Cell].Delta {
			s := j.step(l)
			found = append(found, slowness{"late-step", s.Series, s.Effect, map[string]string{"since": s.At, "percent": num2(100 * math.Abs(s.Effect)), "p": num2(s.P)}})
		}
	}
	for _, d := range j.creeps(release) {
		total := relative(sign(d.Series.Metric), d.slope*float64(d.N-1))
		found = append(found, slowness{"creep", d.Series, total, map[string]string{"n": strconv.Itoa(d.N), "each": num2(100 * math.Abs(d.Effect)), "percent": num2(100 * math.Abs(total)), "p": num2(d.P)}})
	}
	return j.fold(release, found)
}

// slowness is one number that became worse slowly.
type slowness struct {
	id     string
	s      *Series
	effect float64
	args   map[string]string
}

// fold makes one lint of a metric on a pair, told by its worst case.
func (j *Judgement) fold(release int, found []slowness) []schema.Lint {
	slices.SortStableFunc(found, func(a, b slowness) int { return cmp.Compare(b.effect, a.effect) })
	type place struct{ id, model, device, metric string }
	at := map[place]int{}
	var out []schema.Lint
	for _, f := range found {
		id := place{f.id, f.s.Model, f.s.Device, f.s.Metric}
		if i, seen := at[id]; seen {
			out[i].Count++
			continue
		}
		at[id] = len(out)
		f.args["metric"] = f.s.Metric
		out = append(out, schema.Lint{ID: f.id, Severity: validity.Severity(f.id), Release: j.Releases[release].Name, Model: f.s.Model, Device: f.s.Device, Subject: f.s.Key.Workload(), Count: 1,
			Reason: schema.Reason{Code: "lint-" + f.id, Args: f.args}})
	}
	return out
}

// creeps are the drifts of what a release measured that have added up to more than matters since the last level that anybody was
// told of. All series with enough history are
// their family, so that looking at the large ones alone is no way to more findings.
func (j *Judgement) creeps(release int) []Drift {
	const fewest = 8
	from := j.begins(release, true)
	family := 0
	var out []Drift
	var values []float64 // room for every cell's
	for _, i := range j.byCell[release] {
		cell := j.cellOf[i]
		values = j.held(cell, from[cell], release, values[:0])
		if len(values) < fewest {
			continue
		}
		family++
		third, delta := len(values)/3, j.table.Cells[cell].Delta
		if mean(values[len(values)-third:])-mean(values[:third]) < delta/2 { // far from it, and most are: no slopes need be sorted
			continue
		}
		if t := regression.TrendOf(values); t.Slope*float64(t.N-1) >= delta {
			s := &j.Series[cell]
			out = append(out, Drift{Series: s, Effect: relative(sign(s.Metric), t.Slope), P: t.P, N: t.N, slope: t.Slope})
		}
	}
	return discovered(out, family)
}

func mean(values []float64) float64 {
	sum := 0.
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
