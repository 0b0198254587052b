package render

import (
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// Counts are how often each verdict was given, a line for each kind of judgement.
type Counts []Ledger

// Ledger is one line of counts.
type Ledger struct {
	Name, Note string
	Grey       bool // nothing depends on it
	Items      []Count
	none       bool // nothing was counted
}

// Count is how often a verdict was given.
type Count struct {
	N        int
	Text     string // where it is not the word of the outcome
	Outcome  schema.Outcome
	Evidence schema.Evidence
}

// Kind implements Block.
func (Counts) Kind() string { return "counts" }

// Plain implements Block.
func (c Counts) Plain() []Block {
	t := &Table{Caption: "Counts", Cols: []Col{{Head: "Of"}, {Head: "Verdict"}, {Head: "Count", Num: true}}}
	for _, l := range c {
		for _, i := range l.Items {
			t.row(
				Cell{Text: l.Name, Head: true}, Cell{Text: i.Text, Outcome: i.Outcome, Evidence: i.Evidence},
				text(words.Count(i.N)),
			)
		}
	}
	return []Block{t}
}

// outcome is a verdict's word and evidence.
type outcome struct {
	schema.Outcome
	schema.Evidence
	own string // [words.OwnWord]
}

// ledger counts some verdicts of a list by word.
func ledger(name, what string, list []schema.Verdict, order []schema.Outcome, of func(*schema.Verdict) bool) Ledger {
	n, all := map[outcome]int{}, 0
	for i := range list {
		if of(&list[i]) {
			n[outcome{list[i].Outcome, list[i].Evidence, words.OwnWord(&list[i])}]++
			all++
		}
	}
	l := Ledger{Name: name, Note: words.Plural(all, what), none: all == 0}
	for i, w := range order {
		given := false
		for _, evidence := range []schema.Evidence{schema.Confirmed, schema.Suspected, ""} {
			for _, own := range []string{"", words.NotMeasuredAgain} {
				if k := n[outcome{w, evidence, own}]; k > 0 {
					l.Items = append(l.Items, Count{k, own, w, evidence})
					given = true
				}
			}
		}
		if !given && i < 1 {
			l.Items = append(l.Items, Count{Outcome: w})
		}
	}
	return l
}

// targetWords and historyWords are the verdicts against targets and against history, by weight.
func targetWords() []schema.Outcome {
	return []schema.Outcome{
		schema.Fail, schema.Inconclusive, schema.NotMeasured, schema.Unattainable, schema.Pass, schema.NoTarget,
	}
}

func historyWords() []schema.Outcome {
	return []schema.Outcome{
		schema.Regressed, schema.NotMeasured, schema.Excluded, schema.Improved, schema.Recovered, schema.BelowLimit,
		schema.Unchanged, schema.Inconclusive, schema.NoBaseline, schema.NotComparable,
	}
}

// counts open a page: required targets apart from the rest, since only they decide.
func (r *Report) counts(at int) Counts {
	f := r.Gate.Findings(at)
	required := func(v *schema.Verdict) bool { return v.Required }
	eval := func(v *schema.Verdict) bool { return v.Key.IsEval() }
	not := func(is func(*schema.Verdict) bool) func(*schema.Verdict) bool {
		return func(v *schema.Verdict) bool { return !is(v) }
	}
	informational := ledger("Informational", "verdict", f.Targets, targetWords(), not(required))
	informational.Grey = true
	all := Counts{
		ledger("Required targets", "verdict", f.Targets, targetWords(), required),
		informational,
		ledger("History", "series", f.History, historyWords(), not(eval)),
		ledger("Evals", "score", f.History, historyWords(), eval),
	}
	return slices.DeleteFunc(all, func(l Ledger) bool { return l.none }) // a count of nothing tells nothing
}
