package regression_test

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/targets/regression"
)

// rated is how many of some cells are confirmed to have regressed in any release from one on.
func rated(tab *regression.Table, j *regression.Judgement, from, to, release int) int {
	n := 0
	for c := from; c < to; c++ {
		if strings.Contains(words(tab, j, c)[release:], "W") {
			n++
		}
	}
	return n
}

// Values that strayed once and came back do not hide changes that stay.
func TestOldTroubleDoesNotBlind(t *testing.T) {
	cells := quiet(41, 500, 32, .01)
	r := rand.New(rand.NewPCG(41, 1))
	for c := range cells {
		for i := range cells[c] {
			if r.Float64() < .03 {
				cells[c][i] *= 1.10
			}
			if c < 20 && i >= 30 {
				cells[c][i] *= 1.10
			}
		}
	}
	tab := history(.05, cells...)
	j := judge(t, tab)
	if found := rated(tab, j, 0, 20, 30); found < 17 {
		t.Errorf("%d of 20 lasting regressions are confirmed by the next release", found)
	}
	if wrong := rated(tab, j, 20, 500, 30); wrong > 3 {
		t.Errorf("%d of 480 unchanged cells are confirmed to have regressed", wrong)
	}
}

// What a machine does once in thirty values is not confirmed by doing it twice.
func TestOutliersAreNotConfirmed(t *testing.T) {
	cells := quiet(42, 500, 40, .01)
	r := rand.New(rand.NewPCG(42, 1))
	for c := range cells {
		for i := range cells[c] {
			if r.Float64() < .03 {
				cells[c][i] *= 1.12
			}
		}
	}
	tab := history(.05, cells...)
	j := judge(t, tab)
	confirmed := map[int32]bool{}
	for i := range j.Rows {
		if r := j.Rows[i]; r.Word == schema.Regressed && r.Evidence == schema.Confirmed && tab.Obs[i].Release > 12 {
			confirmed[tab.Obs[i].Release] = true
		}
	}
	if len(confirmed) > 2 {
		t.Errorf("%d of 27 releases confirm a regression where nothing changes", len(confirmed))
	}
}

// slowly are 400 cells of 13 releases, of which the first 20 are 8 % slower in the last three.
func slowly() [][]float64 {
	cells := quiet(43, 400, 13, .02)
	for c := range 20 {
		for i := 10; i < 13; i++ {
			cells[c][i] *= 1.08
		}
	}
	return cells
}

// Changes that one release cannot show are shown by three together.
func TestEvidenceAddsUp(t *testing.T) {
	tab := history(.05, slowly()...)
	j := judge(t, tab)
	if found := rated(tab, j, 0, 20, 10); found < 15 {
		t.Errorf("%d of 20 are confirmed by the third release", found)
	}
	if wrong := rated(tab, j, 20, 400, 10); wrong > 1 {
		t.Errorf("%d unchanged cells are confirmed", wrong)
	}
}

// What several runs show together is told against what was before all of them, though nobody suspected the first ones:
// the release against those before the change, and the step with an interval that does not contain zero.
func TestWindowsAreToldAgainstWhatWasBefore(t *testing.T) {
	tab := history(.05, slowly()...)
	j := judge(t, tab)
	unsuspected := 0
	for _, l := range j.ChangePoints {
		at, found := tab.Obs[l.At].Release, &j.Rows[tab.Cells[l.Cell].First+l.Found]
		if found.Word != schema.Regressed || found.First < 0 || found.Why != schema.WhyAgain {
			continue
		}
		if found.First != at || int32(found.N) > at {
			t.Errorf("cell %d: since release %d, compared with %d releases: %+v", l.Cell, at, found.N, found)
		}
		if l.Runs < 2 || l.D < tab.Cells[l.Cell].Delta || l.D-regression.Quantile(.975, l.Df)*l.SE <= 0 {
			t.Errorf("cell %d: a step of %.3f ± %.3f by %d runs", l.Cell, l.D, l.SE, l.Runs)
		}
		if j.Rows[l.At].Evidence == schema.NoEvidence {
			unsuspected++
		}
	}
	if unsuspected < 5 {
		t.Errorf("%d changes began unsuspected: too few to test", unsuspected)
	}
}

// A second look that is worse than the first speaks for the change, however far apart the two are.
func TestASecondLookThatIsWorseConfirms(t *testing.T) {
	for _, second := range []float64{1.65, 1.68, 2.9} {
		cells := quiet(44, 12, 6, .01)
		cells[0][5] *= 1.68
		tab := history(.05, cells...)
		o := &tab.Obs[tab.Cells[0].First+5]
		o.Z2, o.K2 = math.Log(100*second), 1
		if got := words(tab, judge(t, tab), 0); got[5] != 'W' {
			t.Errorf("+68 %% and then %+.0f %% reads %c", 100*(second-1), got[5])
		}
	}
}

// Two equal values are no noise: the third is ordinary, and so is what follows.
func TestBaselinesAreNotLocked(t *testing.T) {
	cells := append(quiet(45, 3, 8, .04), []float64{5.05, 5.05, 4.63, 5.2, 4.8, 5.1, 4.7, 5.47})
	tab := history(.05, cells...)
	j := judge(t, tab)
	if got := words(tab, j, 3); strings.ContainsAny(got, "WB") {
		t.Errorf("ordinary noise reads %s", got)
	}
	last := j.Rows[tab.Cells[3].End-1]
	if last.N < 6 || float64(last.P) < 1e-3 {
		t.Errorf("the last value is compared with %d releases, p = %g", last.N, last.P)
	}
}

// All points of one system, slow once: one finding, and no outliers of the points.
func TestABadRunIsOneFinding(t *testing.T) {
	cells := quiet(47, 100, 12, .01)
	for c := range 25 {
		cells[c][8] *= 1.12
	}
	tab := history(.05, cells...)
	for i := range tab.Cells {
		tab.Cells[i].System = int32(i / 25)
	}
	j := judge(t, tab)
	found := 0
	for _, f := range j.Findings {
		if f.Kind == regression.OfSystemMetric && f.Word == schema.Regressed {
			found++
			if f.Release != 8 || tab.Cells[f.Cell].System != 0 || f.Evidence != schema.Suspected {
				t.Errorf("%+v", f)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d findings, want 1", found)
	}
	for c := range 25 {
		if r := j.Rows[tab.Cells[c].First+8]; r.Word != schema.Regressed || r.Why != schema.WhyGroup {
			t.Fatalf("cell %d: %+v", c, r)
		}
	}
}

// Right after a change of everything that a re-run confirmed, a level has one value: the noise of earlier levels tells
// whether the next release is as it.
func TestTheFirstReleaseOfALevel(t *testing.T) {
	cells := quiet(51, 6, 7, .002)
	for c := range cells {
		cells[c][5], cells[c][6] = 1.3*cells[c][5], 1.3*cells[c][6]
	}
	tab := history(.05, cells...)
	for i := range tab.Cells {
		o := &tab.Obs[tab.Cells[i].First+5]
		o.Z2, o.K2 = o.Z, 1
	}
	j := judge(t, tab)
	for i := range tab.Cells {
		r := j.Rows[tab.Cells[i].End-1]
		if at := j.Rows[tab.Cells[i].End-2]; at.Evidence != schema.Confirmed || r.N != 1 || r.Word != schema.Unchanged {
			t.Errorf("number %d: %s, then %s after %d releases", i, at.Word, r.Word, r.N)
		}
	}
}

// A real change that is smaller than what matters is named, and not called unchanged.
func TestBelowTheLimit(t *testing.T) {
	cells := quiet(48, 12, 9, .004)
	cells[0][8] *= 1.04
	tab := history(.05, cells...)
	if r := judge(t, tab).Rows[tab.Cells[0].End-1]; r.Word != schema.BelowLimit || r.Why != schema.WhyBelowLimit {
		t.Errorf("%+v", r)
	}
}

// A release says what it could not have shown.
func TestSensitivityOfARelease(t *testing.T) {
	for _, c := range []struct {
		sd      float64
		hidden  int
		between [2]float64
	}{{.005, 0, [2]float64{.045, .05}}, {.04, 12, [2]float64{.15, .5}}} {
		j := judge(t, history(.05, quiet(49, 12, 9, c.sd)...))
		s := j.Fits[8].Shown
		if least := math.Log1p(s.Least); s.Series != 12 || s.Hidden != c.hidden || least < c.between[0] ||
			least > c.between[1] {
			t.Errorf("noise %v: %+v", c.sd, s)
		}
	}
}

// What a release says that it would find four times in five is found about that often.
func TestSensitivityIsTrue(t *testing.T) {
	const trials, cells, n = 60, 40, 10
	named := 0
	for seed := range uint64(trials) {
		size := judge(t, history(.05, quiet(seed, cells, n+1, .02)...)).Fits[n].Shown.Least
		changed := quiet(seed, cells, n+1, .02)
		changed[7][n] *= 1 + size
		tab := history(.05, changed...)
		if judge(t, tab).Rows[tab.Cells[7].First+n].Word == schema.Regressed {
			named++
		}
	}
	if share := float64(named) / trials; share < .68 || share > .92 {
		t.Errorf("named in %.2f of the trials, want about .80", share)
	}
}

// What is confirmed one way is confirmed the other way two releases later.
func TestAChangeThatReturnsIsConfirmed(t *testing.T) {
	for _, by := range []float64{.85, 1.18} {
		cells := quiet(46, 12, 12, .005)
		cells[0][8] *= by
		cells[0][9] *= by
		tab := history(.05, cells...)
		if got := words(tab, judge(t, tab), 0); got[8:] != "bBwW" && got[8:] != "wWrR" {
			t.Errorf("twice %.2f of what was before, then as before, reads %s", by, got)
		}
	}
}
