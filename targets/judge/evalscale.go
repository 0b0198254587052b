package judge

import (
	"math"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Scales of scores that are shares of right answers: files have .79 or 79.
const (
	inFraction = 1.
	inPercent  = 100.
)

// scaleOf returns the factor from a share to the tool's own scale. A value above 1 is in percent; so is one below it
// whose stated error is that of its items only in percent, as .9 ± .3 of 1,000 is.
func scaleOf(s *schema.Score) float64 {
	v, _ := s.Value.Get()
	if v > 1 {
		return inPercent
	}
	if reading(s, float64(s.N)) == inPercent {
		return inPercent
	}
	return inFraction
}

// reading is the scale in which the stated error of a value is that of n items; 0 where the error does not tell.
func reading(s *schema.Score, n float64) float64 {
	const sure = 4 // times as near
	v, _ := s.Value.Get()
	e, has := s.Stderr.Get()
	if !has || !(e > 0) || v <= 0 || v >= 1 || n < 2 {
		return 0
	}
	off := func(scale float64) float64 { return math.Abs(math.Log(itemsBehind(v/scale, e/scale) / n)) }
	switch one, hundred := off(inFraction), off(inPercent); {
	case one+math.Log(sure) < hundred:
		return inFraction
	case hundred+math.Log(sure) < one:
		return inPercent
	}
	return 0
}

// itemsBehind is of how many right or wrong answers a share has an error.
func itemsBehind(p, e float64) float64 { return p * (1 - p) / (e * e) }

// scalesOf returns the scales of two scores of one task. Where one is in percent and the other at most 1, the other's
// error decides; ok is false where it does not.
func scalesOf(a, b *schema.Score) (x, y float64, ok bool) {
	x, y = scaleOf(a), scaleOf(b)
	if x == y {
		return x, y, true
	}
	small, at, other := a, &x, b
	if y < x {
		small, at, other = b, &y, a
	}
	if v, _ := small.Value.Get(); v == 0 {
		return x, y, true
	}
	n := float64(small.N)
	if n < 2 {
		n = float64(other.N)
	}
	if v, _ := other.Value.Get(); n < 2 {
		if e, has := other.Stderr.Get(); has && e > 0 {
			n = itemsBehind(v/inPercent, e/inPercent)
		}
	}
	*at = reading(small, n)
	return x, y, *at > 0
}

// isShare reports whether a score is a share of right answers: a fraction or a percentage of a metric where higher is
// better.
func isShare(s *schema.Score) bool {
	v, has := s.Value.Get()
	switch {
	case !has || s.Direction == "lower" || v < 0 || strings.Contains(s.Metric, "perplexity"):
		return false
	case v <= 1:
		return true
	}
	return v <= 100 && !strings.Contains(s.Metric, "bleu") && !strings.Contains(s.Metric, "ter")
}

// share returns a score as a share of right answers, if it is one.
func share(s *schema.Score) (p float64, ok bool) {
	if !isShare(s) {
		return 0, false
	}
	v, _ := s.Value.Get()
	return v / scaleOf(s), true
}

// shares are two scores of one task as shares of right answers; ok is false where one is none. See [scalesOf].
func shares(a, b *schema.Score) (p1, p2 float64, ok bool) {
	if !isShare(a) || !isShare(b) {
		return 0, 0, false
	}
	x, y, _ := scalesOf(a, b)
	v, _ := a.Value.Get()
	w, _ := b.Value.Get()
	return v / x, w / y, true
}

// ShareScale is what a score's value is divided by to get a share of right answers, 0 for a score that is none.
func ShareScale(s *schema.Score) float64 {
	if !isShare(s) {
		return 0
	}
	return scaleOf(s)
}
