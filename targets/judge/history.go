package judge

import (
	"fmt"
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/targets/regression"
)

// outcomeOf maps the words of the mathematics to the vocabulary.
func outcomeOf(w regression.Word) schema.Outcome {
	return [...]schema.Outcome{"", schema.Regressed, schema.Improved, schema.Inconclusive, schema.Recovered,
		schema.Unchanged, schema.NoBaseline, schema.NotComparable, schema.BelowLimit}[w]
}

func evidenceOf(e regression.Evidence) schema.Evidence {
	return [...]schema.Evidence{"", schema.Suspected, schema.Confirmed}[e]
}

// whyOf maps the reasons of the mathematics to the vocabulary.
func whyOf(w regression.Why) schema.Why {
	return [...]schema.Why{
		regression.WhyNone: schema.WhyNone, regression.WhyGate: schema.WhyGate,
		regression.WhyRecheck: schema.WhyRecheck,
		regression.WhyAgain:   schema.WhyAgain, regression.WhyShift: schema.WhyShift,
		regression.WhyAgainstShift: schema.WhyAgainstShift, regression.WhyDidNotMove: schema.WhyDidNotMove,
		regression.WhyNotSignificant: schema.WhyNotSignificant, regression.WhyNotSeenAgain: schema.WhyNotSeenAgain,
		regression.WhyHostMoved: schema.WhyHostMoved, regression.WhyRunsDisagree: schema.WhyRunsDisagree,
		regression.WhyBackAgain:  schema.WhyBackAgain,
		regression.WhyEquivalent: schema.WhyEquivalent, regression.WhyWide: schema.WhyWide,
		regression.WhyNoRegression: schema.WhyNoRegression, regression.WhyNoImprovement: schema.WhyNoImprovement,
		regression.WhyTwoModes: schema.WhyTwoModes, regression.WhyFirst: schema.WhyNoBaseline,
		regression.WhyOneEach: schema.WhyOneEach, regression.WhyOneMoreRun: schema.WhyOneMoreRun,
		regression.WhyBelowLimit:  schema.WhyBelowLimit,
		regression.WhyOtherHost:   schema.WhyOtherHost,
		regression.WhyBaseSuspect: schema.WhyBaseSuspect, regression.WhyConditions: schema.WhyConditions,
	}[w]
}

// History returns the verdicts of a release against history, one a primary cell, worst first: performance, then evals.
func (j *Judgement) History(release int) []schema.Verdict {
	out := make([]schema.Verdict, 0, len(j.byCell[release])+64)
	r := j.reader(release)
	for _, i := range j.byCell[release] {
		out = append(out, r.verdict(i))
	}
	without := j.withoutNumber(release)
	out = append(append(out, without...), j.notRemeasured(release, without)...)
	j.group(release, out)
	out = append(out, j.evals.rows[release]...)
	return worstFirst(out)
}

// HistoryOf returns the verdict on one series in a release, without the cause that it shares with others: [History] has
// that. ok is false where the release did not measure the series.
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
	paired  pairedRows          // of what was measured in turns
	wanted  map[float64]float64 // standard errors by degrees of freedom: see [regression.Wanted]
}

func (j *Judgement) reader(release int) *reader {
	r := &reader{Judgement: j, release: release, runs: j.systemRuns(release), wanted: map[float64]float64{}}
	r.paired = j.pairedOf(release)
	return r
}

// later reports whether a row is about a later run of the release instead of its first.
func later(row *regression.Row) bool {
	switch row.Why {
	case regression.WhyRecheck, regression.WhyNotSeenAgain, regression.WhyHostMoved, regression.WhyRunsDisagree:
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
	v.Outcome, v.Evidence, v.Large, v.N = outcomeOf(row.Word), evidenceOf(row.Evidence), row.Large(), int(o.K)
	why := schema.Change{Why: whyOf(row.Why), Releases: int(row.N), Limit: math.Expm1(j.table.Cells[j.cellOf[obs]].Delta)}
	z := o.Z
	if later(row) {
		z, v.N = o.Z2, int(o.K2)
		why.First = math.Exp(sign(s.Metric) * o.Z)
	}
	v.Value = schema.Num(s.value(obs).Value)
	v.Run = j.runWith(j.runs[s.System()], s.KeyIndex, row.Why == regression.WhyRecheck)
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
	if row.Why == regression.WhyConditions {
		why.Conditions = j.classes.Named(j.table.Obs[base].Cond, o.Cond)
	}
	j.together(&v, &why, row, s)
	if base >= 0 && (v.Evidence != "" || v.Outcome == schema.Recovered) {
		j.beside(&why, s, v.Run, int(j.table.Obs[base].Release))
	}
	if row.Why == regression.WhyFirst && !IsBaseline(rel.Channel) && base < 0 {
		why.Why = schema.WhyNoBaselineLine
	}
	if o.Pin && row.Why == regression.WhyFirst {
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

// runsTogether is what the runs that confirmed a change in the release show together; nil where none was.
func (j *reader) runsTogether(s *Series) *schema.Together {
	for _, l := range j.changePointsOf(s.cell) {
		if int(l.Found) == j.release && l.Source == regression.ByGate {
			d, half, way := l.D+l.Shift, j.t.T975(l.Df)*l.SE, sign(s.Metric)
			return &schema.Together{
				Runs: l.Runs, Effect: relative(way, d), Interval: [2]float64{relative(way, d-half), relative(way, d+half)},
			}
		}
	}
	return nil
}

// together says what several runs show together, and of which shift a number is a part: of its device, or of its
// system.
func (j *reader) together(v *schema.Verdict, why *schema.Change, row *regression.Row, s *Series) {
	if row.Why == regression.WhyAgain {
		why.Together = j.runsTogether(s)
	}
	if row.Finding < 0 {
		return
	}
	f := &j.rows.Findings[row.Finding]
	if f.Kind == regression.MixedFinding {
		return
	}
	why.Shift = sign(s.Metric) * relative(sign(s.Metric), f.D)
	if row.Why != regression.WhyShift {
		return
	}
	v.Cause = schema.Cause{Kind: schema.CauseShift, ID: j.shiftID(row.Finding)}
	if f.Kind == regression.RunFinding {
		why.Why = schema.WhyRunShift
		v.Cause = schema.Cause{Kind: schema.CauseRun, ID: j.runID(v)}
	}
}

// runID names what moved all numbers of a system.
func (j *Judgement) runID(v *schema.Verdict) string {
	return schema.VerdictID(v.Release, "", v.Pair(), schema.Key{}, v.Impl, "run", schema.AgainstHistory)
}

// numbers fills in effect, interval, p and q: relative changes of the metric's badness, positive worse.
func (j *reader) numbers(v *schema.Verdict, why *schema.Change, row *regression.Row, z float64) {
	s := sign(v.Metric)
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
	}
	if row.Word == regression.Inconclusive && !row.Large() {
		j.settle(why, row)
	}
	if q := float64(row.Q); !math.IsNaN(q) && !later(row) {
		v.Q = schema.Num(q)
	}
}

// settle estimates what would settle an inconclusive number. Without repeats it is unknown what share of the noise
// they would remove, so the estimate assumes the best case, all of it. With repeats, --explain shows the arithmetic.
func (j *reader) settle(why *schema.Change, row *regression.Row) {
	if j.repeats || !(row.SE > 0) || row.N == 0 {
		return
	}
	n := float64(row.N)
	variance := float64(row.SE) * float64(row.SE) / (1 + 1/n)
	df := float64(row.Df)
	want, known := j.wanted[df]
	if !known {
		want = regression.Wanted(df)
		j.wanted[df] = want
	}
	repeats, releases := regression.Settle(math.Log1p(why.Limit), variance, variance, 0, want, n)
	if repeats > 1 {
		why.Repeats = repeats
	}
	why.More = max(releases, 0)
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
// seen before, the newest one before it was first seen.
func (j *Judgement) baseline(cell, obs int32) int32 {
	first, at := j.rows.Rows[obs].First, j.table.Obs[obs].Release
	for i := obs - 1; i >= j.table.Cells[cell].First; i-- {
		o := &j.table.Obs[i]
		joins := IsBaseline(j.Releases[o.Release].Channel) && !j.rows.Excluded(j.table, i, at)
		if joins && (first < 0 || o.Release < first) {
			return i
		}
	}
	return -1
}

// Value returns what a release measured of a series.
func (j *Judgement) Value(s *Series, release int) (SeriesValue, bool) {
	if i := s.find(release); i >= 0 {
		return s.value(i), true
	}
	return SeriesValue{}, false
}

// RunOf returns the id of the first run behind a value.
func (j *Judgement) RunOf(s *Series, release int) string {
	return j.runWith(j.systemRuns(release)[s.System()], s.KeyIndex, false)
}

// PointOf returns the run behind a value, the first or the last that has it, and which of the run's points it is, from
// 1; a run of -1 when there is none.
func (j *Judgement) PointOf(s *Series, release int, last bool) (run, point int) {
	return j.pointWith(j.systemRuns(release)[s.System()], s.KeyIndex, last)
}

func num4(v float64) string { return fmt.Sprintf("%.4g", v) }

// Compared lists the models and devices of a release of which a number has a history, or was measured in turns with a
// baseline.
func (j *Judgement) Compared(release int) map[schema.Pair]bool {
	out := map[schema.Pair]bool{}
	for _, i := range j.byCell[release] {
		if w := outcomeOf(j.rows.Rows[i].Word); w != schema.NoBaseline && w != schema.NotComparable {
			s := &j.Series[j.cellOf[i]]
			out[s.Pair()] = true
		}
	}
	turns := j.pairedOf(release)
	for c, x := range turns.cells {
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
