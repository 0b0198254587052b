package board

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/ttreport/ttreport/targets/regression"
	"gonum.org/v1/gonum/mathext"
)

// Size is the chance that a board separates any two models wrongly, in whichever of its columns.
const Size = .05

// Board is what is known of the order of some models, by their places in the input.
type Board struct {
	Order []int // those that may be the first before the others, each by wins
	// Low and High are the ranks that a model may have: one more than how many are shown to be better; how many are not
	// shown to be worse.
	Low, High []int
	diffs     [][]Diff // of i > j
	known     [][]bool
	better    [][]bool // i is shown to be better than j
	next      float64  // p that would separate one more pair
}

// Rank compares all pairs of n models; pair is the difference of two, ok false where they cannot be compared. share is
// the part of [Size] that the ranking takes: of a board with several, all together take 1.
func Rank(n int, share float64, pair func(i, j int) (d Diff, ok bool)) *Board {
	b := &Board{Order: make([]int, n), Low: make([]int, n), High: make([]int, n), diffs: make([][]Diff, n),
		known: make([][]bool, n), better: make([][]bool, n)}
	var tests [][2]int
	var p []float64
	wins := make([]int, n)
	for i := range n {
		b.Order[i], b.Low[i], b.High[i] = i, 1, n
		b.diffs[i], b.known[i], b.better[i] = make([]Diff, i), make([]bool, i), make([]bool, n)
		for j := range i {
			d, ok := pair(i, j)
			if b.diffs[i][j], b.known[i][j] = d, ok; !ok {
				continue
			}
			tests, p = append(tests, [2]int{i, j}), append(p, d.P)
			switch {
			case d.D > 0:
				wins[i], wins[j] = wins[i]+1, wins[j]-1
			case d.D < 0:
				wins[i], wins[j] = wins[i]-1, wins[j]+1
			}
		}
	}
	limit, next := regression.Holm(p, share*Size)
	b.next = next
	for k, t := range tests {
		if p[k] > limit {
			continue
		}
		best, worst := t[0], t[1]
		if b.diffs[t[0]][t[1]].D < 0 {
			best, worst = worst, best
		}
		b.better[best][worst] = true
		b.Low[worst]++
		b.High[best]--
	}
	slices.SortStableFunc(b.Order, func(x, y int) int {
		return cmp.Or(cmp.Compare(min(b.Low[x], 2), min(b.Low[y], 2)), cmp.Compare(wins[y], wins[x]))
	})
	return b
}

// Diff is the difference of two models, ok false where they cannot be compared.
func (b *Board) Diff(i, j int) (d Diff, ok bool) {
	switch {
	case i == j:
		return d, false
	case i > j:
		return b.diffs[i][j], b.known[i][j]
	}
	d = b.diffs[j][i]
	d.D = -d.D
	return d, b.known[j][i]
}

// Tied reports whether two models were compared and neither is shown to be better.
func (b *Board) Tied(i, j int) bool {
	_, ok := b.Diff(i, j)
	return ok && !b.better[i][j] && !b.better[j][i]
}

// Interval is that of a difference at the level of the last pair that could be separated, so that it contains zero
// where two models tie.
func (b *Board) Interval(d Diff) (lo, hi float64) { return d.interval(b.next) }

// Separated counts the pairs of which one is shown to be better.
func (b *Board) Separated() (n int) {
	for _, low := range b.Low {
		n += low - 1
	}
	return n
}

// Best is the model that is shown to be better than every other, -1 for none.
func (b *Board) Best() int {
	if len(b.Order) > 1 && b.High[b.Order[0]] == 1 {
		return b.Order[0]
	}
	return -1
}

// Ties are the models that are not separated from one, in order.
func (b *Board) Ties(of int) (out []int) {
	for _, i := range b.Order {
		if b.Tied(i, of) {
			out = append(out, i)
		}
	}
	return out
}

// Groups are the sets of models of which no two are separated and that no other set contains, by their first model.
func (b *Board) Groups() (out [][]int) {
	all := new(big.Int) // a bit for each model
	for i := range b.Order {
		all.SetBit(all, i, 1)
	}
	groups, other := []*big.Int{all}, new(big.Int)
	for _, i := range b.Order {
		for _, j := range b.Order {
			if !b.better[i][j] {
				continue
			}
			var kept, split []*big.Int
			for _, g := range groups {
				if g.Bit(i)&g.Bit(j) == 1 {
					split = append(split, new(big.Int).SetBit(g, i, 0), new(big.Int).SetBit(g, j, 0))
				} else {
					kept = append(kept, g)
				}
			}
			for _, s := range split { // one that another contains says nothing
				if !slices.ContainsFunc(kept, func(k *big.Int) bool { return other.AndNot(s, k).Sign() == 0 }) {
					kept = append(kept, s)
				}
			}
			groups = kept
		}
	}
	place := make([]int, len(b.Order))
	for _, g := range groups {
		var members []int
		for at, i := range b.Order {
			if place[i] = at; g.Bit(i) == 1 {
				members = append(members, i)
			}
		}
		out = append(out, members)
	}
	slices.SortFunc(out, func(x, y []int) int {
		return slices.CompareFunc(x, y, func(i, j int) int { return cmp.Compare(place[i], place[j]) })
	})
	return out
}

// power is the quantile of the chance of four in five to separate two models that differ as much as they do now.
const power = .8416212335729143

// Factor is how many times as many items would separate two tied models, four times in five, if they differ as much as
// they seem to; +Inf where they do not differ.
func (b *Board) Factor(d Diff) float64 { return d.Factor(b.next) }

// Samples is how many samples of each of the same items would separate two tied models, as [Board.Factor].
func (b *Board) Samples(d Diff) int { return d.NeededSamples(b.next) }

// Factor is how many times as many items would show such a difference at a two-sided level, four times in five; +Inf
// for none.
func (x Diff) Factor(level float64) float64 {
	return math.Pow((mathext.NormalQuantile(1-level/2)+power)*x.SE/x.D, 2)
}

// NeededSamples is how many samples of each of the same items would, as [Diff.Factor]; 0 where no number does, or the
// parts of the noise are not known.
func (x Diff) NeededSamples(level float64) int {
	room := math.Pow(x.D/(mathext.NormalQuantile(1-level/2)+power), 2) - x.Data
	if !(room > 0) {
		return 0
	}
	return max(x.Samples+1, int(math.Ceil(x.Prediction*float64(x.Samples)/room)))
}
