package regression

import (
	"cmp"
	"math"
	"slices"
)

// FDR is the false discovery rate to which every family of tests is held: the expected share of false ones among the
// changes that are reported.
const FDR = .05

// BenjaminiHochberg is the step-up procedure of Benjamini and Hochberg (1995), which controls the false discovery rate
// over a family of tests at a level.
//
// p holds p values in any order. family is the number of tests that were made: at least len(p), and more where p has
// only some of them, such as those in one direction. NaN is a test without a p value: it counts in family only.
//
// limit is the largest p value that is a discovery, or -1 when none is: p[i] is a discovery exactly when p[i] <= limit.
// q is parallel to p and has the smallest level at which each would be a discovery among these, at most 1; NaN stays
// NaN.
func BenjaminiHochberg(p []float64, family int, level float64) (q []float64, limit float64) {
	q, limit = make([]float64, len(p)), -1
	order := make([]int, 0, len(p))
	for i, v := range p {
		if math.IsNaN(v) {
			q[i] = v
			continue
		}
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	least := 1.
	for rank := len(order); rank > 0; rank-- {
		i := order[rank-1]
		least = math.Min(least, p[i]*float64(family)/float64(rank))
		q[i] = least
		if limit < 0 && p[i] <= level*float64(rank)/float64(family) {
			limit = p[i]
		}
	}
	return q, limit
}
