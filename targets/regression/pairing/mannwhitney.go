package pairing

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

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
