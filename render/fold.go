package render

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// Finding is one line of a list of changes: the worst of the verdicts that one cause has, and the others.
type Finding struct {
	schema.Verdict
	Others []schema.Verdict
}

// Fold makes one finding of the verdicts of each cause: of a shift, of most of a system, else of a point; below the
// limit what is worse and what is better; and of what a system has no number of any more. A list that is ordered worst
// first stays so. What else is no change is a finding by itself, and so is everything with apart.
func Fold(list []schema.Verdict, apart bool) []Finding {
	type same struct {
		outcome  schema.Outcome
		evidence schema.Evidence
		cause    schema.Cause
		system   schema.System
		key      string
		decision string
		better   bool
	}
	at := map[same]int{}
	out := make([]Finding, 0, len(list))
	for i := range list {
		v := &list[i]
		gone := schema.ReasonIs[schema.NotRemeasured](v.Reason)
		below := v.Outcome == schema.BelowLimit
		if apart || v.Evidence == "" && v.Outcome != schema.Recovered && !gone && !below {
			out = append(out, Finding{Verdict: *v})
			continue
		}
		id := same{outcome: v.Outcome, evidence: v.Evidence, cause: v.Cause}
		if effect, _ := v.Effect.Get(); below {
			id.better = effect < 0
		}
		if v.Decision != nil {
			id.decision = v.Decision.ID
		}
		switch {
		case gone:
			id.cause, id.system = schema.Cause{}, v.System()
		case v.Cause.Kind != schema.CauseShift && v.Cause.Kind != schema.CauseRun:
			id.cause, id.system, id.key = schema.Cause{}, v.System(), v.Key.String()
		}
		if k, known := at[id]; known {
			out[k].Others = append(out[k].Others, *v)
			continue
		}
		at[id] = len(out)
		out = append(out, Finding{Verdict: *v})
	}
	return out
}

// Folded says what else is part of a finding: the other metrics of its point, or how many numbers changed with it.
func (f *Finding) Folded() string {
	if len(f.Others) == 0 {
		return ""
	}
	points := map[string]bool{f.Model + f.Device + f.Impl + f.Key.String(): true}
	for i := range f.Others {
		v := &f.Others[i]
		points[v.Model+v.Device+v.Impl+v.Key.String()] = true
	}
	if len(points) > 1 {
		const most = 3
		noun := "workload"
		if f.Key.IsEval() {
			noun = "task"
		}
		out := "With it " + list(f.Others[:min(most, len(f.Others))], true)
		if rest := len(f.Others) - most; rest > 0 {
			out += " and " + words.Plural(rest, "other number")
		}
		return out + fmt.Sprintf(", of %s in all.", words.Plural(len(points), noun))
	}
	return "With it " + list(f.Others, false) + "."
}

// list names numbers with their changes.
func list(of []schema.Verdict, workload bool) string {
	var parts []string
	for i := range of {
		v := &of[i]
		part := metricLabel(v.Metric, v.Stat)
		if workload {
			part = strings.TrimSpace(words.Subject(v) + " " + part)
		}
		if e, ok := v.Effect.Get(); ok {
			part += " " + words.Effect(*v, e)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
