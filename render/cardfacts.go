package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// facts are what a decision is based on.
func (r *Report) facts(g *gate.Review, cover *gate.Coverage) []CardFact {
	var out []CardFact
	add := func(name, text string) {
		if text != "" {
			out = append(out, CardFact{Name: name, Text: text})
		}
	}
	add("Basis", basisText(g))
	if text := coverageText(cover); text != "" {
		out = append(out, CardFact{"Coverage", text, CoveragePath})
	}
	for _, c := range g.Result.Counts {
		if c.Kind == gate.FailOpen {
			text := words.Plural(c.N, "regression") + " of earlier releases, not accepted"
			out = append(out, CardFact{"Still there", text, ChangesPath})
		}
	}
	add("Targets", requiredText(required(g.Targets))+unmeasuredText(g.Unmeasured))
	at := judge.Named(r.Releases, g.Release)
	add("Order", r.orderText(at))
	var on []string
	for _, k := range gate.FailKinds() {
		if at >= 0 && r.Gate.FailsOn(at)[k] {
			on = append(on, string(k))
		}
	}
	if len(on) > 0 {
		add("Rule", "FAIL on "+strings.Join(on, ", "))
	} else {
		add("Rule", "nothing fails it (fail_on: none)")
	}
	add("Exit code", fmt.Sprintf("%d of ttreport check (0 pass, 1 fail, 5 nothing graded)", g.Result.Exit))
	return out
}

// orderText says that nothing but its name puts a release where it stands; "" where a date or ttreport.yaml does.
func (r *Report) orderText(at int) string {
	if at < 0 || len(r.Releases) < 2 || !r.Releases[at].Date.IsZero() ||
		slices.ContainsFunc(r.Gate.Listed, func(l judge.Configured) bool { return l.Name == r.Releases[at].Name }) {
		return ""
	}
	undated := 0
	for i := range r.Releases {
		undated += truth(r.Releases[i].Date.IsZero())
	}
	out := "nothing dates " + r.nameOf(at)
	if undated < len(r.Releases) {
		out += ": it stands after what is dated"
	}
	if undated > 1 {
		out += fmt.Sprintf("; the %d without a date stand in the order of their names", undated)
	}
	return out + ". releases: in ttreport.yaml states the order"
}

// basisText counts what was compared with history.
func basisText(g *gate.Review) string {
	b := g.Basis()
	if b.Compared == 0 {
		out := "nothing is compared"
		if b.Early > 0 {
			out += fmt.Sprintf("; %s with one earlier release alone", words.Plural(b.Early, "number"))
		}
		if b.Without > 0 || b.Early == 0 {
			out += fmt.Sprintf("; %s without a baseline", words.Plural(b.Without, "number"))
		}
		return out
	}
	out := fmt.Sprintf("%s of %s unchanged", words.Count(b.Unchanged), words.Count(b.Compared))
	for _, x := range []struct {
		n    int
		word string
	}{
		{b.BelowLimit, "changed below the limit"},
		{b.Inconclusive, "inconclusive"}, {b.Regressed, "regressed"}, {b.Improved, "improved"},
		{b.Early, "with one earlier release alone"}, {b.Without, "without a baseline"},
	} {
		if x.n > 0 {
			out += fmt.Sprintf(", %s %s", words.Count(x.n), x.word)
		}
	}
	if n := g.Fit.Shown.Once.Hidden; n > 0 && !g.Fit.Wider {
		out += fmt.Sprintf("; %s could hide more than the limit without a re-run", words.Count(n))
	}
	return out
}

// coverageText is how much of what was to be measured was.
func coverageText(c *gate.Coverage) string {
	all := c.Measured + len(c.Gaps)
	if all == 0 {
		return ""
	}
	out := fmt.Sprintf("%s of %s measured", words.Count(c.Measured), words.Plural(all, "point"))
	if o := c.Oldest(); o != nil {
		out += "; " + gapsText(c)
		if o.Last != "" {
			out += ", the oldest since " + o.Last
		}
	}
	return out
}

// gapsText counts what is missing, and what was not measured again.
func gapsText(c *gate.Coverage) string {
	again := 0
	for i := range c.Gaps {
		again += truth(c.Gaps[i].Again)
	}
	var parts []string
	if n := len(c.Gaps) - again; n > 0 {
		parts = append(parts, words.Count(n)+" missing")
	}
	if again > 0 {
		parts = append(parts, words.Count(again)+" "+words.NotMeasuredAgain)
	}
	return strings.Join(parts, ", ")
}

// requiredText counts required targets.
func requiredText(list []schema.Verdict) string {
	n := map[schema.Outcome]int{}
	for i := range list {
		n[list[i].Outcome]++
	}
	if len(list) == 0 {
		return "none is required"
	}
	out := fmt.Sprintf("%s of %s required are met", words.Count(n[schema.Pass]), words.Count(len(list)))
	if k := n[schema.Fail]; k > 0 {
		out += fmt.Sprintf(", %s missed", words.Count(k))
	}
	if k := len(list) - n[schema.Pass] - n[schema.Fail]; k > 0 {
		out += fmt.Sprintf(", %s cannot be decided", words.Count(k))
	}
	return out
}

// unmeasuredText names what has targets and was never measured, which no verdict is about.
func unmeasuredText(list []schema.Pair) string {
	if len(list) == 0 {
		return ""
	}
	var names []string
	for _, p := range list {
		names = append(names, words.OnDevice(p.Model, p.Device))
	}
	return "; targets of what was never measured grade nothing: " + words.Few(names, 3)
}
