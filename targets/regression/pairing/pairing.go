package pairing

import (
	"math"
	"slices"

	"github.com/ttreport/ttreport/targets/regression"
	"gonum.org/v1/gonum/stat/distuv"
)

// Tests.
const (
	NoTest      = "none"
	MannWhitney = "Mann-Whitney U, exact"
	Normal      = "Mann-Whitney U, normal"
	Welch       = "Welch's t on logarithms"
)

// Result is one comparison, B against A. Changes are relative changes of the value itself.
type Result struct {
	A, B       float64 // geometric means
	SpreadA    float64 // half of the range relative to the mean, as ±; 0 for one value
	SpreadB    float64
	Change     float64
	Lo, Hi     float64 // 95 % interval of the change, Welch's; NaN with one value, or repeats without any spread
	P          float64 // two-sided; NaN where there is no test
	Test       string
	NA, NB     int
	Sure       bool // p < .05 under a test that can reach that
	NeededEach int  // runs of each side that would probably show it; 0 when it is shown, or when that is unknown
}

// Compare compares positive values.
func Compare(a, b []float64) Result {
	r := Result{NA: len(a), NB: len(b), Lo: math.NaN(), Hi: math.NaN(), P: math.NaN(), Test: NoTest}
	la, lb := logs(a), logs(b)
	ma, va := moments(la)
	mb, vb := moments(lb)
	r.A, r.B = math.Exp(ma), math.Exp(mb)
	r.SpreadA, r.SpreadB = spread(a, r.A), spread(b, r.B)
	r.Change = math.Expm1(mb - ma)
	if len(a) < 2 || len(b) < 2 {
		r.NeededEach = 4
		return r
	}
	na, nb := float64(len(a)), float64(len(b))
	se2 := va/na + vb/nb
	df := se2 * se2 / (va*va/(na*na*(na-1)) + vb*vb/(nb*nb*(nb-1))) // Welch and Satterthwaite
	if se2 > 0 {
		half := regression.Quantile(.975, df) * math.Sqrt(se2)
		r.Lo, r.Hi = math.Expm1(mb-ma-half), math.Expm1(mb-ma+half)
	}
	const enough = 4 // with three and three the smallest p of U is .1
	switch {
	case len(a) >= enough && len(b) >= enough:
		r.P, r.Test = mannWhitney(a, b)
	case se2 == 0: // two or three identical repeats give no estimate of the spread
		r.NeededEach = enough
		return r
	default:
		r.Test = Welch
		r.P = 2 * regression.UpperTail(math.Abs(mb-ma)/math.Sqrt(se2), df)
	}
	r.Sure = r.P < .05
	if !r.Sure {
		r.NeededEach = needed(mb-ma, (va*(na-1)+vb*(nb-1))/(na+nb-2), max(len(a), len(b)))
	}
	return r
}

// needed returns how many runs of each side would show a difference of this size at 5 % with power 80 %; 0 for more
// than a hundred.
func needed(d, variance float64, have int) int {
	if d == 0 || variance == 0 {
		return 0
	}
	n := int(math.Ceil(2 * variance * (1.96 + .8416) * (1.96 + .8416) / (d * d)))
	n = max(n, have+1, 4)
	if n > 100 {
		return 0
	}
	return n
}

func logs(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log(v)
	}
	return out
}

func moments(values []float64) (mean, variance float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	if len(values) < 2 {
		return mean, 0
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return mean, variance
}

func spread(values []float64, mean float64) float64 {
	return (slices.Max(values) - slices.Min(values)) / 2 / mean
}

// mannWhitney returns the two-sided p of the U test: exact, by counting rank sums, for small samples, with ties by
// mid-rank; else by the normal approximation with corrections for ties and continuity.
func mannWhitney(a, b []float64) (float64, string) {
	ranks := doubledRanks(append(slices.Clone(a), b...))
	sum := 0
	for _, r := range ranks[:len(a)] {
		sum += r
	}
	if len(ranks) <= 40 {
		return exact(ranks, len(a), sum), MannWhitney
	}
	n, na, nb := float64(len(ranks)), float64(len(a)), float64(len(b))
	mean := na * (n + 1) // of the doubled sum
	ties := 0.
	count := map[int]float64{}
	for _, r := range ranks {
		count[r]++
	}
	for _, t := range count {
		ties += t*t*t - t
	}
	sd := 2 * math.Sqrt(na*nb/12*(n+1-ties/(n*(n-1))))
	if sd == 0 {
		return 1, Normal
	}
	z := math.Max(0, math.Abs(float64(sum)-mean)-1) / sd
	return math.Min(1, 2*distuv.UnitNormal.Survival(z)), Normal
}

// doubledRanks returns twice the mid-ranks, which are whole numbers.
func doubledRanks(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case values[i] < values[j]:
			return -1
		case values[i] > values[j]:
			return 1
		}
		return 0
	})
	ranks := make([]int, len(values))
	for i := 0; i < len(order); {
		k := i
		for k < len(order) && values[order[k]] == values[order[i]] {
			k++
		}
		for _, o := range order[i:k] {
			ranks[o] = i + 1 + k // twice the mean of i+1 … k
		}
		i = k
	}
	return ranks
}

// exact counts, over all choices of na of the ranks, how many sums are at least as far from the middle as the
// observed one.
func exact(ranks []int, na, seen int) float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([][]float64, na+1) // by how many chosen, by sum
	for i := range ways {
		ways[i] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for _, r := range ranks {
		for k := na; k > 0; k-- {
			for s := total; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	// Twice the mean is a whole number: mean sum = na·total/n.
	n := len(ranks)
	far := abs(seen*n - na*total)
	extreme, all := 0., 0.
	for s, w := range ways[na] {
		all += w
		if abs(s*n-na*total) >= far {
			extreme += w
		}
	}
	return extreme / all
}

func abs(x int) int { return max(x, -x) }
