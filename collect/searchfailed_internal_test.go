package collect

import (
	"testing"
)

// A search whose time ended says what it knows by then.
func TestWhatASearchKnows(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		holds, fails int
		want         string
	}{
		{830, 876, "; by then 41.5 req/s held, and 43.8 did not"},
		{830, 0, "; by then 41.5 req/s held, and no larger one was measured"},
		{0, 876, "; by then 43.8 req/s did not hold"},
		{0, 0, ""},
	} {
		f := &found{answer: bracket{holds: x.holds, fails: x.fails}, unit: .05}
		if got := knownBy(f.exact(f.answer.holds), f.exact(f.answer.fails), "req/s"); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}
