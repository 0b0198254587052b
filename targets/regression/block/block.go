package block

import (
	"math"
	"slices"

	"github.com/ttreport/ttreport/targets/regression"
)

// Least is how many blocks a verdict needs.
const Least = 2

// Part is a mean on the log scale with its standard error and degrees of freedom.
type Part struct{ Mean, SE, Df float64 }

// Difference is a paired difference on the log scale, ln(B/A): the mean of its blocks, NaN without one. SE and Df are
// NaN and 0 with less than [Least] blocks.
type Difference struct {
	Blocks int // that both servers have
	Part
	// Own is how far the series moved beyond what all of them did together, which does not depend on how the servers
	// started; without a standard error where there are too few series to tell.
	Own Part
}

// StartSd is how much a start of a server moves everything, where both servers kept running: one standard deviation,
// relative.
const StartSd = .005

// Known reports whether the part has an interval.
func (d Part) Known() bool { return d.SE > 0 && d.Df > 0 }

// Interval returns the two-sided interval of a confidence level, .95 for one, on the log scale: Student's t. NaN where
// there is none.
func (d Part) Interval(level float64) (lo, hi float64) {
	if !d.Known() {
		return math.NaN(), math.NaN()
	}
	half := regression.Quantile(.5+level/2, d.Df) * d.SE
	return d.Mean - half, d.Mean + half
}

// Above returns the p value of the hypothesis that the difference is at most x, and Below that it is at least x. NaN
// without an interval.
func (d Part) Above(x float64) float64 {
	if !d.Known() {
		return math.NaN()
	}
	return regression.UpperTail((d.Mean-x)/d.SE, d.Df)
}

// Below is described at [Part.Above].
func (d Part) Below(x float64) float64 { return Part{-d.Mean, d.SE, d.Df}.Above(-x) }

// P returns the two-sided p value of no difference.
func (d Part) P() float64 { return 2 * math.Min(d.Above(0), d.Below(0)) }

// Shows is what a difference shows.
type Shows uint8

// What a difference can show: nothing yet, a change that matters, or that there is none.
const (
	Nothing  Shows = iota
	Larger         // by the limit or more, and significant
	Smaller        // likewise
	Equal          // the 90 % interval is within the limit: two one-sided tests at 5 %
	NotLarge       // the interval excludes Larger, and reaches beyond the limit on the other side
	NotSmall       // likewise
)

// Shown decides a difference: limit is the least that matters, as ln(1 + relative effect); significant whether it
// passed the test of its family in its direction.
func (d Difference) Shown(limit float64, significant bool) Shows {
	if !d.Known() {
		return Nothing
	}
	lo, hi := d.Interval(.90)
	switch {
	case significant && d.Mean >= limit:
		return Larger
	case significant && d.Mean <= -limit:
		return Smaller
	case lo > -limit && hi < limit:
		return Equal
	case hi < limit:
		return NotLarge
	case lo > -limit:
		return NotSmall
	}
	return Nothing
}

// Needed is how many blocks would probably tell a difference from one that lies by away from it, on the log scale: at
// 5 %, with power 80 %, by Student's t. 0 for more than a hundred.
func (d Difference) Needed(by float64) int {
	const power, most = .8416, 100
	if !d.Known() {
		return Least
	}
	for n := d.Blocks + 1; n <= most; n++ {
		more := float64(n) / float64(d.Blocks)
		df := d.Df * float64(n-1) / float64(d.Blocks-1)
		if (regression.Quantile(.975, df)+power)*d.SE/math.Sqrt(more) <= math.Abs(by) {
			return n
		}
	}
	return 0
}

// ToDecide is how many blocks would probably decide a difference: that it is beyond the limit, or within.
func (d Difference) ToDecide(limit float64) int {
	if size := math.Abs(d.Mean); size < limit {
		return d.Needed(limit - size)
	}
	return d.Needed(d.Mean)
}

// Compare compares the series of one metric: series[i][b] is ln(B/A) of series i in block b, NaN where one of the
// servers has no value. It returns the difference of each series, and that of all of them together: the change of
// everything at once. kept is set where no server was started again between blocks: what their starts were like is then
// part of every block, and blocks do not show it.
func Compare(series [][]float64, kept bool) (each []Difference, all Difference) {
	each = make([]Difference, len(series))
	f := family{series: series, kept: kept}
	for i, s := range series {
		d := &each[i]
		sum := 0.
		for _, v := range s {
			if !math.IsNaN(v) {
				sum, d.Blocks = sum+v, d.Blocks+1
			}
		}
		d.Mean, d.SE = sum/float64(d.Blocks), math.NaN()
		if d.Blocks >= Least {
			f.whole, f.middles = append(f.whole, i), append(f.middles, d.Mean)
		}
	}
	f.split(each)
	common := f.common()
	own := regression.Moderate(f.s2, f.nu)
	all = f.pooled(common)
	k, centre := float64(len(f.whole)), regression.Median(f.middles)
	for i := range each {
		d := &each[i]
		if d.Blocks < Least {
			continue
		}
		alone := regression.Noise{}
		if own[i].Known() && k > 1 {
			alone = regression.Noise{Variance: own[i].Variance * (1 - 1/k), Df: own[i].Df}
		}
		d.SE, d.Df = f.errorOf(d.Blocks, alone, common)
		if len(f.whole) >= regression.DefaultRules().MinPoint {
			// The median, because a few large changes move the mean.
			d.Own.Mean = d.Mean - centre
			variance := own[i].Variance * (1 + math.Pi/2/k) / float64(d.Blocks)
			d.Own.SE, d.Own.Df = floored(math.Sqrt(variance), own[i].Df, d.Blocks)
		}
	}
	return each, all
}

// Significant marks which differences are discoveries among all of one comparison, in either direction, each direction
// a family (Benjamini and Hochberg at [regression.FDR]). A difference is tested as a whole, and beyond what all series
// did together.
func Significant(list []Difference) []bool {
	out := make([]bool, len(list))
	for _, tail := range []func(Part) float64{
		func(d Part) float64 { return d.Above(0) }, func(d Part) float64 { return d.Below(0) },
	} {
		var p []float64
		tested := 0
		for _, d := range list {
			v := tail(d.Part)
			if d.Own.Known() {
				v = math.Min(1, 2*math.Min(v, tail(d.Own)))
			}
			if p = append(p, v); !math.IsNaN(v) {
				tested++
			}
		}
		_, limit := regression.BenjaminiHochberg(p, tested, regression.FDR)
		for i, v := range p {
			out[i] = out[i] || v <= limit
		}
	}
	return out
}

// family is the series of one metric, with their differences taken apart.
type family struct {
	series  [][]float64
	kept    bool
	whole   []int     // series with enough blocks
	middles []float64 // their means
	effect  []float64 // by block: what it did to all series, after their means
	seen    []int     // by block: series behind it
	s2, nu  []float64 // by series: the variance of what is left, and its degrees of freedom
}

// most is the mean of the values that are not far from their median; of three or fewer the median itself.
func most(list []float64) float64 {
	const least, far = 4, 12. // values; median deviations
	slices.Sort(list)
	centre := regression.Median(slices.Clone(list))
	if len(list) < least {
		return centre
	}
	off := make([]float64, len(list))
	for i, v := range list {
		off[i] = math.Abs(v - centre)
	}
	limit := far * regression.Median(off)
	return regression.Mean(slices.DeleteFunc(list, func(v float64) bool { return math.Abs(v-centre) > limit }))
}

// split estimates what each block did to all series, as most of them say it, and the variance of what is left of
// each: a start that spoiled one workload is no effect of the block.
func (f *family) split(each []Difference) {
	f.s2, f.nu = make([]float64, len(f.series)), make([]float64, len(f.series))
	var left [][]float64 // by block
	for _, i := range f.whole {
		for b, v := range f.series[i] {
			for b >= len(left) {
				left = append(left, nil)
			}
			if !math.IsNaN(v) {
				left[b] = append(left[b], v-each[i].Mean)
			}
		}
	}
	for _, list := range left {
		f.effect, f.seen = append(f.effect, most(list)), append(f.seen, len(list))
	}
	k := float64(len(f.whole))
	if k < 2 {
		return // all that varies is the block's
	}
	for _, i := range f.whole {
		ss := 0.
		for b, v := range f.series[i] {
			if !math.IsNaN(v) {
				e := v - each[i].Mean - f.effect[b]
				ss += e * e
			}
		}
		// Each residual lost the share 1/k of its variance to the block's mean.
		f.nu[i] = float64(each[i].Blocks-1) * (1 - 1/k)
		f.s2[i] = ss / f.nu[i]
	}
}

// common is the noise of the common part of one block: its variance includes the share of the series' own noise that
// is left in the mean over them.
func (f *family) common() regression.Noise {
	ss, n := 0., 0
	for b, seen := range f.seen {
		if seen > 0 {
			ss, n = ss+f.effect[b]*f.effect[b], n+1
		}
	}
	if n < Least {
		return regression.UnknownNoise()
	}
	df := float64(n - 1)
	return regression.Noise{Variance: ss / df, Df: df}
}

// errorOf is the standard error of a mean of blocks whose variance has two parts, with Satterthwaite's degrees of
// freedom. Where servers kept running, their two starts are a third part that more blocks do not make smaller.
func (f *family) errorOf(blocks int, own, common regression.Noise) (se, df float64) {
	n := float64(blocks)
	parts := []regression.Noise{{Variance: own.Variance / n, Df: own.Df}, {Variance: common.Variance / n, Df: common.Df}}
	if f.kept {
		parts = append(parts, regression.Noise{Variance: 2 * StartSd * StartSd, Df: math.Inf(1)})
	}
	v, spread := 0., 0.
	for _, part := range parts {
		if part.Variance > 0 && part.Df > 0 {
			v += part.Variance
			spread += part.Variance * part.Variance / part.Df
		}
	}
	if df = common.Df; spread > 0 {
		df = v * v / spread
	}
	return floored(math.Sqrt(v), df, blocks)
}

// floored is a standard error whose 95 % interval is not narrower than that of the floor of the noise of two values:
// blocks can agree to the last digit.
func floored(se, df float64, blocks int) (float64, float64) {
	floor, free := regression.DefaultRules().Floor*math.Sqrt(2/float64(blocks)), math.Inf(1)
	if !(regression.Quantile(.975, df)*se >= regression.Quantile(.975, free)*floor) {
		return floor, free
	}
	return se, df
}

// pooled is the difference of all series together, as most of them say it.
func (f *family) pooled(common regression.Noise) Difference {
	d := Difference{Part: Part{Mean: most(slices.Clone(f.middles)), SE: math.NaN()}}
	for _, n := range f.seen {
		if n > 0 {
			d.Blocks++
		}
	}
	if d.Blocks >= Least {
		d.SE, d.Df = f.errorOf(d.Blocks, regression.Noise{}, common)
	}
	return d
}
