package regression

import "math"

// tails counts how often new values were as extreme as their p value, over all cells and releases so far: forward
// predictions, never of the release that is judged. Where noise has heavier tails than the t distribution, extreme
// values are more frequent than p states, and p is raised to the counted share. It is never lowered.
type tails struct {
	made int
	bins [2][64]int // by direction (regression, improvement) and by −4 log10 p, rounded down
}

func side(dir float64) int {
	if dir > 0 {
		return 0
	}
	return 1
}

func bin(p float64) int {
	if p <= 0 {
		return 63
	}
	return min(63, max(0, int(math.Floor(-4*math.Log10(p)))))
}

// add counts one prediction's outcome.
func (t *tails) add(dir, p float64) {
	if p < .05 {
		t.bins[side(dir)][bin(p)]++
	}
}

// calibrate returns a function from p to the larger of p and the share of predictions that were as extreme. Counts
// are reduced by three standard errors, so that chance raises nothing; beyond the most extreme count that is large
// enough, its ratio is used.
func (t *tails) calibrate(dir float64) func(p float64) float64 {
	var ratio [64]float64
	beyond, last := 0, 1.
	for b := 63; b >= 0; b-- {
		beyond += t.bins[side(dir)][b]
		edge := math.Pow(10, -float64(b)/4)
		expected := float64(t.made) * edge
		if sure := float64(beyond) - 3*math.Sqrt(float64(beyond)); sure > 1.5*expected {
			ratio[b] = sure / expected
		}
	}
	for b := range ratio {
		if ratio[b] == 0 {
			ratio[b] = last
		}
		last = math.Max(1, ratio[b])
		ratio[b] = last
	}
	return func(p float64) float64 { return math.Min(1, p*ratio[bin(p)]) }
}
