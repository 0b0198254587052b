package regression_test

import (
	"context"
	"github.com/ttreport/ttreport/ingest/schema"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/targets/regression"
)

// history is a table of cells with one stratum: values by release, NaN for none.
func history(delta float64, cells ...[]float64) *regression.Table {
	t := &regression.Table{Strata: 1}
	longest := 0
	for _, c := range cells {
		longest = max(longest, len(c))
	}
	for range longest {
		t.Releases = append(t.Releases, regression.Release{Joins: true})
	}
	for i, c := range cells {
		cell := regression.Cell{Point: int32(i), First: int32(len(t.Obs)), Delta: math.Log1p(delta)}
		for r, v := range c {
			if !math.IsNaN(v) {
				t.Obs = append(t.Obs, regression.Obs{Release: int32(r), Z: math.Log(v), K: 1})
			}
		}
		cell.End = int32(len(t.Obs))
		t.Cells = append(t.Cells, cell)
	}
	return t
}

func judge(t *testing.T, tab *regression.Table) *regression.Judgement {
	t.Helper()
	j, err := regression.Judge(context.Background(), tab, regression.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// words are the verdicts of a cell, a letter a release: w regressed (worse), b improved (better), = unchanged, ~
// inconclusive, o inconclusive and large; capital when confirmed.
func words(tab *regression.Table, j *regression.Judgement, cell int) string {
	letters := map[schema.Outcome]string{
		schema.NoOutcome: "?", schema.Regressed: "w", schema.Improved: "b", schema.Recovered: "r",
		schema.Unchanged: "=", schema.Inconclusive: "~", schema.NoBaseline: ".",
		schema.NotComparable: "x", schema.BelowLimit: "s",
	}
	out := ""
	for i := tab.Cells[cell].First; i < tab.Cells[cell].End; i++ {
		l := letters[j.Rows[i].Word]
		if j.Rows[i].Large() {
			l = "o"
		}
		if j.Rows[i].Evidence == schema.Confirmed {
			l = strings.ToUpper(l)
		}
		out += l
	}
	return out
}

// quiet is a few cells without changes, so that there are a family and a noise.
func quiet(seed uint64, cells, releases int, sd float64) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 77))
	out := make([][]float64, cells)
	for i := range out {
		for range releases {
			out[i] = append(out[i], 100*math.Exp(sd*r.NormFloat64()))
		}
	}
	return out
}

// One change is reported once: suspected when seen first, confirmed when seen again, unchanged afterwards.
func TestOneShiftAlertsOnce(t *testing.T) {
	cells := quiet(1, 12, 9, .005)
	for r := 5; r < 9; r++ {
		cells[0][r] *= 1.2
		cells[1][r] /= 1.2
	}
	tab := history(.05, cells...)
	j := judge(t, tab)
	if got := words(tab, j, 0); got[5:7] != "wW" || strings.ContainsAny(got[7:], "wW") {
		t.Errorf("a lasting regression reads %s", got)
	}
	if got := words(tab, j, 1); got[5:] != "bB==" {
		t.Errorf("a lasting improvement reads %s", got)
	}
	if f := j.Rows[tab.Cells[0].First+5].Follow; f != 7 {
		t.Errorf("the first sighting's followup is %d, want release 6 + 1", f)
	}
	for c := 2; c < 12; c++ {
		if got := words(tab, j, c); strings.ContainsAny(got, "wWbB") {
			t.Errorf("an unchanged cell reads %s", got)
		}
	}
}

// A change that disappears again is never confirmed, and stays out of every baseline.
func TestOneBadReleaseIsForgotten(t *testing.T) {
	cells := quiet(2, 12, 9, .005)
	cells[0][5] *= 1.3
	tab := history(.05, cells...)
	j := judge(t, tab)
	if got := words(tab, j, 0); got[5:] != "w===" {
		t.Errorf("reads %s", got)
	}
	if f := j.Rows[tab.Cells[0].First+5].Follow; f != -7 {
		t.Errorf("followup %d", f)
	}
}

// Back at the level before a confirmed regression.
func TestRecovered(t *testing.T) {
	cells := quiet(3, 12, 10, .005)
	for r := 4; r < 7; r++ {
		cells[0][r] *= 1.2
	}
	tab := history(.05, cells...)
	if got := words(tab, judge(t, tab), 0); got[4:] != "wW=rR=" {
		t.Errorf("reads %s", got)
	}
}

// A re-run of the same release confirms, or does not.
func TestRecheckWithinARelease(t *testing.T) {
	for _, c := range []struct {
		second float64
		want   string
	}{{120, "W"}, {100, "o"}} {
		cells := quiet(4, 12, 6, .005)
		cells[0][5] = 120
		tab := history(.05, cells...)
		o := &tab.Obs[tab.Cells[0].First+5]
		o.Z2, o.K2 = math.Log(c.second), 1
		if got := words(tab, judge(t, tab), 0); got[5:] != c.want {
			t.Errorf("re-run gives %v: reads %s, want %s", c.second, got, c.want)
		}
	}
	cells := quiet(4, 12, 6, .005)
	tab := history(.05, cells...)
	o := &tab.Obs[tab.Cells[0].First+5]
	o.Z2, o.K2 = math.Log(130), 1
	j := judge(t, tab)
	if r := j.Rows[tab.Cells[0].First+5]; r.Word != schema.Inconclusive || r.Why != schema.WhyRunsDisagree {
		t.Errorf("a bad later run of a good release: %+v", r)
	}
}

// Two releases are a baseline: one independent run confirms, and a series is never stuck there.
func TestShortBaselines(t *testing.T) {
	cells := quiet(5, 12, 7, .003)
	for r := 2; r < 7; r++ {
		cells[0][r] *= 1.3
	}
	tab := history(.05, cells...)
	if got := words(tab, judge(t, tab), 0); got[2:] != "wW===" {
		t.Errorf("reads %s", got)
	}
	// Another run of the same release does as well as another release.
	for runs, want := range map[uint8]string{1: "W", 2: "W"} {
		cells := quiet(5, 12, 3, .003)
		cells[0][2] *= 1.3
		tab := history(.05, cells...)
		o := &tab.Obs[tab.Cells[0].First+2]
		o.Z2, o.K2 = o.Z, int16(runs)
		if got := words(tab, judge(t, tab), 0); got[2:] != want {
			t.Errorf("%d further runs: reads %s", runs, got)
		}
	}
	one := history(.05, []float64{100, 150}, []float64{100, 100})
	if got := words(one, judge(t, one), 0); got != ".o" {
		t.Errorf("one release each: %s, want insufficient, watch", got)
	}
	if got := words(one, judge(t, one), 1); got != ".." {
		t.Errorf("one release each and no change: %s", got)
	}
}

func TestConditionsBlock(t *testing.T) {
	tab := history(.05, quiet(6, 12, 6, .005)...)
	rules := regression.DefaultRules()
	rules.Blocks = func(a, b int32) bool { return a != b }
	first := tab.Cells[0].First
	tab.Obs[first+4].Cond, tab.Obs[first+5].Cond = 1, 1
	j, err := regression.Judge(context.Background(), tab, rules)
	if err != nil {
		t.Fatal(err)
	}
	if got := words(tab, j, 0); got[4] != 'x' || got[5] == 'x' {
		t.Errorf("reads %s: other conditions are not compared, the same ones are", got)
	}
}

// A build that never joins is judged and does not affect later releases; a change of its base is not attributed to
// it.
func TestBuildsThatNeverJoin(t *testing.T) {
	cells := quiet(7, 12, 8, .005)
	cells[0][4] *= 1.5
	cells[1][5] *= 1.2
	cells[1][6] *= 1.2
	tab := history(.05, cells...)
	tab.Releases[4].Joins, tab.Releases[6].Joins = false, false
	j := judge(t, tab)
	if got := words(tab, j, 0); got[4:] != "w===" {
		t.Errorf("a pull request's regression reads %s", got)
	}
	if r := j.Rows[tab.Cells[1].First+6]; r.Why != schema.WhyBaseSuspect {
		t.Errorf("a pull request on a suspect base: %+v", r)
	}
	if got := words(tab, j, 1); got[7] != '=' {
		t.Errorf("a build that never joins confirmed something: %s", got)
	}
}

// Levels that alternate are noise, not changes.
func TestTwoModes(t *testing.T) {
	cells := quiet(8, 12, 12, .004)
	for _, r := range []int{1, 4, 5, 8, 11} {
		cells[0][r] *= 1.12
	}
	tab := history(.05, cells...)
	j := judge(t, tab)
	for i := tab.Cells[0].First; i < tab.Cells[0].End; i++ {
		if r := j.Rows[i]; r.Word == schema.Regressed || r.Word == schema.Improved {
			t.Errorf("release %d: %+v", tab.Obs[i].Release, r)
		}
	}
}

func TestPeopleDecide(t *testing.T) {
	cells := quiet(9, 12, 8, .005)
	for r := 4; r < 8; r++ {
		cells[0][r], cells[1][r] = cells[0][r]*1.3, cells[1][r]*1.3
	}
	tab := history(.05, cells...)
	tab.Obs[tab.Cells[0].First+4].Pin = true
	tab.Obs[tab.Cells[1].First+4].Accept = true
	j := judge(t, tab)
	if got := words(tab, j, 0); got[4] != '.' || strings.ContainsAny(got[5:], "wW") {
		t.Errorf("pinned: %s", got)
	}
	if got := words(tab, j, 1); got[4] != 'w' || strings.ContainsAny(got[5:], "wW") {
		t.Errorf("accepted: %s: reported once, then the new level holds", got)
	}
}

// Rows on a release use nothing that came later.
func TestLaterReleasesChangeNothing(t *testing.T) {
	cells := quiet(12, 30, 14, .01)
	for r := 7; r < 14; r++ {
		cells[2][r] *= 1.2
	}
	long := history(.05, cells...)
	for i := range cells {
		cells[i] = cells[i][:9]
	}
	short := history(.05, cells...)
	a, b := judge(t, long), judge(t, short)
	for c := range cells {
		for r := range 9 {
			x, y := a.Rows[long.Cells[c].First+int32(r)], b.Rows[short.Cells[c].First+int32(r)]
			sameD := x.D == y.D || math.IsNaN(x.D) && math.IsNaN(y.D)
			if x.Word != y.Word || x.Evidence != y.Evidence || !sameD || x.SE != y.SE {
				t.Fatalf("cell %d release %d: %+v with later releases, %+v without", c, r, x, y)
			}
		}
	}
}

// The calculation can be repeated from its numbers.
func TestExplainAddsUp(t *testing.T) {
	cells := quiet(14, 20, 8, .01)
	cells[4][7] *= 1.3
	tab := history(.05, cells...)
	j := judge(t, tab)
	r, err := regression.Explain(context.Background(), tab, regression.DefaultRules(), 4, 7)
	if err != nil {
		t.Fatal(err)
	}
	mean := 0.
	for _, b := range r.Baseline {
		mean += b.Z / float64(len(r.Baseline))
	}
	v := r.S02
	if !math.IsInf(r.D0, 1) {
		v = (r.D0*r.S02 + r.Nu*r.S2) / (r.D0 + r.Nu)
	}
	v = math.Max(v, r.Floor)
	for name, pair := range map[string][2]float64{
		"mean":     {mean, r.Mean},
		"d":        {r.Obs.Z - r.Shift - mean, r.D},
		"variance": {v, r.Variance},
		"se":       {math.Sqrt(v * (1 + 1/float64(len(r.Baseline)))), r.SE},
		"t":        {r.D / r.SE, r.T},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9*math.Max(1, math.Abs(pair[0])) {
			t.Errorf("%s: %v by hand, %v in the calculation", name, pair[0], pair[1])
		}
	}
	if row := j.Rows[tab.Cells[4].First+7]; row.Word != r.Row.Word || math.Abs(float64(row.SE)-r.SE) > 1e-6 {
		t.Errorf("the calculation is of another row: %+v, %+v", row, r.Row)
	}
	if _, err := regression.Explain(context.Background(), tab, regression.DefaultRules(), 4, 99); err == nil {
		t.Error("a release that is not there is explained")
	}
}

func TestConstantAndDegenerateHistories(t *testing.T) {
	for name, cells := range map[string][][]float64{
		"all constant":    {{5, 5, 5, 5, 5}, {7, 7, 7, 7, 7}},
		"one release":     {{5}, {7}},
		"one cell":        {{5, 5.1, 5, 5.2}},
		"gaps":            {{5, math.NaN(), 5, math.NaN(), 5}, {1, 1, 1, 1, 1}},
		"constant, moved": {{5, 5, 5, 5, 6}, {7, 7, 7, 7, 7}},
		"huge":            {{1e-300, 1e300, 1e-300, 1e300}, {1, 1, 1, 1}},
	} {
		tab := history(.05, cells...)
		j := judge(t, tab)
		for i, r := range j.Rows {
			if r.Word == schema.NoOutcome {
				t.Errorf("%s: row %d is not judged", name, i)
			}
			if r.Word == schema.Unchanged && math.IsNaN(r.D) {
				t.Errorf("%s: same without a change", name)
			}
		}
	}
	moved := history(.05, []float64{5, 5, 5, 5, 6, 6}, []float64{7, 7, 7, 7, 7, 7})
	if got := words(moved, judge(t, moved), 0); got[4:] != "wW" {
		t.Errorf("a constant that moves by a fifth reads %s", got)
	}
}

// A history that begins with a broken run judges by the others, once there are enough of them to tell.
func TestBrokenFirstRun(t *testing.T) {
	cells := quiet(3, 12, 14, .005)
	cells[0][0] = .5
	for r := 10; r < 14; r++ {
		cells[0][r] *= .9
	}
	for r := range 6 { // two modes are none
		cells[1][2*r] *= 4
	}
	tab := history(.05, cells...)
	j := judge(t, tab)
	if got := words(tab, j, 0); got[6:] != "====bB==" {
		t.Errorf("after a broken run: %s", got)
	}
	if first := tab.Cells[0].First; !j.Excluded(tab, first, 3) || j.Excluded(tab, first, 2) {
		t.Error("the broken run is in the baseline")
	}
	for r := range int32(12) {
		if j.Excluded(tab, tab.Cells[1].First+2*r%12, 13) {
			t.Errorf("a mode is taken for a broken run in release %d", 2*r%12)
		}
	}
}
