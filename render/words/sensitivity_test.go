package words_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

func TestSensitivity(t *testing.T) {
	const tail = "; where many regress together, less is enough. 28 could hide more than the limit"
	const lower = ". A longer history and more repeats lower that."
	for _, c := range []struct {
		s    judge.Sensitivity
		want string
	}{
		{judge.Sensitivity{Once: judge.Shown{Median: math.NaN()}}, ""},
		{
			judge.Sensitivity{Series: 160, Once: judge.Shown{Median: .05}},
			"A regression beyond the limit in any one of 160 numbers would be named four times in five.",
		},
		{
			judge.Sensitivity{Series: 160, Once: judge.Shown{Median: .052, Hidden: 28},
				Again: judge.Shown{Median: .061, Hidden: 31}},
			"Were one number alone to regress, this release would name it four times in five from 5.2 % on (median of 160 " +
				"numbers), and a re-run would confirm it from 6.1 % on" + tail +
				" without a re-run; 31 need more than the limit for a re-run to confirm it" + lower,
		},
		{
			judge.Sensitivity{Series: 160, Once: judge.Shown{Median: .052, Hidden: 28}, Again: judge.Shown{Median: math.Inf(1)}},
			"Were one number alone to regress, this release would name it four times in five from 5.2 % on (median of 160 " +
				"numbers), and two runs could not confirm it yet" + tail + lower,
		},
	} {
		if got := strings.ReplaceAll(words.Sensitivity(c.s), words.Thin, " "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
