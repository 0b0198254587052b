package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ttreport/ttreport/targets/regression"
)

// steps is a history of ten thousand series of 8 to 50 values that end in the same release, some with one step.
type steps struct {
	noise func(r *rand.Rand, sd float64) float64
	size  float64 // of a step, on the log scale; the noise of every series is 1 %
	every int     // one series in every has a step, after two thirds of its values; 0: none
}

func (s steps) make(seed uint64) (tab *regression.Table, at []int32) {
	const series, releases, devices, metrics = 10000, 50, 4, 4
	r := rand.New(rand.NewPCG(seed, 31))
	tab = &regression.Table{Strata: devices * metrics}
	for range releases {
		tab.Releases = append(tab.Releases, regression.Release{Joins: true})
	}
	for c := range series {
		n := 8 + r.IntN(43)
		first := int32(len(tab.Obs))
		step := int32(-1)
		if s.every > 0 && c%s.every == 0 {
			step = first + int32(n*2/3)
		}
		for k := range n {
			z := 3 + s.noise(r, .01)
			if step >= 0 && first+int32(k) >= step {
				z += s.size
			}
			tab.Obs = append(tab.Obs, regression.Obs{Release: int32(releases - n + k), Z: z, K: 1})
		}
		cell := regression.Cell{Stratum: int32(c/metrics%devices*metrics + c%metrics), Point: int32(c / metrics)}
		cell.First, cell.End, cell.Delta = first, int32(len(tab.Obs)), math.Log1p(.05)
		tab.Cells, at = append(tab.Cells, cell), append(at, step)
	}
	return tab, at
}

// located counts the change points of one history, by the gate and by the search.
type located struct {
	right       map[regression.Source]int // within one value of a step
	inUnchanged map[regression.Source]int // in series without a step
	off         int                       // in series with a step, elsewhere
	steps       int                       // that were made
}

func locate(t *table, s steps) (located, error) {
	out := located{map[regression.Source]int{}, map[regression.Source]int{}, 0, 0}
	tab, at := s.make(t.o.seed)
	j, err := regression.Judge(t.ctx, tab, regression.DefaultRules())
	if err != nil {
		return out, err
	}
	for _, step := range at {
		if step >= 0 {
			out.steps++
		}
	}
	found, err := regression.Search(t.ctx, tab, j, int32(len(tab.Releases)-1), regression.DefaultRules(), false)
	if err != nil {
		return out, err
	}
	for _, c := range append(slices.Clone(j.ChangePoints), found...) {
		step := at[c.Cell]
		switch {
		case step < 0:
			out.inUnchanged[c.Source]++
		case abs(int(c.At-step)) <= 1:
			out.right[c.Source]++
		default:
			out.off++
		}
	}
	return out, nil
}

// changePoints measures where the judge finds change points in unchanged series and in series with one step.
func changePoints(t *table) {
	for _, kind := range []struct {
		name  string
		noise func(*rand.Rand, float64) float64
	}{{"Gaussian", gaussian}, {"t3", student(3)}} {
		x, err := locate(t, steps{noise: kind.noise})
		if err != nil {
			return
		}
		// 42 releases are searched, each at a false discovery rate of .05: where nothing changes, about two are
		// expected.
		t.row(x.inUnchanged[regression.BySearch] <= 2,
			"change points, 10^4 unchanged series, n = 8 to 50, "+kind.name, "at most 2 false by the search",
			"%d by the search, %d by the gate", x.inUnchanged[regression.BySearch], x.inUnchanged[regression.ByGate])
	}
	for _, size := range []float64{.03, .05, .10} {
		const every = 10
		x, err := locate(t, steps{gaussian, size, every})
		if err != nil {
			return
		}
		gate, search := x.right[regression.ByGate], x.right[regression.BySearch]
		wrong := x.inUnchanged[regression.ByGate] + x.inUnchanged[regression.BySearch]
		share := float64(wrong+x.off) / float64(max(1, wrong+x.off+gate+search))
		name := fmt.Sprintf("change points, steps of %.0f sd in one of ten series", 100*size)
		t.row(share <= .08, name, "false share <= .08",
			"%.1f %% within 1 value (gate %d, search %d), %d further off, %d in unchanged series; false share %.3f",
			100*float64(gate+search)/float64(x.steps), gate, search, x.off, wrong, share)
	}
}
