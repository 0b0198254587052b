package regression

import "math"

// Sensitivity is what a release could have shown: the smallest regression of one cell alone that would have been found
// four times in five, had it been there. It is no verdict: it says how much the word "unchanged" is worth.
type Sensitivity struct {
	Cells int   // that were tested
	Once  Shown // named by the gate from the runs of the release
	Again Shown // confirmed together with one more run
}

// Shown is the smallest regression that is found.
type Shown struct {
	Median float64 // over the cells, on the log scale; +Inf where any change is hidden; NaN without cells
	Hidden int     // cells that could hide more than what matters
}

// power is the share of regressions that a smallest one is found in.
const power = .80

// sensitivity is that of a release: each cell is asked as if it alone had changed.
func (j *judge) sensitivity(tests []test, family int) Sensitivity {
	out := Sensitivity{Cells: family, Once: Shown{Median: math.NaN()}, Again: Shown{Median: math.NaN()}}
	if family == 0 {
		return out
	}
	typical := meanNoise(tests)
	least := make([][2]float64, len(tests))
	level := j.rules.FDR / float64(family) / 2
	j.each(len(tests), func(lo, hi int) {
		q := thresholds{}
		for i := lo; i < hi; i++ {
			if x := &tests[i]; x.ok {
				least[i] = [2]float64{
					j.shown(x, q.of(level, x.df)*x.se, x.se, level), j.shownAgain(x, &q, family, typical),
				}
			}
		}
	})
	once, again := make([]float64, 0, family), make([]float64, 0, family)
	for i := range tests {
		if !tests[i].ok {
			continue
		}
		delta := j.t.Cells[tests[i].cell].Delta
		out.Once.Hidden += hides(least[i][0], delta)
		out.Again.Hidden += hides(least[i][1], delta)
		once, again = append(once, least[i][0]), append(again, least[i][1])
	}
	out.Once.Median, out.Again.Median = median(once), median(again)
	return out
}

func hides(d, delta float64) int {
	if d > delta {
		return 1
	}
	return 0
}

// shownAgain is the smallest change of a cell alone that two runs together confirm: see [judge.together].
func (j *judge) shownAgain(x *test, q *thresholds, family int, typical float64) float64 {
	n := float64(x.base.n)
	if x.base.n < 2 {
		return math.Inf(1)
	}
	sd := math.Sqrt(x.s2)
	level := j.rules.Lone / float64(family) * j.rules.share(2, x.base.n) * sd / math.Max(typical, 1e-9)
	se := sd * math.Sqrt(.5+1/n)
	// Two outliers are as rare as one, squared; two windows can be tested.
	both := math.Sqrt(j.rules.LoneOutlier / float64(family) / 2)
	// Each run must show what matters too. The normal distribution is near enough for that.
	d, delta := q.of(level, x.df)*se, j.t.Cells[x.cell].Delta
	least := d - se*normalQuantile(power)
	d = math.Max(d, delta+normalQuantile(math.Sqrt(power))*x.se) // less is not enough for either run alone
	for {
		each := normal((d - delta) / x.se)
		if normal((d-least)/se)*each*each >= power {
			break
		}
		d += se / 8
	}
	return j.shown(x, d, x.se, both)
}

func normal(z float64) float64 { return .5 * math.Erfc(-z/math.Sqrt2) }

func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// shown is the smallest change from one that ordinary noise does not hide that outliers do not hide either.
func (j *judge) shown(x *test, d, se, level float64) float64 {
	cell := &j.t.Cells[x.cell]
	d = math.Max(d, cell.Delta)
	for range 12 { // up to 130 times as much
		if j.outliers.rate(x.cell, cell.Stratum, d/se, d, true) <= level {
			return d
		}
		d *= 1.5
	}
	return math.Inf(1)
}

// thresholds keeps how many standard errors a change must have to pass a level with the power of [power]. Levels differ
// from cell to cell and are rounded to steps of a tenth, downwards.
type thresholds map[threshold]float64

type threshold struct {
	step int
	df   float64
}

func (t thresholds) of(level, df float64) float64 {
	const base = 1.1
	k := threshold{int(math.Floor(math.Log(level) / math.Log(base))), df}
	v, known := t[k]
	if !known {
		v = Quantile(1-math.Pow(base, float64(k.step)), df) + Quantile(power, df)
		t[k] = v
	}
	return v
}
