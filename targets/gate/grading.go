package gate

import "github.com/ttreport/ttreport/ingest/schema"

// Grading is how many of the measured workloads, by tool, were graded against a target. What has no target was not
// graded, which is no pass.
type Grading struct{ Graded, Workloads int }

// GradingOf counts the workloads of verdicts against targets.
func GradingOf(list []schema.Verdict) Grading {
	graded := grading{}
	for i := range list {
		graded.add(&list[i])
	}
	return graded.counted()
}

// PairGrading is that of a model and device in a release.
func (g *Gate) PairGrading(release int, p schema.Pair) Grading {
	f, graded := g.of(release), grading{}
	for _, i := range f.targets[p] {
		graded.add(&f.findings.Targets[i])
	}
	return graded.counted()
}

// grading says of each workload whether a target of it was graded.
type grading map[finding]bool

func (m grading) add(v *schema.Verdict) {
	if v.Key.IsEval() || v.Outcome == schema.NotMeasured {
		return
	}
	is := v.Outcome == schema.Pass || v.Outcome == schema.Fail || v.Outcome == schema.Inconclusive
	of := findingOf(v)
	m[of] = m[of] || is
}

func (m grading) counted() Grading {
	c := Grading{Workloads: len(m)}
	for _, is := range m {
		if is {
			c.Graded++
		}
	}
	return c
}
