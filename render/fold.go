package render

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// Finding is one line of a list of changes: the worst of the verdicts of one change, and the others.
type Finding struct {
	*schema.Verdict
	Others []*schema.Verdict
}

// Fold makes one finding of the verdicts of each change, else of a point, whose metrics may be confirmed or suspected;
// below the limit what is worse and what is better; and of what a system has no number
// of any more. A list that is ordered worst first stays so. What is confirmed heads what is suspected. What else is no
// change is a finding by itself, and so is everything with apart.
func Fold(list []schema.Verdict, apart bool) []Finding {
	type same struct {
		outcome  schema.Outcome
		evidence schema.Evidence
		change   string
		system   schema.System
		key      string
		decision string
		own      string // of what is gone: missing, or not measured again
		better   bool
	}
	var found groups[same, Finding]
	for i := range list {
		v := &list[i]
		gone := schema.ReasonIs[schema.NotRemeasured](v.Reason)
		below := v.Outcome == schema.BelowLimit
		id := same{outcome: v.Outcome, evidence: v.Evidence, change: v.Change}
		if effect, _ := v.Effect.Get(); below {
			id.better = effect < 0
		}
		if v.Decision != nil {
			id.decision = v.Decision.ID
		}
		switch {
		case apart || v.Evidence == schema.NoEvidence && v.Outcome != schema.Recovered && !gone && !below:
			found.list = append(found.list, Finding{Verdict: v})
			continue
		case gone:
			id.change, id.system, id.own = "", v.System(), words.OwnWord(v)
		case v.Change == "":
			id.system, id.key, id.evidence = v.System(), v.Key.String(), schema.NoEvidence
		}
		switch f, known := found.of(id); {
		case !known:
			f.Verdict = v
		case v.Evidence == schema.Confirmed && f.Evidence != schema.Confirmed:
			f.Others, f.Verdict = append(f.Others, f.Verdict), v
		default:
			f.Others = append(f.Others, v)
		}
	}
	return found.list
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
	const most = 3
	shown, several := f.Others, len(points) > 1
	if several {
		shown = shown[:min(most, len(shown))]
	}
	var parts []string
	for _, v := range shown {
		part := words.Metric(v.Metric, v.Stat)
		if several {
			part = strings.TrimSpace(words.Subject(v) + " " + part)
		}
		if e, ok := v.Effect.Get(); ok {
			part += " " + words.Effect(*v, e)
		}
		if v.Evidence != f.Evidence {
			part += " (" + v.Evidence.String() + ")"
		}
		parts = append(parts, part)
	}
	out := "Also " + strings.Join(parts, ", ")
	if !several {
		return out + "."
	}
	if rest := len(f.Others) - len(shown); rest > 0 {
		out += " and " + words.Plural(rest, "other number")
	}
	noun := "workload"
	if f.Key.IsEval() {
		noun = "task"
	}
	return out + fmt.Sprintf(", of %s in all.", words.Plural(len(points), noun))
}

// sameShown is how many rows that say the same a list shows; more are one row with their number.
const sameShown = 5

// foldEqual gathers what has the same key, in the order in which each key comes first: more than sameShown of them are
// one list, others are lists of one.
func foldEqual[T any](list []T, key func(*T) string) [][]T {
	type id struct {
		key   string
		alone int
	}
	n := map[string]int{}
	for i := range list {
		n[key(&list[i])]++
	}
	var same groups[id, []T]
	for i := range list {
		k := id{key(&list[i]), i}
		if n[k.key] > sameShown {
			k.alone = -1
		}
		g, _ := same.of(k)
		*g = append(*g, list[i])
	}
	return same.list
}

// FoldLints gathers what many lints of one kind say alike.
func FoldLints(list []lint.Lint) [][]lint.Lint {
	return foldEqual(list, func(l *lint.Lint) string { return string(l.ID) + string(l.Severity) })
}
