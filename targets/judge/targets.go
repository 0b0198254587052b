package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/library"
	"github.com/ttreport/ttreport/targets/regression"
)

// Required reports whether a model's declared status requires a level. An unknown status requires none: its verdicts
// are informational.
func Required(status, level string) bool {
	required := map[string][]string{
		"FUNCTIONAL": {schema.LevelReference, schema.LevelFunctional},
		"COMPLETE":   {schema.LevelReference, schema.LevelFunctional, schema.LevelComplete},
	}
	return status == "TOP_PERF" || slices.Contains(required[status], level)
}

// Targets returns the verdicts of one model and device in one release against the targets in force: one per target,
// tool and level, one per planned workload that was not measured, and one per workload that no target covers. All
// runs of the release count: a later run adds to what an earlier one measured and never replaces it, so that
// repeating a measurement until it passes does not help. The targets that the newest run was stamped with are in
// force.
func (j *Judgement) Targets(release int, of schema.Pair) []schema.Verdict {
	runs := j.runsOf(release, of)
	if len(runs) == 0 {
		return nil
	}
	c := j.Columns
	g := grading{
		j: j, c: c, release: release, pair: of, head: &c.Runs[runs[len(runs)-1]],
		bySlot: map[slot][]*columns.PointRow{},
	}
	for _, run := range runs {
		h := &c.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &c.Points[i]
			if j.screen.excludes(h) || j.policy.ExcludesPoint(h, c.Keys[p.Key]) != nil {
				continue
			}
			at := slot{h.System().Impl, p.Key}
			if g.bySlot[at] == nil {
				g.slots = append(g.slots, at)
			}
			g.bySlot[at] = append(g.bySlot[at], p)
		}
		if rows := c.TargetsOf(run); len(rows) > 0 { // of the newest run that has some
			g.rows = rows
		}
	}
	slices.SortFunc(g.slots, func(x, y slot) int {
		if x.key == y.key {
			return cmp.Compare(x.impl, y.impl)
		}
		return c.Keys[x.key].Compare(c.Keys[y.key])
	})
	return g.all(runs)
}

// grading compares one model and device in one release with its targets.
type grading struct {
	j       *Judgement
	release int
	pair    schema.Pair
	c       *columns.Columns
	head    *columns.RunHead // of the newest run
	slots   []slot
	bySlot  map[slot][]*columns.PointRow
	rows    []columns.TargetRow
}

// slot is a workload of one implementation: two implementations are two products, and their mean describes neither.
type slot struct {
	impl string
	key  int32
}

// all grades every target, then lists what no target covers and planned workloads without any point.
func (g *grading) all(runs []int) []schema.Verdict {
	graded := map[slot]bool{}
	var out []schema.Verdict
	for _, row := range g.rows {
		t := row.Target
		if t.Key.IsEval() {
			out = append(out, g.eval(t))
			continue
		}
		if t.Key.Dims[schema.DimLevel] != "" {
			out = append(out, g.level(t, graded)...)
			continue
		}
		measured := false
		for _, at := range g.slots {
			if t.Matches(g.c.Keys[at.key]) {
				measured, graded[at] = true, true
				out = append(out, g.one(t, at))
			}
		}
		if !measured {
			v := g.start(t, t.Key)
			v.Outcome, v.Reason = schema.NotMeasured, schema.TargetNotMeasured{}
			out = append(out, v)
		}
	}
	for _, at := range g.slots {
		if !graded[at] && !g.c.Keys[at.key].IsOurStart() {
			v := g.of(schema.Target{}, at)
			v.Outcome, v.Reason = schema.NoTarget, schema.NoTargetFor{}
			out = append(out, v)
		}
	}
	seen := map[int32]bool{}
	for at := range g.bySlot {
		seen[at.key] = true
	}
	for _, run := range runs {
		for _, p := range g.c.PlanOf(run) {
			if seen[p.Key] {
				continue
			}
			seen[p.Key] = true
			v := g.start(schema.Target{}, g.c.Keys[p.Key])
			v.Outcome, v.Reason = schema.NotMeasured, schema.Planned{}
			out = append(out, v)
		}
	}
	return out
}

// of starts the verdict on a slot.
func (g *grading) of(t schema.Target, at slot) schema.Verdict {
	v := g.start(t, g.c.Keys[at.key])
	v.Impl = at.impl
	v.Run = g.c.Runs[g.bySlot[at][0].Run].ID
	if at.impl != "" {
		v.ID = schema.VerdictID(v.Release, at.impl, g.pair, v.Key, v.Metric+"/"+v.Level, v.Stat, schema.AgainstTarget)
	}
	return v
}

// start is a verdict on a target, or on a workload without one.
func (g *grading) start(t schema.Target, k schema.Key) schema.Verdict {
	name := t.Metric
	if t.Level != "" {
		name += "/" + t.Level
	}
	ref := schema.Missing("no target")
	if t.Metric != "" {
		ref = schema.Num(t.Value)
	}
	// Its own priority decides where its source states one, else the model's status.
	required := t.Priority == "must" || t.Priority != "should" && Required(g.head.Model.Status, t.Level)
	return schema.Verdict{
		ID:  schema.VerdictID(g.releaseName(), "", g.pair, k, name, t.Stat, schema.AgainstTarget),
		Run: g.head.ID, Release: g.head.Release, Model: g.pair.Model, Device: g.pair.Device, Key: k,
		Metric: t.Metric, Stat: t.Stat, Against: schema.AgainstTarget,
		Level: t.Level, Required: required, Ref: ref,
	}
}

// releaseName names the release in ids; a build is named by its run.
func (g *grading) releaseName() string { return cmp.Or(g.head.Release, g.head.ID) }

// one judges the repeats of one workload against one target.
func (g *grading) one(t schema.Target, at slot) schema.Verdict {
	v := g.of(t, at)
	info, known := schema.MetricByName(t.Metric)
	if ceiling, ok := g.aboveCeiling(t); ok {
		v.Outcome, v.Reason = schema.Unattainable, ceiling
		return v
	}
	if !known || info.Better == schema.Neither {
		v.Outcome, v.Reason = schema.NoTarget, schema.MetricNotMeasured{Metric: t.Metric}
		return v
	}
	values, why := g.values(t, at)
	if len(values) == 0 {
		v.Outcome, v.Value, v.Reason = schema.NotMeasured, schema.Missing(why), schema.NoNumber{Why: why}
		return v
	}
	g.decide(&v, t, info.Better, values, g.noise(t, at))
	return v
}

// values returns the measurements of a slot that a target covers, or why there is none.
func (g *grading) values(t schema.Target, at slot) (values []float64, why string) {
	for _, p := range g.bySlot[at] {
		n := Measured(g.c, p, t.Metric, t.Stat)
		x, ok := n.Get()
		valid := p.StatusWord() != schema.StatusInvalid
		switch {
		case ok && schema.IsMeasurement(t.Metric, x) && valid:
			values = append(values, x)
		case why != "":
		case ok && valid:
			why = num4(x) + " is not a measurement"
		default:
			why = n.Why()
		}
	}
	return values, why
}

// Measured returns the value of a point that a target covers, also where it follows from what the point states. Speed
// per user is computed as 1000 / mean TPOT for every tool, because tools average it in ways that differ by percents.
func Measured(c *columns.Columns, p *columns.PointRow, metric, stat string) schema.Number {
	if metric == "tps_user" {
		n, _ := c.Value(p, "tpot", "mean")
		if x, ok := n.Get(); ok && schema.Measurable(x) {
			return schema.Num(1000 / x)
		}
	}
	n, _ := c.Value(p, metric, stat)
	if _, ok := n.Get(); ok {
		// a percentile of too few requests grades nothing
		if count, known := requestsOf(c, p, metric); known && !schema.TailHolds(stat, count) {
			return schema.Missing("a " + stat + " of " + strconv.FormatFloat(count, 'f', 0, 64) + " requests is not meaningful")
		}
		return n
	}
	if stat == "" || slices.Contains(schema.CenterStats(), stat) { // a percentile has no substitute
		if v, _, _, ok := c.Center(p, metric); ok {
			return schema.Num(v)
		}
		if v := derived(c, p, metric); schema.Measurable(v) {
			return schema.Num(v)
		}
	}
	return n
}

// derived is a metric that follows from others of a point which does not state it: that of one accelerator, the speed
// that a share of requests reach, or what was read.
func derived(c *columns.Columns, p *columns.PointRow, metric string) float64 {
	if of, ok := strings.CutSuffix(metric, "_accelerator"); ok {
		v, _, _, _ := c.Center(p, of)
		return v / float64(c.Runs[p.Run].Chips)
	}
	if tail, ok := strings.CutPrefix(metric, "interactivity_"); ok {
		v, _ := Measured(c, p, "tpot", tail).Get()
		return 1000 / v
	}
	if metric == "input_tps" {
		total, _, _, ok := c.Center(p, "total_tps")
		if output, _, _, has := c.Center(p, "output_tps"); ok && has {
			return total - output
		}
	}
	return 0
}

// requestsOf is the number of requests behind a metric of a point, where it is stated.
func requestsOf(c *columns.Columns, p *columns.PointRow, metric string) (count float64, known bool) {
	n, _ := c.Value(p, metric, "n")
	if count, known = n.Get(); !known {
		n, _ = c.Value(p, "requests_ok", "value")
		count, known = n.Get()
	}
	return count, known
}

// aboveCeiling finds a target that other targets of the same workload rule out: more output than all users at their
// own target speed.
func (g *grading) aboveCeiling(t schema.Target) (schema.AboveCeiling, bool) {
	if t.Metric != "output_tps" || t.Key.Concurrency == nil {
		return schema.AboveCeiling{}, false
	}
	for _, o := range g.rows {
		if o.Metric != "tps_user" || o.Level != t.Level || o.Key.String() != t.Key.String() {
			continue
		}
		if ceiling := o.Value * *t.Key.Concurrency; t.Value > ceiling*(1+1e-9) {
			return schema.AboveCeiling{Target: t.Value, Ceiling: ceiling, User: o.Value,
				Concurrency: *t.Key.Concurrency}, true
		}
	}
	return schema.AboveCeiling{}, false
}

// decide compares the measurements of a release with one limit: the target moved by its tolerance. The interval is that
// of another run, not of the requests: their own standard error gives 95 % intervals that cover only 38 to 53 %
// (measured). Without known noise, three repeats give an interval of their own; with fewer the value decides, and the
// reason states that.
func (g *grading) decide(v *schema.Verdict, t schema.Target, better schema.Better, values []float64, known noise) {
	logs := make([]float64, len(values))
	mean := 0.
	for i, x := range values {
		logs[i] = math.Log(x)
		mean += logs[i] / float64(len(values))
	}
	value, sign, limit := math.Exp(mean), 1., t.Value*(1+t.Tolerance)
	zero := slices.Min(values) == 0 // a count or a share, which has no logarithm and so no interval
	switch {
	case slices.Max(values) == slices.Min(values):
		value = values[0] // the logarithm and back may miss it
	case zero:
		value = regression.Mean(values)
	}
	if better == schema.Higher {
		sign, limit = -1, t.Value*(1-t.Tolerance)
	}
	v.Value, v.N = schema.Num(value), len(values)
	v.Effect = schema.Num(sign * (value/t.Value - 1))
	why := schema.Limit{Interval: schema.FromNothing, Tolerance: t.Tolerance, Runs: len(values)}
	lo, hi := sign*(value-limit), sign*(value-limit)
	if half, df, from := halfWidth(logs, known); from != schema.FromNothing && !zero {
		a, b := math.Exp(mean-half), math.Exp(mean+half)
		if sign < 0 {
			a, b = b, a
		}
		v.Interval = &[2]float64{sign * (a/t.Value - 1), sign * (b/t.Value - 1)}
		lo, hi = sign*(a-limit), sign*(b-limit)
		why.Interval, why.Noise = from, half/regression.Quantile(.975, df)
	}
	const rounding = 1e-12 // of logarithms: a limit that is met exactly is met
	v.Outcome, why.Chance = g.beside(sign*(value-limit), lo, hi, rounding*limit)
	v.Reason = why
}

// beside returns the outcome of a number beside its limit, from the distances of the number and the ends of its 95 %
// interval, positive where they miss. A number meets the limit if its whole interval does; one that misses it fails by
// the default rule, with a note if chance could explain it.
func (g *grading) beside(value, lo, hi, rounding float64) (out schema.Outcome, chance bool) {
	lo, hi = math.Min(lo, hi), math.Max(lo, hi)
	switch {
	case hi <= rounding:
		return schema.Pass, false
	case lo > rounding:
		return schema.Fail, false
	case value > rounding && !g.j.policy.MissesByInterval():
		return schema.Fail, true
	}
	return schema.Inconclusive, true
}

// TargetChange is a target that differs from the one in the release before.
type TargetChange struct {
	Model, Device string
	Key           schema.Key
	Metric, Level string
	Was, Is       schema.Number // missing: there was none, or it was removed
	Source        string
}

// targetID names a target in a release.
type targetID struct {
	pair                     schema.Pair
	key, metric, stat, level string
}

// TargetChanges compares the targets in force with those of the newest earlier release of each model and device: a
// verdict may have changed only because somebody edited a target.
func (j *Judgement) TargetChanges(release int) (changes []TargetChange, since string) {
	before := j.Before(release)
	if before < 0 {
		return nil, ""
	}
	was, then := j.targetsIn(before)
	is, now := j.targetsIn(release)
	change := func(id targetID, t schema.Target, was, is schema.Number) {
		changes = append(changes, TargetChange{id.pair.Model, id.pair.Device, t.Key, t.Metric, t.Level, was, is,
			t.Source})
	}
	for id, t := range is {
		old, had := was[id]
		switch {
		case !then[id.pair] || had && old.Value == t.Value && old.Tolerance == t.Tolerance:
		case had:
			change(id, t, schema.Num(old.Value), schema.Num(t.Value))
		default:
			change(id, t, schema.Missing("none before"), schema.Num(t.Value))
		}
	}
	for id, t := range was {
		if _, still := is[id]; !still && now[id.pair] {
			change(id, t, schema.Num(t.Value), schema.Missing("none any more"))
		}
	}
	slices.SortFunc(changes, func(x, y TargetChange) int {
		return cmp.Or(cmp.Compare(x.Model, y.Model), cmp.Compare(x.Device, y.Device), x.Key.Compare(y.Key),
			cmp.Compare(x.Metric+x.Level, y.Metric+y.Level))
	})
	return changes, j.Releases[before].Name
}

// targetsIn returns the targets in force in a release, whose newest run decides, and its models and devices.
func (j *Judgement) targetsIn(release int) (map[targetID]schema.Target, map[schema.Pair]bool) {
	targets, pairs := map[targetID]schema.Target{}, map[schema.Pair]bool{}
	for _, run := range j.Releases[release].Runs {
		of := j.Columns.Runs[run].Pair()
		pairs[of] = true
		for _, t := range j.Columns.TargetsOf(run) {
			targets[targetID{of, t.Key.String(), t.Metric, t.Stat, t.Level}] = t.Target
		}
	}
	return targets, pairs
}

// Proposal is the result of [Judgement.Propose].
type Proposal struct {
	File   library.File
	Single int // values without a known noise: the margin is twice the effect that matters
}

// proposed is a number that a target file can state.
type proposed struct {
	of                           schema.Pair
	workload, task, metric, stat string
}

// Propose derives targets from what a release measured: each number is made worse by a margin from the measured
// noise, so that the same software meets it in 99 of 100 releases (one-sided 1 % of Student's t with the noise of the
// series); the margin is at least least. An empty model or device selects all. asOf is written into every value,
// YYYY-MM-DD.
func (j *Judgement) Propose(release int, model, device, level, asOf string, least float64) Proposal {
	var p Proposal
	name := j.Releases[release].Name
	seen, worst := map[proposed]int{}, map[proposed]float64{}
	for _, i := range j.byCell[release] {
		s := &j.Series[j.cellOf[i]]
		if !s.Pair().Selected(model, device) || s.Tail() {
			continue
		}
		margin, known := j.margin(i)
		from := fmt.Sprintf("measured in %s, margin %.1f %%", name, 100*math.Expm1(math.Max(margin, least)))
		if !known {
			p.Single++
			from += " (noise unknown)"
		}
		measured, _ := s.value(i) // of all runs of the release that decide, as verdicts on targets have it
		z := Sign(s.Metric)*math.Log(measured) + math.Max(margin, least)
		k := s.Key
		same := proposed{s.Pair(), k.Workload(), fmt.Sprint(k.Task, k.Dims),
			s.Metric, s.Stat}
		at, again := seen[same]
		if again && z <= worst[same] { // files name no implementation or tool: the looser of two holds
			continue
		}
		worst[same] = z
		target := library.FileTarget{Model: s.Model, Device: s.Device, Workload: library.WorkloadOf(k),
			Metric: s.Metric, Stat: s.Stat,
			Value: rounded(math.Exp(Sign(s.Metric)*z), Sign(s.Metric)), Level: level, Source: from, AsOf: asOf}
		if again {
			p.File.Targets[at] = target
			continue
		}
		seen[same] = len(p.File.Targets)
		p.File.Targets = append(p.File.Targets, target)
	}
	slices.SortStableFunc(p.File.Targets, func(a, b library.FileTarget) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Device, b.Device))
	})
	return p
}

// margin returns how much worse the next release may be by noise alone, on the log scale.
func (j *Judgement) margin(obs int32) (float64, bool) {
	if known := j.noiseOf(obs); known.Known() {
		return known.Margin(.99), true
	}
	return 2 * j.table.Cells[j.cellOf[obs]].Delta, false
}

// rounded keeps three digits and rounds to the worse side, so that rounding never tightens a target.
func rounded(v, sign float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(v))-2)
	n := math.Floor(v/step + 1e-9)
	if sign > 0 {
		n = math.Ceil(v/step - 1e-9)
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(n*step, 'g', 6, 64), 64) // always a number
	return short
}
