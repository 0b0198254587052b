package gate

import "github.com/ttreport/ttreport/ingest/schema"

// Grading is how many of the measured workloads, by tool, were graded against a target. What has no target was not
// graded, which is no pass.
type Grading struct{ Graded, Workloads int }

// GradingOf counts the workloads of verdicts against targets.
func GradingOf(list []schema.Verdict) Grading {
	graded := map[finding]bool{}
	for i := range list {
		v := &list[i]
		if v.Key.IsEval() || v.Outcome == schema.NotMeasured {
			continue
		}
		is := v.Outcome == schema.Pass || v.Outcome == schema.Fail || v.Outcome == schema.Inconclusive
		graded[findingOf(v)] = graded[findingOf(v)] || is
	}
	c := Grading{Workloads: len(graded)}
	for _, is := range graded {
		if is {
			c.Graded++
		}
	}
	return c
}
