package regression

import (
	"math"
	"slices"
)

// Sensitivity is what a release could have shown: the smallest regression that its gate would have named four times in
// five, had it been there. It is no verdict: it says how much the word "unchanged" is worth.
type Sensitivity struct {
	Cells  int     // that were tested
	Median float64 // smallest change shown, on the log scale; +Inf where outliers hide any change; NaN without cells
	Hidden int     // cells that could hide more than what matters
}

// sensitivity is that of a release: each cell is asked as if it alone had changed.
func (j *judge) sensitivity(tests []test, family int) Sensitivity {
	out := Sensitivity{Cells: family, Median: math.NaN()}
	if family == 0 {
		return out
	}
	level := j.rules.FDR / float64(family)
	wanted := map[float64]float64{}
	least := make([]float64, 0, family)
	for i := range tests {
		x := &tests[i]
		if !x.ok {
			continue
		}
		want, known := wanted[x.df]
		if !known {
			want = Quantile(1-level/2, x.df) + Quantile(.80, x.df)
			wanted[x.df] = want
		}
		d := j.shown(x, want*x.se, level/2)
		if d > j.t.Cells[x.cell].Delta {
			out.Hidden++
		}
		least = append(least, d)
	}
	slices.Sort(least)
	out.Median = middle(least)
	return out
}

// shown is the smallest change from one that ordinary noise does not hide that outliers do not hide either.
func (j *judge) shown(x *test, d, level float64) float64 {
	cell := &j.t.Cells[x.cell]
	d = math.Max(d, cell.Delta)
	for range 12 { // up to 130 times as much
		if j.outliers.rate(x.cell, cell.Stratum, d/x.se, d, true) <= level {
			return d
		}
		d *= 1.5
	}
	return math.Inf(1)
}
