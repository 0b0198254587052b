package regression

import (
	"cmp"
	"math"
	"slices"
)

// joint is the test of the newest two or three runs of a cell together against what came before them: evidence that no
// run has by itself adds up, and no single outlier passes for it.
type joint struct {
	runs     int     // that it is of; 0: there is none worth a test
	n        int     // releases behind the baseline
	first    int32   // observation of the oldest run
	mean     float64 // of the baseline
	d        float64 // mean change of the runs
	sd       float64 // noise of one run
	se, df   float64
	p        float64 // that ordinary noise moves all of them so far, by the share that the window has
	outliers float64 // that some or all of them are outliers and the others ordinary noise
}

// sighting is one run of a cell beside its baseline.
type sighting struct {
	obs int32
	z   float64 // the run-wide shift removed
}

// sightings lists the newest runs of a cell, the newest first: the later runs of the release, its first run, and those
// of up to two releases before. A build that never joins has no sightings but its own.
func (j *judge) sightings(x *test, list []sighting) (all []sighting, own int) {
	o := &j.t.Obs[x.obs]
	if o.K2 > 0 {
		list = append(list, sighting{x.obs, x.base.mean + j.second(x)})
	}
	list = append(list, sighting{x.obs, x.base.mean + x.d})
	own = len(list)
	if j.joins(x.obs) {
		for _, e := range x.base.prev[:x.base.prevs] {
			list = append(list, sighting{e.obs, e.z})
		}
	}
	return list, own
}

// together tests the newest two and the newest three runs of a cell, as far as two releases remain to compare them
// with, and keeps the surer of the two.
func (j *judge) together(x *test, p *prior) {
	x.joint = joint{}
	delta := j.t.Cells[x.cell].Delta
	if !x.ok || math.Abs(x.d) < delta/2 {
		return
	}
	var room [4]sighting
	list, own := j.sightings(x, room[:0])
	dir := math.Copysign(1, x.d)
	base := x.base.summary()
	var best joint
	looks, behind := 0., 0
	for k := 2; k <= min(3, len(list)); k++ {
		if k > own {
			base = base.without(&x.base.prev[k-own-1])
		}
		if base.n < 2 {
			break
		}
		if looks++; looks == 1 {
			behind = base.n
		}
		if k > own && j.rows[list[k-1].obs].Word == Unchanged {
			continue // what was shown to be unchanged begins no change; the window counts as one that was tried
		}
		w, ok := j.windowed(x, list[:k], base, dir, p)
		w.p = math.Min(1, w.p/j.rules.share(k, behind))
		if ok && (best.runs == 0 || w.p < best.p) {
			best = w
		}
	}
	best.outliers = math.Min(1, looks*best.outliers)
	x.joint = best
}

// share is the part of the false discovery rate that a window of two or three runs has, with so many releases behind
// it. Three runs tell more, if there is a baseline to tell it by: so the longer that is, the more they have. Two
// releases allow one window, which has all.
func (r *Rules) share(runs, behind int) float64 {
	const two, three, half = .009, .04, 8
	n := float64(behind)
	switch {
	case behind < 3:
		return 1
	case runs == 2:
		return two / r.JointFDR
	}
	return three * (n - 2) / (n - 2 + half) / r.JointFDR
}

// summary is the count, mean and squares of a baseline.
type summary struct {
	n      int
	mean   float64
	ss, nu float64
}

func (b *baseline) summary() summary { return summary{n: b.n, mean: b.mean, ss: b.s2 * b.nu, nu: b.nu} }

// without takes an earlier run out of a baseline, where it is part of it.
func (s summary) without(e *earlier) summary {
	if !e.kept || s.n == 0 {
		return s
	}
	n := float64(s.n)
	if s.n == 1 {
		return summary{}
	}
	mean := (n*s.mean - e.z) / (n - 1)
	return summary{
		n: s.n - 1, mean: mean, nu: math.Max(0, s.nu-1), ss: math.Max(0, s.ss-(e.z-s.mean)*(e.z-mean)),
	}
}

// grows is how far above the mean of the runs the newest lies where a change grows.
const grows = 1.2

// windowed tests some runs together. It is not ok where they do not agree that something that matters has changed: two
// runs each by what matters, of three none by less than half of it.
func (j *judge) windowed(x *test, runs []sighting, base summary, dir float64, p *prior) (joint, bool) {
	cell, o := &j.t.Cells[x.cell], &j.t.Obs[x.obs]
	var room [3]float64
	d := room[:0]
	sum := 0.
	for _, r := range runs {
		v := dir * (r.z - base.mean)
		d, sum = append(d, v), sum+v
	}
	sortSmall(d)
	k := float64(len(d))
	least := cell.Delta
	if len(d) > 2 {
		least /= 2
	}
	if d[0] < least || sum/k < cell.Delta {
		return joint{}, false
	}
	ss := 0.
	for _, v := range d {
		ss += (v - sum/k) * (v - sum/k)
	}
	n := float64(base.n)
	w := joint{runs: len(d), n: base.n, first: runs[len(runs)-1].obs, mean: base.mean, d: dir * sum / k}
	own := 0.
	if base.nu > 0 {
		own = base.ss / base.nu
	}
	s2, df := p.moderate(own, base.nu, cell.Stratum)
	s2, df = j.floored(s2, df, o)
	// That the runs differ is part of the noise, and that they agree is evidence of how small it is. A change that
	// grows is seen again: that its second run is far worse than the first is not held against it.
	v, free := s2, df
	if newest := dir * (runs[0].z - base.mean); newest < grows*sum/k {
		v, free = p.moderate((base.ss+ss)/(base.nu+k-1), base.nu+k-1, cell.Stratum)
		v, free = j.floored(v, free, o)
	}
	w.sd, w.se, w.df = math.Sqrt(v), math.Sqrt(v*(1/k+1/n)), free
	w.p = UpperTail(sum/k/w.se, free)
	w.outliers = j.outlying(x, d, s2, df, n, dir)
	return w, true
}

// outlying is the probability that runs lie as far out as they do because one of them or more are outliers: those that
// lie furthest are, the others are ordinary. d is sorted, the smallest first.
func (j *judge) outlying(x *test, d []float64, s2, df, n, dir float64) float64 {
	stratum := j.t.Cells[x.cell].Stratum
	sum := 0.
	for _, v := range d {
		sum += v
	}
	total, product, ways := 0., 1., 1.
	for out := 1; out <= len(d); out++ {
		v := d[len(d)-out]
		t := v / math.Sqrt(s2*(1+1/n))
		product *= j.outliers.rate(x.cell, stratum, dir*t, v, false)
		sum -= v
		left := float64(len(d) - out)
		ways = ways * (left + 1) / float64(out) // how many of the runs may be the outliers
		ordinary := 1.
		if left > 0 {
			ordinary = UpperTail(sum/left/math.Sqrt(s2*(1/left+1/n)), df)
		}
		total += ways * product * ordinary
	}
	return total
}

func sortSmall(d []float64) {
	for i := range d {
		for k := i; k > 0 && d[k] < d[k-1]; k-- {
			d[k], d[k-1] = d[k-1], d[k]
		}
	}
}

// jointly marks the joint tests that are discoveries over outliers, and over ordinary noise too. p values over noise
// are weighted by the noise of the cell (Genovese, Roeder and Wasserman 2006): at the same p value a real change is the
// likelier, the more the cell varies, since changes are of all sizes while chance scales with the noise. The weights
// depend on what p is independent of, and their mean over the family is one.
func (j *judge) jointly(tests []test, family int, passed []bool) {
	typical := meanNoise(tests)
	for _, dir := range []float64{1, -1} {
		at := j.recent(tests, dir)
		recent := len(at) // discoveries of the releases just before: they are part of the family
		ordinary, outlying := make([]float64, recent), make([]float64, recent)
		for i := range tests {
			if w := &tests[i].joint; w.runs > 0 && w.d*dir > 0 {
				at = append(at, i)
				ordinary = append(ordinary, math.Min(1, w.p*typical/w.sd))
				outlying = append(outlying, w.outliers)
			}
		}
		_, first := BenjaminiHochberg(ordinary, family, j.rules.JointFDR)
		first = math.Min(first, j.alone(tests, at, ordinary, family, j.rules.Lone, j.rules.JointFDR))
		_, second := BenjaminiHochberg(outlying, family, j.rules.OutlierFDR)
		second = math.Min(second, j.alone(tests, at, outlying, family, j.rules.LoneOutlier, j.rules.OutlierFDR))
		for k, i := range at[recent:] {
			passed[i] = outlying[recent+k] <= second && ordinary[recent+k] <= first
		}
	}
}

// meanNoise is the mean standard deviation of one release over the cells of a family.
func meanNoise(tests []test) float64 {
	sum, n := 0., 0.
	for i := range tests {
		if tests[i].ok {
			sum, n = sum+math.Sqrt(tests[i].s2), n+1
		}
	}
	return sum / math.Max(1, n)
}

// recent lists the tests of cells whose change in a direction was confirmed in one of the two releases before: a change
// of many cells is confirmed over several releases, and those that need more runs are not tested as if they were alone.
func (j *judge) recent(tests []test, dir float64) []int {
	var at []int
	for i := range tests {
		x := &tests[i]
		if st := &j.state[x.cell]; st.moved >= x.obs-2 && st.moved >= j.t.Cells[x.cell].First && st.way == dir {
			at = append(at, i)
		}
	}
	return at
}

// alone is the largest p value at which the false discoveries to be expected are at most lone, and the rate for every
// point beyond the first: what a release in which nothing changes shows is alone, what a change shows seldom is. The
// metrics of one point are one finding.
func (j *judge) alone(tests []test, at []int, p []float64, family int, lone, rate float64) float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	points := map[int32]bool{}
	limit := -1.
	for _, k := range order {
		points[j.t.Cells[tests[at[k]].cell].Point] = true
		if p[k]*float64(family) <= lone+rate*float64(len(points)-1) {
			limit = p[k]
		}
	}
	return limit
}
