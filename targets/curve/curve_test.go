package curve_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ttreport/ttreport/targets/curve"
)

// machine is a system whose time per token grows with the load; a run of it is a factor, each load has its own noise.
func machine(r *rand.Rand, slower, runNoise, loadNoise float64, runs int) (out []curve.Point) {
	for run := range runs {
		started := math.Exp(runNoise * r.NormFloat64())
		for _, load := range []float64{1, 2, 4, 8, 16, 32, 64} {
			tpot := (4 + .1*load) * slower * started * math.Exp(loadNoise*r.NormFloat64())
			out = append(out, curve.Point{Run: run, Load: load, X: 1000 / tpot, Output: .95 * load * 1000 / tpot})
		}
	}
	return out
}

// truth is what the machine gives at a speed.
func truth(speed, slower float64) float64 { return .95 * (1000/speed/slower - 4) / .1 * speed }

func seeded() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }

func TestAt(t *testing.T) {
	c := curve.Fit(machine(seeded(), 1, 0, 0, 1), false)
	lo, hi := c.Range()
	if math.Abs(lo-1000/10.4) > 1e-9 || math.Abs(hi-1000/4.1) > 1e-9 {
		t.Errorf("from %g to %g", lo, hi)
	}
	for _, speed := range []float64{lo, 100, 120, 150, 200, 230, hi} {
		if got, want := c.At(speed), truth(speed, 1); math.Abs(got/want-1) > .001 {
			t.Errorf("at %g: %g, want %g", speed, got, want)
		}
	}
	if !math.IsNaN(c.At(lo*.99)) || !math.IsNaN(c.At(hi*1.01)) { // nothing is extrapolated
		t.Error("a level that nobody measured has a value")
	}
}

// Of a wait less is better, and the curve has the same numbers from the other side.
func TestWait(t *testing.T) {
	points := machine(seeded(), 1, 0, 0, 1)
	for i := range points {
		points[i].X = 1e4 / points[i].X // a TTFT that grows as the time per token
	}
	c := curve.Fit(points, true)
	if got, want := c.At(1e4/120), truth(120, 1); math.Abs(got/want-1) > .001 {
		t.Errorf("%g, want %g", got, want)
	}
}

// A load that another one beats in both is no part of a curve, and two loads are no curve.
func TestFrontier(t *testing.T) {
	points := machine(seeded(), 1, 0, 0, 1)
	past := append(points, curve.Point{Load: 128, X: 90, Output: 5000}, curve.Point{Load: 256, X: 80, Output: 4000})
	lo, _ := curve.Fit(past, false).Range()
	if want, _ := curve.Fit(points, false).Range(); lo != want {
		t.Errorf("from %g, want %g", lo, want)
	}
	if curve.Fit(points[:2], false) != nil || curve.Fit(nil, false) != nil {
		t.Error("two loads are a curve")
	}
	short := append(machine(seeded(), 1, 0, 0, 2), curve.Point{Run: 9, Load: 1, X: 250, Output: 240})
	if c := curve.Fit(short, false); c.Runs() != 2 {
		t.Errorf("%d runs", c.Runs())
	}
}

// What is slower by 5 % gives 5 % less of both: much less at one speed where the curve is steep.
func TestSlower(t *testing.T) {
	r := seeded()
	a := curve.Fit(machine(r, 1, .002, .002, 4), false)
	c := curve.Compare(a, curve.Fit(machine(r, 1.05, .002, .002, 4), false))
	if c == nil || math.Abs(c.Whole.Value-(1/1.05-1)) > .005 || !c.Sure() || c.Whole.High > -.04 {
		t.Fatalf("%+v", c)
	}
	at, ok := c.At(130)
	want := truth(130, 1.05)/truth(130, 1) - 1
	if !ok || math.Abs(at.Value.Value-want) > .02 || at.Low > at.Value.Value || at.High < at.Value.Value ||
		at.High > -.05 {
		t.Errorf("%+v, want %g", at, want)
	}
	if _, ok := c.At(1000); ok {
		t.Error("a level beyond both curves")
	}
}

// Without repeats there is a difference and no interval; the spread of other releases gives one.
func TestSpread(t *testing.T) {
	r := seeded()
	a, b := curve.Fit(machine(r, 1, .01, .01, 1), false), curve.Fit(machine(r, 1.1, .01, .01, 1), false)
	c := curve.Compare(a, b)
	if !math.IsNaN(c.P) || c.Sure() || !math.IsNaN(c.Levels[4].Low) || !math.IsNaN(c.Levels[4].Band[0]) {
		t.Errorf("%+v", c)
	}
	if c = curve.Compare(a, b, curve.Fit(machine(r, 1, .01, .01, 6), false)); !c.Sure() {
		t.Errorf("%+v", c)
	}
}

// A trade of speed for output along the curve is no change of it.
func TestAlong(t *testing.T) {
	r := seeded()
	a, along := machine(r, 1, .003, .003, 4), machine(r, 1, .003, .003, 4)
	for i := range along { // as if every load were a fifth larger
		load := along[i].Load * 1.2
		along[i].X, along[i].Output = 1000/(4+.1*load), .95*load*1000/(4+.1*load)
	}
	if c := curve.Compare(curve.Fit(a, false), curve.Fit(along, false)); math.Abs(c.Whole.Value) > .01 {
		t.Errorf("%+v", c.Whole)
	}
}

// Intervals hold what they promise, and equal systems are told apart as seldom as they may be.
func TestCoverage(t *testing.T) {
	r := seeded()
	const trials = 300
	in, above, moved := 0, 0, 0
	for range trials {
		a, b := curve.Fit(machine(r, 1, .01, .01, 4), false), curve.Fit(machine(r, 1, .01, .01, 4), false)
		c := curve.Compare(a, b)
		if x := c.Levels[4]; x.Low <= 0 && x.High >= 0 {
			in++
		}
		for _, x := range c.Levels {
			if x.Band[0] > 0 || x.Band[1] < 0 {
				above++
				break
			}
		}
		if c.Sure() {
			moved++
		}
	}
	t.Logf("covered %d, above %d, moved %d of %d", in, above, moved, trials)
	if in < trials*91/100 || in > trials*98/100 || above > trials*8/100 || moved > trials*8/100 {
		t.Errorf("covered %d, above %d, moved %d of %d", in, above, moved, trials)
	}
}

// Equal systems whose loads vary by themselves, and by much, are told apart somewhere in at most 5 % of pairs.
func TestEqualPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	noisy := func() *curve.Curve {
		var p []curve.Point
		for run := range 4 {
			for _, load := range []float64{1, 2, 4, 8, 16, 32, 64} {
				wait, each := 10+load, 10+load
				wait, each = wait*math.Exp(.2*r.NormFloat64()), each*math.Exp(.2*r.NormFloat64())
				p = append(p, curve.Point{Run: run, Load: load, X: 1000 / wait, Output: 1000 * load / each})
			}
		}
		return curve.Fit(p, false)
	}
	apart, n := 0, 0
	for n < 400 {
		a, b := noisy(), noisy()
		if a == nil || b == nil {
			continue
		}
		if c := curve.Compare(a, b); c != nil {
			n++
			if len(c.Regions()) > 0 {
				apart++
			}
		}
	}
	if share := float64(apart) / float64(n); share > .05 {
		t.Errorf("%.1f %% of %d pairs", 100*share, n)
	}
}

// Two runs between which something changed are not how far runs of one system are apart.
func TestAlike(t *testing.T) {
	pair := func(later float64) *curve.Curve {
		var points []curve.Point
		for run, by := range []float64{1, later} {
			for _, load := range []float64{1, 4, 16} {
				slower := by / (1 + load/8)
				points = append(points, curve.Point{Run: run, Load: load, X: 50 * slower, Output: 40 * load * slower})
			}
		}
		return curve.Fit(points, false)
	}
	list := []*curve.Curve{pair(1.01), pair(.99), pair(1.25), pair(1.012), pair(1.02)}
	if got := curve.Alike(list); len(got) != 4 {
		t.Errorf("%d of 5 pairs, of which one changed", len(got))
	}
	if got := curve.Alike(list[2:3]); len(got) != 1 {
		t.Error("one pair alone is left out")
	}
	single := curve.Fit([]curve.Point{
		{Load: 1, X: 50, Output: 40}, {Load: 4, X: 40, Output: 140}, {Load: 16, X: 20, Output: 300},
	}, false)
	if got := curve.Alike([]*curve.Curve{single, single, single, pair(1.01)}); len(got) != 1 {
		t.Errorf("%d of one pair, beside curves of one run", len(got))
	}
}
