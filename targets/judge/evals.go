package judge

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/regression/proportion"
	"gonum.org/v1/gonum/mathext"
)

// evalJudgement holds the verdicts of all evals against history, by release.
type evalJudgement struct {
	cells    []*evalCell
	rows     map[int][]schema.Verdict
	tests    map[string]*evalTest // by verdict
	columns  *columns.Columns
	screen   *screen
	releases []Release
}

// evalTest is the test of a score of an eval in one release, and the verdict that it becomes.
type evalTest struct {
	*evalJudgement
	*evalCell
	at       int // index of its value
	score    *columns.ScoreRow
	run      string
	baseline []int // indexes of the values that it was compared with
	noise    *EvalNoise
	d        proportion.Difference
	worse    float64 // change of the share (or of the value), positive is worse
	p, q     float64 // one-sided in its direction; q over the evals of the release
	reason   schema.EvalChange
	ok       bool
	// delta is the least significant change that matters; same the least that so many questions can rule out.
	delta, same float64
	joins       bool // the release may enter baselines
	v           schema.Verdict
}

// dir returns the direction of the change: +1 is a regression.
func (t *evalTest) dir() float64 { return math.Copysign(1, t.worse) }

func (t *evalTest) value() *evalValue { return &t.values[t.at] }

// runOf is the id of the run of a score.
func (e *evalJudgement) runOf(s *columns.ScoreRow) string { return e.columns.Runs[s.Run].ID }

// judgeEvals judges the releases in order, with one family of tests for each release, separate from performance. With
// a few hundred evals speed does not matter, so the code is written to be readable.
func judgeEvals(
	ctx context.Context, c *columns.Columns, releases []Release, screen *screen,
) (*evalJudgement, error) {
	e := &evalJudgement{evalCells(ctx, c, releases, screen), map[int][]schema.Verdict{}, map[string]*evalTest{}, c,
		screen, releases}
	if err := ctx.Err(); err != nil { // then these are not all
		return nil, err
	}
	for ri := range releases {
		var tests []*evalTest
		for _, c := range e.cells {
			if at := c.at(ri); at >= 0 {
				tests = append(tests, e.test(c, at, 0))
			}
		}
		for k, passed := range passing(tests) {
			tests[k].decide(passed)
		}
	}
	return e, nil
}

// test compares one score of a release with the baseline, by the data: by the gate on the arcsine scale from three
// releases on where the same items were not answered, else as two scores allow.
func (e *evalJudgement) test(c *evalCell, at, of int) *evalTest {
	now := c.values[at].scores[of]
	t := &evalTest{
		evalJudgement: e, evalCell: c, at: at, score: now, run: e.runOf(now), baseline: slices.Clone(c.base),
		reason: schema.EvalChange{Test: schema.TestNone, Limit: e.screen.EvalEffect(), N: max(now.N, 0)},
	}
	if len(c.base) == 0 {
		return t
	}
	before := c.before().scores[0]
	pair := schema.Pair{Model: c.id.system.Model, Device: c.id.system.Device}
	why := promptDiffers(before, now)
	if why != "" && !e.screen.AcceptsPrompt(e.releases[c.values[at].release].Name, pair, c.id.task) {
		t.reason.Test, t.reason.Conditions = schema.TestPrompt, why
		return t
	}
	if _, p, shares := shares(&before.Score, &now.Score); shares && len(c.base) >= 3 && !sameItems(before, now) {
		t.arcsineGate(p)
	} else if t.d, t.reason, _ = difference(before, now, t.reason); t.reason.Test == schema.TestNoError {
		return t
	}
	t.ok, t.reason.Releases = true, len(c.base)
	// What matters is what a person states, else one percentage point where the same questions were answered and two
	// elsewhere. Where so few questions could not show that, unchanged means the next whole number of points, five at
	// most, that they could show four times in five.
	stated := e.screen.EvalPoint != 0
	if t.delta = e.screen.EvalEffect(); !stated && t.reason.Test == schema.TestPaired {
		t.delta = .01
	}
	if t.same = t.delta; !stated {
		const most, wanted = .05, 1.96 + .842 // of the half of a 95 % interval and a power of 80 %, in standard errors
		se := math.Max(t.d.Hi-t.d.D, t.d.D-t.d.Lo) / 1.96
		t.same = math.Max(t.delta, math.Min(most, math.Ceil(100*wanted*se)/100))
	}
	t.reason.Limit = t.same
	if t.worse = -t.d.D; now.Lower() {
		t.worse = t.d.D
	}
	if t.p = t.d.Fell; t.d.D > 0 {
		t.p = t.d.Rose
	}
	return t
}

// difference is that of two scores of one task, now minus before, with its 95 % interval; everything that compares two
// has it from here: paired where the same items were answered, by Newcombe's interval where both are shares of a known
// number of items, by standard errors where nothing else is known. The reason gets the test, and for none why says what
// is missing.
func difference(before, now *columns.ScoreRow, r schema.EvalChange) (
	d proportion.Difference, reason schema.EvalChange, why string) {
	p1, p2, shares := shares(&before.Score, &now.Score)
	switch {
	case shares && sameItems(before, now):
		lost, gained := Flipped(before.Outcomes, now.Outcomes)
		r.Lost, r.Gained, r.Test = len(lost), len(gained), schema.TestPaired
		d = proportion.McNemar(r.Lost, r.Gained, len(now.Outcomes.Right))
		if byItem(now.Outcomes) || limited(&before.Score) && limited(&now.Score) {
			d = differenceByItem(before, now)
		}
	case shares && now.N > 0 && before.N > 0:
		d = proportion.Newcombe(p1, itemsKnown(&before.Score, p1), p2, itemsKnown(&now.Score, p2))
		r.Test = schema.TestUnpaired
	default:
		r.Test = schema.TestByError
		if d, r.Relative, why = byError(&before.Score, &now.Score, shares); why != "" {
			r.Test, r.N = schema.TestNoError, min(before.N, now.N)
		}
	}
	return d, r, why
}

// sameItems reports whether two scores answer the same questions, answer by answer.
func sameItems(a, b *columns.ScoreRow) bool {
	return a.Outcomes != nil && b.Outcomes != nil && a.Outcomes.Items == b.Outcomes.Items &&
		len(a.Outcomes.Right) == len(b.Outcomes.Right) && a.Outcomes.Samples == b.Outcomes.Samples
}

// decide makes the verdict on the first score of a release and brings the state of its eval up to date.
func (t *evalTest) decide(passed bool) {
	c, now, rel := t.evalCell, t.score, &t.releases[t.value().release]
	t.joins = rel.Serves()
	t.v = schema.Verdict{
		Release: rel.Name, Run: t.run, Model: c.id.system.Model, Device: c.id.system.Device,
		Impl: c.id.system.Impl, Key: c.key(now), Metric: c.metric, Stat: "value",
		Against: schema.AgainstHistory, Value: now.Value, N: now.N, Outcome: schema.NoBaseline,
	}
	if len(c.base) > 0 {
		b := c.before()
		t.v.Ref, t.v.Baseline = b.scores[0].Value, t.releases[b.release].Name
	}
	_, has := now.Value.Get()
	remember := has
	switch {
	case !has:
		t.lost()
	case t.flipped():
		remember = false
	case t.reason.Test == schema.TestPrompt:
		t.v.Outcome = schema.NotComparable
		if t.joins {
			c.base, c.suspect = nil, -1 // new questions have no history
		}
	case t.ok:
		t.measured(t)
		t.v.Q = schema.Num(t.q)
		if t.noise != nil { // the difference is from the mean, so the mean is the reference
			t.v.Ref = schema.Num(latency.Round(valueOf(&t.v)-t.d.D*scaleOf(&now.Score), 12))
		}
		remember = t.outcome(passed)
	}
	if t.v.Reason == nil {
		t.v.Reason = t.reason
	}
	t.v.ID = schema.VerdictID(t.v.Release, t.v.Baseline, t.v.Pair(), t.v.Key, t.v.Metric, t.v.Stat+t.v.Impl,
		schema.AgainstHistory)
	at := t.value().release
	t.rows[at], t.tests[t.v.ID] = append(t.rows[at], t.v), t
	if t.joins && remember {
		c.base = append(c.base, t.at)
	}
}

// lost handles a score that was attempted and has no value: with none the eval must not count as passed.
func (t *evalTest) lost() {
	why := schema.NoNumber{Why: cmp.Or(t.score.Value.Why(), "the score has no value")}
	for _, s := range t.value().scores {
		if _, has := s.Value.Get(); has {
			why.Other = t.runOf(s)
		}
	}
	t.v.Outcome, t.v.Reason = schema.NotMeasured, why
}

// flipped handles a score whose direction is the opposite of its baseline's: what was worse would count as better.
func (t *evalTest) flipped() bool {
	if len(t.base) == 0 {
		return false
	}
	was, is := t.before().scores[0].Direction, t.score.Direction
	if was == "" || is == "" || was == is {
		return false
	}
	t.v.Outcome = schema.Excluded
	t.v.Reason = schema.InvalidPoint{Why: "better was " + was + " and is " + is}
	return true
}

// measured fills in what a test of this or a later run found. q is of the first run, and does not stand beside what a
// later one found.
func (t *evalTest) measured(x *evalTest) {
	t.v.Q, t.v.Value, t.v.Run = schema.Number{}, x.score.Value, x.run
	t.v.Effect, t.v.P = schema.Num(x.worse), schema.Num(x.p)
	lo, hi := x.worse-(x.d.D-x.d.Lo), x.worse+(x.d.Hi-x.d.D)
	if x.worse*x.d.D < 0 || x.worse == 0 { // worse is a fall of the value, so the interval is inverted
		lo, hi = -x.d.Hi, -x.d.Lo
	}
	t.v.Interval = &[2]float64{lo, hi}
}

// inconclusive makes the verdict inconclusive with an effect beyond what matters.
func (t *evalTest) inconclusive(why schema.Why) {
	t.v.Outcome, t.v.Evidence, t.v.Large, t.reason.Why = schema.Inconclusive, schema.NoEvidence, true, why
}

// outcome decides, and reports whether the value may join the baseline.
func (t *evalTest) outcome(passed bool) bool {
	if t.followUp() {
		return true
	}
	if later := t.disagrees(); later != nil && !(passed && t.dir() > 0) {
		t.inconclusive(schema.WhyRunsDisagree)
		t.reason.First = valueOf(&t.v)
		t.measured(later)
		return true
	}
	switch {
	case passed && math.Abs(t.worse) >= t.delta:
		return t.changed()
	case t.worse >= t.same:
		t.inconclusive(schema.WhyNotSignificant)
	case math.Max(-t.d.Lo, t.d.Hi) < t.same:
		t.v.Outcome = schema.Unchanged
	default:
		t.v.Outcome = schema.Inconclusive
		if p, ok := share(&t.score.Score); ok {
			if n := proportion.Items(math.Max(p, t.same), t.same); t.reason.N > 0 && n > t.reason.N {
				t.reason.Needed = n
			}
		}
	}
	return true
}

// followUp compares the release with an earlier one that waits for an independent run, and reports whether that
// decides.
func (t *evalTest) followUp() bool {
	c := t.evalCell
	if c.suspect < 0 {
		return false
	}
	first := c.values[c.suspect]
	again := t.again(c.dir, t.delta, c.z)
	if t.joins {
		t.rows[first.release][c.row].Follow = schema.Follow{Release: t.v.Release, Again: again}
	}
	if again {
		t.v.First = t.releases[first.release].Name
	}
	switch {
	case again && !t.joins: // the change is that of its base, not of the build
		t.inconclusive(schema.WhyBaseSuspect)
	case again:
		t.v.Outcome, t.v.Evidence = regression.WordOf(c.dir), schema.Confirmed
		c.base, c.suspect = []int{c.suspect}, -1
	case t.joins:
		c.suspect = -1
	}
	return again
}

// changed handles a significant change: it is suspected, unless it is known which questions turned, of which a second
// run would answer the same ones, or a later run of the release confirms or refutes it.
func (t *evalTest) changed() (joins bool) {
	c, first := t.evalCell, normalScore(t.p)
	t.v.Outcome, t.v.Evidence, t.reason.Limit = regression.WordOf(t.dir()), schema.Suspected, t.delta
	sure := t.reason.Test == schema.TestPaired
	if later := t.later(); len(later) > 0 && later[0].ok {
		t.reason.First = valueOf(&t.v)
		t.measured(later[0])
		if sure = later[0].again(t.dir(), t.delta, first); !sure {
			t.inconclusive(schema.WhyNotSeenAgain)
			return false
		}
	}
	switch {
	case sure:
		if t.v.Evidence = schema.Confirmed; t.joins {
			c.base = nil
		}
	case t.joins:
		c.suspect, c.dir, c.row, c.z = t.at, t.dir(), len(t.rows[t.value().release]), first
	}
	return sure
}

func valueOf(v *schema.Verdict) float64 {
	x, _ := v.Value.Get()
	return x
}

// later compares the scores of the later runs of a release with its baseline.
func (t *evalTest) later() (out []*evalTest) {
	for i, s := range t.value().scores {
		if t.runOf(s) != t.run {
			out = append(out, t.test(t.evalCell, t.at, i))
		}
	}
	return out
}

// disagrees finds a later run of the release that is clearly worse than the baseline while the first is not, so that
// repeating a measurement does not hide a regression. The test has a size of one in two hundred, as for performance;
// the worst of several runs is shown.
func (t *evalTest) disagrees() (worst *evalTest) {
	const size = .005
	if t.worse >= t.delta {
		return nil
	}
	for _, x := range t.later() {
		if x.ok && x.worse >= t.delta && x.p <= size && (worst == nil || x.worse > worst.worse) {
			worst = x
		}
	}
	return worst
}

// again reports whether an independent run shows a change of a direction that matters, too. It is tested given the
// first one, since both share the error of the same baseline.
func (t *evalTest) again(dir, delta, first float64) bool {
	const size = .01
	rho := 1 / float64(len(t.base)+1)
	given := (normalScore(t.p) - rho*first) / math.Sqrt(1-rho*rho)
	return dir*t.worse >= delta && regression.UpperTail(given, math.Inf(1)) <= size
}

// Beside is how far a score lies from one of another model or release: now minus before, in shares where both are
// shares, else in the tool's own scale, with its 95 % interval.
type Beside struct {
	D, Lo, Hi float64         // in shares of 1, or of the scale of a score that is no share
	Relative  bool            // to the first: its scale has no end
	P         float64         // two-sided
	Share     bool            // both are shares of right answers
	Test      schema.EvalTest // paired where both answered the same questions
}

// ScoreBeside compares two scores of one task; why is set instead where they cannot be compared. It is a description
// and no verdict: nothing is corrected for how many are looked at.
func ScoreBeside(before, now *columns.ScoreRow) (b Beside, why string) {
	if why = promptDiffers(before, now); why != "" {
		return Beside{}, why
	}
	d, reason, why := difference(before, now, schema.EvalChange{})
	if why != "" {
		return Beside{}, why
	}
	_, _, share := shares(&before.Score, &now.Score)
	p := math.Min(1, 2*math.Min(d.Fell, d.Rose))
	return Beside{D: d.D, Lo: d.Lo, Hi: d.Hi, Relative: reason.Relative, P: p, Share: share, Test: reason.Test}, ""
}

// evalID is one eval of one system within one line of releases.
type evalID struct {
	system schema.System
	task   string
	// part is what of a filter names a number of its own: what the name of its file says, or the cells of its row, such as
	// subtask=4. Other filters are readings of the same answers.
	part  string
	seq   sequence
	marks string // of its filter, where releases have it asked for in several ways: " | shots 5"
}

// evalCell is the history of one eval under its primary metric.
type evalCell struct {
	id             evalID
	metric, filter string
	values         []evalValue // by release
	// The state between releases.
	base    []int // indexes of the values that the baseline holds
	suspect int   // index that waits for an independent run; -1
	dir     float64
	row     int     // of the suspect among its release's rows
	z       float64 // its test statistic
}

// evalValue holds the scores of one release: the first run's, and those of later runs.
type evalValue struct {
	release int
	scores  []*columns.ScoreRow
}

// at returns the index of the value of a release, or -1.
func (c *evalCell) at(release int) int {
	return slices.IndexFunc(c.values, func(v evalValue) bool { return v.release == release })
}

// before is the newest value of the baseline, which has one.
func (c *evalCell) before() *evalValue { return &c.values[c.base[len(c.base)-1]] }

// key is the workload of a score of the eval.
func (c *evalCell) key(s *columns.ScoreRow) schema.Key {
	named := s.Score
	named.Filter = schema.NamedFilter(s.Filter) + c.id.marks
	return schema.EvalKey(&named)
}

// evalName is the name of a task's score.
type evalName struct{ metric, filter string }

// evalWay is an eval as it is asked for in one way, such as with five shots, through all releases.
type evalWay struct {
	primary evalName
	cells   map[evalName]*evalCell
}

// evalCells gathers the evals of a history, one primary metric for each task and release, so that a release's page
// does not count one eval several times. A task keeps its metric for as long as releases report it, even if a later
// release has a better one, so that verdicts on earlier releases do not change.
//
// A release may ask for an eval in several ways, of which each has a history of its own.
func evalCells(ctx context.Context, c *columns.Columns, releases []Release, screen *screen) []*evalCell {
	known, ways := histories[evalID]{}, map[*variant]*evalWay{}
	var out []*evalCell
	seqs := sequences(releases)
	for ri := range releases {
		serves := releases[ri].Serves()
		for id, list := range evalsOf(c, releases[ri].Runs, screen, seqs[ri]) {
			if ctx.Err() != nil {
				return nil // the caller asks for it, too
			}
			asked := variantsOf(len(list), func(i int) map[string]string { return asksOf(list[i]) })
			for k, v := range known.next(id, asked, serves, marks) {
				if ways[v] == nil {
					ways[v] = &evalWay{cells: map[evalName]*evalCell{}}
				}
				scores := map[evalName]*evalValue{}
				for _, i := range asked[k].of {
					own, _ := schema.SplitFilter(list[i].Filter)
					n := evalName{list[i].Metric, own}
					if scores[n] == nil {
						scores[n] = &evalValue{release: ri}
					}
					scores[n].scores = append(scores[n].scores, list[i])
				}
				of := id
				of.marks = v.name
				if cell := ways[v].add(of, scores, serves); cell != nil {
					out = append(out, cell)
				}
			}
		}
	}
	slices.SortFunc(out, func(x, y *evalCell) int {
		natural := schema.NaturalCompare
		if by := cmp.Or(compareSystems(x.id.system, y.id.system), natural(x.id.task, y.id.task)); by != 0 {
			return by // as most of them are
		}
		return cmp.Or(natural(x.id.part, y.id.part), natural(x.id.seq.channel, y.id.seq.channel),
			natural(x.id.seq.line, y.id.seq.line), natural(x.metric, y.metric), natural(x.filter, y.filter),
			natural(x.id.marks, y.id.marks))
	})
	return out
}

// add takes the scores of a release, and returns the cell that it begins, or nil.
func (w *evalWay) add(id evalID, now map[evalName]*evalValue, serves bool) (begun *evalCell) {
	n := w.primary
	if now[n] == nil {
		n = slices.MinFunc(slices.Collect(maps.Keys(now)), func(a, b evalName) int { // that papers report
			return cmp.Or(cmp.Compare(evalRank(now[a].scores[0]), evalRank(now[b].scores[0])),
				cmp.Compare(a.metric, b.metric), cmp.Compare(a.filter, b.filter))
		})
	}
	if serves {
		w.primary = n
	}
	cell := w.cells[n]
	if cell == nil {
		cell = &evalCell{id: id, metric: n.metric, filter: n.filter, suspect: -1}
		w.cells[n], begun = cell, cell
	}
	cell.values = append(cell.values, *now[n])
	return begun
}

// evalsOf gathers the scores of each eval in one release.
func evalsOf(c *columns.Columns, runs []int, screen *screen, seq sequence) map[evalID][]*columns.ScoreRow {
	rows := map[evalID][]*columns.ScoreRow{}
	for _, run := range runs {
		h := &c.Runs[run]
		if screen.excludes(h) {
			continue
		}
		list := c.ScoresOf(run)
		for i := range list {
			s := &list[i]
			part, _ := schema.SplitFilter(s.Filter)
			if !strings.Contains(part, "=") {
				part = ""
			}
			id := evalID{system: h.System(), task: s.Task, part: part + schema.FileOf(s.Filter), seq: seq}
			rows[id] = append(rows[id], s)
		}
	}
	return rows
}

// ofTool stands before the name of a tool, of which every score says what it does not state: no other settings, not in
// few bits.
const ofTool = " of "

// asksOf is how a score was asked for, and in which precision.
func asksOf(s *columns.ScoreRow) map[string]string {
	out := s.Asked()
	if s.Precision != "" {
		out["precision"] = strings.ToLower(s.Precision)
	}
	if tool := s.Source.Format; tool != "" {
		out[schema.Settings+ofTool+tool] = cmp.Or(out[schema.Settings], "none")
		for _, name := range []string{"load_in_4bit", "load_in_8bit"} {
			on, _ := strconv.ParseBool(out[name]) // what is no such word is off
			out[name+ofTool+tool] = strconv.FormatBool(on)
		}
	}
	return out
}

// AskedApart reports whether two scores were asked for in ways that are not compared, or with other limits.
func AskedApart(a, b *columns.ScoreRow) bool {
	return inCommon(asksOf(a), asksOf(b)) < 0
}

// GoesOn is the place of what a score, one of a list that was asked for in several ways, is to be compared with; -1 for
// nothing.
func GoesOn(before, list []*columns.ScoreRow, now *columns.ScoreRow) int {
	return goesOn(before, list, now, func(a, b *columns.ScoreRow) int {
		return inCommon(asksOf(a), asksOf(b))
	})
}

// marks is what tells a way to ask for an eval from others.
func marks(way *variant, others []*variant) (marks string) {
	differs := map[string]bool{}
	for _, o := range others {
		for name := range with(way.states, o.states) {
			what, _, _ := strings.Cut(name, ofTool)
			differs[what] = differs[what] || inCommon(way.states, o.states) < 0 && o.states[name] != way.states[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(differs)) {
		if differs[name] {
			marks += schema.FilterMark + name + " " + cmp.Or(way.states[name], "none")
		}
	}
	if marks == "" && len(others) > 0 {
		marks = schema.FilterMark + "unstated"
	}
	return marks
}

// evalRank prefers the metric that a file calls its report's score, then the metric and filter that papers report.
func evalRank(s *columns.ScoreRow) int {
	if s.Unknown.Text(schema.Headline) != "" {
		return -1
	}
	metrics := []string{"exact_match", "acc", "accuracy", "pass@1", "prompt_level_strict", "acc_norm", "score", "f1"}
	filters := []string{"strict-match", "none", "", "custom-extract", "flexible-extract"}
	own, apart := schema.SplitFilter(s.Filter)
	metric := strings.TrimPrefix(strings.ToLower(s.Metric), "mean_") // of evalscope
	m, f := slices.Index(metrics, strings.TrimSuffix(metric, "_acc")), slices.Index(filters, own)
	if m < 0 {
		m = len(metrics)
	}
	if f < 0 {
		f = len(filters)
	}
	if apart != "" {
		f += len(filters) + 1
	}
	return m*20 + f
}

// byError is the difference of two scores by their stated standard errors, in shares of 1 where both are shares: one
// file may write percent and the other a fraction. Of others see [spanOf]. why says what is missing.
func byError(before, now *schema.Score, shares bool) (d proportion.Difference, relative bool, why string) {
	v, hasBefore := before.Value.Get()
	w, has := now.Value.Get()
	e, isStatedBefore := before.Stderr.Get()
	f, isStated := now.Stderr.Get()
	x, y, _ := scalesOf(before, now)
	switch {
	case !hasBefore || !has:
		return d, false, "one of them has no value"
	case !isStatedBefore || !isStated || e+f <= 0:
		return d, false, "neither questions nor errors are stated"
	case !shares:
		x, relative = spanOf(v, now)
		y = x
	}
	return proportion.Normal(v/x, e/x, w/y, f/y), relative, ""
}

// itemsOf is of how many right or wrong answers a share has the error that its file states. That is the number of items
// for an eval whose answers are right or wrong; a mean of graded answers has less noise, and one of related questions
// more. Without a stated error it is the number of items.
func itemsOf(s *schema.Score, p float64) float64 {
	n := float64(s.N)
	e, has := s.Stderr.Get()
	e /= scaleOf(s)
	if s.Outcomes != nil && byItem(s.Outcomes) {
		x := itemsFor(s)
		e, has = x.Error(), true
	}
	if !has || !(e > 0) || n < 2 || p <= 0 || p >= 1 {
		return n
	}
	rounding := .02 + 1e-4/e // of an error that is stated with four digits
	for _, d := range []float64{n, n - 1} {
		if math.Abs(e/math.Sqrt(p*(1-p)/d)-1) <= rounding {
			return n
		}
	}
	return itemsBehind(p, e)
}

// itemsKnown is of how many right or wrong answers a share of a known number of items has the error: see [itemsOf]. Of
// a limited run (the first n of N) only what was not asked is left to chance, as the finite population correction has
// it. 0: the number of items is not known.
func itemsKnown(s *schema.Score, p float64) float64 {
	if s.N <= 0 {
		return 0
	}
	return itemsOf(s, p) / left(s)
}

// spread is the standard error of a share that is compared: half of its interval, in standard errors; 0: not known.
func spread(s *schema.Score, p float64) float64 {
	if n := itemsKnown(s, p); n > 0 {
		lo, hi := proportion.Wilson(p, n)
		return (hi - lo) / (2 * proportion.Z975)
	}
	e, _ := s.Stderr.Get()
	return math.Max(0, e) / scaleOf(s)
}

// ScoreInterval is the 95 % interval of a score in its own scale: Wilson's of a share of a known number of items, else
// by the standard error that its file states. known is false where nothing is known, and of a count of all cases, which
// is no sample. Whatever shows or grades a score by itself has its interval from here; see [difference] for two.
func ScoreInterval(s *schema.Score) (lo, hi float64, known bool) {
	lo, hi, known = intervalOf(s)
	if scale := ShareScale(s); scale > 0 {
		return lo * scale, hi * scale, known
	}
	return lo, hi, known
}

// intervalOf is [ScoreInterval] of a share as one of 1.
func intervalOf(s *schema.Score) (lo, hi float64, known bool) {
	v, has := s.Value.Get()
	e, _ := s.Stderr.Get()
	p, isShare := share(s)
	n := itemsKnown(s, p)
	switch {
	case !has || s.Metric == schema.MetricPassed:
	case isShare && n > 0:
		lo, hi = proportion.Wilson(p, n)
		return lo, hi, true
	case isShare && e > 0:
		half := proportion.Z975 * spread(s, p)
		return math.Max(0, p-half), math.Min(1, p+half), true
	case !isShare && e > 0:
		return v - proportion.Z975*e, v + proportion.Z975*e, true
	}
	return 0, 0, false
}

// limited reports whether a score is of a part of its task's items.
func limited(s *schema.Score) bool { return s.Total > s.N && s.N > 0 }

// left is the share of a task's items that were not asked, which is left of the variance that their choice makes: the
// finite population correction; 1 where all were, which are a sample of others.
func left(s *schema.Score) float64 {
	if !limited(s) {
		return 1
	}
	return 1 - float64(s.N)/float64(s.Total)
}

// passing applies the false discovery procedure to the evals of a release, each direction by itself, and sets their q.
// The family has both directions of each: what is shown to have changed has an interval of 95 % without zero.
func passing(tests []*evalTest) []bool {
	passed := make([]bool, len(tests))
	family := 0
	for i := range tests {
		tests[i].q = 1
		if tests[i].ok {
			family += 2
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

// normalScore returns the standard normal value with an upper tail of p.
func normalScore(p float64) float64 {
	return mathext.NormalQuantile(1 - math.Min(.5, math.Max(p, 1e-15)))
}

// evalWindow is the most releases in an eval's baseline.
const evalWindow = 20

// EvalNoise is what a share is compared with that has three earlier releases or more, on the scale 2·asin √p.
type EvalNoise struct {
	Mean      float64 // of the releases
	MeanShare float64 // mean of the shares
	Own       float64 // variance between the releases
	Variance  float64 // the larger of it and that of the items, 1/n
	Df        float64
	SE        float64 // of the difference of the share from the mean
	Z         float64 // the share
}

// arcsineGate compares a share with three releases or more on the scale 2·asin √p, where the variance of n items is
// 1/n: the noise between releases is never taken below that of the items.
func (t *evalTest) arcsineGate(p float64) {
	base := t.base[max(0, len(t.base)-evalWindow):]
	n := float64(len(base))
	x := &EvalNoise{Z: proportion.Arcsine(p), Df: n - 1}
	known := 0
	for _, b := range base {
		s := &t.values[b].scores[0].Score
		q, _ := share(s)
		x.Mean += proportion.Arcsine(q) / n
		x.MeanShare += q / n
		known += s.N
	}
	for _, b := range base {
		q, _ := share(&t.values[b].scores[0].Score)
		d := proportion.Arcsine(q) - x.Mean
		x.Own += d * d / (n - 1)
	}
	x.Variance = x.Own
	if items := itemsOf(&t.score.Score, p); items > 0 && known > 0 && x.Variance < 1/items {
		x.Variance, x.Df = 1/items, math.Inf(1)
	}
	x.SE = math.Sqrt(x.Variance * (1 + 1/n))
	t.noise, t.reason.Test = x, schema.TestGate
	d := proportion.Difference{D: p - x.MeanShare, Fell: .5, Rose: .5}
	half := 0.
	if x.SE > 0 {
		slope := math.Max(math.Sqrt(x.MeanShare*(1-x.MeanShare)), .01) // of shares over that scale
		half = regression.Quantile(.975, x.Df) * x.SE * slope
		d.Rose = regression.UpperTail((x.Z-x.Mean)/x.SE, x.Df)
		d.Fell = regression.UpperTail((x.Mean-x.Z)/x.SE, x.Df) // not 1 − Rose, which loses every small p
	}
	d.Lo, d.Hi = d.D-half, d.D+half
	t.d = d
}

// EvalCalculation holds the numbers behind a verdict on an eval.
type EvalCalculation struct {
	Baseline, Now []EvalValue // by release; by run of the release
	*EvalNoise                // nil for a comparison with one score
}

// EvalValue is one score.
type EvalValue struct {
	Release, Run string
	Value        float64
	N            int
}

// ExplainEval returns what decided a verdict on an eval against history; nil for any other.
func (j *Judgement) ExplainEval(v schema.Verdict) *EvalCalculation {
	t := j.evals.tests[v.ID]
	if t == nil {
		return nil
	}
	value := func(x *evalValue, s *columns.ScoreRow) EvalValue {
		score, _ := s.Value.Get()
		return EvalValue{j.Releases[x.release].Name, t.runOf(s), score, s.N}
	}
	r := &EvalCalculation{EvalNoise: t.noise}
	for _, at := range t.baseline[max(0, len(t.baseline)-evalWindow):] {
		r.Baseline = append(r.Baseline, value(&t.values[at], t.values[at].scores[0]))
	}
	for _, s := range t.value().scores {
		r.Now = append(r.Now, value(t.value(), s))
	}
	return r
}

// ScoreOf returns the score that a verdict on an eval against history is about, nil for any other.
func (j *Judgement) ScoreOf(v *schema.Verdict) *columns.ScoreRow {
	t := j.evals.tests[v.ID]
	if t == nil {
		return nil
	}
	for _, s := range t.value().scores {
		if t.runOf(s) == v.Run {
			return s
		}
	}
	return nil
}

// Scales of scores that are shares of right answers: files have .79 or 79.
const (
	inFraction = 1.
	inPercent  = 100.
)

// scaleOf returns the factor from a share to the tool's own scale. A value above 1 is in percent; so is one below it
// whose stated error is that of its items only in percent, as .9 ± .3 of 1,000 is.
func scaleOf(s *schema.Score) float64 {
	if v, _ := s.Value.Get(); v > 1 || reading(s, float64(s.N)) == inPercent {
		return inPercent
	}
	return inFraction
}

// reading is the scale in which the stated error of a value is that of n items; 0 where the error does not tell.
func reading(s *schema.Score, n float64) float64 {
	const sure = 4 // times as near
	v, _ := s.Value.Get()
	e, has := s.Stderr.Get()
	if !has || !(e > 0) || v <= 0 || v >= 1 || n < 2 {
		return 0
	}
	off := func(scale float64) float64 { return math.Abs(math.Log(itemsBehind(v/scale, e/scale) / n)) }
	switch one, hundred := off(inFraction), off(inPercent); {
	case one+math.Log(sure) < hundred:
		return inFraction
	case hundred+math.Log(sure) < one:
		return inPercent
	}
	return 0
}

// itemsBehind is of how many right or wrong answers a share has an error.
func itemsBehind(p, e float64) float64 { return p * (1 - p) / (e * e) }

// scalesOf returns the scales of two scores of one task. Where one is in percent and the other at most 1, the other's
// error decides; ok is false where it does not.
func scalesOf(a, b *schema.Score) (x, y float64, ok bool) {
	x, y = scaleOf(a), scaleOf(b)
	if x == y {
		return x, y, true
	}
	small, at, other := a, &x, b
	if y < x {
		small, at, other = b, &y, a
	}
	if v, _ := small.Value.Get(); v == 0 {
		return x, y, true
	}
	n := float64(small.N)
	if n < 2 {
		n = float64(other.N)
	}
	if v, _ := other.Value.Get(); n < 2 {
		if e, has := other.Stderr.Get(); has && e > 0 {
			n = itemsBehind(v/inPercent, e/inPercent)
		}
	}
	*at = reading(small, n)
	return x, y, *at > 0
}

// isShare reports whether a score is a share of right answers: a fraction or a percentage of a metric where higher is
// better.
func isShare(s *schema.Score) bool {
	v, has := s.Value.Get()
	_, noShare := s.NoShare()
	return has && !s.Lower() && v >= 0 && (v <= 1 || v <= 100 && !noShare)
}

// spanOf is by what a difference of two scores is divided of which one is no share, the later one s, and whether that
// makes it a change relative to the earlier one: a word error rate ends at 1, or at 100 in percent, a perplexity
// nowhere.
func spanOf(before float64, s *schema.Score) (span float64, relative bool) {
	v, _ := s.Value.Get()
	kind, known := s.NoShare()
	most := math.Max(math.Abs(before), math.Abs(v))
	switch {
	case known && kind.Ends && most > 1:
		return inPercent, false
	case most <= 1 && math.Min(before, v) >= 0 && (kind.Ends || !known), before == 0:
		return inFraction, false
	}
	return math.Abs(before), true
}

// share returns a score as a share of right answers, if it is one.
func share(s *schema.Score) (p float64, ok bool) {
	if !isShare(s) {
		return 0, false
	}
	v, _ := s.Value.Get()
	return v / scaleOf(s), true
}

// shares are two scores of one task as shares of right answers; ok is false where one is none. See [scalesOf].
func shares(a, b *schema.Score) (p1, p2 float64, ok bool) {
	if !isShare(a) || !isShare(b) {
		return 0, 0, false
	}
	x, y, _ := scalesOf(a, b)
	v, _ := a.Value.Get()
	w, _ := b.Value.Get()
	return v / x, w / y, true
}

// ShareScale is what a score's value is divided by to get a share of right answers, 0 for a score that is none.
func ShareScale(s *schema.Score) float64 {
	if !isShare(s) {
		return 0
	}
	return scaleOf(s)
}

// promptDiffers returns why two scores answer different questions, are of the model in other numbers, or may be on
// different scales; or "".
func promptDiffers(a, b *columns.ScoreRow) string {
	if a.Outcomes != nil && b.Outcomes != nil && a.Outcomes.Items != b.Outcomes.Items {
		return "the questions or their prompts differ"
	}
	x, y := asksOf(a), asksOf(b) // of what only one of them states nothing is known
	first := []string{"shots", "version", "precision"}
	for _, name := range slices.Concat(first, slices.Sorted(maps.Keys(x))) {
		what, _, _ := strings.Cut(name, ofTool)
		if said := map[string]string{"shots": "few-shot", "version": "task version"}[name]; said != "" {
			what = said
		}
		if v, w := x[name], y[name]; v != "" && w != "" && !strings.EqualFold(v, w) && name != "limit" {
			return what + " " + v + " → " + w
		}
	}
	if _, _, known := scalesOf(&a.Score, &b.Score); !known && isShare(&a.Score) && isShare(&b.Score) {
		return "one of them may be in percent and the other a fraction"
	}
	return ""
}

// eval grades the score that a target covers: the whole 95 % interval of the share must lie on one side of the
// reference moved by its tolerance. Few questions give a wide interval and so an inconclusive verdict; chance alone
// fails a model in at most one of twenty cases. A missing score is missing, not zero.
func (g *grading) eval(t schema.Target) schema.Verdict {
	v := g.start(t, t.Key)
	v.Ref = schema.Num(t.Value)
	s, run := g.score(t)
	if s == nil {
		v.Outcome, v.Reason = schema.NotMeasured, g.notRun(t)
		return v
	}
	v.Run, v.Key, v.Value, v.N, v.Metric = run, schema.EvalKey(&s.Score), s.Value, s.N, s.Metric
	v.ID = schema.VerdictID(g.releaseName(), "", g.pair, t.Key, "eval/"+t.Level, t.Stat, schema.AgainstTarget)
	value, has := s.Value.Get()
	if !has {
		v.Outcome, v.Reason = schema.NotMeasured, schema.NoNumber{Why: s.Value.Why()}
		return v
	}
	why := schema.EvalLimit{Task: s.Task, Tolerance: t.Tolerance, N: max(s.N, 0)}
	p, isShare := share(&s.Score)
	ref, span := t.Value, 1.
	if isShare {
		ref, value = asShare(ref), p
		v.Ref = schema.Num(ref * scaleOf(&s.Score))
	} else {
		span, why.Relative = spanOf(ref, &s.Score)
	}
	sign, limit := -1., ref*(1-t.Tolerance)
	if s.Lower() {
		sign, limit = 1, ref*(1+t.Tolerance)
	}
	v.Effect = schema.Num(sign * (value - ref) / span)
	if limited(&s.Score) {
		why.Of = s.Total
	}
	lo, hi, known := around(t, &s.Score, ref)
	switch {
	case !known:
		lo, hi = value, value
	case sign < 0:
		v.Interval = &[2]float64{(ref - hi) / span, (ref - lo) / span}
	default:
		v.Interval = &[2]float64{(lo - ref) / span, (hi - ref) / span}
	}
	v.Outcome, why.Chance = g.beside(sign*(value-limit), sign*(lo-limit), sign*(hi-limit), 0)
	if why.Chance && isShare && s.N > 0 {
		why.Needed = proportion.Items(value, math.Max(math.Abs(value-limit), .01))
	}
	v.Reason = why
	return v
}

// asShare returns a published score as a share: files have 79 or .79.
func asShare(v float64) float64 {
	if v > 1 {
		return v / 100
	}
	return v
}

// around is the interval of a score as its target grades it: where a published reference states its number of items,
// that of the difference from it.
func around(t schema.Target, s *schema.Score, ref float64) (lo, hi float64, known bool) {
	lo, hi, known = intervalOf(s)
	if p, isShare := share(s); known && isShare && t.Items > 0 {
		of := float64(t.Items)
		d := proportion.Normal(ref, math.Sqrt(ref*(1-ref)/of), p, spread(s, p))
		if s.N > 0 {
			d = proportion.Newcombe(ref, of, p, itemsKnown(s, p))
		}
		lo, hi = ref+d.Lo, ref+d.Hi
	}
	return lo, hi, known
}

// sameTask compares names of evals as people and tools write them: GPQA-Diamond, gpqa_diamond and r1_gpqa_diamond are
// one task.
func sameTask(promised, measured string) bool {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, strings.ToLower(s))
	}
	p, m := plain(promised), plain(measured)
	return promised == measured || p != "" && (p == m || strings.HasSuffix(m, p))
}

// score finds what the release measured for a target: by task, and by metric and filter where it names them. Several
// runs of one implementation count by their mean, with the items of one, because they answered the same questions;
// taking the best would reward repeating. Of several implementations the worst counts, since a target is for all.
func (g *grading) score(t schema.Target) (worst *columns.ScoreRow, run string) {
	runs := slices.DeleteFunc(g.j.runsOf(g.release, g.pair), func(r int) bool { return g.j.screen.excludes(&g.c.Runs[r]) })
	for _, of := range schema.Alike(runs, func(r int) schema.System { return g.c.Runs[r].System() }) {
		var found []*columns.ScoreRow
		first := ""
		for _, r := range of {
			s := bestScore(t, g.c.ScoresOf(r))
			if s == nil || len(found) > 0 && (s.Metric != found[0].Metric || s.Filter != found[0].Filter ||
				AskedApart(found[0], s)) {
				continue
			}
			first, found = cmp.Or(first, g.c.Runs[r].ID), append(found, s)
		}
		if s := together(found); s != nil && (worst == nil || isWorse(s, worst)) {
			worst, run = s, first
		}
	}
	return worst, run
}

// isWorse compares two scores of a task; one without a number is the worst.
func isWorse(a, b *columns.ScoreRow) bool {
	x, has := a.Value.Get()
	y, hasOther := b.Value.Get()
	if !has || !hasOther {
		return !has
	}
	return x != y && (x > y) == a.Lower()
}

// notRun says why no score is there, with the metrics of the task that are.
func (g *grading) notRun(t schema.Target) schema.EvalNotRun {
	named := func(metric, filter string) string {
		if filter == "" {
			return metric
		}
		return metric + " (" + filter + ")"
	}
	out := schema.EvalNotRun{Task: t.Key.Dataset}
	var other []string
	for _, r := range g.j.runsOf(g.release, g.pair) {
		for _, s := range g.c.ScoresOf(r) {
			name := named(s.Metric, s.Filter)
			if sameTask(t.Key.Dataset, s.Task) && !g.j.screen.excludes(&g.c.Runs[r]) && !slices.Contains(other, name) {
				other = append(other, name)
			}
		}
	}
	if len(other) > 0 && t.Metric != "" {
		out.Metric, out.Measured = named(t.Metric, t.Key.Dims["filter"]), strings.Join(other, ", ")
	}
	return out
}

// bestScore returns the score of a run that a target covers, or nil.
func bestScore(t schema.Target, rows []columns.ScoreRow) *columns.ScoreRow {
	if parts := schema.PartsOfMean(t.Metric); parts != nil {
		if mean := meanOf(t, parts, rows); mean != nil {
			return mean
		}
	}
	var best *columns.ScoreRow
	for i := range rows {
		s := &rows[i]
		if !sameTask(t.Key.Dataset, s.Task) || t.Metric != "" && t.Metric != s.Metric || t.Key.Dims["filter"] != "" &&
			t.Key.Dims["filter"] != s.Filter {
			continue
		}
		if best == nil || evalRank(s) < evalRank(best) {
			best = s
		}
	}
	return best
}

// meanOf returns the mean of several scores of a task, with the questions of one of them, or nil unless all are there.
func meanOf(t schema.Target, parts []string, rows []columns.ScoreRow) *columns.ScoreRow {
	var found []*columns.ScoreRow
	for _, part := range parts {
		one := t
		one.Metric = part
		s := bestScore(one, rows)
		if s == nil {
			return nil
		}
		if _, has := s.Value.Get(); !has {
			return s
		}
		found = append(found, s)
	}
	out := together(found)
	out.Metric, out.Outcomes, out.Stderr = t.Metric, nil, schema.Missing("not stated of a mean")
	return out
}

// together returns the first score with the mean of those that have a number.
func together(found []*columns.ScoreRow) *columns.ScoreRow {
	var out *columns.ScoreRow
	sum, n := 0., 0.
	for _, s := range found {
		v, ok := s.Value.Get()
		if !ok {
			continue
		}
		if out == nil {
			row := *s
			out = &row
		}
		sum, n = sum+v, n+1
		if s.N > 0 && s.N < out.N {
			out.N, out.Total = s.N, s.Total
		}
	}
	switch {
	case out == nil && len(found) > 0:
		return found[0]
	case n > 1:
		out.Value = schema.Num(sum / n)
	}
	return out
}
