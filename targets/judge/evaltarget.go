package judge

import (
	"math"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/regression/proportion"
)

// eval grades the score that a target covers: the whole 95 % interval of the share must lie on one side of the
// reference moved by its tolerance. Few questions give a wide interval and so an inconclusive verdict; chance alone
// fails a model in at most one of twenty cases. A missing score is missing, not zero.
func (g *grading) eval(t schema.Target) schema.Verdict {
	v := g.start(t, t.Key)
	v.Ref = schema.Num(t.Value)
	s, run := g.score(t)
	if s == nil {
		v.Outcome, v.Reason = schema.NotMeasured, schema.EvalNotRun{Task: t.Key.Dataset}
		return v
	}
	v.Run, v.Key, v.Value, v.N, v.Metric = run, schema.EvalKey(&s.Score), s.Value, s.N, s.Metric
	v.ID = schema.VerdictID(g.releaseName(), "", g.pair, t.Key, "eval/"+t.Level, t.Stat, schema.AgainstTarget)
	value, has := s.Value.Get()
	if !has {
		v.Outcome, v.Reason = schema.NotMeasured, schema.NoNumber{Why: s.Value.Why()}
		return v
	}
	g.gradeScore(&v, t, s, value)
	return v
}

// gradeScore compares a score with its reference.
func (g *grading) gradeScore(v *schema.Verdict, t schema.Target, s *columns.ScoreRow, value float64) {
	p, isShare := share(&s.Score)
	ref := t.Value
	if isShare {
		ref, value = asShare(ref), p
		v.Ref = schema.Num(ref * scaleOf(&s.Score))
	}
	sign, limit := -1., ref*(1-t.Tolerance)
	if s.Direction == "lower" {
		sign, limit = 1, ref*(1+t.Tolerance)
	}
	v.Effect = schema.Num(sign * (value - ref))
	why := schema.EvalLimit{Task: s.Task, Tolerance: t.Tolerance, N: max(s.N, 0)}
	if s.Total > s.N && s.N > 0 {
		why.Of = s.Total
	}
	lo, hi, known := around(t, s, value, isShare)
	if known {
		v.Interval = &[2]float64{sign * (lo - ref), sign * (hi - ref)}
		if sign < 0 {
			v.Interval = &[2]float64{ref - hi, ref - lo}
		}
	}
	v.Outcome, why.Chance = g.beside(sign*(value-limit), sign*(lo-limit), sign*(hi-limit), 0)
	if why.Chance && isShare && s.N > 0 {
		why.Needed = proportion.Items(value, math.Max(math.Abs(value-limit), .01))
	}
	v.Reason = why
}

// asShare returns a published score as a share: files have 79 or .79.
func asShare(v float64) float64 {
	if v > 1 {
		return v / 100
	}
	return v
}

// around returns the 95 % interval of a score, including the variance of a published reference where its n is known.
func around(t schema.Target, s *columns.ScoreRow, value float64, isShare bool) (lo, hi float64, known bool) {
	const z = 1.959963984540054
	if s.Metric == schema.MetricPassed {
		return value, value, false
	}
	if !isShare {
		e, has := s.Stderr.Get()
		if !has || e <= 0 {
			return value, value, false
		}
		return value - z*e, value + z*e, true
	}
	if s.N > 0 && s.Total <= s.N && t.Items == 0 {
		lo, hi = proportion.Wilson(value, itemsOf(&s.Score, value))
		return lo, hi, true
	}
	se, ok := spread(&s.Score, value)
	if !ok {
		return value, value, false
	}
	if t.Items > 0 {
		ref := asShare(t.Value)
		se = math.Hypot(se, math.Sqrt(ref*(1-ref)/float64(t.Items)))
	}
	return math.Max(0, value-z*se), math.Min(1, value+z*se), true
}

// sameTask compares names of evals as people and tools write them: GPQA-Diamond, gpqa_diamond and r1_gpqa_diamond are
// one task.
func sameTask(promised, measured string) bool {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
				return r
			case r >= 'A' && r <= 'Z':
				return r + 'a' - 'A'
			}
			return -1
		}, s)
	}
	p, m := plain(promised), plain(measured)
	return promised == measured || p != "" && (p == m || strings.HasSuffix(m, p))
}

// score finds what the release measured for a target: by task, and by metric and filter where it names them. Several
// runs of the release count by their mean, with the items of one, because they answered the same questions; taking
// the best would reward repeating.
func (g *grading) score(t schema.Target) (*columns.ScoreRow, string) {
	var found []*columns.ScoreRow
	first := ""
	for _, r := range g.j.runsOf(g.release, g.pair) {
		if g.j.screen.excludes(&g.c.Runs[r]) {
			continue
		}
		s := bestScore(t, g.c.ScoresOf(r))
		if s == nil || len(found) > 0 && (s.Metric != found[0].Metric || s.Filter != found[0].Filter) {
			continue
		}
		if first == "" {
			first = g.c.Runs[r].ID
		}
		found = append(found, s)
	}
	return together(found), first
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
		if best == nil || evalRank(s.Metric, s.Filter) < evalRank(best.Metric, best.Filter) {
			best = s
		}
	}
	return best
}

// meanOf returns the mean of several scores of a task, with the questions of one of them, or nil unless all are there.
func meanOf(t schema.Target, parts []string, rows []columns.ScoreRow) *columns.ScoreRow {
	var out *columns.ScoreRow
	sum := 0.
	for _, part := range parts {
		one := t
		one.Metric = part
		s := bestScore(one, rows)
		if s == nil {
			return nil
		}
		v, ok := s.Value.Get()
		if !ok {
			return s
		}
		if sum += v; out == nil {
			row := *s
			out = &row
		}
	}
	out.Metric, out.Outcomes = t.Metric, nil
	out.Value, out.Stderr = schema.Num(sum/float64(len(parts))), schema.Missing("not stated of a mean")
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
