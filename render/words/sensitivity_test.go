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
		{shown(.052, .021), of + "is found four times in five if it is 5.2 % or more; " +
			"one of a model on a device as a whole if it is 2.1 % or more (medians)."},
		{shown(.08, .57), of + "is found four times in five if it is 8 % or more (medians)."},
		{shown(.052, none), of + "is found four times in five if it is 5.2 % or more (medians)."},
		{shown(math.Inf(1), math.Inf(1)), of + "cannot be seen (medians)."},
		{shown(3.12, .2), of + "cannot be seen; one of a model on a device as a whole is found four times in five if it is " +
			"20 % or more (medians)."},
	} {
		if got := plain(words.Sensitivity(c.s)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
