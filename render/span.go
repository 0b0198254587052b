package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// farther is how many times as wide a drawing would have to be for a value to lie beyond it.
const farther = 4

// AxisShare is the least share of its values that an axis over releases spans.
const AxisShare = .2

// Span is the range of values that a drawing over releases shows, NaN without values. Single values that would make it
// more than four times as wide, where it spans at least a share of its values, lie beyond it: a drawing has them at its
// edge, with their numbers, so that all others can be read. The newest value and two in a row never do: they may be a
// new level.
func Span(points []Point, share float64) (lo, hi float64) {
	var values []float64
	for _, p := range points {
		if p.OK {
			values = append(values, p.Value)
		}
	}
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	lo, hi = slices.Min(values), slices.Max(values)
	const few, many = 6, 10
	if len(values) < few {
		return lo, hi
	}
	middle := slices.Sorted(slices.Values(values))[len(values)/2]
	far := make([]int, len(values)) // the farthest first
	for i := range far {
		far[i] = i
	}
	slices.SortStableFunc(far, func(a, b int) int {
		return cmp.Compare(math.Abs(values[b]-middle), math.Abs(values[a]-middle))
	})
	for n := 1; n <= max(1, len(values)/many); n++ {
		beyond := slices.Sorted(slices.Values(far[:n]))
		if beyond[n-1] == len(values)-1 {
			break
		}
		if rest := without(values, beyond); !inARow(beyond) {
			if low, high := slices.Min(rest), slices.Max(rest); hi-lo > farther*max(high-low, share*math.Abs(middle)) {
				return low, high
			}
		}
	}
	return lo, hi
}

func inARow(places []int) bool {
	for i := 1; i < len(places); i++ {
		if places[i] == places[i-1]+1 {
			return true
		}
	}
	return false
}

func without(values []float64, places []int) (out []float64) {
	for i, v := range values {
		if !slices.Contains(places, i) {
			out = append(out, v)
		}
	}
	return out
}

// Span is that of all lines.
func (f Figure) Span() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, s := range f.Series {
		if low, high := Span(s.Points, AxisShare); low <= high {
			lo, hi = math.Min(lo, low), math.Max(hi, high)
		}
	}
	return lo, hi
}

// Beyond names the values that lie beyond the drawing: "128/128/1: 912 ms in v0.3.0"; "" for none.
func (f Figure) Beyond() string {
	lo, hi := f.Span()
	var out []string
	for _, s := range f.Series {
		for i, p := range s.Points {
			if p.OK && (p.Value < lo || p.Value > hi) {
				out = append(out, fmt.Sprintf("%s: %s in %s", s.Name, p.Text, f.Releases[i]))
			}
		}
	}
	return strings.Join(out, "; ")
}
