package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Scores worked out by hand: F1 counts the start of a series as a change point, the margin is five.
func TestScores(t *testing.T) {
	marks := [][]int{{50}, {50, 80}}
	for name, c := range map[string]struct {
		found     []int
		f1, cover float64
	}{
		// Nothing found: precision 1, recall the mean of 1/2 and 1/3.
		"nothing": {nil, 2 * (5. / 12) / (17. / 12), (.5*.5 + .5*.5 + .5*.5 + .3*.3 + .2*.2) / 2},
		"all":     {[]int{50, 80}, 1, ((.5 + .5*.6) + 1) / 2},
		// 53 is within the margin of 50, 70 is not of 80: two of three found are right.
		"near": {[]int{53, 70}, 2 * (2. / 3) * (5. / 6) / (2./3 + 5./6), math.NaN()},
	} {
		if got := fMeasure(marks, c.found); math.Abs(got-c.f1) > 1e-12 {
			t.Errorf("%s: F1 %v, want %v", name, got, c.f1)
		}
		if got := covering(marks, c.found, 100); !math.IsNaN(c.cover) && math.Abs(got-c.cover) > 1e-12 {
			t.Errorf("%s: cover %v, want %v", name, got, c.cover)
		}
	}
}

// What is measured is what the judge does: a step in a quiet series begins one level.
func TestChangePointsOfOneSeries(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	values := make([]float64, 40)
	for i := range values {
		values[i] = 100 * math.Exp(.01*r.NormFloat64())
		if i >= 25 {
			values[i] *= 1.3
		}
	}
	if at := changePointsOf(values); !slices.Equal(at, []int{25}) {
		t.Errorf("change points at %v", at)
	}
}

// A missed goal must be able to fail CI, a missed goal above its floor and a row without a goal must not.
func TestRowsCountMissedGoals(t *testing.T) {
	var tab table
	tab.row(true, "a", "goal", "1")
	tab.row(false, "b", "", "2")
	tab.row(false, "c", "goal", "3")
	tab.floored(false, true, "d", "goal", "floor", "4")
	tab.floored(false, false, "e", "goal", "floor", "5")
	if tab.missed != 3 || tab.broken != 2 {
		t.Errorf("%d missed and %d broken, want 3 and 2", tab.missed, tab.broken)
	}
}

func TestArguments(t *testing.T) {
	for args, want := range map[string]int{"--populations 0": 2, "--nothing": 2, "more": 2, "--help": 0} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(args), &out, &errs); code != want {
			t.Errorf("%s: exit %d, want %d", args, code, want)
		}
	}
}

// Hindsight: a step that three nights confirm is a change, a peak and a step smaller than what matters are none.
func TestHindsight(t *testing.T) {
	for name, c := range map[string]struct {
		z    []float64
		at   int
		want nightCount // of a rule that calls the fifth value worse
	}{
		"step":  {[]float64{0, .01, 0, .01, .1, .11, .1, .1}, 4, nightCount{first: 1, second: 1}},
		"peak":  {[]float64{0, .01, 0, .01, .1, .01, 0, 0}, -1, nightCount{wrong: 1}},
		"small": {[]float64{0, .01, 0, .01, .04, .04, .04, .04}, -1, nightCount{wrong: 1}},
		"later": {[]float64{0, .01, 0, .01, 0, .1, .11, .1, .1}, 5, nightCount{}}, // the median after it is the new level
		"end":   {[]float64{0, .01, 0, .01, .1, .1}, -1, nightCount{}},
	} {
		if got := worsened(c.z); got != c.at {
			t.Errorf("%s: worse from %d, want %d", name, got, c.at)
		}
		var n nightCount
		n.add(c.z, []alarm{{release: 4, since: 4}}, c.at)
		if n != c.want {
			t.Errorf("%s: counted %+v, want %+v", name, n, c.want)
		}
	}
}
