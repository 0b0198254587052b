package main

import (
	"maps"
	"math"
	"slices"
)

// score sums the two measures of van den Burg and Williams (arXiv:2003.06222), section 3, over series.
type score struct {
	f1, cover float64
	series    int
}

func (s *score) add(series annotatedSeries, found []int) {
	s.f1 += fMeasure(series.marks, found)
	s.cover += covering(series.marks, found, series.n)
	s.series++
}

func (s *score) means() (f1, cover float64) {
	return s.f1 / float64(s.series), s.cover / float64(s.series)
}

// fMeasure is F1: precision against the union of all annotators, recall as the mean over annotators, margin 5.
func fMeasure(marks [][]int, found []int) float64 {
	x := set(found)
	precision := float64(hits(set(marks...), x)) / float64(len(x))
	recall := 0.
	for _, m := range marks {
		recall += float64(hits(set(m), x)) / float64(len(set(m))) / float64(len(marks))
	}
	return 2 * precision * recall / (precision + recall)
}

// hits matches marks with found change points at most margin away, each at most once.
func hits(marks, found map[int]bool) int {
	const margin = 5
	free := maps.Clone(found)
	n := 0
	for _, m := range slices.Sorted(maps.Keys(marks)) {
		best := -1
		for x := range free {
			if d := abs(x - m); d <= margin && (best < 0 || d < abs(best-m) || d == abs(best-m) && x < best) {
				best = x
			}
		}
		if best >= 0 {
			delete(free, best)
			n++
		}
	}
	return n
}

// set is the union of some lists; the start of a series is a change point by convention.
func set(list ...[]int) map[int]bool {
	out := map[int]bool{0: true}
	for _, l := range list {
		for _, x := range l {
			out[x] = true
		}
	}
	return out
}

// covering measures how well the segments of each annotator are covered by those found, weighted by length.
func covering(marks [][]int, found []int, n int) float64 {
	mine := segments(found, n)
	sum := 0.
	for _, m := range marks {
		for _, a := range segments(m, n) {
			best := 0.
			for _, b := range mine {
				both := float64(max(0, min(a[1], b[1])-max(a[0], b[0])))
				either := float64(a[1]-a[0]+b[1]-b[0]) - both
				best = math.Max(best, both/either)
			}
			sum += best * float64(a[1]-a[0]) / float64(n) / float64(len(marks))
		}
	}
	return sum
}

func segments(at []int, n int) [][2]int {
	border := append(slices.Sorted(maps.Keys(set(at))), n)
	var out [][2]int
	for i := 1; i < len(border); i++ {
		out = append(out, [2]int{border[i-1], border[i]})
	}
	return out
}

func abs(x int) int { return max(x, -x) }
