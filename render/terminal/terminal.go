// Package terminal writes what people read at a prompt: the decision of a gate, the calculation behind a verdict, a
// comparison. And what CI systems show: a JUnit XML test report of the decision.
//
// It takes views and typed verdicts and writes plain text, two lines a verdict: what, and why. Colour is never used,
// so that the text reads the same in a log. The package must not know the command line.
package terminal

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"text/template"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// Check writes the decision on a release with its card: what fits a screen for a release with one cause. all adds the
// decision on each model and device, every verdict, every lint, and how sure the comparison is.
func Check(w io.Writer, g *gate.Review, c render.Card, all bool) {
	d := words.Decide(g.Result)
	against := ""
	if g.Baseline != "" {
		against = " against the releases up to " + words.Release(g.Baseline)
	}
	fmt.Fprintf(w, "%s%s: %s\n", g.Release, against, d.Word)
	if head := words.HeadlineOverChanges(g); head != "" {
		fmt.Fprintf(w, "  %s\n", head)
	}
	for _, line := range words.Inventory(g) {
		fmt.Fprintf(w, "  %s\n", strings.TrimSuffix(line, "."))
	}
	changes(w, g, all)
	for _, f := range c.Facts {
		fmt.Fprintf(w, "  %-10s %s\n", f.Name, f.Text)
	}
	if !all && len(g.Pairs) > 1 {
		fmt.Fprintf(w, "  %-10s %s\n", "Decisions", decisions(g.Pairs))
	}
	for _, x := range c.Ways {
		fmt.Fprintf(w, "  %s (%s):\n    %s\n", x.What, x.Cost, x.Cmd)
	}
	for _, p := range render.Remarks(g, all) {
		fmt.Fprintf(w, "  %s\n", p)
	}
	history, targets := g.NeedsAttention()
	if all {
		if len(g.Pairs) > 1 {
			fmt.Fprint(w, "\nMODELS AND DEVICES\n")
			for _, x := range g.Pairs {
				d := words.Decide(x.Result)
				fmt.Fprintf(w, "  %-18s %s: %s\n", d.Word, words.OnDevice(x.Model, x.Device), strings.TrimSuffix(d.Detail, "."))
			}
		}
		history, targets = g.History, g.Targets
	} else { // what is part of a change was told with it
		history = slices.DeleteFunc(history, func(v schema.Verdict) bool {
			return v.Change != "" || v.Outcome == schema.BelowLimit
		})
	}
	verdicts(w, "AGAINST HISTORY, worst first", history, g.History, all)
	verdicts(w, "TARGETS", targets, g.Targets, all)
	lints(w, g.Lints, all)
}

// decisions counts the decisions on models and devices, and names those that are no PASS where they are few.
func decisions(list []gate.PairResult) string {
	const few = 3
	var order []gate.Word
	names := map[gate.Word][]string{}
	for _, x := range list {
		if names[x.Result.Word] == nil {
			order = append(order, x.Result.Word)
		}
		names[x.Result.Word] = append(names[x.Result.Word], words.OnDevice(x.Model, x.Device))
	}
	var out []string
	for _, word := range order {
		text := fmt.Sprintf("%s %s", words.Count(len(names[word])), word)
		if word != gate.Pass && len(names[word]) <= few {
			text += " (" + strings.Join(names[word], ", ") + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ") + "; --all lists them"
}

// screen is how many lines of one kind fit a screen with the others.
const screen = 10

// changes lists the changes that a release suspects or confirms, then those of earlier releases that are still open,
// each with its id.
func changes(w io.Writer, g *gate.Review, all bool) {
	var news, open []judge.Change
	for _, c := range g.Changes {
		switch {
		case c.News(g.Release):
			news = append(news, c)
		case all || gate.Open(&c):
			open = append(open, c)
		}
	}
	list := append(news, open...)
	for i := range list {
		if i == screen && !all {
			fmt.Fprintf(w, "  … and %s: --all lists them\n", words.Plural(len(list)-i, "more change"))
			return
		}
		c := &list[i]
		outcome := schema.Improved
		switch {
		case c.Worse && c.BelowLimit():
			outcome = schema.BelowLimit
		case c.Worse:
			outcome = schema.Regressed
		}
		fmt.Fprintf(w, "  %s %s  [%s]\n", words.Sign(outcome, c.Evidence), words.ChangeText(c), c.ID)
		if c.Decision != nil {
			fmt.Fprintf(w, "    %s\n", words.DecisionNote(*c.Decision))
		}
	}
}

// lints lists lints; what several runs have in common is one line, and so are many of one kind: the worst stands for
// them. Without all they are at most a screen, and drift, which the card names, is left out.
func lints(w io.Writer, list []lint.Lint, all bool) {
	var lines []string
	times, more := map[string]int{}, map[string]int{}
	for _, same := range render.FoldLints(list) {
		l := same[0]
		if l.ID == lint.IDDrift && !all {
			continue
		}
		line := fmt.Sprintf("  %-8s %-18s %s", l.Severity, l.ID, words.Lint(l))
		if times[line]++; times[line] == 1 {
			lines = append(lines, line)
		}
		more[line] += len(same) - 1
	}
	if len(lines) > 0 {
		fmt.Fprint(w, "\nLINTS\n")
	}
	for i, line := range lines {
		if i == screen && !all {
			fmt.Fprintf(w, "  … and %d more: --all lists them\n", len(lines)-i)
			return
		}
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
// nothing. of are those that the findings are among: one of them may be the only one of its implementation.
func verdicts(w io.Writer, title string, list, of []schema.Verdict, all bool) {
	if len(list) == 0 {
		return
	}
	most := screen
	if all {
		most = len(list)
	}
	found := render.Fold(list, all)
	implOf := words.Impls(len(of), func(i int) *schema.Verdict { return &of[i] })
	fmt.Fprintf(w, "\n%s (%d of %d)\n", title, len(list), len(of))
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
			strings.TrimSuffix(words.OnDevice(v.Model, v.Device)+", "+implOf(v), ", "), words.Subject(v), name, change)
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

// ChangePoints writes the change points in the history of what was judged.
func ChangePoints(w io.Writer, c render.ChangePoints) {
	fmt.Fprintf(w, "\nCHANGE POINTS: %s\n", c.Title())
	for _, line := range c.Lines() {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// Calculation writes everything behind a verdict against history. Values on the log scale are called z.
func Calculation(w io.Writer, v schema.Verdict, c *judge.Calculation, releases []judge.Release) {
	why, _ := v.Reason.(schema.Change)
	explain(w, "calculation", map[string]any{"v": &v, "metric": strings.TrimSuffix(v.Metric+" "+v.Stat, " "), "c": c,
		"higher": judge.Higher(v.Metric), "releases": releases, "why": why,
		"open": v.Outcome == schema.Inconclusive && !v.Large})
}

// Verdict writes a verdict that no test against history decided: a target's, or an eval's.
func Verdict(w io.Writer, v schema.Verdict) {
	explain(w, "verdict", map[string]any{"v": &v, "metric": v.Metric})
}

// EvalCalculation writes the scores behind an eval's verdict and, for one against the mean of releases, the test.
func EvalCalculation(w io.Writer, v schema.Verdict, c *judge.EvalCalculation) {
	if c != nil {
		change, _ := v.Reason.(schema.EvalChange)
		explain(w, "eval", map[string]any{"c": c, "test": change.Test})
	}
}

// explainText has the calculations behind verdicts as they are printed.
//
//go:embed explain.txt
var explainText string

// explain fills a template of explain.txt.
func explain(w io.Writer, name string, data map[string]any) {
	number := func(name string, n schema.Number) string {
		if x, ok := n.Get(); ok {
			return fmt.Sprintf("%-20s %.6g\n", name, x+0)
		} else if n.Why() != "" {
			return fmt.Sprintf("%-20s none: %s\n", name, n.Why())
		}
		return ""
	}
	y := func(z float64) float64 { // the value behind z
		if data["higher"] == true {
			z = -z
		}
		return math.Exp(z)
	}
	all := template.Must(template.New("").Funcs(template.FuncMap{
		"expm1": math.Expm1, "facts": words.Facts, "isInf": func(x float64) bool { return math.IsInf(x, 1) },
		"less": func(a, b float64) float64 { return a - b }, "over": func(a, b float64) float64 { return a / b },
		"number": number, "plural": words.Plural, "unknown": words.OrUnknown, "verdict": words.Verdict, "why": words.Why,
		"outliers": func(p schema.Number, c float64) float64 { // the p value used where it is larger, else 0
			if used, _ := p.Get(); used > c*1.001 {
				return used
			}
			return 0
		},
		"workload": words.Workload, "y": y,
	}).Parse(explainText))
	if err := all.ExecuteTemplate(w, name, data); err != nil {
		fmt.Fprintln(w, err) // of a mistake in explain.txt; nobody reads what a closed pipe takes
	}
}

// Section writes a section: its title in capitals, and its tables.
func Section(w io.Writer, s *render.Section) {
	fmt.Fprintf(w, "\n%s\n", strings.ToUpper(s.Title))
	for _, b := range s.Blocks {
		if t, ok := b.(*render.Table); ok {
			Table(w, t)
		}
	}
}

// Table writes an aligned table: numbers to the right, texts to the left, units below the heads.
func Table(w io.Writer, t *render.Table) {
	heads, units := make([]string, len(t.Cols)), make([]string, len(t.Cols))
	for i, c := range t.Cols {
		heads[i], units[i] = c.Head, c.Unit
	}
	lines := [][]string{heads}
	if strings.Join(units, "") != "" {
		lines = append(lines, units)
	}
	for _, r := range t.Rows {
		line := make([]string, len(t.Cols))
		for i := range min(len(r.Cells), len(line)) {
			c := r.Cells[i]
			if line[i] = c.Text; c.Outcome != schema.NoOutcome {
				line[i] = strings.TrimSpace(words.Sign(c.Outcome, c.Evidence) + " " + c.Text)
			}
			if c.Sub != "" {
				line[i] = strings.TrimPrefix(line[i]+" · "+c.Sub, " · ")
			}
		}
		lines = append(lines, line)
	}
	Align(w, lines, func(i int) bool { return t.Cols[i].Num })
	if t.More != "" {
		fmt.Fprintf(w, "  %s of %s rows; %s\n", words.Count(len(t.Rows)), words.Count(t.Total), t.More)
	}
}

// Compare writes a comparison as an aligned table with its notes.
func Compare(w io.Writer, c *render.Comparison) error {
	for _, s := range c.Head() {
		fmt.Fprintln(w, s)
	}
	if len(c.Head()) > 0 {
		fmt.Fprintln(w)
	}
	for _, t := range c.Tables() {
		tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
		for i, col := range t.Cols {
			if i != 2 && i != 3 { // the names of the sides, as they were given
				col.Head = strings.ToUpper(col.Head)
			}
			fmt.Fprint(tw, strings.Repeat("\t", min(i, 1)), col.Head)
		}
		for _, r := range t.Rows {
			for i, cell := range r.Cells {
				fmt.Fprint(tw, []string{"\n", "\t"}[min(i, 1)], cell.Text)
			}
		}
		fmt.Fprintln(tw)
		if err := tw.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	for _, s := range c.Notes() {
		fmt.Fprintln(w, s)
	}
	return nil
}

// Targets writes a table with one row a target.
func Targets(w io.Writer, list []judge.TargetEntry) error {
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "MODEL\tDEVICE\tWORKLOAD\tMETRIC\tLEVEL\tTARGET\tTOLERANCE\tPRIORITY\tSOURCE")
	for _, e := range list {
		for _, t := range e.Targets {
			info, _ := schema.MetricByName(t.Metric)
			name := info.Label
			if t.Key.IsEval() {
				name = cmp.Or(t.Metric, "eval")
			}
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%g %%\t%s\t%s\n", e.Model, e.Device, words.Workload(t.Key), name,
				t.Level, words.Quantity(t.Value, t.Unit), 100*t.Tolerance, cmp.Or(t.Priority, "by status"), t.Source)
		}
	}
	return tw.Flush()
}

// Contradictions writes one line a contradiction.
func Contradictions(w io.Writer, list []judge.Contradiction) {
	for _, c := range list {
		fmt.Fprintf(w, "%-8s %-18s %s on %s %s, %s: %s\n",
			c.Severity, c.Code, c.Model, c.Device, c.Target.Key.Workload(), c.Target.Level, c.Text)
	}
}

// Align writes lines of cells in columns; columns that right says are aligned to the right.
func Align(w io.Writer, lines [][]string, right func(column int) bool) {
	var width []int
	for _, line := range lines {
		for i, s := range line {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(s))
		}
	}
	for _, line := range lines {
		var b strings.Builder
		for i, s := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(s))
			if right(i) {
				s, pad = pad, s
			}
			b.WriteString("  " + s + pad)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
