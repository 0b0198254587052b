package regression

import (
	"math"
	"slices"
	"sync"
)

// moved is how one stratum, or one system in it, moved as a whole in the release under judgement.
type moved struct {
	series    int32 // of its tier
	stratum   int32
	system    int32   // -1: the whole stratum
	median    float64 // change of its cells against their baselines
	delta     float64 // effect that matters, typical of its cells
	sampling  float64 // variance of the median over its cells
	cells     int
	points    int
	agree     float64
	removable bool
	second    float64 // median over the cells that a later run of the release also has; NaN with too few of them
}

// measure finds the median change of every series of a tier and whether it moved as one.
func (j *judge) measure(t *tier, tests []test) []moved {
	bySeries := make([][]int32, len(t.series))
	for i := range tests {
		b := &tests[i].base
		if at := t.of(&tests[i]); at >= 0 && b.n > 0 && !b.incoherent() {
			bySeries[at] = append(bySeries[at], int32(i))
		}
	}
	var out []moved
	for s, list := range bySeries {
		if len(list) < t.cells {
			continue
		}
		cell := &j.t.Cells[tests[list[0]].cell]
		m := moved{series: int32(s), stratum: cell.Stratum, system: -1, points: j.points(list, tests)}
		if t.within {
			m.system = cell.System
		}
		out = append(out, m)
	}
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() { j.measureOne(&out[i], t, bySeries[out[i].series], tests) })
	}
	wg.Wait()
	return out
}

// incoherent reports a baseline whose values lie apart by more than a machine moves them: it has no level from which a
// shift could be measured.
func (b *baseline) incoherent() bool {
	const most = .35 // a standard deviation; two values of which one is twice the other have .49
	return b.nu > 0 && b.s2 > most*most
}

// points counts the distinct points of some cells.
func (j *judge) points(list []int32, tests []test) int {
	k := &j.scratch
	k.mark++
	n := 0
	for _, i := range list {
		p := j.t.Cells[tests[i].cell].Point
		for int(p) >= len(k.seen) {
			k.seen = append(k.seen, 0)
		}
		if k.seen[p] != k.mark {
			k.seen[p] = k.mark
			n++
		}
	}
	return n
}

func (j *judge) measureOne(m *moved, t *tier, list []int32, tests []test) {
	d, deltas := make([]float64, len(list)), make([]float64, len(list))
	for i, k := range list {
		d[i], deltas[i] = tests[k].d, j.t.Cells[tests[k].cell].Delta
	}
	m.median, m.cells = median(slices.Clone(d)), len(list)
	apart := inTwo(m.median, d, list, tests)
	near := 0
	for i, v := range d {
		d[i] = math.Abs(v - m.median)
		if d[i] <= deltas[i] {
			near++
		}
	}
	m.delta, m.agree = median(deltas), float64(near)/float64(len(d))
	// 1.4826 median absolute deviations are a standard deviation, and a median has 1.2533 times the error of a mean.
	sd := 1.4826 * median(d)
	m.sampling = 1.2533 * 1.2533 * sd * sd / float64(len(d))
	m.removable = m.points >= t.points && m.agree >= j.rules.Agree && !apart &&
		math.Abs(m.median) < math.Ln2 // no machine halves a speed from one day to the next
	m.second = j.secondMedian(list, tests)
}

// inTwo reports whether changes lie so far apart that they are not one: the middle half of them is wider than their
// middle is from zero, and than twice what noise makes of it. Where half of the workloads of a model are 10 % slower
// and half are not, all lie within 5 % of their median, which none of them shows.
func inTwo(middle float64, d []float64, list []int32, tests []test) bool {
	const ofNoise = 2 * 1.349 // the middle half of normal values is 1.349 standard deviations wide
	var noise []float64
	for _, k := range list {
		if b := &tests[k].base; b.nu > 0 {
			noise = append(noise, math.Sqrt(b.s2*(1+1/float64(b.n))))
		}
	}
	if len(noise) < len(list)/2+1 {
		return false // nobody knows the noise
	}
	sorted := slices.Sorted(slices.Values(d))
	n := len(sorted)
	wide := sorted[3*n/4] - sorted[n/4]
	return wide > math.Max(math.Abs(middle), ofNoise*median(noise))
}

// secondMedian is the median change of later runs of the release: enough points must have one. What was removed from
// the first run before is that run's own, and stays.
func (j *judge) secondMedian(list []int32, tests []test) float64 {
	var d []float64
	points := map[int32]bool{}
	for _, k := range list {
		if o := &j.t.Obs[tests[k].obs]; o.K2 > 0 {
			d = append(d, j.rerun(&tests[k]))
			points[j.t.Cells[tests[k].cell].Point] = true
		}
	}
	if len(points) < j.rules.MinPoint {
		return math.NaN()
	}
	return median(d)
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// median is the median of values, which it puts into another order (Hoare's selection).
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	k := (len(v) - 1) / 2
	for lo, hi := 0, len(v)-1; lo < hi; {
		pivot, i, j := v[(lo+hi)/2], lo, hi
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			lo, hi = k, k
		}
	}
	if len(v)%2 == 1 {
		return v[k]
	}
	return (v[k] + slices.Min(v[k+1:])) / 2
}
