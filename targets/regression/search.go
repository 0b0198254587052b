package regression

import (
	"cmp"
	"context"
	"math"
	"slices"
)

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
