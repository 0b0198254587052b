package regression_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
)

// Candidates of a release are seen again by its next one, however many other releases were measured in between.
func TestCandidatesOfOneRelease(t *testing.T) {
	cells := quiet(61, 12, 12, .005)
	cells[0][8] *= 1.2
	cells[0][11] *= 1.2
	tab := history(.05, cells...)
	tab.Releases[8], tab.Releases[11] = regression.Release{Final: 1}, regression.Release{Final: 1}
	if got := words(tab, judge(t, tab), 0); got[8:] != "w==W" {
		t.Errorf("two candidates that are slower, around two releases that are not, read %s", got)
	}
}

// What candidates of another release show changes nothing of what is said of a release.
func TestCandidatesOfAnotherRelease(t *testing.T) {
	const releases = 24
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		cells := quiet(seed, 42, releases, .01)
		aside := [releases]bool{}
		for k := 4; k < releases; k++ {
			aside[k] = r.Float64() < .3
			for g := range 3 {
				by := 1.
				if r.Float64() < .15 || g == 0 && k > 18 {
					by = 1.07
				}
				if r.Float64() < .1 {
					by = .93
				}
				for i := range 14 {
					cells[14*g+i][k] *= by
				}
			}
		}
		without := make([][]float64, len(cells))
		for i, c := range cells {
			for k, v := range c {
				if !aside[k] {
					without[i] = append(without[i], v)
				}
			}
		}
		with, alone := systems(cells), systems(without)
		for _, tab := range []*regression.Table{with, alone} {
			for i := range tab.Cells {
				tab.Cells[i].Stratum, tab.Cells[i].Point = int32(i%2), int32(i/2)
			}
			tab.Strata = 2
		}
		for k, aside := range aside {
			if aside {
				with.Releases[k] = regression.Release{Final: 7}
			}
		}
		a, b := judge(t, with), judge(t, alone)
		for c := range cells {
			row := alone.Cells[c].First
			for i := with.Cells[c].First; i < with.Cells[c].End; i++ {
				if aside[with.Obs[i].Release] {
					continue
				}
				p, q := &a.Rows[i], &b.Rows[row]
				if row++; p.Word != q.Word || math.Abs(p.D-q.D) > 1e-9 {
					t.Errorf("seed %d, cell %d, release %d: %+v, without candidates %+v", seed, c, with.Obs[i].Release, p, q)
				}
			}
		}
	}
}

// A build that never joins is not told to confirm what the release that it is based on began.
func TestBuildsOnASuspectedGroup(t *testing.T) {
	cells := quiet(63, 42, 9, .005)
	for i := range 14 {
		cells[i][7], cells[i][8] = cells[i][7]*1.1, cells[i][8]*1.1
	}
	tab := systems(cells)
	tab.Releases[8].Joins = false
	j := judge(t, tab)
	for _, f := range j.Findings {
		if f.Release == 8 && f.Evidence == schema.Confirmed {
			t.Errorf("%+v", f)
		}
	}
	for i := range 14 {
		if r := j.Rows[tab.Cells[i].First+8]; r.Evidence == schema.Confirmed || r.Why != schema.WhyBaseSuspect {
			t.Errorf("cell %d: %+v", i, r)
		}
	}
}
