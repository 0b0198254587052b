package regression

import (
	"cmp"
	"context"
	"github.com/ttreport/ttreport/ingest/schema"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat/distuv"
)

// ChangePoint is a step in a cell's history that was accepted: later baselines begin there.
type ChangePoint struct {
	Cell   int32
	At     int32   // observation with which the new level begins
	Found  int32   // release that decided it
	D      float64 // log change against the level before, of all runs that decided it; positive is worse
	SE, Df float64 // of D; 0 where no test decided it
	Runs   int     // that decided it together; 0: no test did
	Shift  float64 // change of its groups in the release that decided it, which D is without
	P      float64 // by permutation; NaN where the gate confirmed it or a person pinned it
	Source Source
	// Dismissed: it was confirmed, but a person decided that no level begins there.
	Dismissed bool
}

// Source is what decided a change point.
type Source uint8

const (
	ByGate   Source = iota // an independent run confirmed it
	BySearch               // permutations of the history up to a release: drawn, and no part of a verdict
	ByPerson               // a pin
)

// restart begins a new level at an observation. The noise of the level before is kept.
func (j *judge) restart(cell, at int32) {
	st := &j.state[cell]
	values, _ := j.held(cell, at, nil, nil)
	if len(values) > 1 {
		_, ss := centre(values)
		st.ss += ss
		st.nu += float64(len(values) - 1)
	}
	st.from = at
}

// accept starts a new level at an observation, so that one change is reported once. Where a person dismissed it, the
// current level continues without its values: they are neither a level nor noise.
func (j *judge) accept(c *claim, at int32, dir float64) {
	st := &j.state[c.x.cell]
	w := &c.x.joint
	dismissed := j.t.Obs[at].Dismiss
	for i := at; i <= c.x.obs; i++ {
		if dismissed {
			j.rows[i].exclude(j.t.Obs[i].Release, c.release)
		} else {
			j.rows[i].readmit(c.release)
		}
	}
	if at < c.x.obs && j.rows[at].Evidence == schema.Suspected {
		j.rows[at].Follow = c.release + 1
	}
	j.out.ChangePoints = append(j.out.ChangePoints, ChangePoint{
		Cell: c.x.cell, At: at, Found: c.release, D: w.d, P: math.NaN(), Source: ByGate, Dismissed: dismissed,
		SE: w.se, Df: w.df, Runs: w.runs, Shift: c.x.removed,
	})
	j.close(c.x.cell)
	if dismissed {
		return
	}
	j.restart(c.x.cell, at)
	st.moved, st.way = c.x.obs, dir
	st.old = math.NaN()
	if dir > 0 {
		st.old = w.mean
	}
}

// accepted starts a level where a person accepted a change.
func (j *judge) accepted(x *test) {
	st := &j.state[x.cell]
	if st.from == x.obs {
		return
	}
	j.rows[x.obs].out = false // which it was in this release alone
	j.restart(x.cell, x.obs)
	st.suspect, st.extreme, st.old = -1, 0, math.NaN()
	j.out.ChangePoints = append(j.out.ChangePoints, ChangePoint{
		Cell: x.cell, At: x.obs, Found: j.t.Obs[x.obs].Release, D: x.d, P: math.NaN(), Source: ByPerson,
	})
}

// held appends the values of the current level before an observation to values, and their indexes to at.
func (j *judge) held(cell, before int32, values []float64, at []int32) ([]float64, []int32) {
	for i := j.state[cell].from; i < before; i++ {
		if j.joins(i) && !j.rows[i].out {
			values, at = append(values, j.adj[i]), append(at, i)
		}
	}
	return values, at
}

// gain returns the most squared error that one split explains, and where; least is the number of values that each
// side needs.
func gain(values []float64, least int) (best float64, at int) {
	n := float64(len(values))
	total := 0.
	for _, v := range values {
		total += v
	}
	s := 0.
	for i, v := range values[:len(values)-1] {
		s += v
		k := float64(i + 1)
		if i+1 < least || len(values)-i-1 < least {
			continue
		}
		d := s - k*total/n
		if g := d * d * n / (k * (n - k)); g > best {
			best, at = g, i+1
		}
	}
	return best, at
}

// candidate is a proposed split.
type candidate struct {
	of    span    // that is split
	at    int32   // observation that would begin a level
	split int     // its place
	step  float64 // of the values there

	values   []float64 // of the level that is split, centred
	weight   []float64 // of a squared partial sum, by split; 0 where a side would be too short
	observed float64
	state    uint64 // of the random numbers
	over     int    // permutations at least as extreme
	made     int
	p        float64
	beyond   float64 // p value where no permutation is as extreme: see [candidate.tail]
}

func newCandidate(values []float64, least int, seed uint64) *candidate {
	n := len(values)
	c := &candidate{values: slices.Clone(values), weight: make([]float64, n-1), state: seed}
	mean, _ := centre(c.values)
	for i := range c.values {
		c.values[i] -= mean
	}
	for i := range c.weight {
		if k := i + 1; k >= least && n-k >= least {
			c.weight[i] = float64(n) / float64(k*(n-k))
		}
	}
	c.observed = c.most()
	return c
}

// tail is the p value of a split of the centred values that is far beyond what permutations reach in reasonable time:
// ten times that of normal values over all splits, which leaves room for others, and never less than the share of
// permutations that put the same values on the shorter side.
func (c *candidate) tail() float64 {
	n, splits, total := float64(len(c.values)), 0., 0.
	for _, w := range c.weight {
		if w > 0 {
			splits++
		}
	}
	for _, v := range c.values {
		total += v * v
	}
	t := math.Sqrt(c.observed * (n - 2) / max(total-c.observed, 1e-12*total))
	same := 2.
	for i := range min(c.split, len(c.values)-c.split) {
		same *= float64(i+1) / (n - float64(i))
	}
	return max(20*splits*UpperTail(t, n-2), same)
}

// most returns the largest gain of one split, like [gain], for centred values.
func (c *candidate) most() float64 {
	best, s := 0., 0.
	for i, w := range c.weight {
		s += c.values[i]
		best = max(best, s*s*w)
	}
	return best
}

// shuffled permutes the values (Fisher and Yates) and returns their largest gain, in one pass. Random numbers are
// splitmix64 (Steele, Lea and Flood 2014): most of a search's time is spent here.
func (c *candidate) shuffled() float64 {
	v, w, state := c.values, c.weight, c.state
	best, s := 0., 0.
	for i := range w {
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		k := i + int((z>>32)*uint64(len(v)-i)>>32) // the bias of one in 2^26 does not matter here
		v[i], v[k] = v[k], v[i]
		s += v[i]
		if g := s * s * w[i]; g > best {
			best = g
		}
	}
	c.state = state
	return best
}

// many permutations of which none is as extreme leave the rest to [candidate.tail].
const many = 1e4

// permute makes up to a number of permutations, and stops at the tenth that is as extreme (Besag and Clifford 1991):
// the p value of a split that is no change point needs no more.
func (c *candidate) permute(upTo int) {
	const enough = 10
	for c.made < upTo && c.over < enough {
		c.made++
		if c.shuffled() >= c.observed*(1-1e-12) {
			c.over++
		}
	}
	if c.over >= enough {
		c.p = float64(c.over) / float64(c.made)
	} else {
		c.p = float64(c.over+1) / float64(c.made+1)
	}
	if c.over == 0 && c.made >= many {
		c.p = min(c.p, c.beyond)
	}
}

// resolve computes a p value for every candidate that is precise enough for the false discovery procedure over family
// searches, with a thousand to a million permutations, and returns the largest that passes. It stops for a candidate
// that could not pass even if its true p were a third of the estimate.
func resolve(list []*candidate, family int, level float64) float64 {
	limit := -1.
	for _, upTo := range []int{1e3, 1e4, 3e4, 1e5, 3e5, 1e6} {
		var open []*candidate
		for i, c := range list {
			if upTo == 1e3 || c.p > limit && hopeful(list, i, family, level) {
				open = append(open, c)
			}
		}
		if len(open) == 0 {
			break
		}
		permuteAll(open, upTo)
		ps := make([]float64, len(list))
		for i, c := range list {
			ps[i] = c.p
		}
		_, limit = BenjaminiHochberg(ps, family, level)
	}
	return limit
}

// permuteAll permutes candidates on all processors. Each has random numbers of its own, so that the result does not
// depend on the order.
func permuteAll(list []*candidate, upTo int) {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, c := range list {
		g.Go(func() error {
			c.permute(upTo)
			return nil
		})
	}
	_ = g.Wait() // permutations do not fail
}

// hopeful reports whether more permutations could still let a candidate pass: not when its p is three times the
// threshold, nor when ten times as many were made as the threshold needs.
func hopeful(list []*candidate, i int, family int, level float64) bool {
	c := list[i]
	ahead := 0
	for _, o := range list {
		if o.over*c.made <= c.over*o.made {
			ahead++
		}
	}
	needed := level * float64(ahead) / float64(family)
	return float64(c.over)/float64(c.made)/3 <= needed && float64(c.made) < 10/needed
}

// remarkable is the squared t of a split below which no permutation is made: with the splits that a history offers,
// chance exceeds it about twice in ten thousand, and a step must be a good deal rarer than that to pass among thousands
// of cells.
const remarkable = 26

// Search looks for steps that are too small or too old for the gate, in the levels of every cell that a release
// measured, up to that release, by permutation at the false discovery rate of the rules; what lies on either side of a
// step is searched again. A long level is searched in parts too, because a rise that goes back again is no step of the
// whole (seeded intervals: Kovács and others 2023). large asks only about the newest level of each as a whole, and
// regressions that matter. They are for drawing and for reading a history: no baseline begins at one, and no verdict
// knows of them. They come in the order of cells, then of time.
func Search(
	ctx context.Context, t *Table, out *Judgement, release int32, rules Rules, large bool,
) ([]ChangePoint, error) {
	search := searching{t: t, rules: rules, large: large}
	out.eachLevel(t, release, large, func(s span) {
		search.try(s)
		if !large {
			for _, part := range s.parts() {
				search.try(part)
			}
		}
	})
	var found []ChangePoint
	for search.family > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		limit, list := resolve(search.proposed, search.family, rules.FDR), search.proposed
		search.proposed, search.family = nil, 0
		for _, c := range list {
			if c.p > limit {
				continue
			}
			found = append(found, ChangePoint{
				Cell: c.of.cell, At: c.at, Found: release, D: c.step, P: c.p, Source: BySearch,
			})
			if !large && !c.of.part {
				for _, h := range c.of.halves(c.split) {
					search.try(h)
				}
			}
		}
	}
	return once(found), nil
}

// searching gathers the splits of a family of levels that are worth a test.
type searching struct {
	t        *Table
	rules    Rules
	large    bool
	family   int // levels
	proposed []*candidate
}

// try adds a level, whose values are copied where a split of it is proposed.
func (s *searching) try(of span) {
	s.family++
	c := propose(of.values, of.at, s.t, seedOf(s.rules, int(of.cell)))
	if c == nil || s.large && c.step < s.t.Cells[of.cell].Delta {
		return
	}
	c.of = of
	if !s.large && !of.part { // its halves are searched
		c.of.values, c.of.at = slices.Clone(of.values), slices.Clone(of.at)
	}
	s.proposed = append(s.proposed, c)
}

// once keeps the surest of steps of a cell that several searches found within two values.
func once(found []ChangePoint) []ChangePoint {
	const near = 2
	slices.SortStableFunc(found, func(a, b ChangePoint) int {
		return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.At, b.At))
	})
	var out []ChangePoint
	for _, c := range found {
		n := len(out) - 1
		switch {
		case n < 0 || out[n].Cell != c.Cell || c.At-out[n].At > near:
			out = append(out, c)
		case c.P < out[n].P:
			out[n] = c
		}
	}
	return out
}

// span is one level of a cell, or a part of one: its values and their observations.
type span struct {
	cell   int32
	values []float64
	at     []int32
	part   bool
}

// parts are the seeded intervals of a level: of 32 values, 64 and so on, each overlapping the next by half.
func (s *span) parts() []span {
	const shortest = 32
	var out []span
	for n := shortest; n < len(s.at); n *= 2 {
		for from := 0; from+n/2 < len(s.at); from += n / 2 {
			to := min(len(s.at), from+n)
			out = append(out, span{s.cell, s.values[from:to], s.at[from:to], true})
		}
	}
	return out
}

// halves are the two sides of a split that are long enough to be searched.
func (s *span) halves(split int) []span {
	var out []span
	for _, h := range []span{
		{s.cell, s.values[:split], s.at[:split], false}, {s.cell, s.values[split:], s.at[split:], false},
	} {
		if len(h.at) >= fewest {
			out = append(out, h)
		}
	}
	return out
}

// eachLevel calls do with the levels of the cells that a release measured which are long enough to be searched; the
// values of a level are those of another after the call.
func (j *Judgement) eachLevel(t *Table, release int32, newest bool, do func(span)) {
	begins := make([][]int32, len(t.Cells))
	for _, c := range j.ChangePoints {
		if c.Found <= release && !c.Dismissed {
			begins[c.Cell] = append(begins[c.Cell], c.At)
		}
	}
	var values []float64
	var at []int32
	for cell := range t.Cells {
		values, at = j.level(t, int32(cell), t.Cells[cell].First, release, values[:0], at[:0])
		if len(at) < fewest || t.Obs[at[len(at)-1]].Release != release {
			continue
		}
		slices.Sort(begins[cell])
		from := 0
		for _, b := range append(begins[cell], math.MaxInt32) {
			to, _ := slices.BinarySearch(at, b)
			last := b == math.MaxInt32
			if to-from >= fewest && (last || !newest) {
				do(span{int32(cell), values[from:to], at[from:to], false})
			}
			from = to
		}
	}
}

func seedOf(rules Rules, cell int) uint64 {
	if rules.Seed == nil {
		return uint64(cell)
	}
	return rules.Seed(cell)
}

// level appends the values of a cell that baselines see, from an observation up to a release, with their observations.
func (j *Judgement) level(
	t *Table, cell, from, release int32, values []float64, at []int32,
) ([]float64, []int32) {
	for i := from; i < t.Cells[cell].End && t.Obs[i].Release <= release; i++ {
		if t.Releases[t.Obs[i].Release].Joins && !j.Excluded(t, i, release) {
			values, at = append(values, j.adj[i]), append(at, i)
		}
	}
	return values, at
}

const (
	fewest     = 8 // values of a level that is searched
	fewestSide = 3 // on each side of a split
)

// propose splits a level where that explains most. A split that a normal approximation finds unremarkable is not worth
// a permutation.
func propose(values []float64, at []int32, t *Table, seed uint64) *candidate {
	mean, ss := centre(values)
	if math.IsNaN(mean) {
		return nil
	}
	g, k := gain(values, fewestSide)
	n := float64(len(values))
	if k == 0 || g*(n-2) < remarkable*(ss-g) || t.Obs[at[k]].Dismiss {
		return nil
	}
	c := newCandidate(values, fewestSide, seed)
	before, _ := centre(values[:k])
	after, _ := centre(values[k:])
	c.at, c.split, c.step = at[k], k, after-before
	c.beyond = c.tail()
	return c
}

// Trend is a drift of a series that no single release shows.
type Trend struct {
	Slope float64 // change a release, in the units of the values (Sen 1968: the median of all pairwise slopes)
	P     float64 // two-sided, Mann (1945) and Kendall's test with continuity and ties corrected
	N     int
	// Ratio is von Neumann's ratio of what remains without the slope: about 2 where values vary around a line, far less
	// where each begins at the one before, as in a random walk, whose trend is no trend. NaN where nothing remains.
	Ratio float64
	// Steps is how many standard errors the mean change from value to value is from none.
	Steps float64
}

// Steady reports whether the values vary around the line, or move along it more surely than a random walk does.
func (t Trend) Steady() bool { return !(t.Ratio < 1.2) || math.Abs(t.Steps) > 3.5 }

// Explains reports whether the line leaves less of the values than a step at one of them does, which is 0 where there
// is none.
func (t Trend) Explains(values []float64, step int) bool {
	if step == 0 {
		return true
	}
	rest := make([]float64, len(values))
	for i, v := range values {
		rest[i] = v - t.Slope*float64(i)
	}
	_, line := centre(rest)
	_, first := centre(values[:step])
	_, second := centre(values[step:])
	return line < first+second
}

// TrendOf measures the trend of a series in order. With fewer than eight values P is NaN.
func TrendOf(values []float64) Trend {
	n := len(values)
	t := Trend{N: n, P: math.NaN(), Ratio: math.NaN()}
	if n < 2 {
		return t
	}
	var slopes []float64
	s := 0
	for i := range values {
		for k := i + 1; k < n; k++ {
			slopes = append(slopes, (values[k]-values[i])/float64(k-i))
			s += cmp.Compare(values[k], values[i])
		}
	}
	slices.Sort(slopes)
	t.Slope = middle(slopes)
	if n < 8 {
		return t
	}
	t.P = 1
	t.Ratio, t.Steps = neumann(values, t.Slope), steps(values)
	if v := kendallVariance(values); v > 0 {
		z := math.Max(0, math.Abs(float64(s))-1) / math.Sqrt(v)
		t.P = 2 * distuv.UnitNormal.Survival(z)
	}
	return t
}

// neumann is von Neumann's ratio of values without a slope: the mean squared difference of neighbours over the
// variance.
func neumann(values []float64, slope float64) float64 {
	rest := make([]float64, len(values))
	for i, v := range values {
		rest[i] = v - slope*float64(i)
	}
	_, ss := centre(rest)
	if ss <= 0 {
		return math.NaN()
	}
	steps := 0.
	for i := 1; i < len(rest); i++ {
		steps += (rest[i] - rest[i-1]) * (rest[i] - rest[i-1])
	}
	return steps / ss
}

// steps is the mean change from value to value in standard errors, as of a random walk.
func steps(values []float64) float64 {
	list := make([]float64, len(values)-1)
	for i := range list {
		list[i] = values[i+1] - values[i]
	}
	mean, ss := centre(list)
	n := float64(len(list))
	return mean / math.Sqrt(ss/(n-1)/n)
}

// kendallVariance is the variance of Kendall's S under no trend, corrected for ties.
func kendallVariance(values []float64) float64 {
	n := len(values)
	v := float64(n*(n-1)*(2*n+5)) / 18
	sorted := slices.Sorted(slices.Values(values))
	for i := 0; i < n; {
		k := i
		for k < n && sorted[k] == sorted[i] {
			k++
		}
		tied := k - i
		v -= float64(tied*(tied-1)*(2*tied+5)) / 18
		i = k
	}
	return v
}
