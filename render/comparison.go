package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/compare"
)

// Comparison is two sides beside each other, as every output shows them.
type Comparison struct {
	*compare.Result
	Lost int // documents of the history that could not be read
	// Against is what the pages of the site say of the two sides, where they are an earlier and a later release.
	Against *compare.Against
}

// Head stands above the rows: conditions and loads that differ, and what B was judged.
func (c *Comparison) Head() []string {
	if c.Against != nil {
		return append(unlikeLoadsText(c.Result), AgainstText(c.Against)...)
	}
	var out []string
	for _, s := range c.Settings {
		out = append(out, fmt.Sprintf("%s differs: %s → %s", s.Name, s.A, s.B))
	}
	return append(out, unlikeLoadsText(c.Result)...)
}

// Table has one row a number, largest regressions first.
func (c *Comparison) Table() *Table {
	t := &Table{Caption: c.A + " and " + c.B, Cols: []Col{
		{Head: "Workload"}, {Head: "Metric"}, {Head: shortSide(c.A, c.B)}, {Head: shortSide(c.B, c.A)},
		{Head: "Change"}, {Head: "95 % interval"},
		{Head: "Test"}, {Head: "Verdict"},
	}}
	if c.OfTools {
		t.Cols[4].Head, t.Cols[len(t.Cols)-1].Head = "Difference", "Definitions"
	}
	if c.Against != nil {
		t.Cols = append(t.Cols, Col{Head: "Verdict of " + shortSide(c.B, c.A)})
	}
	marked := anyLoads(c.Result)
	if marked {
		t.Cols = append(t.Cols, Col{Head: "Requests"})
	}
	for i := range c.Rows {
		row := comparisonRow(&c.Rows[i])
		if c.Against != nil {
			row.Cells = append(row.Cells, text(judgedText(c.Rows[i].Judged)))
		}
		if c.OfTools {
			row.Cells[len(row.Cells)-1] = text(definitions(&c.Rows[i]))
		}
		if marked {
			row.Cells = append(row.Cells, text(loadMark(c.Rows[i].Loads)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// judgedText is a verdict against history with its interval: "regressed confirmed, +10.5 % to +22.1 %".
func judgedText(v *schema.Verdict) string {
	if v == nil {
		return words.Absent
	}
	out := strings.TrimSpace(string(v.Outcome) + " " + string(v.Evidence))
	if v.Interval != nil {
		out += ", " + words.IntervalOf(*v)
	}
	return out
}

// definitions are those of a metric by two tools.
func definitions(r *compare.Row) string {
	switch {
	case r.DefA == r.DefB && r.DefA == schema.DefNotStated:
		return "not stated"
	case r.DefA == r.DefB:
		return "the same: " + r.DefA
	}
	return r.DefA + " and " + r.DefB
}

func comparisonRow(r *compare.Row) Row {
	info, _ := schema.MetricByName(r.Metric)
	interval, p := "", fmt.Sprintf("n = %d+%d", r.NA, r.NB)
	if !math.IsNaN(r.Lo) {
		interval = words.Change(r.Lo) + " to " + words.Change(r.Hi)
	}
	if !math.IsNaN(r.P) {
		p = fmt.Sprintf("p = %.3f, ", r.P) + p
	}
	verdict := string(r.Outcome())
	if r.Outcome() == compare.Inconclusive {
		verdict = "~"
		if r.NeededEach > 0 {
			verdict = fmt.Sprintf("~ (needs %d+%d)", r.NeededEach, r.NeededEach)
		}
	}
	row := Row{}
	for _, s := range []string{
		workloadOn(r.System, r.Key), words.Metric(r.Metric, r.Stat), plusMinus(r.A, r.SpreadA, r.NA, info.Unit),
		plusMinus(r.B, r.SpreadB, r.NB, info.Unit), words.Change(r.Change), interval, p, verdict,
	} {
		row.Cells = append(row.Cells, text(s))
	}
	return row
}

// together says how all points changed that both sides measured in turns.
func together(a compare.All) string {
	info, _ := schema.MetricByName(a.Metric)
	out := fmt.Sprintf("in turns: %s (%s) of %s %s", info.Label, info.Better, words.Plural(a.Points, "point"),
		words.Change(a.Change))
	out += fmt.Sprintf(", 95%s%% interval %s to %s from %s", words.Thin, words.Change(a.Lo), words.Change(a.Hi),
		words.Plural(a.Blocks, "block"))
	if a.Kept {
		out += "; both servers kept running, so that each started once"
	}
	return out
}

// plusMinus is a mean with half of the range of its repeats.
func plusMinus(mean, spread float64, n int, unit string) string {
	s := words.Quantity(mean, unit)
	if n > 1 {
		s += " ±" + words.Percent(spread)
	}
	return s
}

// Notes follow the rows: geometric means by metric, tests used, what was left out.
func (c *Comparison) Notes() []string {
	var out []string
	for _, m := range c.Means() {
		info, _ := schema.MetricByName(m.Metric)
		said := fmt.Sprintf("%s (%s): geometric mean of %d changes %s, from %s to %s", info.Label, info.Better, m.N,
			words.Change(m.Change), words.Change(m.Low), words.Change(m.High))
		if m.NAlike > 0 {
			said += fmt.Sprintf("; %s over the %d that Requests does not mark", words.Change(m.Alike), m.NAlike)
		}
		out = append(out, said)
	}
	for _, a := range c.All {
		out = append(out, together(a))
	}
	tests := c.Tests()
	for _, t := range compare.TestNames() {
		if tests[t] > 0 {
			out = append(out, fmt.Sprintf("test: %s (%s)", t, words.Plural(tests[t], "row")))
		}
	}
	for _, m := range c.NoPairs {
		out = append(out, "runs that name each other are no pair in turns: "+words.Mismatch(m))
	}
	if c.OnlyA+c.OnlyB > 0 {
		out = append(out, fmt.Sprintf("not compared: %d numbers only in %s, %d only in %s", c.OnlyA, c.A, c.OnlyB, c.B))
	}
	if c.BadA+c.BadB > 0 {
		out = append(
			out,
			fmt.Sprintf("left out: %d in %s and %d in %s that failed, are invalid, or are no measurement: "+
				"zero, below, or beyond a hundred decades of one", c.BadA, c.A, c.BadB, c.B),
		)
	}
	if c.Lost > 0 {
		out = append(
			out,
			fmt.Sprintf("%s of the history cannot be read and counts for nothing here; ttreport check names it",
				words.Plural(c.Lost, "document")),
		)
	}
	return append(out, c.caution(tests)...)
}

// caution says what the rows do not show.
func (c *Comparison) caution(tests map[string]int) []string {
	if c.OfTools {
		return []string{"two tools measure the same load at other times and count by other rules: a difference is no " +
			"verdict on either; ttreport help glossary has the definitions"}
	}
	var out []string
	n := tests[compare.Interleaved]
	if n > 0 {
		out = append(out, "rows of paired blocks are tested as one family: "+
			"one in twenty of those called changed may be unchanged")
	}
	if n < len(c.Rows) {
		out = append(out,
			"no correction for the number of rows: where there is a test, one in twenty unchanged rows is called changed")
	}
	return out
}

// shortSide is the name of a side in a head: of a long path the end that tells it from the other one.
func shortSide(name, other string) string {
	const long = 24
	if len(name) <= long {
		return name
	}
	parts, others := strings.Split(name, "/"), strings.Split(other, "/")
	n := 1
	for n < len(parts) && n < len(others) && slices.Equal(parts[len(parts)-n:], others[len(others)-n:]) {
		n++
	}
	if n == len(parts) || name == other {
		n = 1
	}
	return strings.Join(parts[len(parts)-n:], "/")
}
