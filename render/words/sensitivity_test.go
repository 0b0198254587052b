package words_test

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/render/words"
)

func TestSensitivity(t *testing.T) {
	const could = "28 of 160 numbers could hide a regression beyond the limit"
	for _, c := range []struct {
		series, hidden int
		median         float64
		want           string
	}{
		{0, 0, math.NaN(), ""},
		{160, 0, .05, "A regression beyond the limit in any of 160 numbers would have been shown."},
		{160, 28, .052, could + "; half would have shown one of 5.2" + words.Thin + "%."},
		{160, 28, math.Inf(1), could + "."},
	} {
		if got := words.Sensitivity(c.series, c.hidden, c.median); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
