package render

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// Finding is one line of a list of changes: the worst of the verdicts that one cause has, and the others.
type Finding struct {
	*schema.Verdict
	Others []*schema.Verdict
}

// Fold makes one finding of the verdicts of each cause: of a shift, of most of a system, else of a point, whose metrics
// may be confirmed or suspected; below the limit what is worse and what is better; and of what a system has no number
// of any more. A list that is ordered worst first stays so. What else is no change is a finding by itself, and so is
// everything with apart.
func Fold(list []schema.Verdict, apart bool) []Finding {
	type same struct {
		outcome  schema.Outcome
		evidence schema.Evidence
		cause    schema.Cause
		system   schema.System
		key      string
		decision string
		own      string // of what is gone: missing, or not measured again
		better   bool
	}
	at := map[same]int{}
	out := make([]Finding, 0, len(list))
	for i := range list {
		v := &list[i]
		gone := schema.ReasonIs[schema.NotRemeasured](v.Reason)
		below := v.Outcome == schema.BelowLimit
		if apart || v.Evidence == "" && v.Outcome != schema.Recovered && !gone && !below {
			out = append(out, Finding{Verdict: v})
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
			id.cause, id.system, id.own = schema.Cause{}, v.System(), words.OwnWord(v)
		case v.Cause.Kind != schema.CauseShift && v.Cause.Kind != schema.CauseRun:
			id.cause, id.system, id.key, id.evidence = schema.Cause{}, v.System(), v.Key.String(), ""
		}
		if k, known := at[id]; known {
			out[k].join(v)
			continue
		}
		at[id] = len(out)
		out = append(out, Finding{Verdict: v})
	}
	return out
}

// join adds a verdict: what is confirmed heads what is suspected.
func (f *Finding) join(v *schema.Verdict) {
	if v.Evidence == schema.Confirmed && f.Evidence != schema.Confirmed {
		f.Others = append(f.Others, f.Verdict)
		f.Verdict = v
		return
	}
	f.Others = append(f.Others, v)
}

// Folded says what else is part of a finding: the other metrics of its point, or how many numbers changed with it.
func (f *Finding) Folded() string {
	if len(f.Others) == 0 {
		return ""
	}
	points := map[string]bool{f.Model + f.Device + f.Impl + f.Key.String(): true}
	for _, v := range f.Others {
		points[v.Model+v.Device+v.Impl+v.Key.String()] = true
	}
	if len(points) > 1 {
		const most = 3
		noun := "workload"
		if f.Key.IsEval() {
			noun = "task"
		}
		out := "With it " + f.list(f.Others[:min(most, len(f.Others))], true)
		if rest := len(f.Others) - most; rest > 0 {
			out += " and " + words.Plural(rest, "other number")
		}
		return out + fmt.Sprintf(", of %s in all.", words.Plural(len(points), noun))
	}
	return "With it " + f.list(f.Others, false) + "."
}

// list names numbers with their changes, and with their evidence where it is other than that of the finding.
func (f *Finding) list(of []*schema.Verdict, workload bool) string {
	var parts []string
	for _, v := range of {
		part := words.Metric(v.Metric, v.Stat)
		if workload {
			part = strings.TrimSpace(words.Subject(v) + " " + part)
		}
		if e, ok := v.Effect.Get(); ok {
			part += " " + words.Effect(*v, e)
		}
		if v.Evidence != f.Evidence {
			part += " (" + string(v.Evidence) + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// sameShown is how many rows that say the same a list shows; more are one row with their number.
const sameShown = 5

// foldEqual gathers what has the same key, in the order in which each key comes first: more than sameShown of them are
// one list, others are lists of one.
func foldEqual[T any](list []T, key func(*T) string) (out [][]T) {
	n := map[string]int{}
	for i := range list {
		n[key(&list[i])]++
	}
	at := map[string]int{}
	for i := range list {
		k := key(&list[i])
		if n[k] <= sameShown {
			out = append(out, list[i:i+1])
			continue
		}
		place := place(at, k, &out, func() []T { return nil })
		out[place] = append(out[place], list[i])
	}
	return out
}

// FoldLints gathers what many lints of one kind say alike.
func FoldLints(list []lint.Lint) [][]lint.Lint {
	return foldEqual(list, func(l *lint.Lint) string { return string(l.ID) + string(l.Severity) })
}

// placesOf counts the models and devices of lints, or their runs where they are all of one.
func placesOf(list []lint.Lint) string {
	pairs, runs := map[schema.Pair]bool{}, map[string]bool{}
	for i := range list {
		pairs[schema.Pair{Model: list[i].Model, Device: list[i].Device}] = true
		runs[list[i].Run] = true
	}
	if len(pairs) > 1 {
		return words.Count(len(pairs)) + " models and devices"
	}
	return words.OnDevice(list[0].Model, list[0].Device) + ", " + words.Plural(len(runs), "run")
}
