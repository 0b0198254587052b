package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge"
)

// Against is a release of a history beside an earlier one: B as it was judged, and what changed since A.
type Against struct {
	A, B                string
	Numbers             int // on both sides under the same conditions
	Scores              int // of evals on both sides, which the caller counts with the verdicts on them
	Regressed, Improved int // of numbers and scores, as B was judged against its own baseline
	Unlike              int // on both sides under conditions that differ: not compared
	OnlyA, OnlyB        int
	Differ              []Condition // the most frequent first
	Means               []Mean
}

// Condition is one that two sides state and state differently.
type Condition struct {
	Name, A, B string
	N          int // numbers
}

// Releases compares release b with the earlier release a.
func Releases(j *judge.Judgement, a, b int) *Against {
	out := &Against{A: j.Releases[a].Name, B: j.Releases[b].Name}
	differ := map[Condition]int{}
	var changes []changed
	j.Beside(a, b, func(s *judge.Series, before, now *judge.Summary) {
		switch {
		case s.Tail():
			return
		case now == nil:
			out.OnlyA++
			return
		case before == nil:
			out.OnlyB++
			return
		}
		if unlike := judge.Differing(before.Conditions, now.Conditions); len(unlike) > 0 {
			out.Unlike++
			for _, name := range unlike {
				differ[Condition{name, judge.Stated(name, before.Conditions), judge.Stated(name, now.Conditions), 0}]++
			}
			return
		}
		out.Numbers++
		switch now.Outcome {
		case schema.Regressed:
			out.Regressed++
		case schema.Improved:
			out.Improved++
		}
		if before.Value > 0 && now.Value > 0 {
			changes = append(changes, changed{s.Metric, math.Log(now.Value / before.Value)})
		}
	})
	for c, n := range differ {
		c.N = n
		out.Differ = append(out.Differ, c)
	}
	slices.SortFunc(out.Differ, func(x, y Condition) int {
		return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.Name, y.Name), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	out.Means = means(changes)
	return out
}

// changed is the change of a number of a metric, on the log scale.
type changed struct {
	metric string
	log    float64
}

// means are the geometric means of changes, by metric with two of them or more: the primary ones.
func means(list []changed) (out []Mean) {
	for _, metric := range judge.PrimaryMetrics() {
		sum, n, lo, hi := 0., 0, math.Inf(1), math.Inf(-1)
		for _, c := range list {
			if c.metric == metric {
				sum, n, lo, hi = sum+c.log, n+1, math.Min(lo, c.log), math.Max(hi, c.log)
			}
		}
		if n > 1 {
			out = append(out, Mean{Metric: metric, N: n, Change: math.Expm1(sum / float64(n)), Low: math.Expm1(lo),
				High: math.Expm1(hi)})
		}
	}
	return out
}

// Judge gives each row the verdict on its number of B, where B is a release of the history.
func (r *Result) Judge(history []schema.Verdict) {
	several := slices.ContainsFunc(r.Rows, func(x Row) bool { return x.System != "" })
	of, twice := map[cell]*schema.Verdict{}, map[cell]bool{}
	for i := range history {
		v := &history[i]
		c := cell{"", v.Key.String(), v.Metric, v.Stat, v.Def}
		if several {
			c.system = onDevice(v.Model, v.Device)
		}
		twice[c] = of[c] != nil
		of[c] = v
	}
	for i := range r.Rows {
		if c := r.Rows[i].of; !twice[c] {
			r.Rows[i].Judged = of[c]
		}
	}
}
