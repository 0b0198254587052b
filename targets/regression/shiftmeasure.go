package regression

import (
	"math"
	"slices"
	"sync"
)

// moved is the change of one stratum in the release that is judged.
type moved struct {
	stratum   int32
	median    float64 // change of its cells against their baselines
	delta     float64 // effect that matters, typical of its cells
	sampling  float64 // variance of the median over its cells
	cells     int
	points    int
	agree     float64
	removable bool
	second    float64 // median over the cells that a later run of the release also has; NaN with too few of them
}

// measure returns the median change of every stratum and whether it changed as a whole.
func (j *judge) measure(tests []test) []moved {
	byStratum := make([][]int, j.t.Strata)
	for i := range tests {
		if tests[i].base.n > 0 {
			s := j.t.Cells[tests[i].cell].Stratum
			byStratum[s] = append(byStratum[s], i)
		}
	}
	var out []moved
	for s, list := range byStratum {
		if len(list) >= j.rules.MinCells {
			out = append(out, moved{stratum: int32(s), points: j.points(list, tests)})
		}
	}
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() { j.measureOne(&out[i], byStratum[out[i].stratum], tests) })
	}
	wg.Wait()
	return out
}

// points counts the distinct points of some cells.
func (j *judge) points(list []int, tests []test) int {
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

func (j *judge) measureOne(m *moved, list []int, tests []test) {
	d, deltas := make([]float64, len(list)), make([]float64, len(list))
	for i, k := range list {
		d[i], deltas[i] = tests[k].d, j.t.Cells[tests[k].cell].Delta
	}
	sorted := slices.Sorted(slices.Values(d))
	m.median, m.cells = middle(sorted), len(list)
	near := 0
	for i, v := range d {
		d[i] = math.Abs(v - m.median)
		if d[i] <= deltas[i] {
			near++
		}
	}
	slices.Sort(d)
	slices.Sort(deltas)
	m.delta, m.agree = middle(deltas), float64(near)/float64(len(d))
	// 1.4826 median absolute deviations are a standard deviation, and a median has 1.2533 times the error of a mean.
	sd := 1.4826 * middle(d)
	m.sampling = 1.2533 * 1.2533 * sd * sd / float64(len(d))
	m.removable = m.points >= j.rules.MinPoint && m.agree >= j.rules.Agree
	m.second = j.secondMedian(list, tests)
}

// secondMedian returns the median change of later runs of the release: enough cells of enough points must have one.
func (j *judge) secondMedian(list []int, tests []test) float64 {
	var d []float64
	points := map[int32]bool{}
	for _, k := range list {
		if o := &j.t.Obs[tests[k].obs]; o.K2 > 0 {
			d = append(d, o.Z2-tests[k].base.mean)
			points[j.t.Cells[tests[k].cell].Point] = true
		}
	}
	if len(d) < j.rules.MinCells || len(points) < j.rules.MinPoint {
		return math.NaN()
	}
	slices.Sort(d)
	return middle(d)
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
