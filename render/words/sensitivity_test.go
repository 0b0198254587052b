package words_test

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// What could not have been seen is said of one number alone, without and with a re-run, and of a model on a device as a
// whole; a size that no release could show is said to be unseen, and what is not known is left out.
func TestSensitivity(t *testing.T) {
	const of = "Of 160 numbers, a regression of one alone "
	none := math.NaN()
	shown := func(once, again, groups float64) judge.Sensitivity {
		return judge.Sensitivity{
			Series: 160, Once: judge.Shown{Median: once}, Again: judge.Shown{Median: again}, Groups: groups,
		}
	}
	for _, c := range []struct {
		s    judge.Sensitivity
		want string
	}{
		{shown(none, none, none), ""},
		{judge.Sensitivity{Once: judge.Shown{Median: .05}}, ""},
		{shown(.052, .041, .021), of + "would be named four times in five from 5.2 % on, with a re-run from 4.1 % on; " +
			"one of a model on a device as a whole from 2.1 % on (medians)."},
		{shown(.052, math.Inf(1), none), of + "would be named four times in five from 5.2 % on (medians)."},
		{shown(math.Inf(1), math.Inf(1), math.Inf(1)), of + "cannot be seen (medians)."},
		{shown(3.12, .9, .2), of + "cannot be seen, with a re-run from 90 % on; one of a model on a device as a whole " +
			"from 20 % on (medians)."},
	} {
		if got := plain(words.Sensitivity(c.s)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
