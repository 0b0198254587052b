package board_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/ttreport/ttreport/targets/board"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.8g, want %.8g", what, got, want)
	}
}

// Two items with k = 4 by hand: shares .5 and 1. Within: .25·4/3/2 = 1/6; between: .0625; data: .0625 − 1/24.
func TestNoise(t *testing.T) {
	x := board.Shares([]float64{.5, 1}, 4)
	n := x.Noise()
	near(t, "prediction", n.Prediction*n.Prediction*2, 1./6, 1e-12)
	near(t, "data", n.Data*n.Data*2, .0625-1./24, 1e-12)
	near(t, "sum", n.SE*n.SE, n.Data*n.Data+n.Prediction*n.Prediction, 1e-12)
	one := board.Shares([]float64{0, 1, 1, 1}, 1)
	if n := one.Noise(); !math.IsNaN(n.Data) || !math.IsNaN(n.Prediction) || math.Abs(n.SE-math.Sqrt(.75*.25/4)) > 1e-12 {
		t.Errorf("one sample says nothing of the parts: %+v", n)
	}
}

// Items in pairs that agree are as many as there are pairs; half of the task leaves √½ of the error.
func TestClustersAndFinite(t *testing.T) {
	a, b := board.Shares([]float64{1, 0, 1, 1}, 1), board.Shares([]float64{0, 0, 1, 0}, 1)
	single, _ := board.Paired(&a, &b)
	twice := func(x board.Items) board.Items {
		out := board.Shares(append(append([]float64{}, x.Means...), x.Means...), 1)
		out.Cluster = []int{0, 1, 2, 3, 0, 1, 2, 3}
		return out
	}
	a2, b2 := twice(a), twice(b)
	clustered, ok := board.Paired(&a2, &b2)
	if !ok || clustered.DF != 3 {
		t.Fatalf("%+v %v", clustered, ok)
	}
	near(t, "clustered", clustered.SE, single.SE, 1e-12)
	a.Total, b.Total = 8, 8
	half, _ := board.Paired(&a, &b)
	near(t, "half of the task", half.SE, single.SE*math.Sqrt(.5), 1e-12)
	short := board.Shares([]float64{1, 0}, 1)
	if _, ok := board.Paired(&a, &short); ok {
		t.Error("other items were paired")
	}
}

// Items that all differ alike have no spread, and two of them are no proof.
func TestNoSpread(t *testing.T) {
	a, b := board.Shares([]float64{1, 1, 1}, 1), board.Shares([]float64{0, 0, 0}, 1)
	d, _ := board.Paired(&a, &b)
	near(t, "p", d.P, .25, 1e-12)
}

// values ranks models with one standard error each.
func values(se float64, v ...float64) *board.Board {
	return board.Rank(len(v), 1, func(i, j int) (board.Diff, bool) {
		return board.Of(v[i]-v[j], se*math.Sqrt2), !math.IsNaN(v[i] - v[j])
	})
}

func TestRanks(t *testing.T) {
	b := values(.01, .5, .9, .52, .89, .1)
	if !reflect.DeepEqual(b.Order, []int{1, 3, 2, 0, 4}) || !reflect.DeepEqual(b.Low, []int{3, 1, 3, 1, 5}) ||
		!reflect.DeepEqual(b.High, []int{4, 2, 4, 2, 5}) {
		t.Errorf("%+v", b)
	}
	if got := b.Groups(); !reflect.DeepEqual(got, [][]int{{1, 3}, {2, 0}, {4}}) {
		t.Errorf("groups %v", got)
	}
	if b.Best() != -1 || !reflect.DeepEqual(b.Ties(1), []int{3}) || b.Separated() != 8 {
		t.Errorf("best %d, tied %v, %d separated", b.Best(), b.Ties(1), b.Separated())
	}
	if b := values(.01, .5, .9); b.Best() != 1 || b.High[0] != 2 || b.Low[0] != 2 {
		t.Errorf("%+v", b)
	}
	if b := values(.01, .7); b.Best() != -1 {
		t.Error("the only model is the best")
	}
}

// A tie is no equivalence: the middle ties with both ends, which are separated, so it is in two groups.
func TestGroupsOverlap(t *testing.T) {
	if got := values(.02, .50, .55, .60).Groups(); !reflect.DeepEqual(got, [][]int{{2, 1}, {1, 0}}) {
		t.Errorf("groups %v", got)
	}
}

// A model that cannot be compared may have any rank; it takes none from the others.
func TestNotComparable(t *testing.T) {
	b := values(.01, .9, math.NaN(), .1)
	if b.Low[1] != 1 || b.High[1] != 3 || b.Best() != -1 || b.Low[2] != 2 {
		t.Errorf("%+v", b)
	}
}

// So many times as many items have the power that is promised, and so do so many samples.
func TestNeeded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b := values(.02, .5, .53)
	d, _ := b.Diff(1, 0)
	f := b.Factor(d)
	shown := 0
	const trials = 4000
	for range trials {
		if x := board.Of(.03+r.NormFloat64()*d.SE/math.Sqrt(f), d.SE/math.Sqrt(f)); x.P <= board.Size && x.D > 0 {
			shown++
		}
	}
	near(t, "power", float64(shown)/trials, .8, .02)
	if f := b.Factor(board.Of(0, .01)); !math.IsInf(f, 1) {
		t.Errorf("equal scores are separated by %g times the items", f)
	}
	x := board.Diff{D: .03, SE: .02, P: .13, DF: math.Inf(1), Data: .00001, Prediction: .00039, Samples: 2}
	k := b.Samples(x)
	se := math.Sqrt(x.Data + x.Prediction*2/float64(k))
	if z := .03 / se; k < 3 || z < 2.8 || z > 3 {
		t.Errorf("%d samples give z = %.2f", k, z)
	}
	if x.Data = .0004; b.Samples(x) != 0 {
		t.Error("samples separate what the choice of items hides")
	}
}

// A mean over tasks as they are has the errors of its scores, one over tasks as a sample that of their differences.
func TestMeans(t *testing.T) {
	m := board.Mean([]board.Diff{board.Of(.1, .03), board.Of(.3, .04)})
	near(t, "mean", m.D, .2, 1e-12)
	near(t, "error", m.SE, .025, 1e-12)
	o, ok := board.Over([]float64{1, 2, 3}, []float64{0, 1, 1})
	near(t, "over", o.SE, math.Sqrt(1./3/3), 1e-12)
	if !ok || o.DF != 2 {
		t.Errorf("%+v", o)
	}
	if _, ok := board.Over([]float64{1, 2}, []float64{0, 0}); ok {
		t.Error("two tasks are a sample")
	}
}

// answers draws the shares of k samples of items whose difficulty two models share, in clusters of four.
func answers(r *rand.Rand, n, k int, clustered bool) (a, b board.Items) {
	var x, y []float64
	var cluster []int
	shared := 0.
	for i := range n {
		if !clustered || i%4 == 0 {
			shared = r.NormFloat64()
		}
		own := [2]float64{shared + r.NormFloat64(), shared + r.NormFloat64()}
		if clustered {
			own = [2]float64{2 * shared, -shared} // what tells the two apart is of the cluster
		}
		for m, out := range []*[]float64{&x, &y} {
			p, right := 1/(1+math.Exp(-own[m])), 0.
			for range k {
				if r.Float64() < p {
					right++
				}
			}
			*out = append(*out, right/float64(k))
		}
		cluster = append(cluster, i/4)
	}
	a, b = board.Shares(x, k), board.Shares(y, k)
	if clustered {
		a.Cluster, b.Cluster = cluster, cluster
	}
	return a, b
}

// Intervals cover a true difference of zero in 94 to 96 %, and so does no interval that ignores the clusters.
func TestCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const trials = 2000
	for _, c := range []struct {
		k         int
		clustered bool
	}{{1, false}, {4, false}, {16, false}, {1, true}, {4, true}, {16, true}} {
		covered, bare := 0, 0
		for range trials {
			a, b := answers(r, 120, c.k, c.clustered)
			d, _ := board.Paired(&a, &b)
			if lo, hi := d.Interval(); lo <= 0 && hi >= 0 {
				covered++
			}
			a.Cluster = nil
			if d, _ = board.Paired(&a, &b); math.Abs(d.D) <= 1.96*d.SE {
				bare++
			}
		}
		share := float64(covered) / trials
		t.Logf("k = %d, clusters %v: %.3f, %.3f without", c.k, c.clustered, share, float64(bare)/trials)
		if share < .94 || share > .96 {
			t.Errorf("k = %d, clusters %v: covers %.3f", c.k, c.clustered, share)
		}
	}
}

// Where all models are equal, at most one board in twenty separates any two.
func TestEqualModels(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const trials, models = 1500, 8
	wrong := 0
	for range trials {
		var all [models]board.Items
		for m := 0; m < models; m += 2 {
			all[m], all[m+1] = answers(r, 200, 1, false)
		}
		b := board.Rank(models, 1, func(i, j int) (board.Diff, bool) { return board.Paired(&all[i], &all[j]) })
		if b.Separated() > 0 {
			wrong++
		}
	}
	if share := float64(wrong) / trials; share > .05 {
		t.Errorf("%.3f of boards separate equal models", share)
	}
}
