package judge

import (
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/regression/block"
)

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
	why.Turns = x.reason(sign(s.Metric), v.Outcome, v.Evidence)
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
		v.Cause = schema.Cause{}
	}
	v.Value = schema.Num(math.Exp(sign(s.Metric) * x.value))
	v.Ref = schema.Num(math.Exp(sign(s.Metric) * x.ref))
	v.Effect, v.Interval, v.N = schema.Num(why.Turns.Effect), &why.Turns.Interval, x.Blocks
	v.P, v.Q = schema.Num(math.Min(x.Above(0), x.Below(0))), schema.Number{}
}

// answer says what a paired difference makes of a row against a baseline; ok is false where it leaves it as it is. A
// difference from the release before is a change of this one, whatever the baseline; that there is none says nothing of
// an older baseline, which the release before may have left. Where history has one value or none, which tell nothing,
// the pair is all there is, also where its blocks do not decide.
func (j *Judgement) answer(
	x *paired, obs int32, baseline string, was schema.Outcome, limit float64,
) (out settled, ok bool) {
	row, o := &j.rows.Rows[obs], &j.table.Obs[obs]
	outcome, evidence, decided := x.decide(was, limit)
	out = settled{outcome, evidence, schema.WhyInTurns}
	silent := row.Why == regression.WhyOneEach || row.Why == regression.WhyFirst && !o.Pin
	switch {
	case x.baseline == baseline || baseline == "" && silent && j.isEarlier(x.baseline, int(o.Release)):
		if !decided && silent {
			return settled{schema.Inconclusive, "", schema.WhyTurnsOpen}, true
		}
		return out, decided
	case evidence != schema.Confirmed:
		return out, false
	}
	before := j.Before(int(o.Release))
	return out, before >= 0 && x.baseline == j.Releases[before].Name
}

// isEarlier reports whether a label can be the baseline of a release: it is not known as that one, or as a later one.
func (j *Judgement) isEarlier(label string, release int) bool {
	return Named(j.Releases, label) < release
}

// of returns the paired difference of a series; nil without one that has an interval.
func (p *pairedRows) of(s *Series) *paired {
	x, ok := p.cells[turnCell{s.System(), s.KeyIndex, s.Metric, s.Stat, s.Def}]
	if !ok || !x.Known() {
		return nil
	}
	return &x
}

// summariseInTurns lets the paired difference decide a summary, as it does the verdict.
func (j *Judgement) summariseInTurns(g *Summary, v *schema.Verdict, s *Series, obs int32) {
	rows := j.pairedOf(g.Release)
	x := rows.of(s)
	if x == nil {
		return
	}
	baseline := ""
	if base := j.baseline(s.cell, obs); base >= 0 {
		baseline = j.Releases[j.table.Obs[base].Release].Name
	}
	limit := j.table.Cells[s.cell].Delta
	now, ok := j.answer(x, obs, baseline, g.Outcome, limit)
	if !ok {
		return
	}
	g.Outcome, g.Evidence, g.Effect = now.outcome, now.evidence, relative(sign(s.Metric), x.Mean)
	g.Large = now.why == schema.WhyTurnsOpen && math.Abs(x.Mean) >= limit
	g.Ref, g.SE = math.NaN(), 0
	v.Outcome, v.Evidence, v.Large, v.Effect = g.Outcome, g.Evidence, g.Large, schema.Num(g.Effect)
}

// reason is what a verdict says of a paired difference, and of what history alone said.
func (x *paired) reason(sign float64, outcome schema.Outcome, evidence schema.Evidence) *schema.Turns {
	lo, hi := x.Interval(.95)
	return &schema.Turns{
		Baseline: x.baseline, Run: x.with, Blocks: x.Blocks, Kept: x.kept, Effect: relative(sign, x.Mean),
		Interval: [2]float64{relative(sign, lo), relative(sign, hi)}, Outcome: outcome, Evidence: evidence,
	}
}

// decide says what a paired difference makes of a verdict; decided is false where it leaves it as it is.
func (x *paired) decide(was schema.Outcome, limit float64) (outcome schema.Outcome, e schema.Evidence, decided bool) {
	switch x.Shown(limit, x.significant) {
	case block.Larger:
		return schema.Regressed, schema.Confirmed, true
	case block.Smaller:
		return schema.Improved, schema.Confirmed, true
	case block.Equal:
		return schema.Unchanged, "", true
	case block.NotLarge:
		return schema.Inconclusive, "", was == schema.Regressed
	case block.NotSmall:
		return schema.Inconclusive, "", was == schema.Improved
	}
	return was, "", false
}
