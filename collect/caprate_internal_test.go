package collect

import "testing"

// A request of ten seconds: the first rates take two minutes, not three quarters of an hour, and those between a rate
// that holds and one that does not at most four.
func TestRequestsOfRate(t *testing.T) {
	for _, c := range []struct {
		rate, alone float64
		needs       int
		near        bool
		want        int
	}{
		{.1, 10, 1, false, 16}, {.1, 10, 1, true, 32}, {10, 10, 1, true, 1600}, {.1, 10, 200, false, 266},
		{5, .2, 1, false, 20}, {5, .2, 1, true, 266}, {500, .01, 1, true, 2000}, {5000, .2, 1, false, requestsOfProbe},
	} {
		if got := requestsOfRate(c.rate, c.alone, c.needs, c.near); got != c.want {
			t.Errorf("%+v: %d requests", c, got)
		}
	}
}
