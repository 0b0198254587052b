package regression

import (
	"maps"
	"math"
	"slices"
)

// outliers counts how often values fell further from what their history predicted than ordinary noise does, in standard
// errors, and went away again: what a machine does now and then, without a change. It knows rates by stratum, drawn
// towards that of all cells, and by cell, drawn towards its stratum; old ones are forgotten. Only past predictions are
// counted, never the release under judgement.
type outliers struct {
	strata []record
	all    record
	cells  []trouble
	alike  float64 // weight of the stratum's rate in a cell's, in outliers; +Inf when cells do not differ
	events []event
	dfs    map[float64]int // predictions of the release by their degrees of freedom
	recent [2][][]float64  // by release: shares of the cells of each system that were outliers
	mass   []float64       // by stratum: outliers per prediction
}

// record counts predictions, and those that failed by how many standard errors they were off.
type record struct {
	made float64
	far  counts // by how many standard errors they were off
	size counts // those that were outliers, by how much they were off
	// expected is how many fall into a bin or beyond on one side by Student's t; of the record of all cells.
	expected [levels]float64
}

// counts are numbers of predictions by direction and bin, and with all bins beyond.
type counts struct{ bins, sums [2][levels]float64 }

func (c *counts) add(side, bin int, weight float64) { c.bins[side][bin] += weight }

func (c *counts) forget() {
	for side := range c.bins {
		sum := 0.
		for b := levels - 1; b >= 0; b-- {
			c.bins[side][b] *= memory
			sum += c.bins[side][b]
			c.sums[side][b] = sum
		}
	}
}

// trouble is a cell's own: outliers that it had and that its stratum led to expect.
type trouble struct{ had, expected float32 }

// event is an outlier that has gone away again.
type event struct {
	cell, system, stratum int32
	t, d                  float64 // how far off it was, in standard errors and on the log scale; negative for better
}

const (
	levels = 64
	// memory is the share of what was counted that the next release keeps: half after 23 releases.
	memory = .97
	// borrowed is the weight of all cells in the rates of a stratum, in outliers.
	borrowed = 3
	// outlying is the number of standard errors from which a value is an outlier rather than a large deviation.
	outlying = 4
)

func side(dir float64) int {
	if dir > 0 {
		return 0
	}
	return 1
}

// bin is the place of a deviation: eight bins for each doubling, from 1.5 standard errors.
func bin(t float64) int { return min(levels-1, max(0, int(8*math.Log2(math.Abs(t)/1.5)))) }

// sizeBin is the place of an outlier of a size: four bins for each doubling, from a thousandth.
func sizeBin(d float64) int { return min(levels-1, max(0, int(4*math.Log2(math.Abs(d)/.001)))) }

func newOutliers(strata, cells int) outliers {
	return outliers{
		strata: make([]record, strata), mass: make([]float64, strata), cells: make([]trouble, cells),
		alike: math.Inf(1), dfs: map[float64]int{},
	}
}

// rate is the share of values of a cell that stray as far as one that is off by d, which is t standard errors, beyond
// those that ordinary noise explains. What a machine does to a number now and then is of a size, whatever the noise of
// the cell is: an outlier is as common as those of half its size, not as those of its standard errors, if that is more.
// sure takes the count of all cells two standard errors lower, so that chance alone raises nothing.
func (o *outliers) rate(cell, stratum int32, t, d float64, sure bool) float64 {
	own, all := &o.strata[stratum], &o.all
	r := o.share(own, &own.far, &all.far, side(t), bin(t), bin(t), sure)
	if math.Abs(t) > outlying {
		r = math.Max(r, o.share(own, &own.size, &all.size, side(t), sizeBin(d/2), bin(outlying), sure))
	}
	if r > 0 && !math.IsInf(o.alike, 1) {
		c := &o.cells[cell]
		r *= (float64(c.had) + o.alike) / (float64(c.expected) + o.alike)
	}
	return math.Min(.5, r)
}

// share is the share of predictions of a stratum that fell into a bin or beyond. sure leaves out those that are
// expected of another bin, and what chance may have added.
func (o *outliers) share(own *record, counts, all *counts, side, b, expected int, sure bool) float64 {
	count, extra := all.sums[side][b], counts.sums[side][b]
	if sure {
		count -= o.all.expected[expected] + 2*math.Sqrt(count)
		extra = math.Max(0, extra-o.all.expected[expected]*own.made/o.all.made)
	}
	if count <= 0 {
		return 0
	}
	return (borrowed + extra) / (borrowed*o.all.made/count + own.made)
}

// begin forgets a little and brings the sums up to date, before the tests of a release.
func (o *outliers) begin(used []bool) {
	o.all.forget()
	for i := range o.strata {
		if used[i] {
			o.strata[i].forget()
		}
	}
	for i := range o.strata {
		if b := bin(outlying); used[i] {
			s := &o.strata[i]
			o.mass[i] = o.share(s, &s.far, &o.all.far, 0, b, b, false) + o.share(s, &s.far, &o.all.far, 1, b, b, false)
		}
	}
}

func (r *record) forget() {
	r.made *= memory
	for b := range r.expected {
		r.expected[b] *= memory
	}
	r.far.forget()
	r.size.forget()
}

// predicted counts a prediction of a cell, whatever became of it.
func (o *outliers) predicted(cell, stratum int32, df float64) {
	o.all.made++
	o.dfs[df]++
	o.strata[stratum].made++
	c := &o.cells[cell]
	c.had, c.expected = memory*c.had, memory*c.expected+float32(o.mass[stratum])
}

// happened notes an outlier that has gone away.
func (o *outliers) happened(e event) { o.events = append(o.events, e) }

// finish counts the outliers of a release. Far more of them on one system than on others are one bad run: they weigh as
// many as chance explains where each comes by itself.
func (o *outliers) finish(sizes map[int32]int) {
	type run struct {
		system int32
		side   int
	}
	at := map[run]float64{}
	for _, e := range o.events {
		at[run{e.system, side(e.t)}]++
	}
	typical := o.typical(sizes, func(system int32, side int) float64 { return at[run{system, side}] })
	for _, e := range o.events {
		size := float64(sizes[e.system])
		expected := size * math.Max(o.mass[e.stratum], typical[side(e.t)])
		weight := math.Min(1, (expected+3*math.Sqrt(expected)+1)/at[run{e.system, side(e.t)}])
		own := &o.strata[e.stratum]
		o.all.far.add(side(e.t), bin(e.t), weight)
		own.far.add(side(e.t), bin(e.t), weight)
		if math.Abs(e.t) > outlying {
			o.all.size.add(side(e.t), sizeBin(e.d), weight)
			own.size.add(side(e.t), sizeBin(e.d), weight)
			o.cells[e.cell].had += float32(weight)
		}
	}
	for _, df := range slices.Sorted(maps.Keys(o.dfs)) { // in order, since sums depend on it in their last digit
		for b := range o.all.expected {
			o.all.expected[b] += float64(o.dfs[df]) * UpperTail(1.5*math.Exp2(float64(b)/8), df)
		}
	}
	clear(o.dfs)
	o.events = o.events[:0]
	o.compare()
}

// typical is the median share of outliers among the cells of one system in one release, lately.
func (o *outliers) typical(sizes map[int32]int, count func(system int32, side int) float64) [2]float64 {
	const lately = 8
	var out [2]float64
	for side := range out {
		var shares []float64
		for system, size := range sizes {
			shares = append(shares, count(system, side)/float64(size))
		}
		o.recent[side] = append(o.recent[side], shares)
		if n := len(o.recent[side]); n > lately {
			o.recent[side] = o.recent[side][n-lately:]
		}
		out[side] = middle(slices.Sorted(slices.Values(slices.Concat(o.recent[side]...))))
	}
	return out
}

// compare estimates how much cells differ in their rates beyond chance, by moments of a gamma and Poisson mixture.
func (o *outliers) compare() {
	excess, square := 0., 0.
	for i := range o.cells {
		c := &o.cells[i]
		d := float64(c.had - c.expected)
		excess += d*d - float64(c.had)
		square += float64(c.expected) * float64(c.expected)
	}
	o.alike = math.Inf(1)
	if excess > 0 && square > 0 {
		o.alike = math.Max(.2, square/excess)
	}
}
