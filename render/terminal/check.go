package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// Check writes the decision on a release with its card; all lists every verdict, also those that need nobody.
func Check(w io.Writer, g *gate.Review, c render.Card, all bool) {
	d := words.Decide(g.Result)
	against := ""
	if g.Baseline != "" {
		against = " against the releases up to " + g.Baseline
	}
	fmt.Fprintf(w, "%s%s: %s\n  %s\n", g.Release, against, d.Word, words.Headline(g))
	for _, line := range words.Inventory(g) {
		fmt.Fprintf(w, "  %s\n", strings.TrimSuffix(line, "."))
	}
	card(w, c)
	for _, p := range render.Remarks(g) {
		fmt.Fprintf(w, "  %s\n", p)
	}
	if len(g.Pairs) > 1 {
		fmt.Fprint(w, "\nMODELS AND DEVICES\n")
		for _, x := range g.Pairs {
			pd := words.Decide(x.Result)
			name := words.OnDevice(x.Model, x.Device)
			fmt.Fprintf(w, "  %-18s %s: %s\n", pd.Word, name, strings.TrimSuffix(pd.Detail, "."))
		}
	}
	history, targets := g.NeedsAttention()
	if all {
		history, targets = g.History, g.Targets
	}
	verdicts(w, "AGAINST HISTORY, worst first", history, len(g.History), all)
	verdicts(w, "TARGETS", targets, len(g.Targets), all)
	lints(w, g.Lints)
}

// card writes what a decision is based on, and the ways out.
func card(w io.Writer, c render.Card) {
	for _, f := range c.Facts {
		fmt.Fprintf(w, "  %-10s %s\n", f.Name, f.Text)
	}
	for _, x := range c.Ways {
		fmt.Fprintf(w, "  %s (%s):\n    %s\n", x.What, x.Cost, x.Cmd)
	}
}

// lints lists lints; what several runs have in common is one line, and so are many of one kind: the worst stands for
// them.
func lints(w io.Writer, list []lint.Lint) {
	if len(list) == 0 {
		return
	}
	var lines []string
	times, more := map[string]int{}, map[string]int{}
	for _, same := range render.FoldLints(list) {
		l := same[0]
		line := fmt.Sprintf("  %-8s %-18s %s", l.Severity, l.ID, words.Lint(l))
		if times[line]++; times[line] == 1 {
			lines = append(lines, line)
		}
		more[line] += len(same) - 1
	}
	fmt.Fprint(w, "\nLINTS\n")
	for _, line := range lines {
		rest := ""
		if n := times[line]; n > 1 {
			rest = fmt.Sprintf(" The same in %d runs.", n)
		}
		if n := more[line]; n > 0 {
			rest += fmt.Sprintf(" %d more like it: --format json lists all.", n)
		}
		fmt.Fprintf(w, "%s%s\n", line, rest)
	}
}

// verdicts lists findings in two lines each: what, and why with its id; a third has what is folded into it. all folds
// nothing.
func verdicts(w io.Writer, title string, list []schema.Verdict, of int, all bool) {
	if len(list) == 0 {
		return
	}
	most := 40
	if all {
		most = len(list)
	}
	found := render.Fold(list, all)
	fmt.Fprintf(w, "\n%s (%d of %d)\n", title, len(list), of)
	for i := range found[:min(most, len(found))] {
		v := found[i].Verdict
		name := words.MetricOf(v)
		if v.Level != "" {
			name += ", " + v.Level
		}
		change := ""
		if e, ok := v.Effect.Get(); ok && v.Against == schema.AgainstHistory {
			change = words.Effect(*v, e)
			if v.Interval != nil {
				change += " (" + words.IntervalOf(*v) + ")"
			}
		}
		line := fmt.Sprintf("  %s %-20s %s  %s  %s  %s", words.Sign(v.Outcome, v.Evidence), words.Verdict(v),
			words.OnDevice(v.Model, v.Device), words.Subject(v), name, change)
		fmt.Fprintln(w, strings.TrimRight(line, " "))
		fmt.Fprintf(w, "    %s  [%s]\n", words.Why(*v), v.ID)
		if with := found[i].Folded(); with != "" {
			fmt.Fprintf(w, "    %s\n", with)
		}
	}
	if len(found) > most {
		fmt.Fprintf(w, "  … and %d more: --format json lists all\n", len(found)-most)
	}
}

// ChangePoints writes the change points and drifts in the history of what was judged.
func ChangePoints(w io.Writer, c *render.ChangePoints) {
	fmt.Fprintf(w, "\nCHANGE POINTS: %s\n", c.Title())
	for _, line := range c.Lines() {
		fmt.Fprintf(w, "  %s\n", line)
	}
}
