package targets

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/regression/proportion"
)

// evalJudgement holds the verdicts of all evals against history, by release.
type evalJudgement struct {
	cells  []*evalCell
	rows   map[int][]schema.Verdict
	behind map[string]evalBehind // by verdict
}

// evalBehind is what a verdict was reckoned from.
type evalBehind struct {
	cell, at int
	base     []int
}

// evalState is what is remembered of an eval between releases.
type evalState struct {
	base    []int // indexes of the values that the baseline holds
	suspect int   // index that waits for an independent run; -1
	dir     float64
	row     int     // of the suspect among its release's rows
	z       float64 // its test statistic
}

// evalTest is the reckoning of one eval in one release.
type evalTest struct {
	cell  int
	at    int // index of its value
	d     proportion.Difference
	worse float64 // change of the share (or of the value), positive is worse
	p, q  float64 // one-sided in its direction; q over the evals of the release
	code  string  // how it was tested, or why it was not
	args  map[string]string
	ok    bool
}

// judgeEvals works through the releases in order; one family of tests a release, apart from performance. Few hundred evals make
// this cheap, so it is written for reading.
func judgeEvals(c *columns.Columns, releases []Release, policy *Policy) *evalJudgement {
	e := &evalJudgement{cells: evalCells(c, releases, policy), rows: map[int][]schema.Verdict{}, behind: map[string]evalBehind{}}
	state := make([]evalState, len(e.cells))
	for i := range state {
		state[i].suspect = -1
	}
	next := make([]int, len(e.cells))
	for ri := range releases {
		var tests []evalTest
		for i, cell := range e.cells {
			if next[i] < len(cell.values) && cell.values[next[i]].release == ri {
				tests = append(tests, e.test(i, next[i], &state[i], policy, releases[ri].Name))
				next[i]++
			}
		}
		passed := e.pass(tests)
		for k := range tests {
			e.decide(&tests[k], passed[k], &state[tests[k].cell], releases, policy)
		}
	}
	return e
}

// test compares a release's first score with its baseline.
func (e *evalJudgement) test(cell, at int, st *evalState, policy *Policy, release string) evalTest {
	t := evalTest{cell: cell, at: at, args: map[string]string{}}
	c := e.cells[cell]
	now := c.values[at].scores[0]
	if len(st.base) == 0 {
		t.code = "no-baseline"
		return t
	}
	before := c.values[st.base[len(st.base)-1]].scores[0]
	if why := promptDiffers(before, now); why != "" && !policy.accepts(c, release) {
		t.code, t.args["conditions"] = "prompt", why
		return t
	}
	e.compare(&t, c, st, now)
	return t
}

// promptDiffers says why two scores answer different questions, or "".
func promptDiffers(a, b *columns.ScoreRow) string {
	switch {
	case a.Outcomes != nil && b.Outcomes != nil && a.Outcomes.Items != b.Outcomes.Items:
		return "the questions or their prompts differ"
	case a.Fewshot != nil && b.Fewshot != nil && *a.Fewshot != *b.Fewshot:
		return fmt.Sprintf("few-shot %d → %d", *a.Fewshot, *b.Fewshot)
	case a.Version != "" && b.Version != "" && a.Version != b.Version:
		return "task version " + a.Version + " → " + b.Version
	}
	return ""
}

// accepts reports whether a person said that an eval's change of prompts is to be compared all the same.
func (p *Policy) accepts(c *evalCell, release string) bool {
	for _, d := range p.Decisions {
		if d.Kind == Accept && d.Select.Task != "" && p.holds(d) && glob(d.Release, release) && glob(d.Select.Task, c.id.task) && glob(d.Select.Model, c.id.model) && glob(d.Select.Device, c.id.device) {
			return true
		}
	}
	return false
}

// compare chooses the test by the data: paired where the same items were answered, the gate on the arcsine scale from three
// releases on, Newcombe below, standard errors where nothing else is known.
func (e *evalJudgement) compare(t *evalTest, c *evalCell, st *evalState, now *columns.ScoreRow) {
	before := c.values[st.base[len(st.base)-1]].scores[0]
	better := 1.
	if now.Direction == "lower" {
		better = -1
	}
	p2, isShare := share(&now.Score)
	p1, wasShare := share(&before.Score)
	switch {
	case before.Outcomes != nil && now.Outcomes != nil && before.Outcomes.Items == now.Outcomes.Items && len(before.Outcomes.Right) == len(now.Outcomes.Right) && isShare && wasShare:
		lost, gained := discordant(before.Outcomes.Right, now.Outcomes.Right)
		t.d, t.code = proportion.McNemar(lost, gained, len(now.Outcomes.Right)), "paired"
		t.args["lost"], t.args["gained"] = strconv.Itoa(lost), strconv.Itoa(gained)
	case isShare && wasShare && len(st.base) >= 3:
		t.d, t.code = arcsineGate(c, st.base, p2, now), "eval-gate"
	case isShare && wasShare && now.N > 0 && before.N > 0:
		t.d, t.code = proportion.Newcombe(p1, float64(before.N), p2, float64(now.N)), "unpaired"
	default:
		v1, ok1 := before.Value.Get()
		v2, ok2 := now.Value.Get()
		e1, has1 := before.Stderr.Get()
		e2, has2 := now.Stderr.Get()
		if !ok1 || !ok2 || !has1 || !has2 || e1+e2 <= 0 {
			t.code = "no-error"
			return
		}
		t.d, t.code = proportion.Normal(v1, e1, v2, e2), "by-error"
	}
	t.ok = true
	t.worse = -better * t.d.D
	t.p = t.d.Fell
	if t.d.D > 0 {
		t.p = t.d.Rose
	}
	t.args["releases"] = strconv.Itoa(len(st.base))
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

// pass applies the false discovery rule to the evals of a release, each direction by itself.
func (e *evalJudgement) pass(tests []evalTest) []bool {
	passed := make([]bool, len(tests))
	family := 0
	for i := range tests {
		tests[i].q = 1
		if tests[i].ok {
			family++
		}
	}
	for _, dir := range []float64{1, -1} {
		var at []int
		var p []float64
		for i := range tests {
			if tests[i].ok && tests[i].worse*dir > 0 {
				at, p = append(at, i), append(p, tests[i].p)
			}
		}
		q, limit := regression.BenjaminiHochberg(p, family, regression.FDR)
		for k, i := range at {
			tests[i].q, passed[i] = q[k], p[k] <= limit
		}
	}
	return passed
}

// decide gives one eval its word and brings its state up to date.
func (e *evalJudgement) decide(t *evalTest, passed bool, st *evalState, releases []Release, policy *Policy) {
	c := e.cells[t.cell]
	value := c.values[t.at]
	now := value.scores[0]
	rel := releases[value.release]
	v := schema.Verdict{Release: rel.Name, Run: value.runs[0], Model: c.id.model, Device: c.id.device, Impl: c.id.impl, Key: EvalKey(&now.Score), Metric: c.metric, Stat: "value", Against: schema.AgainstHistory,
		Value: now.Value, N: now.N, Reason: schema.Reason{Code: t.code, Args: t.args}, Word: schema.Insufficient}
	if len(st.base) > 0 {
		b := c.values[st.base[len(st.base)-1]]
		v.Ref, v.Baseline = b.scores[0].Value, releases[b.release].Name
	}
	delta := policy.EvalEffect()
	t.args["limit"] = num4(100 * delta)
	if now.N > 0 {
		t.args["n"] = strconv.Itoa(now.N)
	}
	behind := evalBehind{t.cell, t.at, slices.Clone(st.base)}
	dir := math.Copysign(1, t.worse)
	joined := joins(rel.Channel)
	remember := true
	switch {
	case t.code == "prompt":
		v.Word = schema.NotComparable
		st.base, st.suspect = nil, -1 // the new questions have no history
	case !t.ok:
	default:
		e.measured(&v, t)
		v.Q = schema.Num(t.q)
		if t.code == "eval-gate" { // the difference is from the mean of the releases, and so is what it is told against
			v.Ref = schema.Num(latency.Round(valueOf(&v)-t.d.D*scaleOf(now), 12))
		}
		remember = e.word(&v, t, passed, dir, delta, st, releases, joined)
	}
	v.ID = schema.VerdictID(v.Release, v.Baseline, v.Model, v.Device, v.Key, v.Metric, v.Stat+v.Impl, schema.AgainstHistory)
	e.rows[value.release], e.behind[v.ID] = append(e.rows[value.release], v), behind
	if _, has := now.Value.Get(); joined && remember && has {
		st.base = append(st.base, t.at)
	}
}

func (e *evalJudgement) measured(v *schema.Verdict, t *evalTest) {
	v.Effect, v.P = schema.Num(t.worse), schema.Num(t.p)
	lo, hi := t.worse-(t.d.D-t.d.Lo), t.worse+(t.d.Hi-t.d.D)
	if t.worse*t.d.D < 0 || t.worse == 0 { // worse is the fall of what was measured: the interval turns over
		lo, hi = -t.d.Hi, -t.d.Lo
	}
	v.Interval = &[2]float64{lo, hi}
}

// word decides, and reports whether the value may join the baseline.
func (e *evalJudgement) word(v *schema.Verdict, t *evalTest, passed bool, dir, delta float64, st *evalState, releases []Release, joined bool) bool {
	c := e.cells[t.cell]
	half90 := math.Max(t.d.Hi90-t.d.D, t.d.D-t.d.Lo90)
	if st.suspect >= 0 {
		first := c.values[st.suspect]
		again := st.dir*t.worse >= delta && sees(t, st.z, len(st.base))
		if joined {
			e.rows[first.release][st.row].Follow = schema.Follow{Release: v.Release, Again: again}
		}
		if again && !joined { // a build is not to blame for what its base did
			v.Word, v.First, v.Reason.Code = schema.Watch, releases[first.release].Name, "base-suspect"
			return true
		}
		if again {
			v.Word, v.Evidence, v.First = changeWord(st.dir), "confirmed", releases[first.release].Name
			st.base, st.suspect = []int{st.suspect}, -1
			return true
		}
		if joined {
			st.suspect = -1
		}
	}
	if later := e.disagrees(t, st, delta); later != nil && !(passed && dir > 0) {
		v.Word, v.Reason.Code, v.Reason.Args["first"] = schema.Watch, "runs-disagree", num4(valueOf(v))
		v.Value, v.Run = later.score.Value, later.run
		e.measured(v, &later.evalTest)
		return true
	}
	switch {
	case passed && dir*t.worse >= delta:
		v.Word, v.Evidence = changeWord(dir), "probable"
		if again, second := e.rechecked(t, st, dir, delta); second != nil {
			v.Value, v.Reason.Args["first"] = second.score.Value, num4(valueOf(v))
			v.Run = second.run
			e.measured(v, &second.evalTest)
			if !again {
				v.Word, v.Evidence, v.Reason.Code = schema.Watch, "", "not-seen-again"
				return false
			}
			v.Evidence = "confirmed"
			if joined {
				st.base = nil
			}
			return true
		}
		if joined {
			st.suspect, st.dir, st.row, st.z = t.at, dir, len(e.rows[c.values[t.at].release]), normalScore(t.p)
		}
		return false
	case t.worse >= delta:
		v.Word = schema.Watch
	case math.Abs(t.worse)+half90 < delta:
		v.Word = schema.Same
	default:
		v.Word = schema.Noisy
		if p, ok := share(&c.values[t.at].scores[0].Score); ok {
			t.args["needed"] = strconv.Itoa(proportion.Items(math.Max(p, delta), delta))
		}
	}
	return true
}

// secondLook is the test of a later run of the same release.
type secondLook struct {
	evalTest
	score *columns.ScoreRow
	run   string
}

func valueOf(v *schema.Verdict) float64 {
	x, _ := v.Value.Get()
	return x
}

// rechecked asks a later run of the release; nil when there is none.
func (e *evalJudgement) rechecked(t *evalTest, st *evalState, dir, delta float64) (again bool, second *secondLook) {
	later := e.later(t, st)
	if len(later) == 0 || !later[0].ok {
		return false, nil
	}
	x := later[0]
	return dir*x.worse >= delta && dir*t.worse > 0 && sees(&x.evalTest, normalScore(t.p), len(st.base)), x
}

// later compares what the later runs of a release say of an eval with its baseline.
func (e *evalJudgement) later(t *evalTest, st *evalState) (out []*secondLook) {
	c := e.cells[t.cell]
	scores, runs := c.values[t.at].scores, c.values[t.at].runs
	for i := range scores {
		if runs[i] != runs[0] {
			x := &secondLook{evalTest{cell: t.cell, at: t.at, args: map[string]string{}}, scores[i], runs[i]}
			e.compare(&x.evalTest, c, st, scores[i])
			out = append(out, x)
		}
	}
	return out
}

// disagrees finds a later run of the release that is clearly worse than the baseline while the first is not: nobody may measure until
// it fits, and nobody may stop looking. At one in two hundred, as for single numbers; the worst of several is told.
func (e *evalJudgement) disagrees(t *evalTest, st *evalState, delta float64) (worst *secondLook) {
	const size = .005
	if t.worse >= delta {
		return nil
	}
	for _, x := range e.later(t, st) {
		if x.ok && x.worse >= delta && x.p <= size && (worst == nil || x.worse > worst.worse) {
			worst = x
		}
	}
	return worst
}

// sees tests an independent run given the first: both are compared with the same baseline, whose error they share.
func sees(t *evalTest, first float64, releases int) bool {
	const size = .01
	rho := 1 / float64(releases+1)
	return distuv.UnitNormal.Survival((normalScore(t.p)-rho*first)/math.Sqrt(1-rho*rho)) <= size
}

// normalScore is the standard normal value with an upper tail of p.
func normalScore(p float64) float64 {
	return distuv.UnitNormal.Quantile(1 - math.Min(.5, math.Max(p, 1e-15)))
}

func changeWord(dir float64) string {
	if dir > 0 {
		return schema.Worse
	}
	return schema.BetterWord
}

// history returns the verdicts of a release.
func (e *evalJudgement) history(_ *Judgement, release int) []schema.Verdict {
	return append([]schema.Verdict(nil), e.rows[release]...)
}
