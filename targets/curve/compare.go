package curve

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ttreport/ttreport/targets/regression"
)

// Value is a number with its 95 % interval; the ends are NaN where too few runs were measured.
type Value struct{ Value, Low, High float64 }

// At is a value at a level.
type At struct {
	Level float64
	Value
	Band [2]float64 // the joint band, which holds at all levels at once
}

// Comparison is curve B against curve A over the levels that both were measured at. Values are relative changes.
type Comparison struct {
	Low, High float64 // the levels of both
	Levels    []At    // from low to high
	// Whole is by how much more B gives across the curve, of what a user sees and of what the system gives alike: the
	// mean over the loads of both; NaN for fewer than [Fewest].
	Whole  Value
	P      float64 // of the whole curve, two-sided; NaN where there is no test
	a, b   *Curve
	spread spread
	curves []*Curve
}

// Sure reports whether the whole curve is shown to have moved.
func (c *Comparison) Sure() bool { return c.P < .05 }

// FewestDF is how many degrees of freedom an interval needs: with one, t says nothing.
const FewestDF = 2

// levels is how many levels a band has.
const levels = 9

// between are the levels of a range.
func between(lo, hi float64) (out []float64) {
	for i := range levels {
		out = append(out, lo*math.Pow(hi/lo, float64(i)/(levels-1)))
	}
	return out
}

// Compare compares curve b with curve a; nil where no level was measured on both. Others are curves of the same system
// that are given for their spread alone.
func Compare(a, b *Curve, others ...*Curve) *Comparison {
	loA, hiA := a.Range()
	loB, hiB := b.Range()
	c := &Comparison{Low: math.Max(loA, loB), High: math.Min(hiA, hiB), P: math.NaN(), a: a, b: b}
	if a.falling != b.falling || !(c.High > c.Low*1.001) {
		return nil
	}
	at := between(c.Low, c.High)
	c.curves = append([]*Curve{a, b}, others...)
	c.spread = newSpread(c.curves, 1/float64(a.Runs())+1/float64(b.Runs()))
	band, half, se := c.spread.band(a, at), c.exchanged(at, others), c.spread.se(at)
	for l, level := range at {
		x := c.difference(level, se[l])
		x.Band = around(math.Log1p(x.Value.Value), math.Max(half[l], band*se[l]))
		c.Levels = append(c.Levels, x)
	}
	c.whole()
	return c
}

// exchanged are the half widths of a joint band by the runs themselves: of equal systems any run may as well be of the
// other side, so the factor is what 95 % of other ways to split the runs do not exceed with their largest |t|. Draws of
// normal runs are not enough: where loads vary by a third, what is read from a curve has heavier tails. Zero where the
// sides have different loads.
func (c *Comparison) exchanged(at []float64, others []*Curve) []float64 {
	half, n := make([]float64, len(at)), c.a.Runs()
	if c.a.Runs()+c.b.Runs() < 3 || c.spread.df < FewestDF || !slices.EqualFunc(c.a.all.means, c.b.all.means, sameLoad) {
		return half
	}
	runs := slices.Concat(c.a.all.runs, c.b.all.runs)
	pooled := through(runs, c.a.falling)
	if pooled == nil {
		return half
	}
	deviations, spread := pooled.deviations(at), newSpread(others, 1)
	rest := spread.runs(at)
	errors := func(order []int) []float64 { // where the first n in order are side A
		out := make([]float64, len(at))
		for l, e := range deviations {
			list := slices.Clone(rest[l])
			for _, side := range [][]int{order[:n], order[n:]} {
				m := 0.
				for _, r := range side {
					m += e[r] / float64(len(side))
				}
				for _, r := range side {
					list = append(list, e[r]-m)
				}
			}
			out[l] = c.spread.error(list)
		}
		return out
	}
	order := make([]int, len(runs))
	for i := range order {
		order[i] = i
	}
	own := errors(order)
	const ways = 200
	r := rand.New(rand.NewPCG(7, 7)) // the same data have the same band
	var largest []float64
	for range ways {
		r.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
		if most := c.largest(at, runs, order, errors(order)); most > 0 {
			largest = append(largest, most)
		}
	}
	if len(largest) == 0 {
		return half
	}
	slices.Sort(largest)
	for l, se := range own {
		half[l] = largest[len(largest)*95/100] * se
	}
	return half
}

// largest is the largest |t| over levels of one split of the runs; 0 for that which was measured, and without curves.
func (c *Comparison) largest(at []float64, runs [][]knot, order []int, errors []float64) (most float64) {
	var sides [2][][]knot
	crossed := 0
	for i, r := range order {
		side := min(1, i/c.a.Runs())
		sides[side] = append(sides[side], runs[r])
		if side == 1 && r < c.a.Runs() {
			crossed++
		}
	}
	if crossed == 0 || crossed == len(runs)-c.a.Runs() && crossed == c.a.Runs() {
		return 0
	}
	a, b := through(sides[0], c.a.falling), through(sides[1], c.a.falling)
	if a == nil || b == nil {
		return 0
	}
	for l, level := range at {
		d := b.path.read(b.u(level)) - a.path.read(a.u(level))
		if t := math.Abs(d) / errors[l]; !math.IsNaN(t) && !math.IsInf(t, 0) { // runs that are copies have no spread
			most = math.Max(most, t)
		}
	}
	return most
}

// whole compares the two at the loads that both measured.
func (c *Comparison) whole() {
	c.Whole, c.P = Value{math.NaN(), math.NaN(), math.NaN()}, math.NaN()
	loads, towards := c.along()
	if len(loads) < Fewest {
		return
	}
	of := func(x side, k []knot) (sum float64) {
		for i, t := range loads {
			at := slices.IndexFunc(x.means, func(k knot) bool { return k.t == t })
			sum += (towards[i]*k[at].u + (1-towards[i])*k[at].v) / float64(len(loads))
		}
		return sum
	}
	d := of(c.b.all, c.b.all.means) - of(c.a.all, c.a.all.means)
	var runs []float64
	s := spread{share: c.spread.share}
	for _, x := range c.curves {
		if !slices.ContainsFunc(loads, func(t float64) bool {
			return !slices.ContainsFunc(x.all.means, func(k knot) bool { return k.t == t })
		}) && x.Runs() > 1 {
			mean := of(x.all, x.all.means)
			for _, run := range x.all.runs {
				runs = append(runs, of(x.all, run)-mean)
			}
			s.df += x.Runs() - 1
		}
	}
	se := s.error(runs)
	ends := around(d, s.t()*se)
	c.Whole = Value{math.Expm1(d), ends[0], ends[1]}
	if s.df >= FewestDF {
		c.P = 2 * regression.UpperTail(math.Abs(d)/se, float64(s.df))
	}
}

// along are the loads that both sides measured, and how much of a shift there counts along what a user sees: across the
// curve, of which the slope between the neighbours says how it lies. A shift along the curve counts nothing.
func (c *Comparison) along() (loads, towards []float64) {
	var both []knot
	for _, k := range c.a.all.means {
		for _, o := range c.b.all.means {
			if o.t == k.t {
				both = append(both, knot{k.t, (k.u + o.u) / 2, (k.v + o.v) / 2})
			}
		}
	}
	for i, k := range both {
		x, y := both[max(0, i-1)], both[min(len(both)-1, i+1)]
		du, dv := math.Max(0, x.u-y.u), math.Max(0, y.v-x.v)
		loads, towards = append(loads, k.t), append(towards, .5)
		if du+dv > 0 {
			towards[i] = dv / (du + dv)
		}
	}
	return loads, towards
}

// around is an interval of a relative change from that of its logarithm.
func around(d, half float64) [2]float64 {
	return [2]float64{math.Expm1(d - half), math.Expm1(d + half)}
}

// difference is that at a level, of some standard error.
func (c *Comparison) difference(level, se float64) At {
	d := c.b.path.read(c.b.u(level)) - c.a.path.read(c.a.u(level))
	ends := around(d, c.spread.t()*se)
	return At{Level: level, Value: Value{math.Expm1(d), ends[0], ends[1]}}
}

// At is the difference at a level; ok is false where one of the curves does not reach it.
func (c *Comparison) At(level float64) (x At, ok bool) {
	if level < c.Low || level > c.High {
		return At{}, false
	}
	return c.difference(level, c.spread.se([]float64{level})[0]), true
}

// Band is what the curve gives over its levels, with its joint band.
func (c *Curve) Band(others ...*Curve) (out []At) {
	lo, hi := c.Range()
	at := between(lo, hi)
	s := newSpread(append([]*Curve{c}, others...), 1/float64(c.Runs()))
	band, se := s.band(c, at), s.se(at)
	for l, level := range at {
		v := c.path.read(c.u(level))
		x := At{Level: level, Band: [2]float64{math.Exp(v - band*se[l]), math.Exp(v + band*se[l])}}
		x.Value = Value{math.Exp(v), math.Exp(v - s.t()*se[l]), math.Exp(v + s.t()*se[l])}
		out = append(out, x)
	}
	return out
}

// spread is how far runs are from the curves of their sides.
type spread struct {
	of    []*Curve
	df    int
	share float64 // turns the variance of a run into that of what is estimated
	rho   float64 // share of the variance that the loads of a run have in common
}

// newSpread takes the curves of several runs. Those that do not reach a level count with their nearest one.
func newSpread(curves []*Curve, share float64) spread {
	s := spread{share: share}
	var within, shared float64
	for _, x := range curves {
		if x.Runs() < 2 || x.falling != curves[0].falling {
			continue
		}
		s.of, s.df = append(s.of, x), s.df+x.Runs()-1
		w, b := x.components()
		within, shared = within+w, shared+b
	}
	if within+shared > 0 {
		s.rho = shared / (within + shared)
	}
	return s
}

// runs is how far each run is from the curve of its side, at levels.
func (s *spread) runs(at []float64) [][]float64 {
	out := make([][]float64, len(at))
	for _, c := range s.of {
		for l, list := range c.deviations(at) {
			out[l] = append(out[l], list...)
		}
	}
	return out
}

func (s *spread) error(runs []float64) float64 {
	if s.df < FewestDF {
		return math.NaN()
	}
	sum := 0.
	for _, e := range runs {
		sum += e * e
	}
	return math.Sqrt(sum / float64(s.df) * s.share)
}

// se are the standard errors at levels.
func (s *spread) se(at []float64) (out []float64) {
	for _, runs := range s.runs(at) {
		out = append(out, s.error(runs))
	}
	return out
}

// t is the factor of an interval.
func (s *spread) t() float64 {
	if s.df < FewestDF {
		return math.NaN()
	}
	return regression.Quantile(.975, float64(s.df))
}

// deviations are how far the curve of each run is from the mean curve, at levels, or at the nearest one that was
// measured: the derivatives of the curve times how far the run is from the means of the loads.
func (c *Curve) deviations(at []float64) [][]float64 {
	out, us := make([][]float64, len(at)), make([]float64, len(at))
	lo, hi := c.Range()
	for l, level := range at {
		out[l], us[l] = make([]float64, len(c.runs)), c.u(min(max(level, lo), hi))
	}
	moved := slices.Clone(c.loads)
	const step = 1e-6
	for i, k := range c.loads {
		for _, along := range []knot{{u: 1}, {v: 1}} { // slopes of what is read, with one mean moved
			moved[i] = knot{k.t, k.u + step*along.u, k.v + step*along.v}
			above := pathOf(moved)
			moved[i] = knot{k.t, k.u - step*along.u, k.v - step*along.v}
			below := pathOf(moved)
			for l, u := range us {
				up, down, width := above.read(u), below.read(u), 2*step
				switch { // at the end of the curve: from one side
				case math.IsNaN(up):
					up, width = c.path.read(u), step
				case math.IsNaN(down):
					down, width = c.path.read(u), step
				}
				for r, run := range c.runs {
					out[l][r] += (up - down) / width * (along.u*(run[i].u-k.u) + along.v*(run[i].v-k.v))
				}
			}
		}
		moved[i] = k
	}
	return out
}

// components are the variances within runs and between them of the output, by load: what a run has of its own at each
// load, and what all its loads share.
func (c *Curve) components() (within, between float64) {
	n, l := float64(len(c.runs)), float64(len(c.loads))
	for _, run := range c.runs {
		m := 0.
		for i := range run {
			m += (run[i].v - c.loads[i].v) / l
		}
		between += m * m / (n - 1)
		for i := range run {
			e := run[i].v - c.loads[i].v - m
			within += e * e / ((n - 1) * (l - 1))
		}
	}
	return within, math.Max(0, between-within/l)
}

// band is the factor of a joint band: the quantile of the largest |t| over the levels.
func (s *spread) band(c *Curve, at []float64) float64 {
	if s.df < FewestDF {
		return math.NaN()
	}
	r := rand.New(rand.NewPCG(7, 7)) // the same data have the same band
	const trials = 2000
	var knots []int      // the loads before each level
	var shares []float64 // of the loads after them
	for _, level := range at {
		u, i := c.u(level), 0
		for i < len(c.loads)-2 && c.loads[i+1].u > u {
			i++
		}
		knots = append(knots, i)
		shares = append(shares, math.Min(1, math.Max(0, (c.loads[i].u-u)/(c.loads[i].u-c.loads[i+1].u))))
	}
	common, own := math.Sqrt(s.rho), math.Sqrt(1-s.rho)
	n := len(c.loads)
	run, estimate, squares, products := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	draw := func() {
		shared := r.NormFloat64() * common
		for i := range run {
			run[i] = shared + r.NormFloat64()*own
		}
	}
	largest := make([]float64, trials)
	for t := range largest {
		draw()
		copy(estimate, run)
		clear(squares)
		clear(products)
		for range s.df { // the square of a level follows from those of its two loads and their product
			draw()
			for i, e := range run {
				squares[i] += e * e
				products[i] += e * run[min(i+1, n-1)]
			}
		}
		for l, i := range knots {
			a, b := 1-shares[l], shares[l]
			e, sum := a*estimate[i]+b*estimate[i+1], a*a*squares[i]+2*a*b*products[i]+b*b*squares[i+1]
			largest[t] = math.Max(largest[t], e*e/sum)
		}
	}
	slices.Sort(largest)
	return math.Sqrt(largest[trials*95/100] * float64(s.df))
}

// Region is a range of levels where B is shown to give more than A, or less.
type Region struct {
	Low, High float64
	Above     bool
}

// Regions are where the joint band excludes zero, from low to high. One that begins at the last level before a change
// of sign and ends at the first one after it is where the curves cross.
func (c *Comparison) Regions() (out []Region) {
	for i, x := range c.Levels {
		above := x.Band[0] > 0
		if !above && !(x.Band[1] < 0) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Above == above && out[n-1].High == c.Levels[i-1].Level {
			out[n-1].High = x.Level
			continue
		}
		out = append(out, Region{x.Level, x.Level, above})
	}
	return out
}

// Everywhere reports whether B is shown to be on one side of A at all levels of both.
func (c *Comparison) Everywhere() (above, ok bool) {
	r := c.Regions()
	if len(r) != 1 || r[0].Low != c.Low || r[0].High < c.High*(1-1e-9) {
		return false, false
	}
	return r[0].Above, true
}

// Crossing is between which levels the curves cross: B is shown to be on one side below, and on the other above; ok is
// false where that is not shown.
func (c *Comparison) Crossing() (low, high float64, ok bool) {
	r := c.Regions()
	if len(r) != 2 || r[0].Above == r[1].Above {
		return 0, 0, false
	}
	return r[0].High, r[1].Low, true
}

// Round are up to three round levels of both curves, for people to read.
func (c *Comparison) Round() (out []float64) {
	for decade := math.Floor(math.Log10(c.Low)); decade <= math.Log10(c.High); decade++ {
		for _, m := range []float64{1, 1.5, 2, 3, 5, 7} {
			if level := m * math.Pow(10, decade); level >= c.Low && level <= c.High {
				out = append(out, level)
			}
		}
	}
	if n := len(out); n > 3 {
		return []float64{out[n/6], out[n/2], out[n-1-n/6]}
	}
	return out
}
