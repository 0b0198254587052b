package judge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/targets/regression"
)

// History returns the verdicts of a release against history, one a primary cell, worst first: performance, then evals.
func (j *Judgement) History(release int) []schema.Verdict {
	out := make([]schema.Verdict, 0, len(j.byCell[release])+64)
	r := j.reader(release)
	for _, i := range j.byCell[release] {
		out = append(out, r.verdict(i))
	}
	without := j.withoutNumber(release)
	out = append(append(out, without...), j.notRemeasured(release, without)...)
	out = append(out, j.evals.rows[release]...)
	return worstFirst(out)
}

// HistoryOf returns the verdict on one series in a release. ok is false where the release did not measure the series.
func (j *Judgement) HistoryOf(release int, s *Series) (v schema.Verdict, ok bool) {
	obs := s.find(release)
	if obs < 0 {
		return v, false
	}
	return j.reader(release).verdict(obs), true
}

// reader makes verdicts of the rows of one release: lookups are kept from row to row.
type reader struct {
	*Judgement
	release int
	runs    map[schema.System][]int // of the release
	t       regression.Quantiles
	paired  pairedRows // of what was measured in turns
}

func (j *Judgement) reader(release int) *reader {
	return &reader{Judgement: j, release: release, runs: j.systems[release](), paired: j.paired[release]()}
}

// later reports whether a row is about a later run of the release instead of its first.
func later(row *regression.Row) bool {
	switch row.Why {
	case schema.WhyRecheck, schema.WhyNotSeenAgain, schema.WhyRunsDisagree:
		return true
	}
	return false
}

// verdict makes the verdict of one row.
func (j *reader) verdict(obs int32) schema.Verdict {
	row, o := &j.rows.Rows[obs], &j.table.Obs[obs]
	s := &j.Series[j.cellOf[obs]]
	rel := &j.Releases[o.Release]
	v := s.verdict(rel.Name)
	v.Outcome, v.Evidence, v.Large, v.N = row.Word, row.Evidence, row.Large(), int(o.K)
	why := schema.Change{Why: row.Why, Releases: int(row.N), Limit: math.Expm1(j.table.Cells[j.cellOf[obs]].Delta)}
	z := o.Z
	if later(row) {
		z, v.N = o.Z2, int(o.K2)
		why.First = math.Exp(Sign(s.Metric) * o.Z)
	}
	value, _ := s.value(obs)
	v.Value = schema.Num(value)
	v.Run = j.runWith(j.runs[s.System()], s.KeyIndex, row.Why == schema.WhyRecheck)
	base := j.baseline(j.cellOf[obs], obs)
	if base >= 0 {
		v.Baseline = j.Releases[j.table.Obs[base].Release].Name
	}
	j.numbers(&v, &why, row, z)
	if row.First >= 0 {
		v.First = j.Releases[row.First].Name
	}
	if f := row.Follow; f != 0 {
		v.Follow = schema.Follow{Release: j.Releases[max(f, -f)-1].Name, Again: f > 0}
	}
	if row.Why == schema.WhyConditions {
		why.Conditions = j.classes.Named(j.table.Obs[base].Cond, o.Cond)
	}
	j.together(&v, &why, row, s)
	if base >= 0 && (v.Evidence != schema.NoEvidence || v.Outcome == schema.Recovered) {
		j.beside(&why, s, v.Run, int(j.table.Obs[base].Release))
	}
	if row.Why == schema.WhyNoBaseline && !IsBaseline(rel.Channel) && base < 0 {
		why.Why = schema.WhyNoBaselineLine
	}
	if o.Pin && row.Why == schema.WhyNoBaseline {
		why.Why = schema.WhyPinned
	}
	j.settleInTurns(&v, &why, s, obs)
	if why.Why == schema.WhyOtherHost {
		why.Host = j.hostOfRun(v.Run)
	}
	v.Reason = why
	v.ID = schema.VerdictID(v.Release, v.Baseline, v.Pair(), s.Key, s.Metric+"/"+s.Def, s.Stat+s.Impl,
		schema.AgainstHistory)
	return v
}

// together says what the runs that confirmed a change show together, and which change a number is part of.
func (j *reader) together(v *schema.Verdict, why *schema.Change, row *regression.Row, s *Series) {
	for _, l := range j.changePoints[s.cell] {
		if row.Why == schema.WhyAgain && int(l.Found) == j.release && l.Source == regression.ByGate && why.Together == nil {
			d, half := l.D+l.Shift, j.t.T975(l.Df)*l.SE
			why.Together = &schema.Together{
				Runs: l.Runs, Effect: relative(s.way, d), Interval: [2]float64{relative(s.way, d-half), relative(s.way, d+half)},
			}
		}
	}
	c := j.change(s.cell, row.Evidence)
	if c == nil {
		return
	}
	v.Change = c.ID
	if row.Why == schema.WhyGroup || row.Word == schema.Recovered && row.Finding >= 0 {
		why.Part = &schema.PartOf{Numbers: len(c.members), Effect: c.Effect}
		if len(c.Scope.Models) == 1 {
			why.Part.Model = c.Scope.Models[0]
		}
		if len(c.Scope.Devices) == 1 {
			why.Part.Device = c.Scope.Devices[0]
		}
	}
}

// change is the change that a series is part of, of the release or, where it shows itself in a series only now, an
// earlier one that is open; nil for none.
func (j *reader) change(cell int32, evidence schema.Evidence) *Change {
	var open *Change
	for _, c := range j.changes[j.release]().byCell[cell] {
		if c.News(j.Releases[j.release].Name) {
			return c
		}
		if c.Earlier && c.State == StateOpen && evidence != schema.NoEvidence {
			open = c
		}
	}
	return open
}

// numbers fills in effect, interval, p and q: relative changes of the metric's badness, positive worse.
func (j *reader) numbers(v *schema.Verdict, why *schema.Change, row *regression.Row, z float64) {
	s := Sign(v.Metric)
	if row.N == 0 || math.IsNaN(row.D) {
		v.Ref = schema.Missing("no earlier release has it")
		return
	}
	v.Ref = schema.Num(latency.Round(math.Exp(s*(z-row.D)), 12))
	v.Effect = schema.Num(relative(s, row.D))
	if row.SE > 0 {
		half := j.t.T975(float64(row.Df)) * float64(row.SE)
		v.Interval = &[2]float64{relative(s, row.D-half), relative(s, row.D+half)}
		why.Noise = float64(row.SE) / math.Sqrt(1+1/float64(row.N))
		p := float64(row.P)
		if math.IsNaN(p) || later(row) { // the gate's is of the first run
			p = regression.UpperTail(math.Abs(row.D)/float64(row.SE), float64(row.Df))
		}
		v.P = schema.Num(p)
		if row.Word == schema.Inconclusive && !row.Large() {
			// What would settle it: what share of the noise repeats would remove is unknown, and assumed to be all.
			n := row.Noise()
			repeats, releases := regression.Settle(math.Log1p(why.Limit), n.Variance, j.t.Wanted(n.Df), float64(row.N))
			if why.More = max(releases, 0); repeats > 1 {
				why.Repeats = repeats
			}
		}
	}
	if q := float64(row.Q); !math.IsNaN(q) && !later(row) {
		v.Q = schema.Num(q)
	}
}

// relative converts a log change (positive is worse) into the relative change of the number itself, signed so that
// positive is worse: a rate that halves is +50 %, a latency that doubles +100 %. Ends of intervals are limited to
// what JSON can hold.
func relative(sign, d float64) float64 {
	const most = 700 // e to this is near the largest float
	d = max(-most, min(most, d))
	if sign < 0 {
		return -math.Expm1(-d)
	}
	return math.Expm1(d)
}

// baseline returns the newest earlier observation in the baseline of an observation, or -1; for a change that was
// seen before, the newest one before it was first seen. One under other conditions is named only where there is no
// other.
func (j *Judgement) baseline(cell, obs int32) int32 {
	first, at, cond := j.rows.Rows[obs].First, j.table.Obs[obs].Release, j.table.Obs[obs].Cond
	isApart := j.rows.Rows[obs].Why == schema.WhyConditions
	for i := obs - 1; i >= j.table.Cells[cell].First; i-- {
		o := &j.table.Obs[i]
		joins := j.Releases[o.Release].Serves() && !j.rows.Excluded(j.table, i, at) &&
			(isApart || !j.classes.Block(o.Cond, cond))
		if joins && (first < 0 || o.Release < first) {
			return i
		}
	}
	return -1
}

// RunOf returns the id of the first run behind a value.
func (j *Judgement) RunOf(s *Series, release int) string {
	return j.runWith(j.systems[release]()[s.System()], s.KeyIndex, false)
}

// PointOf returns the run behind a value, the first or the last that has it, and which of the run's points it is, from
// 1; a run of -1 when there is none.
func (j *Judgement) PointOf(s *Series, release int, last bool) (run, point int) {
	return j.pointWith(j.systems[release]()[s.System()], s.KeyIndex, last)
}

func num4(v float64) string { return fmt.Sprintf("%.4g", v) }

// Compared lists the models and devices of a release of which a number has a history, or was measured in turns with a
// baseline.
func (j *Judgement) Compared(release int) map[schema.Pair]bool {
	out := map[schema.Pair]bool{}
	for _, i := range j.byCell[release] {
		if w := j.rows.Rows[i].Word; w != schema.NoBaseline && w != schema.NotComparable {
			s := &j.Series[j.cellOf[i]]
			out[s.Pair()] = true
		}
	}
	for c, x := range j.paired[release]() {
		if x.Known() {
			out[schema.Pair{Model: c.system.Model, Device: c.system.Device}] = true
		}
	}
	for i := range j.evals.rows[release] {
		if v := &j.evals.rows[release][i]; v.Outcome != schema.NoBaseline && v.Outcome != schema.NotComparable {
			out[v.Pair()] = true
		}
	}
	return out
}

// role is the meaning of a stored statistic to the judge.
type role struct {
	metric int // index into JudgedMetrics, then into Tails; -1 for none
	rank   int // lower is preferred: the metric itself before its substitutes, then mean, median, value
	se     bool
	tail   bool
	count  bool // the number of requests behind a tail
	all    bool // the number of requests of the point
}

// ranks are those of the statistics of one metric.
const ranks = 10

// roles classifies every distinct statistic of a history once.
func roles(c *columns.Columns) []role {
	index := map[string][2]int{}
	for i, m := range JudgedMetrics(c) {
		index[m] = [2]int{i, 0}
		info, _ := schema.MetricByName(m)
		for k, other := range info.StandIns {
			index[other] = [2]int{i, k + 1}
		}
	}
	tails := map[string]int{}
	for i, m := range Tails() {
		tails[m] = len(JudgedMetrics(c)) + i
	}
	out := make([]role, len(c.Stats))
	for i, s := range c.Stats {
		out[i].metric = -1
		if at, ok := tails[s.Metric]; ok && (s.Stat == schema.TailStat || s.Stat == "n") {
			out[i] = role{metric: at, tail: true, count: s.Stat == "n"}
			continue
		}
		out[i].all = s.Metric == "requests_ok" && s.Stat == "value"
		at, ok := index[s.Metric]
		if !ok {
			continue
		}
		if rank := slices.Index(schema.CenterStats(), s.Stat); rank >= 0 {
			out[i] = role{metric: at[0], rank: at[1]*ranks + rank}
		} else if s.Stat == "se" {
			out[i] = role{metric: at[0], rank: at[1]*ranks + ranks - 1, se: true}
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

// choice is the statistic of a point that stands for a judged metric.
type choice struct {
	at, rank int     // 1 + the index of the statistic, 0 for none; see [role]
	se       float64 // of that metric, not of another one that could stand for it
	seRank   int
	requests float64 // behind a tail
}

// gathering is a table under construction.
type gathering struct {
	c        *columns.Columns
	releases []Release
	screen   *screen
	roles    []role
	chosen   []choice // by judged metric, for the point at hand
	judged   int      // metrics, before the tails
	seq      []int16  // by release
	seqs     []sequence
	systems  map[schema.System]int32
	cells    map[cellID]int32
	list     []cellID
	obs      [][]regression.Obs
	runOf    []int32 // by cell: the first run of its last observation
	hosts    []int16 // by run, from 1; 0 is unknown
	classes  *classes
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
		cells: map[cellID]int32{}, points: screen.ExcludesPoints(),
		classes: &classes{c: c, byText: map[string]int32{}, memo: map[classID]int32{},
			lengths: map[int32][]float64{}}}
	g.judged = len(JudgedMetrics(c))
	g.chosen = make([]choice, g.judged+len(Tails()))
	numbers := map[sequence]int16{}
	for _, s := range sequences(releases) {
		at := intern(numbers, s)
		if g.seq = append(g.seq, at); int(at) == len(g.seqs) {
			g.seqs = append(g.seqs, s)
		}
	}
	known, facts := map[string]int16{"": 0}, map[[5]string]int32{}
	for i := range c.Runs {
		g.hosts = append(g.hosts, intern(known, hostOf(&c.Runs[i])))
		g.classes.facts = append(g.classes.facts, intern(facts, factsOf(&c.Runs[i])))
	}
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
	k := g.classes // all of them: which block each other
	k.blocks = make([][]bool, len(k.list))
	for i := range k.list {
		k.blocks[i] = make([]bool, len(k.list))
		for j := range k.list {
			k.blocks[i][j] = len(Differing(k.list[i], k.list[j])) > 0
		}
	}
	return g
}

// point adds the primary numbers of one point.
func (g *gathering) point(release, run, point int) {
	p, h := &g.c.Points[point], &g.c.Runs[run]
	if w := p.StatusWord(); w == schema.StatusFailed || w == schema.StatusInvalid || !g.comparable(h, p.Key) {
		return
	}
	stats, values := g.c.Span(p)
	requests := g.choose(stats, values)
	system, class := intern(g.systems, h.System()), int32(-1) // until a number needs one
	for m, x := range g.chosen {
		if x.at == 0 || m >= g.judged && !schema.TailHolds(schema.TailStat, max(x.requests, requests)) {
			continue
		}
		i := x.at - 1
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
		if class < 0 {
			class = g.classes.of(run, p)
		}
		g.add(cellID{system, p.Key, stats[i], g.seq[release]}, release, run, class, v, x.se)
	}
}

// comparable reports whether a workload of a run has an identity, and nobody excludes it.
func (g *gathering) comparable(h *columns.RunHead, key int32) bool {
	k := g.c.Keys[key]
	return k.Comparable() && h.Device != "" && h.Model.Name != "" && !(g.points && g.screen.ExcludesPoint(h, k) != nil)
}

// choose finds the statistic of every judged metric of a point, and returns the point's number of requests; 0 where it
// is not stated.
func (g *gathering) choose(stats []uint16, values []float64) (requests float64) {
	clear(g.chosen)
	for i, s := range stats {
		r := g.roles[s]
		if r.all {
			requests = values[i]
		}
		if r.metric < 0 {
			continue
		}
		switch x := &g.chosen[r.metric]; {
		case r.count:
			x.requests = values[i]
		case r.se:
			if x.se == 0 || r.rank < x.seRank {
				x.se, x.seRank = values[i], r.rank
			}
		case x.at == 0 || r.rank < x.rank:
			x.at, x.rank = i+1, r.rank
		}
	}
	for m := range g.chosen {
		if x := &g.chosen[m]; x.seRank/ranks != x.rank/ranks {
			x.se = 0
		}
	}
	return requests
}

func (g *gathering) add(id cellID, release, run int, class int32, v, se float64) {
	cell, ok := g.cells[id]
	if !ok {
		cell = int32(len(g.list))
		g.cells[id] = cell
		g.list, g.obs, g.runOf = append(g.list, id), append(g.obs, nil), append(g.runOf, -1)
	}
	z := Sign(g.c.Stats[id.stat].Metric) * math.Log(v)
	list := g.obs[cell]
	last := len(list) - 1
	if last < 0 || list[last].Release != int32(release) {
		o := regression.Obs{
			Release: int32(release), Cond: class, Z: z, K: 1, Host: g.hosts[run], SE: float32(se / v),
		}
		g.obs[cell] = append(list, o)
		g.runOf[cell] = int32(run)
		return
	}
	o := &list[last]
	if class != o.Cond {
		o.Cond = g.classes.both(o.Cond, class)
	}
	// A run that began before another one ended is of one start of the server with it, or shared the device: neither says
	// anything about another start.
	a, b := &g.c.Runs[g.runOf[cell]], &g.c.Runs[run]
	overlap := !a.End.IsZero() && !b.Start.IsZero() && b.Start.Before(a.End) && !b.Start.Before(a.Start)
	if g.runOf[cell] == int32(run) || overlap { // a repeat in the release's first run
		o.K++
		o.Z += (z - o.Z) / float64(o.K)
		return
	}
	if o.K2 == 0 || o.Host2 == o.Host {
		o.Host2 = g.hosts[run]
	}
	if o.K2 == 0 {
		o.Z2, o.K2 = z, 1
		return
	}
	o.K2++
	o.Z2 += (z - o.Z2) / float64(o.K2)
}

// seal orders the cells by name and puts their observations next to each other, so that the order of input changes
// nothing.
func (g *gathering) seal() (*regression.Table, []Series) {
	names := make([]schema.System, len(g.systems))
	for n, i := range g.systems {
		names[i] = n
	}
	t := &regression.Table{Cells: make([]regression.Cell, 0, len(g.list))}
	finals := map[string]int32{"": 0}
	for _, r := range g.releases {
		t.Releases = append(t.Releases, regression.Release{Joins: r.Serves(), Final: intern(finals, r.Final)})
	}
	total := 0
	for _, o := range g.obs {
		total += len(o)
	}
	t.Obs = make([]regression.Obs, 0, total)
	series := make([]Series, 0, len(g.list))
	strata, points := map[stratum]int32{}, map[cellID]int32{}
	type shared struct { // by cells of one sequence: a model, a device, or neither
		model, device string
		seq           sequence
	}
	type sweep struct { // a workload at all its loads
		system int32
		seq    int16
		rest   string
		rate   bool // the load is a rate
	}
	groups, curves := map[shared]int32{}, map[sweep]int32{{}: 0}
	for _, i := range g.order(names) {
		id, seq := g.list[i], g.seqs[g.list[i].seq]
		stat, system := g.c.Stats[id.stat], names[id.system]
		s := Series{
			Model: system.Model, Device: system.Device, Impl: system.Impl, Line: seq.line,
			Key: g.c.Keys[id.key], KeyIndex: id.key, Metric: stat.Metric, Stat: stat.Stat, Unit: stat.Unit,
			Def:  stat.Def,
			way:  Sign(stat.Metric),
			cell: int32(len(t.Cells)), table: t,
		}
		cell := regression.Cell{
			Stratum: intern(strata, stratum{s.Device, s.Metric, seq, s.Tail()}),
			Line:    intern(groups, shared{seq: seq}),
			Device:  intern(groups, shared{device: s.Device, seq: seq}),
			Model:   intern(groups, shared{model: s.Model, seq: seq}),
			Tail:    s.Tail(),
			System:  id.system*int32(len(g.seqs)) + int32(id.seq),
			Point:   intern(points, cellID{system: id.system, key: id.key, seq: id.seq}),
			First:   int32(len(t.Obs)), Delta: math.Log1p(g.screen.Effect(s.Metric)),
		}
		if s.Tail() {
			const ofTails = .10 // which vary more
			cell.Delta = math.Max(cell.Delta, math.Log1p(ofTails))
		}
		if load, rest := g.c.Keys[id.key].Load(); load != nil {
			cell.Curve = intern(curves, sweep{id.system, id.seq, rest.String(), g.c.Keys[id.key].Concurrency == nil})
		}
		t.Obs = append(t.Obs, g.obs[i]...)
		g.obs[i] = nil
		cell.End = int32(len(t.Obs))
		rounding(t.Obs[cell.First:cell.End], s.way)
		t.Cells = append(t.Cells, cell)
		series = append(series, s)
	}
	t.Strata = len(strata)
	return t, series
}

// order is the order of the cells: by system, workload, metric, statistic and sequence.
func (g *gathering) order(names []schema.System) []int {
	order, keys, place := make([]int, len(g.list)), make([]int, len(g.c.Keys)), make([]int, len(g.c.Keys))
	for i := range order {
		order[i] = i
	}
	for i := range keys {
		keys[i] = i
	}
	slices.SortFunc(keys, func(a, b int) int { return g.c.Keys[a].Compare(g.c.Keys[b]) })
	for i, k := range keys {
		place[k] = i
	}
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

func compareSystems(a, b schema.System) int {
	return cmp.Or(schema.NaturalCompare(a.Model, b.Model), schema.NaturalCompare(a.Device, b.Device),
		schema.NaturalCompare(a.Impl, b.Impl))
}

func intern[K comparable, I int16 | int32](m map[K]I, k K) I {
	i, ok := m[k]
	if !ok {
		i = I(len(m))
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

// Frame is what a chart of a series needs in addition to its values: the range in which a new value was expected, and
// where levels began.
type Frame struct {
	Low, High float64     // where the value of the release was expected with 95 %; NaN when unknown
	From      int         // release with which the level began that it was compared with
	Steps     []FrameStep // oldest first
}

// FrameStep is the beginning of a level.
type FrameStep struct {
	Release       int
	Effect        float64 // of this series, relative, positive is worse
	Before, Since float64 // means of the two levels; NaN when unknown
	Low, High     float64 // where a value was expected at the end of the level before; NaN when unknown
	Change        *Change // that the step is part of, as the release saw it; nil for none
}

// Frame returns the frame of a series in a release that has it.
func (j *Judgement) Frame(s *Series, release int, q *Quantiles) Frame {
	f := Frame{Low: math.NaN(), High: math.NaN(), From: int(j.table.Obs[j.table.Cells[s.cell].First].Release)}
	obs := s.find(release)
	if obs < 0 {
		return f
	}
	points := slices.DeleteFunc(slices.Clone(j.changePoints[s.cell]), func(l regression.ChangePoint) bool {
		return l.Dismissed || int(l.Found) > release || int(j.table.Obs[l.At].Release) > release
	})
	slices.SortFunc(points, func(a, b regression.ChangePoint) int { return cmp.Compare(a.At, b.At) })
	way := Sign(s.Metric)
	for i, l := range points {
		at := int(j.table.Obs[l.At].Release)
		step := FrameStep{at, relative(way, l.D+l.Shift), math.NaN(), math.NaN(), math.NaN(), math.NaN(), nil}
		if m := (member{level: j.levelOf(s.cell, l.At, l.At, release)}); m.known() {
			step.Before, step.Since = math.Exp(way*m.before), math.Exp(way*m.after)
			step.Effect = relative(way, m.after-m.before)
		}
		step.Low, step.High = j.expectedBefore(s, points, i, q)
		for _, c := range j.changes[release]().byCell[s.cell] {
			if m := c.member(s.cell); m.first == l.At || m.last == l.At {
				step.Change = c
			}
		}
		f.Steps = append(f.Steps, step)
		// the expectation does not include what was decided in the release itself
		if at < release && int(l.Found) < release {
			f.From = max(f.From, at)
		}
	}
	f.Low, f.High = j.expected(s, obs, q)
	return f
}

// expected is where an observation of a series was expected with 95 %; NaN when unknown.
func (j *Judgement) expected(s *Series, obs int32, q *Quantiles) (low, high float64) {
	row, z, way := &j.rows.Rows[obs], j.reported(obs), Sign(s.Metric)
	if row.N == 0 || !(row.SE > 0) || math.IsNaN(row.D) {
		return math.NaN(), math.NaN()
	}
	half := q.T975(float64(row.Df)) * float64(row.SE)
	a, b := math.Exp(way*(z-row.D-half)), math.Exp(way*(z-row.D+half))
	return min(a, b), max(a, b)
}

// expectedBefore is where a value was expected at the end of the level before a change point, once that level was known
// to have begun; NaN when unknown.
func (j *Judgement) expectedBefore(
	s *Series, points []regression.ChangePoint, i int, q *Quantiles,
) (low, high float64) {
	known := func(obs int32) bool { return i == 0 || points[i-1].Found < j.table.Obs[obs].Release }
	at := points[i].At
	switch {
	case at > j.table.Cells[s.cell].First && known(at-1):
		return j.expected(s, at-1, q)
	case known(at) && points[i].Shift == 0: // else what was expected there is not of the series alone
		return j.expected(s, at, q)
	}
	return math.NaN(), math.NaN()
}

// worstFirst sorts verdicts: confirmed regressions first, by size; then open findings; then improvements; then the
// rest. It sorts indexes and moves each verdict once, because verdicts are large.
func worstFirst(list []schema.Verdict) []schema.Verdict {
	type place struct {
		at     int
		rank   int
		effect float64
	}
	order := make([]place, len(list))
	for i := range list {
		order[i] = place{i, rankOf(&list[i]), weightOf(&list[i])}
	}
	slices.SortStableFunc(order, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.effect, a.effect))
	})
	for i := range order { // along the cycles of places: a second list takes as much memory as all of a release
		first, to := list[i], i
		for order[to].at != i {
			from := order[to].at
			list[to], order[to].at, to = list[from], to, from
		}
		list[to], order[to].at = first, to
	}
	return list
}

// rankOf is the place of a verdict in that order.
func rankOf(v *schema.Verdict) int {
	absent := v.Outcome == schema.NotMeasured || v.Outcome == schema.Excluded
	gone := absent && schema.ReasonIs[schema.NotRemeasured](v.Reason) // measured before, and not now
	return slices.Index([]bool{
		v.Outcome == schema.Regressed && v.Evidence == schema.Confirmed,
		v.Outcome == schema.Regressed,
		absent && !gone,
		v.Outcome == schema.Inconclusive && v.Large, // with an effect beyond what matters
		gone,
		v.Outcome == schema.Improved || v.Outcome == schema.Recovered,
		v.Outcome == schema.BelowLimit,
		v.Outcome == schema.Inconclusive,
		v.Outcome == schema.NotComparable,
		v.Outcome == schema.Unchanged,
		true,
	}, true)
}

// weightOf orders verdicts of one rank: the largest effect first, also of improvements.
func weightOf(v *schema.Verdict) float64 {
	e, ok := v.Effect.Get()
	if !ok {
		return math.Inf(-1)
	}
	if v.Outcome == schema.Improved || v.Outcome == schema.Recovered {
		return -e
	}
	return e
}

// Series is one number over releases: a system, a workload, a metric, a statistic, one definition, within one line of
// releases.
type Series struct {
	Model, Device, Impl string
	Line                string // of releases
	Key                 schema.Key
	KeyIndex            int32 // of Key in the columns
	Metric, Stat, Unit  string
	Def                 string
	way                 float64 // [Sign] of Metric
	cell                int32
	table               *regression.Table
	rows                *regression.Judgement // of the table
}

// System returns the system of the series.
func (s *Series) System() schema.System {
	return schema.System{Model: s.Model, Device: s.Device, Impl: s.Impl}
}

// Tail reports whether the series is of a tail instead of a mean. Tails are judged with a noise of their own and are
// not drawn.
func (s *Series) Tail() bool { return s.Stat == schema.TailStat }

// Pair returns the model and device of the series.
func (s *Series) Pair() schema.Pair { return schema.Pair{Model: s.Model, Device: s.Device} }

// verdict starts a verdict on the series in a release.
func (s *Series) verdict(release string) schema.Verdict {
	return schema.Verdict{
		Release: release, Model: s.Model, Device: s.Device, Impl: s.Impl, Key: s.Key,
		Metric: s.Metric, Stat: s.Stat, Def: s.Def, Against: schema.AgainstHistory,
	}
}

// stratum is the device and metric of a series, which share a typical noise.
type stratum struct {
	device, metric string
	seq            sequence
	tail           bool
}

// Sign is +1 of a metric whose smaller values are better, else -1: times it, the larger logarithm is worse.
func Sign(metric string) float64 {
	if info, _ := schema.MetricByName(metric); info.Better == schema.Higher {
		return -1
	}
	return 1
}

// value is that of one release, which every page shows and every verdict has: the geometric mean over its n
// measurements; over the later ones alone where a first one raised a suspicion that they decided, because a number
// that was measured again for being high is too high.
func (s *Series) value(obs int32) (v float64, n int) {
	o := &s.table.Obs[obs]
	z := o.Z
	n = int(o.K + o.K2)
	switch {
	case s.rows != nil && later(&s.rows.Rows[obs]):
		z, n = o.Z2, int(o.K2)
	case o.K2 > 0:
		z = (float64(o.K)*o.Z + float64(o.K2)*o.Z2) / float64(n)
	}
	return latency.Round(math.Exp(s.way*z), 12), n
}

// find returns the observation of a release, or -1.
func (s *Series) find(release int) int32 {
	c := &s.table.Cells[s.cell]
	list := s.table.Obs[c.First:c.End]
	i := sort.Search(len(list), func(i int) bool { return int(list[i].Release) >= release })
	if i < len(list) && int(list[i].Release) == release {
		return c.First + int32(i)
	}
	return -1
}

// At returns the value in a release.
func (s *Series) At(release int) (float64, bool) {
	i := s.find(release)
	if i < 0 {
		return 0, false
	}
	v, _ := s.value(i)
	return v, true
}

// PrimaryMetrics are the metrics that are judged, in reading order.
func PrimaryMetrics() []string {
	return schema.MetricNames(func(m *schema.MetricInfo) bool { return m.Judged })
}

// JudgedMetrics are the metrics of a history that are judged: the primary ones, then the user's own by name.
func JudgedMetrics(c *columns.Columns) []string {
	list := PrimaryMetrics()
	for _, s := range c.Stats {
		if info, _ := schema.MetricByName(s.Metric); info.Better == schema.Neither {
			continue
		}
		if schema.IsOwn(s.Metric) && !slices.Contains(list, s.Metric) {
			list = append(list, s.Metric)
		}
	}
	sort.Strings(list[len(PrimaryMetrics()):])
	return list
}

// Tails are the metrics of which the tail is judged too, where a point has requests enough for it.
func Tails() []string { return schema.MetricNames(func(m *schema.MetricInfo) bool { return m.Tail }) }

// Higher reports whether a larger value of a metric is better.
func Higher(metric string) bool { return Sign(metric) < 0 }

// Blocking lists the conditions that change what a number means. Two numbers that differ in one of them are not
// compared; other conditions (num_prompts, warmups, seed …) are shown and block nothing. A condition that one side
// does not state blocks nothing: unknown is not different.
func Blocking(name string) bool {
	switch name {
	case "tokenizer", "ignore_eos", "streaming", "stream", "temperature", "endpoint", "client", "burstiness",
		"prefix_cache", "enable_prefix_caching", "backend", "scheduling",
		schema.ConditionWindow, schema.ConditionSteps, "preprocessing":
		return true
	}
	return strings.HasSuffix(name, "_distribution") || slices.Contains(schema.ModelSettings(), name) ||
		slices.Contains(blockingFacts[:], name)
}

// classes groups conditions that block alike.
type classes struct {
	c      *columns.Columns
	list   []map[string]string
	byText map[string]int32
	memo   map[classID]int32
	facts  []int32 // by run: index of the facts in its head
	blocks [][]bool
	// lengths are those of prompts that were measured of a workload, each far from the others.
	lengths map[int32][]float64
}

// classID is what a class is of: the conditions of the point, the facts of the run's head, and the length of prompts.
type classID struct {
	cond, facts int32
	prompts     string
}

// promptsOf is how long the prompts of a workload were that does not state it, as the first measurement within a
// quarter has it: nothing else tells prompts of 1 token from those of 6,000. Those of one dataset differ by less.
func (k *classes) promptsOf(p *columns.PointRow) string {
	const alike = 1.25
	v, _, _, measured := k.c.Center(p, "isl")
	if k.c.Keys[p.Key].ISL != nil || !measured || !(v > 0) {
		return ""
	}
	list := k.lengths[p.Key]
	at := slices.IndexFunc(list, func(x float64) bool { return max(x, v) <= alike*min(x, v) })
	if at < 0 {
		at, k.lengths[p.Key] = len(list), append(list, v)
	}
	return strconv.FormatFloat(math.Round(k.lengths[p.Key][at]), 'f', -1, 64)
}

// factsOf are what a run states of its system that blocks like a condition, in the order of [blockingFacts].
func factsOf(h *columns.RunHead) [5]string {
	return [...]string{h.Engine, h.Model.Precision, h.Mesh, strings.TrimPrefix(strconv.Itoa(h.Chips), "0"), h.Place}
}

// blockingFacts are the names of such facts.
var blockingFacts = [5]string{"engine", "precision", "mesh", "chips", "folder"}

// statesOf are the facts that a run states, by name.
func statesOf(h *columns.RunHead) map[string]string {
	out := map[string]string{}
	for i, v := range factsOf(h) {
		if v != "" {
			out[blockingFacts[i]] = v
		}
	}
	return out
}

// Apart is what two runs state of their systems that keeps them from being compared, the implementation first; "" where
// nothing does.
func Apart(a, b *columns.RunHead) (ofA, ofB string) {
	x, y := factsOf(a), factsOf(b)
	names, ofX, ofY := append([]string{"implementation"}, blockingFacts[:]...), append([]string{a.Impl}, x[:]...),
		append([]string{b.Impl}, y[:]...)
	for i, name := range names {
		if ofX[i] != "" && ofY[i] != "" && !strings.EqualFold(ofX[i], ofY[i]) {
			return name + " " + ofX[i], name + " " + ofY[i]
		}
	}
	return "", ""
}

// of returns the class of a point of a run.
func (k *classes) of(run int, p *columns.PointRow) int32 {
	id := classID{p.Cond, k.facts[run], k.promptsOf(p)}
	if i, ok := k.memo[id]; ok {
		return i
	}
	m := map[string]string{}
	for name, v := range k.c.Conds[p.Cond] {
		if Blocking(name) && v != "" {
			m[name] = v
		}
	}
	maps.Copy(m, statesOf(&k.c.Runs[run]))
	if id.prompts != "" {
		m["measured ISL"] = id.prompts
	}
	k.memo[id] = k.named(m)
	return k.memo[id]
}

// named returns the class with these conditions.
func (k *classes) named(m map[string]string) int32 {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&text, "%q=%q,", name, m[name])
	}
	i, ok := k.byText[text.String()]
	if !ok {
		i = int32(len(k.list))
		k.byText[text.String()] = i
		k.list = append(k.list, m)
	}
	return i
}

// mixed stands between the values of a condition of which one release has several.
const mixed = " and "

// manyIn is the value of a condition of which one release has several, "" for any other.
func manyIn(value string) string {
	if strings.Contains(value, mixed) {
		return value
	}
	return ""
}

// both returns the class of a release with runs of two: they are no repeats, and their mean is compared with nothing. A
// condition that one of them does not state mixes nothing.
func (k *classes) both(a, b int32) int32 {
	m := maps.Clone(k.list[a])
	for name, w := range k.list[b] {
		if v := m[name]; v != "" && v != w {
			values := append(strings.Split(v, mixed), strings.Split(w, mixed)...)
			slices.Sort(values)
			m[name] = strings.Join(slices.Compact(values), mixed)
		}
	}
	return k.named(m)
}

// Block reports whether two classes differ in something that changes the meaning of a number.
func (k *classes) Block(a, b int32) bool { return k.blocks[a][b] }

// Named lists the conditions in which two classes differ: "ignore_eos true → false".
func (k *classes) Named(before, now int32) string {
	var out []string
	for _, name := range Differing(k.list[before], k.list[now]) {
		if of := cmp.Or(manyIn(k.list[now][name]), manyIn(k.list[before][name])); of != "" {
			out = append(out, name+" "+of+" in one release")
			continue
		}
		out = append(out, name+" "+Stated(name, k.list[before])+" → "+Stated(name, k.list[now]))
	}
	return strings.Join(out, ", ")
}

// Stated returns a condition. A window that is not stated is the whole measurement.
func Stated(name string, of map[string]string) string {
	if v := of[name]; v != "" || name != schema.ConditionWindow {
		return v
	}
	return "whole"
}

// Differing names the conditions by which two numbers do not mean the same: those that both state, differently or as
// several at once, and a window of the measurement that one of them states.
func Differing(a, b map[string]string) []string {
	var out []string
	if (a[schema.ConditionWindow] == "") != (b[schema.ConditionWindow] == "") {
		out = append(out, schema.ConditionWindow)
	}
	for name, v := range a {
		if w, both := b[name]; both && (v != w || manyIn(v) != "") {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}
