package plan_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ttreport/ttreport/collect/plan"
)

// TestClimb: on grids whose flags act by themselves, each with one optimum, the best combination is found, each is
// measured at most once, and most of a large grid is not measured; what fails is passed by.
func TestClimb(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		sizes, all, summit, top := []int{}, 1, []int{}, 0
		for range 1 + r.IntN(3) {
			n := 1 + r.IntN(8)
			at := r.IntN(n)
			sizes, all, summit, top = append(sizes, n), all*n, append(summit, at), top*n+at
		}
		higher, fails := r.IntN(2) == 0, r.IntN(3) == 0 && top > 0
		value := func(at int) float64 {
			v := 100.
			for k := len(sizes) - 1; k >= 0; k-- {
				v -= math.Abs(float64(at%sizes[k]-summit[k])) * float64(k+1)
				at /= sizes[k]
			}
			if !higher {
				return 1000 - v
			}
			return v
		}
		c, tries := plan.NewClimb(sizes, higher), 0
		for at, more := c.Next(); more; at, more = c.Next() {
			if _, again := c.Values[at]; again || at < 0 || at >= all {
				t.Fatalf("sizes %v: combination %d again, of %d", sizes, at, all)
			}
			tries++
			if at == 0 && fails {
				c.Note(at, math.NaN())
				continue
			}
			c.Note(at, value(at))
		}
		if c.Best != top {
			t.Errorf("sizes %v, summit %v: ended at %d, the best is %d", sizes, summit, c.Best, top)
		}
		if all >= 200 && tries > all/2 {
			t.Errorf("sizes %v: %d of %d measured", sizes, tries, all)
		}
	}
	c := plan.NewClimb([]int{2, 2}, true)
	for at, more := c.Next(); more; at, more = c.Next() {
		c.Note(at, math.NaN())
	}
	if len(c.Values) != 4 || c.Best != -1 {
		t.Errorf("where all fail, %d of 4 are tried, and %d is the best", len(c.Values), c.Best)
	}
}
