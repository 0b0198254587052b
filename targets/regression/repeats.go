package regression

import "math"

// Repeats returns how many repeats of one release would settle a noisy cell, or 0 and how many more releases would,
// when no number of repeats does.
func Repeats(r *Calculation) (repeats, releases int) {
	n := float64(len(r.Baseline))
	if n == 0 || r.SE == 0 {
		return 0, 0
	}
	sw2, sb2 := r.Sw2, 0.
	if math.IsNaN(sw2) || sw2 <= 0 {
		sw2 = r.Variance // without repeats the share of the noise within a run is unknown: at best all of it
	} else {
		inverse := 0.
		for _, b := range r.Baseline {
			inverse += 1 / float64(b.K)
		}
		sb2 = math.Max(0, r.Variance-sw2*inverse/n)
	}
	return Settle(r.Delta, r.Variance, sw2, sb2, Wanted(r.Df), n)
}

// Wanted returns how many standard errors the effect that matters must have, so that "unchanged" is shown at 5 % with
// power 80 %.
func Wanted(df float64) float64 { return Quantile(.95, df) + Quantile(.80, df) }

// Settle returns how many repeats of one release bring the interval of a change within the effect that matters, or 0
// and how many more releases would: variance is that of one release, of which within is between repeats and between
// is between releases, want is [Wanted], n the releases of the baseline.
func Settle(delta, variance, within, between, want, n float64) (repeats, releases int) {
	room := delta*delta/(want*want) - between - variance/n
	if room > 0 {
		return int(math.Ceil(within / room)), 0
	}
	// More releases shrink s²/n alone: solve Δ²/want² = s²(1 + 1/n) for n, where that has an answer.
	if more := delta*delta/(want*want)/variance - 1; more > 0 {
		return 0, max(1, int(math.Ceil(1/more-n)))
	}
	return 0, 0
}
