package judge_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// eventful is a history with regressions, improvements and numbers beyond the limit that are not significant.
func eventful() *columns.Columns {
	values := judgetest.Steady(9)
	values[6][2], values[7][2] = values[6][2]*1.2, values[7][2]*1.2
	values[7][5] *= .7
	values[8][5], values[8][1] = values[8][5]*.7, values[8][1]*1.4
	for r := range values {
		values[r][8] *= 1 + .08*float64(r%3) // noise beyond the limit
	}
	return judgetest.History{TTFT: values}.Columns()
}

// The short form for tables of all series agrees with the verdicts.
func TestSummaryAgreesWithVerdicts(t *testing.T) {
	j := judged(t, eventful(), nil)
	seen := map[schema.Outcome]bool{}
	for r := range j.Releases {
		list := j.History(r)
		for _, v := range list {
			seen[v.Outcome] = true
		}
		for i := range j.Series {
			s := &j.Series[i]
			v := judgetest.Find(list, s.Key.Workload())
			g, ok := j.Summary(s, r)
			value, _ := v.Value.Get()
			if !ok || g.Outcome != v.Outcome || g.Evidence != v.Evidence || g.Large != v.Large || g.Value != value {
				t.Errorf("v%d %s: %+v, want %+v", r, s.Key.Workload(), g, v)
			}
		}
	}
	for _, o := range []schema.Outcome{
		schema.Regressed, schema.Improved, schema.Unchanged, schema.Inconclusive, schema.NoBaseline,
	} {
		if !seen[o] {
			t.Errorf("no number is %s: the history is too dull for this test", o)
		}
	}
}

// A release has one number of a series: verdict, summary and figures show the same, also where a later run decided
// about a first one.
func TestOneNumberOfARelease(t *testing.T) {
	for name, again := range map[string]float64{"worse again": 1.3, "not again": 1, "better": .9} {
		values := judgetest.Steady(9)
		before := values[8][3]
		values[8][3] *= 1.4
		j := judged(t, judgetest.Rerun(values, before*again), nil)
		last := len(j.Releases) - 1
		for i := range j.Series {
			s := &j.Series[i]
			v := judgetest.Find(j.History(last), s.Key.Workload())
			value, _ := v.Value.Get()
			g, _ := j.Summary(s, last)
			at, _ := s.At(last)
			number := judge.Number{
				System: s.System(), Key: s.Key.String(), Metric: s.Metric, Stat: s.Stat, Def: s.Def,
			}
			if is := j.ByLaterRuns(last)[number]; is != (s.Key.Workload() == judgetest.Workload(4)) {
				t.Errorf("%s, %s: by later runs %v", name, s.Key.Workload(), is)
			}
			if g.Value != value || at != value {
				t.Errorf("%s, %s: %v in the verdict, %v and %v elsewhere", name, s.Key.Workload(), value, g.Value, at)
			}
		}
	}
}

// Verdicts are sorted by severity.
func TestWorstFirst(t *testing.T) {
	j := judged(t, eventful(), nil)
	place := map[schema.Outcome]int{
		schema.Regressed: 0, schema.Improved: 2, schema.Recovered: 2, schema.Inconclusive: 3, schema.Unchanged: 4,
		schema.NoBaseline: 5,
	}
	for r := range j.Releases {
		list := j.History(r)
		for i := 1; i < len(list); i++ {
			at := func(v schema.Verdict) int {
				if v.Large {
					return 1
				}
				return place[v.Outcome]
			}
			a, b := list[i-1], list[i]
			if at(a) > at(b) {
				t.Errorf("v%d: %s before %s", r, a.Outcome, b.Outcome)
			}
			ea, _ := a.Effect.Get()
			eb, _ := b.Effect.Get()
			if a.Outcome == schema.Regressed && b.Outcome == schema.Regressed && a.Evidence == b.Evidence && ea < eb {
				t.Errorf("v%d: a regression of %v before one of %v", r, ea, eb)
			}
		}
	}
}

// A model and device is compared when one of its numbers has a history.
func TestCompared(t *testing.T) {
	c := judgetest.History{TTFT: judgetest.Steady(4)}.Columns()
	c.Runs[3].Device = "n300"
	j := judged(t, c, nil)
	for r, want := range []bool{false, false, true, false} { // one earlier release shows no noise
		if got := len(j.Compared(r)) == 1; got != want {
			t.Errorf("v%d: %v", r, j.Compared(r))
		}
	}
}
