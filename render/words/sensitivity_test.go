package words_test

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// What could not have been seen is said of one number alone and of a model on a device as a whole; a size that no
// release could show is said to be unseen, and what is not known is left out.
func TestSensitivity(t *testing.T) {
	const of = "Of 160 numbers, a regression of one alone "
	none := math.NaN()
	shown := func(least, groups float64) judge.Sensitivity {
		return judge.Sensitivity{Series: 160, Least: least, Groups: groups}
	}
	for _, c := range []struct {
		s    judge.Sensitivity
		want string
	}{
		{shown(none, none), ""},
		{judge.Sensitivity{Least: .05}, ""},
		{shown(.052, .021), of + "would be named four times in five from 5.2 % on; " +
			"one of a model on a device as a whole from 2.1 % on (medians)."},
		{shown(.08, .57), of + "would be named four times in five from 8 % on (medians)."},
		{shown(.052, none), of + "would be named four times in five from 5.2 % on (medians)."},
		{shown(math.Inf(1), math.Inf(1)), of + "cannot be seen (medians)."},
		{shown(3.12, .2), of + "cannot be seen; one of a model on a device as a whole from 20 % on (medians)."},
	} {
		if got := plain(words.Sensitivity(c.s)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
