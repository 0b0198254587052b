package main

import (
	"math"
	"math/rand/v2"

	"github.com/ttreport/ttreport/targets/regression"
)

// population is a made-up history: cells in strata, with a known truth.
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

// student is noise with four degrees of freedom, or others, scaled to a standard deviation.
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

// make draws the population: standard deviations of cells scatter as in judge's simulations, CV² = 1e-4 · 4/χ²(4).
func (p population) make(seed uint64) (*regression.Table, []bool) {
	r := rand.New(rand.NewPCG(seed, 20260101))
	t := &regression.Table{Strata: p.devices * p.metrics, Obs: make([]regression.Obs, 0, p.cells*p.releases), Cells: make([]regression.Cell, 0, p.cells)}
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
		cell := regression.Cell{Stratum: int32(device*p.metrics + metric), Point: int32(c / p.metrics), First: int32(len(t.Obs)), Delta: p.delta}
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
	return t, truth
}

// counts are what one release of a population came to.
type counts struct {
	hit, false_         int // worse with any evidence: of those that changed, of those that did not
	hitOK, falseOK      int // likewise, confirmed
	better, same, shift int
}

func count(t *regression.Table, j *regression.Judgement, truth []bool, release int) counts {
	var n counts
	for c, cell := range t.Cells {
		for i := cell.First; i < cell.End; i++ {
			row := &j.Rows[i]
			if int(t.Obs[i].Release) != release {
				continue
			}
			wrong := row.Word == regression.Regressed || row.Word == regression.Improved || row.Word == regression.Recovered
			switch {
			case row.Word == regression.Regressed && truth[c]:
				n.hit++
				if row.Evidence == regression.Confirmed {
					n.hitOK++
				}
			case wrong:
				n.false_++
				if row.Evidence == regression.Confirmed {
					n.falseOK++
				}
			}
			if row.Word == regression.Improved || row.Word == regression.Recovered {
				n.better++
			}
			if row.Word == regression.Unchanged {
				n.same++
			}
			if row.Why == regression.WhyShift {
				n.shift++
			}
		}
	}
	return n
}
