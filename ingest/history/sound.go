package history

import (
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// soundRun takes out of a document that somebody passed on what no version of ours would write: points without a number or a
// reason, metrics of another unit, latencies below zero. What was taken out is told once.
func soundRun(f *decode.File, r *schema.Run, format string) {
	wrong, first := 0, ""
	refuse := func(what string) {
		if wrong++; wrong == 1 {
			first = what
		}
	}
	var kept []schema.Point
	for _, p := range r.Points {
		if p.Key.Tool == "" {
			p.Key.Tool = "unknown"
		}
		if p.Source.Format == "" {
			p.Source = f.Source(format)
		}
		switch p.Status {
		case schema.StatusOK, schema.StatusPartial, schema.StatusFailed, schema.StatusInvalid:
		default:
			refuse(fmt.Sprintf("a point of status %q", p.Status))
			continue
		}
		for name, m := range p.Metrics {
			if what := faultOf(name, m, p.Status); what != "" {
				refuse(what)
				delete(p.Metrics, name)
			}
		}
		kept = append(kept, p)
	}
	r.Points = kept
	var scores []schema.Score
	for _, s := range r.Scores {
		if _, ok := s.Value.Get(); s.Task == "" || !ok && s.Value.Why() == "" {
			refuse("a score without a task, or with neither a value nor a reason")
			continue
		}
		if s.Source.Format == "" {
			s.Source = f.Source(format)
		}
		scores = append(scores, s)
	}
	r.Scores = scores
	var problems []schema.Problem
	for _, p := range r.Problems {
		if p.Code != "" && p.Found != "" && slices.Contains(schema.Severities(), p.Severity) {
			problems = append(problems, p)
		}
	}
	r.Problems = problems
	if wrong > 0 {
		p := f.Problem(schema.SevWarning, "unsound-document", f.First)
		p.Found, p.Expected, p.Used = fmt.Sprintf("%d parts that are not as ttreport writes them, the first %s", wrong, first), "a document of schema "+schema.Version, "the rest"
		p.Hint = "the document was written or changed by something else; read the results themselves"
		r.Problems = append(r.Problems, p)
	}
}

// faultOf says what is wrong with a metric of a document, "" when nothing is.
func faultOf(name string, m schema.Metric, status schema.Status) string {
	info, known := schema.MetricByName(name)
	switch {
	case !known:
		return fmt.Sprintf("a metric %.40q", name)
	case m.Unit != info.Unit:
		return fmt.Sprintf("%s in %.20q, which is measured in %s", name, m.Unit, info.Unit)
	case len(m.Stats) == 0 && m.Why == "":
		return name + " with neither a number nor a reason"
	case status == schema.StatusFailed && len(m.Stats) > 0 && (info.Better == schema.Higher || info.Unit == "ms"):
		return name + " of a point that failed"
	}
	for _, s := range m.Stats {
		if s.Value < 0 && s.Name != "std" {
			return fmt.Sprintf("%s of %g %s", name, s.Value, m.Unit)
		}
	}
	return ""
}
