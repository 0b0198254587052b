package judge

import (
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/regression/block"
)

// turnCell is one number of a workload of a system.
type turnCell struct {
	system            schema.System
	key               int32
	metric, stat, def string
}

// inTurns is what a release and a baseline measured in turns: pairs of runs on one system, ±ln of the values, larger is
// worse, of baseline and candidate.
type inTurns struct {
	block.Turns[turnCell]
	baseline string // release that the baseline's runs state
	with     string // run
}

// turnsOfPair names what was measured in turns: one system of a release with one baseline.
type turnsOfPair struct {
	system   schema.System
	baseline string
}

// paired is the paired difference of one number: positive is worse.
type paired struct {
	*inTurns
	block.Difference
	significant bool
	ref, value  float64 // geometric means of the blocks, on the scale of z
}

// pairedRows are the paired differences of a release.
type pairedRows map[turnCell]paired

// Refused is a pair in turns that decides nothing: the candidate's run, and why.
type Refused struct {
	Run int
	schema.Mismatch
}

// RefusedPairs returns the pairs of a release that decide nothing, since what their runs state contradicts it.
func (j *Judgement) RefusedPairs(release int) []Refused {
	_, refused := j.pairs(release)
	return refused
}

// pairs finds what a release measured in turns with runs that state another release.
func (j *Judgement) pairs(release int) (map[turnsOfPair]*inTurns, []Refused) {
	var refused []Refused
	out := map[turnsOfPair]*inTurns{}
	runs := j.Counted(release)
	if !slices.ContainsFunc(runs, func(run int) bool { return j.Columns.Runs[run].Interleaved.With != "" }) {
		return out, nil
	}
	byID := map[string]int{}
	for i := range j.Columns.Runs {
		byID[j.Columns.Runs[i].ID] = i
	}
	for _, run := range runs {
		h := &j.Columns.Runs[run]
		if h.Interleaved.IsZero() || h.Interleaved.IsBaseline() {
			continue
		}
		with, ok := byID[h.Interleaved.With]
		if why := j.mismatch(release, run, with, ok); why != nil {
			refused = append(refused, Refused{run, *why})
			continue
		}
		b := &j.Columns.Runs[with]
		if b.Release == "" || j.screen.excludes(b) {
			continue
		}
		id := turnsOfPair{h.System(), b.Release}
		if out[id] == nil {
			out[id] = &inTurns{baseline: b.Release, with: b.ID}
		}
		out[id].Kept = out[id].Kept || h.Interleaved.IsKept() || b.Interleaved.IsKept()
		for side, of := range []int{with, run} {
			j.takeTurns(out[id], side, run, of)
		}
	}
	return out, refused
}

// takeTurns adds the values of a run to a side of a pair that is named by its candidate.
func (j *Judgement) takeTurns(t *inTurns, side, candidate, run int) {
	h, system := &j.Columns.Runs[run], j.Columns.Runs[candidate].System()
	for i := h.FirstPoint; i < h.PointsEnd; i++ {
		p := &j.Columns.Points[i]
		w := p.StatusWord()
		if p.Block == 0 || w == schema.StatusFailed || w == schema.StatusInvalid ||
			j.screen.ExcludesPoint(h, j.Columns.Keys[p.Key]) != nil {
			continue
		}
		j.Columns.Values(p, func(s columns.StatID, v float64) {
			if !schema.Measurable(v) {
				return
			}
			cell := turnCell{system, p.Key, s.Metric, s.Stat, s.Def}
			t.Add(side, cell, block.Turn{Pair: candidate, Block: int(p.Block)}, Sign(s.Metric)*math.Log(v))
		})
	}
}

// pair computes the paired differences of a release, for the numbers that are judged.
func (j *Judgement) pair(release int) pairedRows {
	out := pairedRows{}
	pairs, _ := j.pairs(release)
	if len(pairs) == 0 {
		return out
	}
	for id, t := range pairs {
		var judged []turnCell
		for _, i := range j.byCell[release] {
			if s := &j.Series[j.cellOf[i]]; id.system == s.System() {
				judged = append(judged, turnCell{id.system, s.KeyIndex, s.Metric, s.Stat, s.Def})
			}
		}
		t.judge(judged, out)
	}
	return out
}

// judge adds the paired differences of a pair, metric by metric, and means apart from tails, which vary more; the
// numbers of the pair are one family of tests.
func (t *inTurns) judge(cells []turnCell, out pairedRows) {
	type metric struct {
		name string
		tail bool
	}
	of := func(c turnCell) metric { return metric{c.metric, c.stat == schema.TailStat} }
	var list []block.Difference
	var at []turnCell
	for _, members := range schema.Alike(cells, of) {
		rows, each, _ := t.Compare(members)
		list, at = append(list, each...), append(at, rows...)
	}
	for k, significant := range block.Significant(list) {
		x := paired{inTurns: t, Difference: list[k], significant: significant}
		left, right := t.Means(at[k])
		x.ref, x.value = regression.Mean(left), regression.Mean(right)
		out[at[k]] = x
	}
}

// settled is what a paired difference makes of a number.
type settled struct {
	outcome  schema.Outcome
	evidence schema.Evidence
	why      schema.Why // WhyInTurns, or WhyTurnsOpen where the blocks do not decide
}

// settleInTurns lets the paired difference from the verdict's baseline decide, which is stronger evidence than history:
// both were measured on the same machine at the same time. Where history offers no baseline, the pair brings its own.
func (j *reader) settleInTurns(v *schema.Verdict, why *schema.Change, s *Series, obs int32) {
	x := j.paired.of(s)
	if x == nil {
		return
	}
	limit := j.table.Cells[s.cell].Delta
	lo, hi := x.Interval(.95)
	why.Turns = &schema.Turns{ // with what history alone said
		Baseline: x.baseline, Run: x.with, Blocks: x.Blocks, Kept: x.Kept, Effect: relative(s.way, x.Mean),
		Interval: [2]float64{relative(s.way, lo), relative(s.way, hi)}, Outcome: v.Outcome, Evidence: v.Evidence,
	}
	now, ok := j.answer(x, obs, v.Baseline, v.Outcome, limit)
	if !ok {
		return
	}
	if v.Baseline == "" {
		v.Baseline = x.baseline
	}
	v.Outcome, v.Evidence, why.Why = now.outcome, now.evidence, now.why
	if v.Large = false; now.why == schema.WhyTurnsOpen {
		v.Large, why.Turns.Needed = math.Abs(x.Mean) >= limit, x.ToDecide(limit)
	}
	if v.Outcome != schema.Regressed {
		v.Change = ""
	}
	v.Value, v.Ref = schema.Num(math.Exp(s.way*x.value)), schema.Num(math.Exp(s.way*x.ref))
	v.Effect, v.Interval, v.N = schema.Num(why.Turns.Effect), &why.Turns.Interval, x.Blocks
	v.P, v.Q = schema.Num(math.Min(x.Above(0), x.Below(0))), schema.Number{}
}

// answer says what a paired difference makes of a row against a baseline; ok is false where it leaves it as it is. A
// difference from the release before is a change of this one, whatever the baseline; that there is none says nothing of
// an older baseline, which the release before may have left. Where history has one value or none, which tell nothing,
// the pair is all there is, also where its blocks do not decide.
func (j *Judgement) answer(
	x *paired, obs int32, baseline string, was schema.Outcome, limit float64,
) (by settled, ok bool) {
	row, o := &j.rows.Rows[obs], &j.table.Obs[obs]
	shows, why := x.Shown(limit, x.significant), schema.WhyInTurns
	out, decided := map[block.Shows]settled{
		block.Larger:   {schema.Regressed, schema.Confirmed, why},
		block.Smaller:  {schema.Improved, schema.Confirmed, why},
		block.Equal:    {schema.Unchanged, schema.NoEvidence, why},
		block.NotLarge: {schema.Inconclusive, schema.NoEvidence, why},
		block.NotSmall: {schema.Inconclusive, schema.NoEvidence, why},
	}[shows]
	if shows == block.NotLarge && was != schema.Regressed || shows == block.NotSmall && was != schema.Improved {
		decided = false
	}
	silent := row.Why == schema.WhyOneEach || row.Why == schema.WhyNoBaseline && !o.Pin
	switch {
	case x.baseline == baseline || baseline == "" && silent && Named(j.Releases, x.baseline) < int(o.Release):
		if !decided && silent {
			return settled{schema.Inconclusive, schema.NoEvidence, schema.WhyTurnsOpen}, true
		}
		return out, decided
	case out.evidence != schema.Confirmed:
		return out, false
	}
	before := j.Before(int(o.Release))
	return out, before >= 0 && x.baseline == j.Releases[before].Name
}

// of returns the paired difference of a series; nil without one that has an interval.
func (p pairedRows) of(s *Series) *paired {
	if len(p) == 0 { // as in most releases
		return nil
	}
	x, ok := p[turnCell{s.System(), s.KeyIndex, s.Metric, s.Stat, s.Def}]
	if !ok || !x.Known() {
		return nil
	}
	return &x
}
