package judge

import (
	"cmp"
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Course is how the numbers of a change went from release to release, each relative to its own level before the change,
// with the sign of [Change.Effect]: their median, and the tenths at both ends. NaN where none was measured.
type Course struct{ Middle, Low, High []float64 }

// Course returns the course of a change up to the release for which it was made.
func (j *Judgement) Course(c *Change, release int) Course {
	at := make([][]float64, release+1)
	for i := range c.members {
		if m := &c.members[i]; m.nb > 0 {
			cell := &j.table.Cells[m.cell]
			for o := cell.First; o < cell.End; o++ {
				if r := int(j.table.Obs[o].Release); r <= release {
					at[r] = append(at[r], relative(c.way, j.reported(o)-m.before))
				}
			}
		}
	}
	var out Course
	for _, list := range at {
		slices.Sort(list)
		quantile := func(q float64) float64 {
			if len(list) == 0 {
				return math.NaN()
			}
			return list[int(math.Round(q*float64(len(list)-1)))]
		}
		out.Low, out.Middle, out.High =
			append(out.Low, quantile(.1)), append(out.Middle, quantile(.5)), append(out.High, quantile(.9))
	}
	return out
}

// Moved is a number of a change: its level before and since, and how much worse that is.
type Moved struct {
	*Series
	Before, Since, Effect float64
}

// Moved are the numbers of a change whose levels are known, those that moved most first.
func (j *Judgement) Moved(c *Change) (out []Moved) {
	for _, m := range c.members {
		if s := &j.Series[m.cell]; m.known() {
			way := Sign(s.Metric)
			out = append(out, Moved{s, math.Exp(way * m.before), math.Exp(way * m.after), relative(way, m.after-m.before)})
		}
	}
	slices.SortStableFunc(out, func(a, b Moved) int { return cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect)) })
	return out
}

// SizesOn are the sizes of a change by model and device, each the median of its numbers there.
func (j *Judgement) SizesOn(c *Change) map[schema.Pair]float64 {
	by, out := map[schema.Pair][]float64{}, map[schema.Pair]float64{}
	for _, m := range c.members {
		if p := j.Series[m.cell].Pair(); m.known() {
			by[p] = append(by[p], m.after-m.before)
		}
	}
	for p, d := range by {
		if out[p] = relative(c.way, middle(d)); len(by) == 1 {
			out[p] = c.Effect
		}
	}
	return out
}
