package judge

import (
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/targets/regression/proportion"
)

// evalJudgement holds the verdicts of all evals against history, by release.
type evalJudgement struct {
	cells  []*evalCell
	rows   map[int][]schema.Verdict
	inputs map[string]evalInputs // by verdict
	screen *screen
}

// evalInputs are the inputs of a verdict.
type evalInputs struct {
	cell, at int
	base     []int
	test     schema.EvalTest
}

// evalState is the state of an eval between releases.
type evalState struct {
	base    []int // indexes of the values that the baseline holds
	suspect int   // index that waits for an independent run; -1
	dir     float64
	row     int     // of the suspect among its release's rows
	z       float64 // its test statistic
}

// evalTest is the test of one eval in one release.
type evalTest struct {
	cell   int
	at     int // index of its value
	d      proportion.Difference
	worse  float64 // change of the share (or of the value), positive is worse
	p, q   float64 // one-sided in its direction; q over the evals of the release
	reason schema.EvalChange
	ok     bool
	// delta is the least significant change that matters; same the least that so many questions can rule out.
	delta, same float64
}

// dir returns the direction of the change: +1 is a regression.
func (t *evalTest) dir() float64 { return math.Copysign(1, t.worse) }

// judgeEvals judges the releases in order, with one family of tests for each release, separate from performance. With
// a few hundred evals speed does not matter, so the code is written to be readable.
func judgeEvals(c *columns.Columns, releases []Release, screen *screen) *evalJudgement {
	e := &evalJudgement{
		cells: evalCells(c, releases, screen), rows: map[int][]schema.Verdict{}, inputs: map[string]evalInputs{},
		screen: screen,
	}
	state := make([]evalState, len(e.cells))
	for i := range state {
		state[i].suspect = -1
	}
	next := make([]int, len(e.cells))
	for ri := range releases {
		var tests []evalTest
		for i, cell := range e.cells {
			if next[i] < len(cell.values) && cell.values[next[i]].release == ri {
				tests = append(tests, e.test(i, next[i], &state[i], releases[ri].Name))
				next[i]++
			}
		}
		passed := passing(tests)
		for k := range tests {
			d := evalDecision{evalJudgement: e, evalTest: &tests[k], st: &state[tests[k].cell], releases: releases}
			d.decide(passed[k])
		}
	}
	return e
}

// test compares a release's first score with its baseline.
func (e *evalJudgement) test(cell, at int, st *evalState, release string) evalTest {
	t := evalTest{cell: cell, at: at, reason: schema.EvalChange{Test: schema.TestNone, Limit: e.screen.EvalEffect()}}
	c := e.cells[cell]
	now := c.values[at].scores[0]
	t.reason.N = max(now.N, 0)
	if len(st.base) == 0 {
		return t
	}
	before := c.values[st.base[len(st.base)-1]].scores[0]
	pair := schema.Pair{Model: c.id.system.Model, Device: c.id.system.Device}
	if why := promptDiffers(before, now); why != "" && !e.screen.AcceptsPrompt(release, pair, c.id.task) {
		t.reason.Test, t.reason.Conditions = schema.TestPrompt, why
		return t
	}
	e.compare(&t, c, st, now)
	return t
}

// compare chooses the test by the data: paired where the same items were answered, the gate on the arcsine scale from
// three releases on, Newcombe below, standard errors where nothing else is known.
func (e *evalJudgement) compare(t *evalTest, c *evalCell, st *evalState, now *columns.ScoreRow) {
	before := c.values[st.base[len(st.base)-1]].scores[0]
	better := 1.
	if now.Direction == "lower" {
		better = -1
	}
	p1, p2, shares := shares(&before.Score, &now.Score)
	switch {
	case shares && sameItems(before, now):
		lost, gained := discordant(before.Outcomes.Right, now.Outcomes.Right)
		t.d, t.reason.Test = proportion.McNemar(lost, gained, len(now.Outcomes.Right)), schema.TestPaired
		t.reason.Lost, t.reason.Gained = lost, gained
	case shares && len(st.base) >= 3:
		t.d, t.reason.Test = arcsineGate(c, st.base, p2, now), schema.TestGate
	case shares && now.N > 0 && before.N > 0:
		t.d = proportion.Newcombe(p1, itemsOf(&before.Score, p1), p2, itemsOf(&now.Score, p2))
		t.reason.Test = schema.TestUnpaired
	default:
		var why string
		if t.d, why = byError(&before.Score, &now.Score, shares); why != "" {
			t.reason.Test = schema.TestNoError
			return
		}
		t.reason.Test = schema.TestByError
	}
	t.ok = true
	t.limits(e.screen.Policy)
	t.worse = -better * t.d.D
	t.p = t.d.Fell
	if t.d.D > 0 {
		t.p = t.d.Rose
	}
	t.reason.Releases = len(st.base)
}

// sameItems reports whether two scores answer the same questions, answer by answer.
func sameItems(a, b *columns.ScoreRow) bool {
	return a.Outcomes != nil && b.Outcomes != nil && a.Outcomes.Items == b.Outcomes.Items &&
		len(a.Outcomes.Right) == len(b.Outcomes.Right)
}

func discordant(before, now []bool) (lost, gained int) {
	for i := range now {
		switch {
		case before[i] && !now[i]:
			lost++
		case !before[i] && now[i]:
			gained++
		}
	}
	return lost, gained
}

// evalDecision finds the outcome of one test.
type evalDecision struct {
	*evalJudgement
	*evalTest
	st       *evalState
	releases []Release
	joins    bool // the release may enter baselines
	v        schema.Verdict
}

func (d *evalDecision) value() *evalValue { return &d.cells[d.cell].values[d.at] }

// decide makes the verdict on one eval and brings its state up to date.
func (d *evalDecision) decide(passed bool) {
	c, value, st := d.cells[d.cell], d.value(), d.st
	now := value.scores[0]
	rel := d.releases[value.release]
	d.joins = IsBaseline(rel.Channel)
	d.v = schema.Verdict{
		Release: rel.Name, Run: value.runs[0], Model: c.id.system.Model, Device: c.id.system.Device,
		Impl: c.id.system.Impl, Key: schema.EvalKey(&now.Score), Metric: c.metric, Stat: "value",
		Against: schema.AgainstHistory, Value: now.Value, N: now.N, Outcome: schema.NoBaseline,
	}
	if len(st.base) > 0 {
		b := c.values[st.base[len(st.base)-1]]
		d.v.Ref, d.v.Baseline = b.scores[0].Value, d.releases[b.release].Name
	}
	inputs := evalInputs{d.cell, d.at, slices.Clone(st.base), d.reason.Test}
	remember := true
	switch {
	case d.lost() || d.flipped():
		remember = false
	case d.reason.Test == schema.TestPrompt:
		d.v.Outcome = schema.NotComparable
		st.base, st.suspect = nil, -1 // new questions have no history
	case d.ok:
		d.measured(d.evalTest)
		d.v.Q = schema.Num(d.q)
		if d.reason.Test == schema.TestGate { // the difference is from the mean, so the mean is the reference
			d.v.Ref = schema.Num(latency.Round(valueOf(&d.v)-d.d.D*scaleOf(&now.Score), 12))
		}
		remember = d.outcome(passed)
	}
	if d.v.Reason == nil {
		d.v.Reason = d.reason
	}
	d.v.ID = schema.VerdictID(d.v.Release, d.v.Baseline, d.v.Pair(), d.v.Key, d.v.Metric, d.v.Stat+d.v.Impl,
		schema.AgainstHistory)
	d.rows[value.release], d.inputs[d.v.ID] = append(d.rows[value.release], d.v), inputs
	if _, has := now.Value.Get(); d.joins && remember && has {
		st.base = append(st.base, d.at)
	}
}

// measured fills in what a test found. q is of the first run, and does not stand beside what a later one found.
func (d *evalDecision) measured(t *evalTest) {
	d.v.Q = schema.Number{}
	d.v.Effect, d.v.P = schema.Num(t.worse), schema.Num(t.p)
	lo, hi := t.worse-(t.d.D-t.d.Lo), t.worse+(t.d.Hi-t.d.D)
	if t.worse*t.d.D < 0 || t.worse == 0 { // worse is a fall of the value, so the interval is inverted
		lo, hi = -t.d.Hi, -t.d.Lo
	}
	d.v.Interval = &[2]float64{lo, hi}
}

// inconclusive makes the verdict inconclusive with an effect beyond what matters.
func (d *evalDecision) inconclusive(why schema.Why) {
	d.v.Outcome, d.v.Evidence, d.v.Large, d.reason.Why = schema.Inconclusive, "", true, why
}

// outcome decides, and reports whether the value may join the baseline.
func (d *evalDecision) outcome(passed bool) bool {
	if joins, done := d.followUp(); done {
		return joins
	}
	if later := d.disagrees(); later != nil && !(passed && d.dir() > 0) {
		d.inconclusive(schema.WhyRunsDisagree)
		d.reason.First = valueOf(&d.v)
		d.v.Value, d.v.Run = later.score.Value, later.run
		d.measured(&later.evalTest)
		return true
	}
	half90 := math.Max(d.d.Hi90-d.d.D, d.d.D-d.d.Lo90)
	switch {
	case passed && d.dir()*d.worse >= d.delta:
		return d.changed()
	case d.worse >= d.same:
		d.inconclusive(schema.WhyNotSignificant)
	case math.Abs(d.worse)+half90 < d.same:
		d.v.Outcome = schema.Unchanged
	default:
		d.v.Outcome = schema.Inconclusive
		if p, ok := share(&d.value().scores[0].Score); ok {
			d.reason.Needed = proportion.Items(math.Max(p, d.same), d.same)
		}
	}
	return true
}

// followUp compares the release with an earlier one that waits for an independent run.
func (d *evalDecision) followUp() (joins, done bool) {
	st := d.st
	if st.suspect < 0 {
		return false, false
	}
	first := d.cells[d.cell].values[st.suspect]
	again := st.dir*d.worse >= d.delta && sees(d.evalTest, st.z, len(st.base))
	if d.joins {
		d.rows[first.release][st.row].Follow = schema.Follow{Release: d.v.Release, Again: again}
	}
	switch {
	case again && !d.joins: // the change is that of its base, not of the build
		d.inconclusive(schema.WhyBaseSuspect)
		d.v.First = d.releases[first.release].Name
		return true, true
	case again:
		d.v.Outcome, d.v.Evidence = changed(st.dir), schema.Confirmed
		d.v.First = d.releases[first.release].Name
		st.base, st.suspect = []int{st.suspect}, -1
		return true, true
	case d.joins:
		st.suspect = -1
	}
	return false, false
}

// changed handles a significant change: it is suspected, unless a later run of the release confirms or refutes it.
func (d *evalDecision) changed() bool {
	st := d.st
	d.v.Outcome, d.v.Evidence, d.reason.Limit = changed(d.dir()), schema.Suspected, d.delta
	again, second := d.rechecked()
	if second == nil && d.reason.Test == schema.TestPaired {
		// Which questions turned is known: a second run would answer the same ones.
		d.v.Evidence = schema.Confirmed
		if d.joins {
			st.base = nil
		}
		return true
	}
	if second == nil {
		if d.joins {
			st.suspect, st.dir, st.row, st.z = d.at, d.dir(), len(d.rows[d.value().release]), normalScore(d.p)
		}
		return false
	}
	d.reason.First = valueOf(&d.v)
	d.v.Value, d.v.Run = second.score.Value, second.run
	d.measured(&second.evalTest)
	if !again {
		d.inconclusive(schema.WhyNotSeenAgain)
		return false
	}
	d.v.Evidence = schema.Confirmed
	if d.joins {
		st.base = nil
	}
	return true
}

// secondTest is the test of a later run of the same release.
type secondTest struct {
	evalTest
	score *columns.ScoreRow
	run   string
}

func valueOf(v *schema.Verdict) float64 {
	x, _ := v.Value.Get()
	return x
}

// rechecked tests the later runs of the release; nil when there is none.
func (d *evalDecision) rechecked() (again bool, second *secondTest) {
	later := d.later()
	if len(later) == 0 || !later[0].ok {
		return false, nil
	}
	x := later[0]
	again = d.dir()*x.worse >= d.delta && d.dir()*d.worse > 0 && sees(&x.evalTest, normalScore(d.p), len(d.st.base))
	return again, x
}

// later compares the scores of the later runs of a release with its baseline.
func (d *evalDecision) later() (out []*secondTest) {
	c, value := d.cells[d.cell], d.value()
	for i := range value.scores {
		if value.runs[i] != value.runs[0] {
			x := &secondTest{evalTest{cell: d.cell, at: d.at}, value.scores[i], value.runs[i]}
			d.compare(&x.evalTest, c, d.st, value.scores[i])
			out = append(out, x)
		}
	}
	return out
}

// disagrees finds a later run of the release that is clearly worse than the baseline while the first is not, so that
// repeating a measurement does not hide a regression. The test has a size of one in two hundred, as for performance;
// the worst of several runs is shown.
func (d *evalDecision) disagrees() (worst *secondTest) {
	const size = .005
	if d.worse >= d.delta {
		return nil
	}
	for _, x := range d.later() {
		if x.ok && x.worse >= d.delta && x.p <= size && (worst == nil || x.worse > worst.worse) {
			worst = x
		}
	}
	return worst
}

func changed(dir float64) schema.Outcome {
	if dir > 0 {
		return schema.Regressed
	}
	return schema.Improved
}
