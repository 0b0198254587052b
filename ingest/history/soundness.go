package history

import (
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// soundRun removes from a document that was passed on what no version of ttreport writes: points without a number or
// a reason, metrics in another unit, latencies below zero. It reports once what was removed.
func soundRun(f *decode.File, r *schema.Run, format string) {
	check := soundness{source: f.Source(format)}
	r.Points = slices.DeleteFunc(r.Points, func(p schema.Point) bool { return !check.status(&p) })
	for i := range r.Points {
		check.point(&r.Points[i])
	}
	r.Scores = slices.DeleteFunc(r.Scores, func(s schema.Score) bool { return !check.value(&s) })
	for i := range r.Scores {
		if r.Scores[i].Source.Format == "" {
			r.Scores[i].Source = check.source
		}
	}
	r.Problems = slices.DeleteFunc(r.Problems, func(p schema.Problem) bool {
		return p.Code == "" || p.Found == "" || !slices.Contains(schema.Severities(), p.Severity)
	})
	if check.wrong > 0 {
		p := f.Problem(schema.SevWarning, "unsound-document", f.First)
		p.Found = fmt.Sprintf("%d parts that are not as ttreport writes them, the first %s", check.wrong, check.first)
		p.Expected, p.Used = "a document of schema "+schema.Version, "the rest"
		p.Hint = "the document was written or changed by something else; read the results themselves"
		r.Problems = append(r.Problems, p)
	}
}

// soundness counts what is removed.
type soundness struct {
	source schema.Source // for points and scores that state none
	wrong  int
	first  string
}

func (c *soundness) refuse(what string) {
	if c.wrong++; c.wrong == 1 {
		c.first = what
	}
}

// status reports whether a point has a known status.
func (c *soundness) status(p *schema.Point) bool {
	known := slices.Contains(schema.Statuses(), p.Status)
	if !known {
		c.refuse(fmt.Sprintf("a point of status %q", p.Status))
	}
	return known
}

// point completes a point and deletes impossible metrics.
func (c *soundness) point(p *schema.Point) {
	if p.Key.Tool == "" {
		p.Key.Tool = "unknown"
	}
	if p.Source.Format == "" {
		p.Source = c.source
	}
	p.Metrics = slices.DeleteFunc(p.Metrics, func(m schema.Metric) bool {
		what := faultOf(&m, p.Status)
		if what != "" {
			c.refuse(what)
		}
		return what != ""
	})
}

// value reports whether a score has a task, and a value or a reason.
func (c *soundness) value(s *schema.Score) bool {
	_, ok := s.Value.Get()
	known := s.Task != "" && (ok || s.Value.Why() != "")
	if !known {
		c.refuse("a score without a task, or with neither a value nor a reason")
	}
	return known
}

// faultOf returns what is wrong with a metric of a document, "" for nothing.
func faultOf(m *schema.Metric, status schema.Status) string {
	k := m.Kind()
	info, known := schema.MetricByName(k.Name)
	switch {
	case !known:
		return fmt.Sprintf("a metric %.40q", k.Name)
	case k.Unit != info.Unit:
		return fmt.Sprintf("%s in %.20q, which is measured in %s", k.Name, k.Unit, info.Unit)
	case len(m.Stats) == 0 && k.Why == "":
		return k.Name + " with neither a number nor a reason"
	case status == schema.StatusFailed && len(m.Stats) > 0 && (info.Better == schema.Higher || info.Unit == "ms"):
		return k.Name + " of a point that failed"
	}
	for _, s := range m.Stats {
		if s.Value < 0 && !s.Is("std") {
			return fmt.Sprintf("%s of %g %s", k.Name, s.Value, k.Unit)
		}
	}
	return ""
}
