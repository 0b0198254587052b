package curve

import (
	"cmp"
	"math"
	"slices"
)

// Point is a measurement of one load in one run.
type Point struct {
	Run    int     // which runs are one is all that it says
	Load   float64 // concurrency or rate
	X      float64 // what a user sees: tok/s, or ms to the first token
	Output float64 // what the system gives
}

// Curve is what a system gives at what its users see.
type Curve struct {
	falling bool   // less of X is better: a time
	loads   []knot // by load, those that no other one beats in both
	path    *path  // through them
	runs    [][]knot
	all     side // with those that another one beats
}

// knot is a load in logarithms: t, what a user sees so that more is better, what the system gives.
type knot struct{ t, u, v float64 }

// side is the loads of a side: their means, and each run's.
type side struct {
	means []knot
	runs  [][]knot
}

// Fewest is how many loads make a curve.
const Fewest = 3

// Fit makes a curve of the runs that measured most loads; nil where fewer than [Fewest] loads are part of it. falling
// says that less of X is better.
func Fit(points []Point, falling bool) *Curve {
	var runs [][]knot
	for _, run := range byRun(points, falling) {
		if len(runs) == 0 || slices.EqualFunc(run, runs[0], sameLoad) {
			runs = append(runs, run)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	return through(runs, falling)
}

func sameLoad(a, b knot) bool { return a.t == b.t }

// through is the curve through the means of runs, all of the same loads.
func through(runs [][]knot, falling bool) *Curve {
	c := &Curve{falling: falling, runs: slices.Clone(runs)}
	for i := range runs[0] {
		var list []knot
		for _, run := range runs {
			list = append(list, run[i])
		}
		c.loads = append(c.loads, mean(list))
	}
	c.all = side{slices.Clone(c.loads), slices.Clone(c.runs)}
	keep := func(i int) bool { // of loads: those that no other one beats in both
		own := c.all.means[i]
		for j, k := range c.all.means {
			if j != i && k.u >= own.u && k.v >= own.v && (k.u > own.u || k.v > own.v || j < i) {
				return false
			}
		}
		return true
	}
	pick := func(list []knot) (out []knot) {
		for i := range list {
			if keep(i) {
				out = append(out, list[i])
			}
		}
		return out
	}
	for i, run := range c.runs {
		c.runs[i] = pick(run)
	}
	c.loads = pick(c.all.means)
	if len(c.loads) < Fewest || !slices.IsSortedFunc(c.loads, func(a, b knot) int { return cmp.Compare(b.u, a.u) }) {
		return nil // what a user sees does not get worse with the load
	}
	c.path = pathOf(c.loads)
	return c
}

// byRun are the loads of each run, the runs with most loads first.
func byRun(points []Point, falling bool) (out [][]knot) {
	points = slices.SortedStableFunc(slices.Values(points), func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Load, b.Load))
	})
	var last Point
	var same []knot // of one run and load
	for _, p := range points {
		if !(p.Load > 0 && p.X > 0 && p.Output > 0) || math.IsInf(p.Load+p.X+p.Output, 0) {
			continue
		}
		k := knot{math.Log(p.Load), math.Log(p.X), math.Log(p.Output)}
		if falling {
			k.u = -k.u
		}
		if len(out) == 0 || p.Run != last.Run {
			out, same = append(out, nil), nil
		}
		run := &out[len(out)-1]
		if len(same) == 0 || p.Load != last.Load {
			*run, same = append(*run, knot{}), same[:0]
		}
		same, last = append(same, k), p
		(*run)[len(*run)-1] = mean(same)
	}
	slices.SortStableFunc(out, func(a, b []knot) int { return cmp.Compare(len(b), len(a)) })
	return out
}

func mean(list []knot) (m knot) {
	for _, k := range list {
		m.u, m.v = m.u+k.u, m.v+k.v
	}
	n := float64(len(list))
	return knot{list[0].t, m.u / n, m.v / n} // all are of one load, whose sum would be rounded
}

// Runs is how many runs the curve is of.
func (c *Curve) Runs() int { return len(c.runs) }

// Alike leaves out curves whose runs are more than three times as far apart as those in the middle, as where something
// changed between them, and those of one run.
func Alike(list []*Curve) (out []*Curve) {
	var apart []float64
	list = slices.DeleteFunc(slices.Clone(list), func(c *Curve) bool { return c.Runs() < 2 })
	for _, c := range list {
		within, between := c.components()
		apart = append(apart, within+between)
	}
	sorted := slices.Sorted(slices.Values(apart))
	for i, c := range list {
		if apart[i] <= 9*sorted[len(sorted)/2] {
			out = append(out, c)
		}
	}
	return out
}

// Whole reports whether it goes through every load that was measured: no load beats another one in both.
func (c *Curve) Whole() bool { return c != nil && len(c.loads) == len(c.all.means) }

// Range is what was measured: the lowest and the highest level.
func (c *Curve) Range() (lo, hi float64) {
	a, b := c.level(c.loads[0].u), c.level(c.loads[len(c.loads)-1].u)
	return math.Min(a, b), math.Max(a, b)
}

// level is a level as it is stated, u the same in logarithms.
func (c *Curve) level(u float64) float64 {
	if c.falling {
		u = -u
	}
	return math.Exp(u)
}

func (c *Curve) u(level float64) float64 {
	if c.falling {
		return -math.Log(level)
	}
	return math.Log(level)
}

// At is what the system gives at a level, NaN outside of what was measured.
func (c *Curve) At(level float64) float64 {
	_, output := c.Reach(level)
	return output
}

// Reach is the load at which users see a level, and what the system gives there; NaN outside of what was measured, and
// without a curve.
func (c *Curve) Reach(level float64) (load, output float64) {
	if c == nil {
		return math.NaN(), math.NaN()
	}
	load, v := c.path.reach(c.u(level))
	return load, math.Exp(v)
}

// path is the way through knots: what a user waits for a token, or for the first, and what a stream takes for each
// token, at each knot and as slopes over the load.
type path struct{ load, u, wait, each, waits, eaches []float64 }

func pathOf(list []knot) *path {
	n := len(list)
	all := make([]float64, 4*n) // of one curve hundreds are made
	p := &path{load: all[:n], u: all[n : 2*n], wait: all[2*n : 3*n], each: all[3*n:]}
	for i, k := range list {
		p.load[i], p.u[i], p.wait[i], p.each[i] = math.Exp(k.t), k.u, math.Exp(-k.u), math.Exp(k.t-k.v)
	}
	p.waits, p.eaches = slopes(p.load, p.wait), slopes(p.load, p.each)
	return p
}

// read looks up a level and returns what is given there.
func (p *path) read(u float64) float64 {
	_, v := p.reach(u)
	return v
}

// reach looks up a level and returns the load, and what is given there in logarithms.
func (p *path) reach(u float64) (load, v float64) {
	last := len(p.u) - 1
	const rounding = 1e-9
	if !(u <= p.u[0]+rounding && u >= p.u[last]-rounding) {
		return math.NaN(), math.NaN()
	}
	i := 0
	for i < last-1 && p.u[i+1] > u {
		i++
	}
	h, asked := p.load[i+1]-p.load[i], math.Exp(-u)
	lo, hi, at := 0., 1., .5
	for range 50 { // Newton's method, halves where that leaves what holds the place
		wait, slope := hermite(p.wait[i], p.wait[i+1], p.waits[i]*h, p.waits[i+1]*h, at)
		if wait <= asked {
			lo = at
		} else {
			hi = at
		}
		next := at - (wait-asked)/slope
		if !(next >= lo && next <= hi) {
			next = (lo + hi) / 2
		}
		off := math.Abs(next - at)
		if at = next; off < 1e-16 {
			break
		}
	}
	load = p.load[i] + at*h
	each, _ := hermite(p.each[i], p.each[i+1], p.eaches[i]*h, p.eaches[i+1]*h, at)
	return load, math.Log(load) - math.Log(each)
}

// hermite is the cubic from a to b over 0 to 1 with two slopes, and its slope.
func hermite(a, b, da, db, s float64) (v, slope float64) {
	square, cube := 3*(b-a)-2*da-db, 2*(a-b)+da+db
	return a + s*(da+s*(square+s*cube)), da + s*(2*square+3*s*cube)
}

// slopes are over the load; they keep the cubics between knots monotone.
func slopes(load, of []float64) []float64 {
	n := len(load)
	h, d := make([]float64, n-1), make([]float64, n-1)
	for i := range h {
		h[i] = load[i+1] - load[i]
		d[i] = (of[i+1] - of[i]) / h[i]
	}
	out := make([]float64, n)
	for i := 1; i < n-1; i++ {
		if d[i-1]*d[i] > 0 {
			a, b := 2*h[i]+h[i-1], h[i]+2*h[i-1]
			out[i] = (a + b) / (a/d[i-1] + b/d[i])
		}
	}
	end := func(h0, h1, d0, d1 float64) float64 { // three points, kept monotone
		s := ((2*h0+h1)*d0 - h0*d1) / (h0 + h1)
		switch {
		case s*d0 <= 0:
			return 0
		case d0*d1 <= 0 && math.Abs(s) > 3*math.Abs(d0):
			return 3 * d0
		}
		return s
	}
	out[0], out[n-1] = end(h[0], h[1], d[0], d[1]), end(h[n-2], h[n-3], d[n-2], d[n-3])
	return out
}

// RunsAt is what each run gives at a level, nil outside of what was measured.
func (c *Curve) RunsAt(level float64) (out []float64) {
	v := c.At(level)
	if math.IsNaN(v) {
		return nil
	}
	for _, e := range c.deviations([]float64{level})[0] {
		out = append(out, v*math.Exp(e))
	}
	return out
}
