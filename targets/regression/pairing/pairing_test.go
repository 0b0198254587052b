package pairing_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ttreport/ttreport/targets/regression/pairing"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.8g, want %.8g", what, got, want)
	}
}

// Values computed once with scipy.stats.ttest_ind(equal_var=False) on logarithms.
func TestAgainstScipy(t *testing.T) {
	r := pairing.Compare([]float64{100, 101, 102}, []float64{110, 111, 113})
	near(t, "p of 3 and 3", r.P, 0.0008935980848092248, 1e-9)
	if r.Test != pairing.Welch || !r.Sure || r.NeededEach != 0 {
		t.Errorf("%+v", r)
	}
	r = pairing.Compare([]float64{10, 11, 12, 13, 15}, []float64{12.5, 14, 16, 17})
	if r.Sure || r.NeededEach < 5 || r.Lo > 0 || r.Hi < 0 {
		t.Errorf("%+v", r)
	}
}

func TestOneValueHasNoTest(t *testing.T) {
	r := pairing.Compare([]float64{100}, []float64{150})
	if r.Sure || r.Test != pairing.NoTest || r.NeededEach != 4 || !math.IsNaN(r.P) || math.Abs(r.Change-.5) > 1e-12 {
		t.Errorf("%+v", r)
	}
}

func TestConstantValues(t *testing.T) {
	same := pairing.Compare([]float64{5, 5, 5, 5}, []float64{5, 5, 5, 5})
	if same.Sure || same.P != 1 || same.Lo > -.003 || same.Hi < .003 {
		t.Errorf("%+v", same)
	}
	// Two and two identical repeats have no spread: a difference of 2 % was called significant.
	differ := pairing.Compare([]float64{50, 50}, []float64{51, 51})
	if differ.Sure || differ.Test != pairing.NoTest || !math.IsNaN(differ.Lo) || differ.NeededEach != 4 {
		t.Errorf("%+v", differ)
	}
	four := pairing.Compare([]float64{5, 5, 5, 5}, []float64{6, 6, 6, 6})
	if !four.Sure || four.Test != pairing.Welch {
		t.Errorf("%+v", four)
	}
}

// Swapping the sides inverts the change and keeps p; scaling changes nothing; without a change one in twenty is
// significant.
func TestProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sure := 0
	const n = 2000
	for range n {
		a, b := make([]float64, 4+r.IntN(5)), make([]float64, 4+r.IntN(5))
		for i := range a {
			a[i] = math.Exp(.02 * r.NormFloat64())
		}
		for i := range b {
			b[i] = math.Exp(.02 * r.NormFloat64())
		}
		x, y := pairing.Compare(a, b), pairing.Compare(b, a)
		if math.Abs(x.P-y.P) > 1e-9 || math.Abs((1+x.Change)*(1+y.Change)-1) > 1e-9 ||
			x.Lo > x.Change || x.Hi < x.Change || x.Sure != (x.Lo > 0 || x.Hi < 0) {
			t.Fatalf("%v %v", x, y)
		}
		if x.Sure {
			sure++
		}
	}
	if share := float64(sure) / n; share > .065 {
		t.Errorf("%.3f of unchanged pairs are called changed", share)
	}
}
