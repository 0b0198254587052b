package judge

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/regression"
)

// role is the meaning of a stored statistic to the judge.
type role struct {
	metric int // index into JudgedMetrics, then into Tails; -1 for none
	rank   int // lower is preferred: the metric itself before its substitutes, then mean, median, value
	se     bool
	tail   bool
	count  bool // the number of requests behind a tail
	all    bool // the number of requests of the point
}

// roles classifies every distinct statistic of a history once.
func roles(c *columns.Columns) []role {
	index := map[string][2]int{}
	for i, m := range JudgedMetrics(c) {
		index[m] = [2]int{i, 0}
		for k, other := range StandIns()[m] {
			index[other] = [2]int{i, k + 1}
		}
	}
	tails := map[string]int{}
	for i, m := range Tails() {
		tails[m] = len(JudgedMetrics(c)) + i
	}
	stats := map[string]int{"mean": 0, "median": 1, "value": 2}
	out := make([]role, len(c.Stats))
	for i, s := range c.Stats {
		out[i].metric = -1
		if at, ok := tails[s.Metric]; ok && (s.Stat == tailStat || s.Stat == "n") {
			out[i] = role{metric: at, tail: true, count: s.Stat == "n"}
			continue
		}
		out[i].all = s.Metric == "requests_ok" && s.Stat == "value"
		at, ok := index[s.Metric]
		if !ok {
			continue
		}
		if rank, ok := stats[s.Stat]; ok {
			out[i] = role{metric: at[0], rank: at[1]*10 + rank}
		} else if s.Stat == "se" {
			out[i] = role{metric: at[0], rank: at[1]*10 + 9, se: true}
		}
	}
	return out
}

// cellID names a cell by small numbers.
type cellID struct {
	system, key int32
	stat        uint16
	seq         int16
}

// gathering is a table under construction.
type gathering struct {
	c        *columns.Columns
	releases []Release
	screen   *screen
	roles    []role
	best     []int // by judged metric, for the point at hand
	rank     []int
	se       []float64
	count    []float64
	judged   int     // metrics, before the tails
	seq      []int16 // by release
	seqs     []sequence
	systems  map[schema.System]int32
	cells    map[cellID]int32
	list     []cellID
	obs      [][]regression.Obs
	runOf    []int32 // by cell: the first run of its last observation
	lastRun  []int32 // by cell: the last one
	classes  *classes
	repeats  bool // some run repeated a point
	points   bool // some decision selects single points
	bad      []badValue
	zeros    []badValue // counts of 0, which have no ratio to be compared by
}

// badValue is a value that no measurement of a latency or rate can give: see [schema.Measurable].
type badValue struct {
	run, point int32
	stat       uint16
	value      float64
}

// gather turns columns into the judge's table, and names each of its cells.
func gather(c *columns.Columns, releases []Release, screen *screen) *gathering {
	g := &gathering{c: c, releases: releases, screen: screen, roles: roles(c), systems: map[schema.System]int32{},
		cells: map[cellID]int32{}, classes: newClasses(c), points: screen.ExcludesPoints()}
	g.judged = len(JudgedMetrics(c))
	n := g.judged + len(Tails())
	g.best, g.rank, g.se, g.count = make([]int, n), make([]int, n), make([]float64, n), make([]float64, n)
	g.number(sequences(releases))
	for ri := range releases {
		for _, run := range releases[ri].Runs {
			if screen.excludes(&c.Runs[run]) {
				continue
			}
			h := &c.Runs[run]
			for pi := h.FirstPoint; pi < h.PointsEnd; pi++ {
				g.point(ri, run, pi)
			}
		}
	}
	g.classes.close()
	return g
}

func (g *gathering) number(of []sequence) {
	at := map[sequence]int16{}
	for _, s := range of {
		if _, ok := at[s]; !ok {
			at[s] = int16(len(g.seqs))
			g.seqs = append(g.seqs, s)
		}
		g.seq = append(g.seq, at[s])
	}
}

func (g *gathering) system(h *columns.RunHead) int32 {
	id := systemOf(h)
	i, ok := g.systems[id]
	if !ok {
		i = int32(len(g.systems))
		g.systems[id] = i
	}
	return i
}

// point adds the primary numbers of one point.
func (g *gathering) point(release, run, point int) {
	p, h := &g.c.Points[point], &g.c.Runs[run]
	if w := p.StatusWord(); w == schema.StatusFailed || w == schema.StatusInvalid {
		return
	}
	if !g.c.Keys[p.Key].Comparable() || h.Device == "" || h.Model.Name == "" {
		return
	}
	if g.points && g.screen.ExcludesPoint(h, g.c.Keys[p.Key]) != nil {
		return
	}
	stats, values := g.c.Span(p)
	requests := g.choose(stats, values)
	best, se := g.best, g.se
	system := g.system(h)
	for m := range best {
		if best[m] == 0 || m >= g.judged && !(max(g.count[m], requests) >= schema.FewForTail) {
			continue
		}
		i := best[m] - 1
		v := values[i]
		switch {
		case schema.Measurable(v):
		case m >= g.judged:
			continue
		case v == 0 && schema.MayBeZero(g.c.Stats[stats[i]].Metric):
			g.zeros = append(g.zeros, badValue{int32(run), int32(point), stats[i], v})
			continue
		default:
			g.bad = append(g.bad, badValue{int32(run), int32(point), stats[i], v})
			continue
		}
		g.add(cellID{system, p.Key, stats[i], g.seq[release]}, release, run, p, v, se[m])
	}
}

// choose finds the statistic of every judged metric of a point, as 1 + its index, and returns the point's number of
// requests; 0 where it is not stated.
func (g *gathering) choose(stats []uint16, values []float64) (requests float64) {
	clear(g.best)
	clear(g.se)
	clear(g.count)
	for i, s := range stats {
		switch r := g.roles[s]; {
		case r.all:
			requests = values[i]
		case r.metric < 0:
		case r.count:
			g.count[r.metric] = values[i]
		case r.se:
			if g.se[r.metric] == 0 {
				g.se[r.metric] = values[i]
			}
		case g.best[r.metric] == 0 || r.rank < g.rank[r.metric]:
			g.best[r.metric], g.rank[r.metric] = i+1, r.rank
		}
	}
	return requests
}

func (g *gathering) add(id cellID, release, run int, p *columns.PointRow, v, se float64) {
	cell, ok := g.cells[id]
	if !ok {
		cell = int32(len(g.list))
		g.cells[id] = cell
		g.list, g.obs, g.runOf, g.lastRun = append(g.list, id), append(g.obs, nil), append(g.runOf, -1),
			append(g.lastRun, -1)
	}
	z := sign(g.c.Stats[id.stat].Metric) * math.Log(v)
	list := g.obs[cell]
	last := len(list) - 1
	if last < 0 || list[last].Release != int32(release) {
		o := regression.Obs{Release: int32(release), Cond: g.classes.of(run, p), Z: z, K: 1, SE: float32(se / v)}
		g.obs[cell] = append(list, o)
		g.runOf[cell], g.lastRun[cell] = int32(run), int32(run)
		return
	}
	o := &list[last]
	if g.lastRun[cell] == int32(run) {
		g.repeats = true
	}
	if g.runOf[cell] == int32(run) || g.overlap(g.runOf[cell], run) { // a repeat in the release's first run
		d := z - o.Z
		o.K++
		o.Z += d / float64(o.K)
		o.SS += float32(d * (z - o.Z))
		return
	}
	if g.lastRun[cell] != int32(run) && o.R2 < math.MaxUint8 {
		o.R2, g.lastRun[cell] = o.R2+1, int32(run)
	}
	if o.K2 == 0 {
		o.Z2, o.K2 = z, 1
		return
	}
	d := z - o.Z2
	o.K2++
	o.Z2 += d / float64(o.K2)
	o.SS += float32(d * (z - o.Z2))
}

// overlap reports whether a run began before another one ended: they are of one start of the server, or shared the
// device, and neither says anything about another start.
func (g *gathering) overlap(first int32, run int) bool {
	a, b := &g.c.Runs[first], &g.c.Runs[run]
	return !a.End.IsZero() && !b.Start.IsZero() && b.Start.Before(a.End) && !b.Start.Before(a.Start)
}

// seal orders the cells by name and puts their observations next to each other, so that the order of input changes
// nothing.
func (g *gathering) seal() (*regression.Table, []Series) {
	names := make([]schema.System, len(g.systems))
	for n, i := range g.systems {
		names[i] = n
	}
	t := &regression.Table{Cells: make([]regression.Cell, 0, len(g.list)), Hosts: g.hosts()}
	for _, r := range g.releases {
		t.Releases = append(t.Releases, regression.Release{Joins: IsBaseline(r.Channel)})
	}
	total := 0
	for _, o := range g.obs {
		total += len(o)
	}
	t.Obs = make([]regression.Obs, 0, total)
	series := make([]Series, 0, len(g.list))
	strata, points := map[stratum]int32{}, map[cellID]int32{}
	for _, i := range g.order(names) {
		id, seq := g.list[i], g.seqs[g.list[i].seq]
		stat, system := g.c.Stats[id.stat], names[id.system]
		s := Series{
			Model: system.Model, Device: system.Device, Impl: system.Impl, Line: seq.line,
			Key: g.c.Keys[id.key], KeyIndex: id.key, Metric: stat.Metric, Stat: stat.Stat, Unit: stat.Unit,
			Def:  stat.Def,
			way:  sign(stat.Metric),
			cell: int32(len(t.Cells)), table: t, releases: g.releases,
		}
		cell := regression.Cell{
			Stratum: intern(strata, stratum{s.Device, s.Metric, seq, s.Tail()}),
			System:  id.system*int32(len(g.seqs)) + int32(id.seq),
			Point:   intern(points, cellID{system: id.system, key: id.key, seq: id.seq}),
			First:   int32(len(t.Obs)), Delta: math.Log1p(g.effect(&s)),
		}
		t.Obs = append(t.Obs, g.obs[i]...)
		g.obs[i] = nil
		cell.End = int32(len(t.Obs))
		rounding(t.Obs[cell.First:cell.End], s.way)
		t.Cells = append(t.Cells, cell)
		series = append(series, s)
	}
	t.Strata = len(strata)
	t.Devices = devicesOf(strata)
	return t, series
}

// devicesOf numbers the devices of the strata, in the order of these.
func devicesOf(strata map[stratum]int32) []int32 {
	of := make([]stratum, len(strata))
	for s, i := range strata {
		of[i] = stratum{device: s.device, seq: s.seq}
	}
	devices, out := map[stratum]int32{}, make([]int32, len(strata))
	for i, s := range of {
		out[i] = intern(devices, s)
	}
	return out
}

// effect is the least change of a series that matters: of a tail, which varies more, at least 10 %.
func (g *gathering) effect(s *Series) float64 {
	const ofTails = .10
	if e := g.screen.Effect(s.Metric); !s.Tail() || e > ofTails {
		return e
	}
	return ofTails
}

// order is the order of the cells: by system, workload, metric, statistic and sequence.
func (g *gathering) order(names []schema.System) []int {
	order := make([]int, len(g.list))
	for i := range order {
		order[i] = i
	}
	place := g.ranks()
	slices.SortFunc(order, func(a, b int) int {
		x, y := g.list[a], g.list[b]
		if nx, ny := names[x.system], names[y.system]; nx != ny {
			return compareSystems(nx, ny)
		}
		rx, ry := g.roles[x.stat], g.roles[y.stat]
		sx, sy := g.seqs[x.seq], g.seqs[y.seq]
		return cmp.Or(cmp.Compare(place[x.key], place[y.key]), cmp.Compare(rx.metric, ry.metric),
			cmp.Compare(rx.rank, ry.rank), cmp.Compare(g.c.Stats[x.stat].Def, g.c.Stats[y.stat].Def),
			cmp.Compare(sx.channel, sy.channel), cmp.Compare(sx.line, sy.line))
	})
	return order
}

// ranks is the place of every key in the order of keys.
func (g *gathering) ranks() []int32 {
	order := make([]int32, len(g.c.Keys))
	for i := range order {
		order[i] = int32(i)
	}
	sort.Slice(order, func(a, b int) bool { return g.c.Keys[order[a]].Less(g.c.Keys[order[b]]) })
	place := make([]int32, len(order))
	for i, k := range order {
		place[k] = int32(i)
	}
	return place
}

func compareSystems(a, b schema.System) int {
	return cmp.Or(schema.NaturalCompare(a.Model, b.Model), schema.NaturalCompare(a.Device, b.Device),
		schema.NaturalCompare(a.Impl, b.Impl))
}

func intern[K comparable](m map[K]int32, k K) int32 {
	i, ok := m[k]
	if !ok {
		i = int32(len(m))
		m[k] = i
	}
	return i
}

// rounding raises the least noise of every observation to that of the rounding step of the stored values: the largest
// power of ten of which this value and all earlier ones are multiples, if it is coarse compared with them. Later
// values change nothing.
func rounding(obs []regression.Obs, sign float64) {
	steps := []float64{1, .1, .01, .001}
	least, from := math.Inf(1), 0 // steps before from are ruled out
	for i := range obs {
		v := math.Exp(sign * obs[i].Z)
		least = math.Min(least, v)
		for from < len(steps) && (obs[i].K > 1 || math.Abs(v/steps[from]-math.Round(v/steps[from])) > 1e-6) {
			from++
		}
		if from == len(steps) || steps[from] < .01*least {
			continue // finer than the noise that is always assumed
		}
		const uniform = 3.4641016151377544 // √12: a step's width in standard deviations
		obs[i].SE = max(obs[i].SE, float32(steps[from]/least/uniform))
	}
}
