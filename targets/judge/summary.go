package judge

import (
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
)

// Summary is a short form of the verdict on a series in one release, for tables of all series, which have no room for
// a sentence.
type Summary struct {
	Release    int
	Outcome    schema.Outcome
	Evidence   schema.Evidence
	Large      bool // inconclusive, and beyond what matters
	Value      float64
	Effect     float64           // relative, positive is worse; NaN without a baseline
	Conditions map[string]string // that change what the number means
	Class      int32             // of series with the same Conditions
	Rank       int               // in the order of severity; ties by Weight, larger first
	Weight     float64

	// The calculation: Effect follows from Value and Ref, its 95 % interval from SE and Df on the log scale.
	Ref       float64 // the baseline; NaN without one, and where a measurement in turns decides
	SE, Df    float64 // 0 without a test
	Releases  int     // behind the baseline
	N         int     // measurements behind Value
	Rechecked bool    // Value is of the last run that has it, which saw a change again
}

// Quantiles are those of Student's t, kept by degrees of freedom. Not for several goroutines at once.
type Quantiles = regression.Quantiles

// Summary returns the short verdict on a series in a release, or for release < 0 in the newest release that has it.
func (j *Judgement) Summary(s *Series, release int) (Summary, bool) {
	obs := j.table.Cells[s.cell].End - 1
	if release >= 0 {
		obs = s.find(release)
	}
	if obs < j.table.Cells[s.cell].First {
		return Summary{}, false
	}
	return j.summary(s, obs), true
}

// Summaries calls do with each series that a release measured, in their order, and its short verdict, which is another
// one's after the call.
func (j *Judgement) Summaries(release int, do func(*Series, *Summary)) {
	var g Summary
	for _, obs := range j.byCell[release] {
		s := &j.Series[j.cellOf[obs]]
		g = j.summary(s, obs)
		do(s, &g)
	}
}

// Beside calls do with each series that one of two releases measured, in their order, and its short verdict in both;
// nil where it was not measured. They are another series' after the call.
func (j *Judgement) Beside(a, b int, do func(s *Series, before, now *Summary)) {
	left, right := j.byCell[a], j.byCell[b]
	var first, second Summary
	for len(left)+len(right) > 0 {
		var before, now *Summary
		cell := int32(math.MaxInt32)
		for _, list := range [][]int32{left, right} {
			if len(list) > 0 {
				cell = min(cell, j.cellOf[list[0]])
			}
		}
		s := &j.Series[cell]
		if len(left) > 0 && j.cellOf[left[0]] == cell {
			first = j.summary(s, left[0])
			before, left = &first, left[1:]
		}
		if len(right) > 0 && j.cellOf[right[0]] == cell {
			second = j.summary(s, right[0])
			now, right = &second, right[1:]
		}
		do(s, before, now)
	}
}

// summary is the short verdict on an observation of a series.
func (j *Judgement) summary(s *Series, obs int32) Summary {
	row, o := &j.rows.Rows[obs], &j.table.Obs[obs]
	value := s.value(obs)
	g := Summary{
		Release: int(o.Release), Outcome: outcomeOf(row.Word), Evidence: evidenceOf(row.Evidence), Large: row.Large(),
		Value: value.Value, Effect: math.NaN(), Conditions: j.classes.list[o.Cond], Class: o.Cond,
		Ref: math.NaN(), N: value.N, Rechecked: row.Why == regression.WhyRecheck,
	}
	v := schema.Verdict{
		Outcome: g.Outcome, Evidence: g.Evidence, Large: g.Large, Effect: schema.Missing("no baseline"),
	}
	if row.N > 0 && !math.IsNaN(row.D) {
		g.Effect = relative(s.way, row.D)
		v.Effect = schema.Num(g.Effect)
		z := o.Z
		if later(row) {
			z = o.Z2
		}
		g.Ref, g.Releases = math.Exp(s.way*(z-row.D)), int(row.N)
		g.SE, g.Df = float64(row.SE), float64(row.Df)
	}
	j.summariseInTurns(&g, &v, s, obs)
	g.Rank, g.Weight = int(rankOf(&v)), weightOf(&v)
	return g
}

// Number names a number of a release.
type Number struct {
	System                 schema.System
	Key, Metric, Stat, Def string
}

// ByLaterRuns lists the numbers of a release that are those of its later runs: a recheck decided about a suspicion, and
// the first run, which was suspected for being extreme, does not count.
func (j *Judgement) ByLaterRuns(release int) map[Number]bool {
	out := map[Number]bool{}
	for _, i := range j.byCell[release] {
		if s := &j.Series[j.cellOf[i]]; later(&j.rows.Rows[i]) {
			out[Number{s.System(), s.Key.String(), s.Metric, s.Stat, s.Def}] = true
		}
	}
	return out
}
