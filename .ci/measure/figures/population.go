package main

import (
	"math"
	"math/rand/v2"

	"github.com/ttreport/ttreport/targets/regression"
)

// population describes a made-up history: cells in strata, with a known truth.
type population struct {
	cells, devices, metrics int
	releases                int
	noise                   func(r *rand.Rand, sd float64) float64
	shift                   float64 // sd of a random shift of every stratum in every release, by device
	effect                  float64 // of the changed cells, as log
	changed                 int     // how many change
	from                    int     // release in which they change
	device                  int     // a whole device that changes instead; -1: none
	delta                   float64
}

func gaussian(r *rand.Rand, sd float64) float64 { return sd * r.NormFloat64() }

// student returns noise of Student's t distribution, scaled to a standard deviation.
func student(df int) func(*rand.Rand, float64) float64 {
	return func(r *rand.Rand, sd float64) float64 {
		chi := 0.
		for range df {
			g := r.NormFloat64()
			chi += g * g
		}
		return sd * r.NormFloat64() / math.Sqrt(chi/float64(df)) * math.Sqrt(float64(df-2)/float64(df))
	}
}

// lognormal is skewed noise of shape .5, centred and scaled.
func lognormal(r *rand.Rand, sd float64) float64 {
	const s = .5
	mean, v := math.Exp(s*s/2), (math.Exp(s*s)-1)*math.Exp(s*s)
	return sd * (math.Exp(s*r.NormFloat64()) - mean) / math.Sqrt(v)
}

// bimodal is Gaussian noise of which 3 % of the values are 8 % slow.
func bimodal(r *rand.Rand, sd float64) float64 {
	x := sd * r.NormFloat64()
	if r.Float64() < .03 {
		x += math.Log(1.08)
	}
	return x
}

// make draws the population and which of its cells change. Standard deviations of cells scatter: CV² = 1e-4 · 4/χ²(4),
// so that the median is about 1 %.
func (p population) make(seed uint64) (*regression.Table, []bool) {
	r := rand.New(rand.NewPCG(seed, 20260101))
	t := &regression.Table{Strata: p.devices * p.metrics}
	for s := range t.Strata {
		t.Devices = append(t.Devices, int32(s/p.metrics))
	}
	t.Obs = make([]regression.Obs, 0, p.cells*p.releases)
	t.Cells = make([]regression.Cell, 0, p.cells)
	for range p.releases {
		t.Releases = append(t.Releases, regression.Release{Joins: true})
	}
	shifts := make([][]float64, p.devices)
	for d := range shifts {
		for range p.releases {
			shifts[d] = append(shifts[d], p.shift*r.NormFloat64())
		}
	}
	truth := make([]bool, p.cells)
	for left := p.changed; left > 0; {
		if i := r.IntN(p.cells); !truth[i] {
			truth[i] = true
			left--
		}
	}
	for c := range p.cells {
		p.add(t, r, shifts, truth, c)
	}
	return t, truth
}

// add draws one cell.
func (p population) add(t *regression.Table, r *rand.Rand, shifts [][]float64, truth []bool, c int) {
	device, metric := c/p.metrics%p.devices, c%p.metrics
	chi := 0.
	for range 4 {
		g := r.NormFloat64()
		chi += g * g
	}
	sd := math.Sqrt(1e-4 * 4 / chi)
	if device == p.device {
		truth[c] = true
	}
	cell := regression.Cell{
		Stratum: int32(device*p.metrics + metric), System: int32(device), Point: int32(c / p.metrics), Delta: p.delta,
	}
	cell.First = int32(len(t.Obs))
	for rel := range p.releases {
		z := 3 + p.noise(r, sd) + shifts[device][rel]
		if truth[c] && rel >= p.from {
			z += p.effect
		}
		t.Obs = append(t.Obs, regression.Obs{Release: int32(rel), Z: z, K: 1})
	}
	cell.End = int32(len(t.Obs))
	t.Cells = append(t.Cells, cell)
}

// counts summarises the verdicts of one release of a population, in cells.
type counts struct {
	hit, alarms               int // changed cells that regressed; unchanged cells that regressed, improved or recovered
	hitAgain, alarmsConfirmed int // likewise, confirmed
}

func count(t *regression.Table, j *regression.Judgement, truth []bool, release int) counts {
	var n counts
	for c, cell := range t.Cells {
		for i := cell.First; i < cell.End; i++ {
			if int(t.Obs[i].Release) == release {
				n.add(&j.Rows[i], truth[c])
			}
		}
	}
	return n
}

func (n *counts) add(row *regression.Row, changed bool) {
	confirmed := 0
	if row.Evidence == regression.Confirmed {
		confirmed = 1
	}
	switch row.Word {
	case regression.Regressed:
		if changed {
			n.hit++
			n.hitAgain += confirmed
			return
		}
		fallthrough
	case regression.Improved, regression.Recovered:
		n.alarms++
		n.alarmsConfirmed += confirmed
	}
}
