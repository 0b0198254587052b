package board

import (
	"cmp"
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/regression/proportion"
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
	d.D, d.Below, d.Above = -d.D, d.Above, d.Below
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

// Items are the answers of a model to the items of a task.
type Items struct {
	Means   []float64 // of the samples of each item
	Samples int       // of each item, k
	// Within is the mean over the items of the variance between the samples of one, divided by k−1; NaN with one sample,
	// which says nothing of it.
	Within  float64
	Cluster []int // the group of each item, in any numbers; nil where each stands for itself
	Total   int   // items of the task; 0 or the number of items for all
}

// Shares are the items of which the share of right answers among k samples is known.
func Shares(right []float64, k int) Items {
	x := Items{Means: right, Samples: k, Within: math.NaN()}
	if k > 1 {
		x.Within = 0
		for _, p := range right {
			x.Within += p * (1 - p) * float64(k) / float64(k-1) / float64(len(right))
		}
	}
	return x
}

// Noise is the standard error of a mean over items that are answered once, and its parts: the choice of the items, and
// that a model answers one item differently each time. The parts are NaN where one sample of each is known.
type Noise struct{ SE, Data, Prediction float64 }

// Noise splits the noise of a score as the tables of arXiv 2512.21326 do, with variances divided by n.
func (x *Items) Noise() Noise {
	n, k := float64(len(x.Means)), float64(x.Samples)
	mean, variance := moments(x.Means, n)
	if variance /= n; x.Cluster != nil {
		variance, _ = clustered(x.Means, mean, x.Cluster)
	}
	if x.Samples < 2 {
		return Noise{math.Sqrt(variance), math.NaN(), math.NaN()}
	}
	data, prediction := variance-x.Within/k/n, x.Within/n
	return Noise{math.Sqrt(data + prediction), math.Sqrt(math.Max(0, data)), math.Sqrt(prediction)}
}

// Error is the standard error of the mean of the items as they were answered; NaN for one item or group.
func (x *Items) Error() float64 {
	n := float64(len(x.Means))
	mean, variance := moments(x.Means, n-1)
	if variance /= n; x.Cluster != nil {
		variance, _ = clustered(x.Means, mean, x.Cluster)
	}
	return math.Sqrt(variance)
}

// clustered is the variance of the mean of values in groups, with its degrees of freedom.
func clustered(values []float64, mean float64, group []int) (variance, df float64) {
	sums := map[int]float64{}
	for i, c := range group {
		sums[c] += values[i] - mean
	}
	n, g := float64(len(values)), float64(len(sums))
	for _, c := range slices.Sorted(maps.Keys(sums)) { // in one order, for one sum
		variance += sums[c] * sums[c] / (n * n) * g / (g - 1)
	}
	return variance, g - 1
}

// moments are the mean of values and their squared deviations over a divisor.
func moments(values []float64, divisor float64) (mean, variance float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / divisor
	}
	return mean, variance
}

// Diff is the difference of two scores, the first minus the second.
type Diff struct {
	D, SE float64
	P     float64 // two-sided
	DF    float64 // of Student's t; +Inf for the normal distribution
	// Below and Above are how far the ends of the 95 % interval are from D, where that is not as far on both sides.
	Below, Above float64
	// Paired says that both answered the same items.
	Paired bool
	// Data and Prediction are the parts of SE², NaN where they are not known; Samples are those of each item.
	Data, Prediction float64
	Samples          int
}

// Of is a difference with a known standard error.
func Of(d, se float64) Diff {
	x := Diff{D: d, SE: se, P: 1, DF: math.Inf(1), Data: math.NaN(), Prediction: math.NaN(), Samples: 1}
	return x.test()
}

// Between is a difference with a 95 % interval. Its p value is that of the widest interval without zero, so that both
// agree.
func Between(d, low, high float64) Diff {
	x := Of(d, (high-low)/(2*proportion.Z975))
	x.Below, x.Above = d-low, high-d
	if toZero := x.Below; d != 0 {
		if d < 0 {
			toZero = x.Above
		}
		x.P = 2 * regression.UpperTail(math.Abs(d)/toZero*proportion.Z975, x.DF)
	}
	return x
}

// test sets the p value.
func (x Diff) test() Diff {
	switch {
	case x.D == 0:
		x.P = 1
	case x.SE > 0:
		x.P = 2 * regression.UpperTail(math.Abs(x.D)/x.SE, x.DF)
	default: // all differ by as much: that all signs agree is known, and no spread
		x.P = math.Pow(2, -x.DF)
	}
	return x
}

// Interval is the 95 % interval of the difference.
func (x Diff) Interval() (lo, hi float64) { return x.interval(.05) }

func (x Diff) interval(size float64) (lo, hi float64) {
	q := regression.Quantile(1-size/2, x.DF)
	below, above := x.ends()
	if lo, hi = x.D-q*below, x.D+q*above; x.P > size { // by an exact test it may be
		lo, hi = math.Min(lo, 0), math.Max(hi, 0)
	}
	return lo, hi
}

// ends are how far the ends of an interval of one standard error are from D.
func (x Diff) ends() (below, above float64) {
	if x.Below+x.Above == 0 {
		return x.SE, x.SE
	}
	return x.Below / proportion.Z975, x.Above / proportion.Z975
}

// Paired compares two models on the same items, item by item; ok is false for fewer than two items or clusters, and
// for items of different number.
func Paired(a, b *Items) (x Diff, ok bool) {
	n := float64(len(a.Means))
	if len(a.Means) != len(b.Means) || n < 2 {
		return x, false
	}
	d := make([]float64, len(a.Means))
	for i := range d {
		d[i] = a.Means[i] - b.Means[i]
	}
	x = Diff{Paired: true, DF: n - 1, Samples: min(a.Samples, b.Samples)}
	var between float64
	x.D, between = moments(d, n-1)
	variance := between / n
	if a.Cluster != nil {
		if variance, x.DF = clustered(d, x.D, a.Cluster); x.DF < 1 {
			return x, false
		}
	}
	x.Prediction = (a.Within/float64(a.Samples) + b.Within/float64(b.Samples)) / n
	x.Data = math.Max(0, variance-x.Prediction) // NaN where the prediction noise is
	if total := float64(a.Total); total > n {
		left := 1 - n/total
		if x.Data *= left; math.IsNaN(x.Data) {
			variance *= left
		} else {
			variance = x.Data + x.Prediction
		}
	}
	x.SE = math.Sqrt(variance)
	return x.test(), true
}

// Over compares two models by their scores in several tasks, the tasks being a sample of those that could have been
// asked. ok is false for fewer than three.
func Over(a, b []float64) (Diff, bool) {
	if len(a) < 3 {
		return Diff{}, false
	}
	x := Items{Means: a, Samples: 1, Within: math.NaN()}
	y := Items{Means: b, Samples: 1, Within: math.NaN()}
	return Paired(&x, &y)
}

// Mean is the mean of differences in several tasks, which are taken as they are: what is not known is how each would
// have come out with other items. The ends of its interval are as far from it as those of the tasks together (Zou and
// Donner 2008); that of one task is its own.
func Mean(tasks []Diff) Diff {
	if len(tasks) == 1 {
		return tasks[0]
	}
	d, below, above, n := 0., 0., 0., float64(len(tasks))
	for _, t := range tasks {
		b, a := t.ends()
		d, below, above = d+t.D/n, math.Hypot(below, b/n), math.Hypot(above, a/n)
	}
	return Between(d, d-proportion.Z975*below, d+proportion.Z975*above)
}
