package main

import (
	"math"
	"math/rand/v2"

	"github.com/ttreport/ttreport/targets/regression"
)

// fleet is a made-up history of points on systems (a model on a device), whose noise has a part of the host, one of the
// start of the server and one of the measurement.
type fleet struct {
	devices, models, workloads int
	noise                      func(r *rand.Rand, sd float64) float64
	sd                         float64 // typical noise of a measurement
	spread                     bool    // points differ in it: CV² = sd² · 4/χ²(4)
	host, start                float64 // sd of a factor of a device in a release, and of a system in a release
	slow, slowBy               float64 // share of values that are slow, and by how much
	slowRuns                   float64 // share of runs of a system that are slow by slowBy, all points together
	modes                      float64 // share of points that take a second mode, 8 % slower, in one of five runs
}

func (f fleet) cells() int { return f.devices * f.models * f.workloads }

// drawn is a fleet whose releases are drawn one after another.
type drawn struct {
	fleet
	r     *rand.Rand
	sd    []float64
	modal []bool
}

func (f fleet) draw(seed uint64) *drawn {
	d := &drawn{fleet: f, r: rand.New(rand.NewPCG(seed, 20260303))}
	for range f.cells() {
		sd := f.sd
		if f.spread {
			chi := 0.
			for range 4 {
				g := d.r.NormFloat64()
				chi += g * g
			}
			sd *= math.Sqrt(4 / chi)
		}
		d.sd, d.modal = append(d.sd, sd), append(d.modal, d.r.Float64() < f.modes)
	}
	return d
}

func (f fleet) device(cell int) int { return cell / (f.models * f.workloads) }
func (f fleet) system(cell int) int { return cell / f.workloads }

// run draws one run of everything.
func (d *drawn) run() []float64 {
	host, start := make([]float64, d.devices), make([]float64, d.devices*d.models)
	for i := range host {
		host[i] = d.host * d.r.NormFloat64()
	}
	for i := range start {
		start[i] = d.start * d.r.NormFloat64()
		if d.r.Float64() < d.slowRuns {
			start[i] += math.Log1p(d.slowBy)
		}
	}
	z := make([]float64, d.cells())
	for c := range z {
		z[c] = 3 + host[d.device(c)] + start[d.system(c)] + d.noise(d.r, d.sd[c])
		if d.r.Float64() < d.slow {
			z[c] += math.Log1p(d.slowBy)
		}
		if d.modal[c] && d.r.Float64() < .2 {
			z[c] += math.Log(1.08)
		}
	}
	return z
}

// table is a history of runs, one a release; seconds is what later runs of each release measured: nil, or NaN, for
// none.
func (f fleet) table(runs, seconds [][]float64, delta float64) *regression.Table {
	t := newTable(f.devices, len(runs))
	for c := range f.cells() {
		cell := regression.Cell{
			Stratum: int32(f.device(c)), System: int32(f.system(c)), Point: int32(c),
			First: int32(len(t.Obs)), Delta: delta,
		}
		for r, z := range runs {
			o := regression.Obs{Release: int32(r), Z: z[c], K: 1}
			if r < len(seconds) && seconds[r] != nil && !math.IsNaN(seconds[r][c]) {
				o.Z2, o.K2, o.R2 = seconds[r][c], 1, 1
			}
			t.Obs = append(t.Obs, o)
		}
		cell.End = int32(len(t.Obs))
		t.Cells = append(t.Cells, cell)
	}
	return t
}

func newTable(strata, releases int) *regression.Table {
	t := &regression.Table{Strata: strata}
	for range releases {
		t.Releases = append(t.Releases, regression.Release{Joins: true})
	}
	return t
}
