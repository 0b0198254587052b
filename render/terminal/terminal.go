// Package terminal writes what people read at a prompt: the decision of a gate, the calculation behind a verdict, a
// comparison. And what CI systems show: a JUnit XML test report of the decision.
//
// It takes views and typed verdicts and writes plain text, two lines a verdict: what, and why. Colour is never used,
// so that the text reads the same in a log. The package must not know the command line.
package terminal

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
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
	p := printer{w}
	z := "ln y"
	if judge.Higher(v.Metric) {
		z = "−ln y"
	}
	p.subject(&v, v.Stat)
	p.line("\nz = %s, so that larger is worse; d is a difference of z", z)
	p.line("baseline (%d releases)", len(c.Baseline))
	for _, b := range c.Baseline {
		p.line("  %-14s z = %.6f   y = %-10.5g repeats %d   without its group's %+.6f: %.6f",
			releases[b.Release].Name, b.Z, y(v.Metric, b.Z), b.K, b.Z-b.Adjusted, b.Adjusted)
	}
	p.line("  mean of z          %.6f", c.Mean)
	p.line("  own variance s²    %.4g with ν = %g", c.S2, c.Nu)
	p.line("this release         z = %.6f   y = %.5g   repeats %d", c.Obs.Z, y(v.Metric, c.Obs.Z), c.Obs.K)
	p.line("change of its group  %+.6f, taken from it", c.Shift)
	if len(c.Baseline) == 0 || c.SE == 0 {
		p.line("no test: %s", words.Why(v))
		return
	}
	// the moderated t test and the false discovery procedure
	p.line("d                    %+.6f = %.6f − (%+.6f) − %.6f", c.D, c.Obs.Z, c.Shift, c.Mean)
	p.line("noise of all cells   d0 = %.3g, typical variance s0² = %.4g", c.D0, c.S02)
	p.line("moderated variance   (d0·s0² + ν·s²)/(d0 + ν), at least the floor %.4g: %.4g", c.Floor, c.Variance)
	p.line("standard error       √(%.4g·(1 + 1/%d)) = %.6f", c.Variance, len(c.Baseline), c.SE)
	p.line("t                    %.4f with %.4g degrees of freedom", c.T, c.Df)
	p.line("p, one-sided         %.4g; %d of %d tests pass in its direction", c.P, c.Passing, c.Family)
	p.line("limit of the rule    %.4g, its workload being number %d of those that deviate most", c.Limit, c.Rank)
	if used, ok := v.P.Get(); ok && used > c.P*1.001 {
		p.line("with outliers        %.4g: how often values deviate as far and come back is added", used)
	}
	p.line("effect that matters  ln(1 + %.3g) = %.6f", math.Expm1(c.Delta), c.Delta)
	if a := c.Again; a != nil {
		p.line("newest %d runs        since %s, mean d = %+.6f, one standard error %.6f", a.Runs,
			releases[a.Release].Name, a.D, a.SE)
		p.line("  against            %d releases before them, with %.4g degrees of freedom", a.N, a.Df)
		p.line("  together           p = %.4g by ordinary noise, p = %.4g by outliers", a.P, a.Outliers)
	}
	why, _ := v.Reason.(schema.Change)
	switch {
	case v.Outcome != schema.Inconclusive || v.Large:
	case why.Repeats > 0:
		p.line("to settle it         about %d repeats of this release", why.Repeats)
	case why.More > 0:
		p.line("to settle it         no number of repeats; about %d more releases", why.More)
	default:
		p.line("to settle it         neither repeats nor releases: the noise is larger than what matters")
	}
}

// y is the value behind z.
func y(metric string, z float64) float64 {
	if judge.Higher(metric) {
		return math.Exp(-z)
	}
	return math.Exp(z)
}

// Verdict writes a verdict that no test against history decided: a target's, or an eval's.
func Verdict(w io.Writer, v schema.Verdict) {
	p := printer{w}
	p.subject(&v, "")
	p.number("value", v.Value)
	p.number("reference", v.Ref)
	p.number("effect", v.Effect)
	p.number("p, one-sided", v.P)
	if v.Interval != nil {
		p.line("%-20s %.6g to %.6g", "95 % interval", v.Interval[0], v.Interval[1])
	}
	p.number("q, over the evals", v.Q)
	if v.N > 0 {
		p.line("%-20s %d", "n", v.N)
	} else {
		p.line("%-20s not stated", "n")
	}
	for _, f := range words.Facts(v.Reason) {
		p.line("%-20s %s", f.Name, f.Text)
	}
}

func (p printer) number(name string, n schema.Number) {
	if x, ok := n.Get(); ok {
		p.line("%-20s %.6g", name, x+0)
	} else if n.Why() != "" {
		p.line("%-20s none: %s", name, n.Why())
	}
}

// EvalCalculation writes the scores behind an eval's verdict and, for one against the mean of releases, the test.
func EvalCalculation(w io.Writer, v schema.Verdict, c *judge.EvalCalculation) {
	if c == nil {
		return
	}
	p := printer{w}
	p.scores("baseline", c.Baseline)
	p.scores("now", c.Now)
	if r, ok := v.Reason.(schema.EvalChange); ok {
		switch r.Test {
		case schema.TestPaired:
			p.line("test                 McNemar's, exact: binomial(lost + gained, 1/2)")
		case schema.TestUnpaired:
			p.line("test                 two proportions, pooled; interval by Newcombe's method 10")
		case schema.TestByError:
			p.line("test                 normal, with both standard errors")
		}
	}
	if c.EvalNoise == nil {
		return
	}
	p.line("scale                a = 2·asin √p, where n questions alone have a variance of 1/n")
	p.line("mean of baseline     a = %.6f, p = %.6f", c.Mean, c.MeanShare)
	p.line("this release         a = %.6f", c.Z)
	df := fmt.Sprintf("%.4g degrees of freedom", c.Df)
	if math.IsInf(c.Df, 1) {
		df = "the normal distribution"
	}
	p.line("variance             between releases %.4g, at least 1/n: %.4g with %s", c.Own, c.Variance, df)
	p.line("standard error       √(%.4g·(1 + 1/%d)) = %.6f", c.Variance, len(c.Baseline), c.SE)
	p.line("t                    %.4f", (c.Z-c.Mean)/c.SE)
}

func (p printer) scores(what string, values []judge.EvalValue) {
	for _, b := range values {
		n := "an unstated number of questions"
		if b.N > 0 {
			n = words.Plural(b.N, "question")
		}
		p.line("  %-9s%-14s %.6g of %s, run %s", what, b.Release, b.Value, n, b.Run)
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

// printer writes lines.
type printer struct{ w io.Writer }

func (p printer) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// subject names a verdict, what it is about, and why it is.
func (p printer) subject(v *schema.Verdict, stat string) {
	p.line("%s  %s", v.ID, words.Verdict(v))
	p.line("%s on %s, %s, %s in %s", words.OrUnknown(v.Model), words.OrUnknown(v.Device), words.Workload(v.Key),
		strings.TrimSuffix(v.Metric+" "+stat, " "), v.Release)
	p.line("%s", words.Why(*v))
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
