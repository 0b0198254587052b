package regression

import (
	"math"
	"slices"
)

// modes reports whether values, in order of time, form two clusters that are each visited at least twice, and now is
// in one of them. The widest gap splits them; the standard deviation of a cluster must be at most a fifth of the gap.
func modes(values []float64, now float64) bool {
	if len(values) < 6 {
		return false
	}
	sorted := slices.Sorted(slices.Values(values))
	at, gap := 0, 0.
	for i := 1; i < len(sorted); i++ {
		if g := sorted[i] - sorted[i-1]; g > gap {
			at, gap = i, g
		}
	}
	low, ssLow := centre(sorted[:at])
	high, ssHigh := centre(sorted[at:])
	sd := math.Sqrt((ssLow + ssHigh) / float64(max(1, len(sorted)-2)))
	if at < 2 || len(sorted)-at < 2 || 5*sd > high-low {
		return false
	}
	border := (sorted[at-1] + sorted[at]) / 2
	visits := [2]int{}
	for i, v := range values {
		side := 0
		if v > border {
			side = 1
		}
		if i == 0 || (values[i-1] > border) != (v > border) {
			visits[side]++
		}
	}
	near := math.Min(math.Abs(now-low), math.Abs(now-high))
	return visits[0] >= 2 && visits[1] >= 2 && near <= math.Max(3*sd, (high-low)/4)
}
