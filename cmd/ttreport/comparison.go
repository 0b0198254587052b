package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/tabular"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets"
	"github.com/ttreport/ttreport/targets/regression/pairing"
)

// verdict is the last column: worse, better, or ~ with what would say it.
func (c compared) verdict() string {
	switch {
	case c.r.Sure && c.worse > 0:
		return "worse"
	case c.r.Sure:
		return "better"
	case c.r.NeededEach > 0:
		return fmt.Sprintf("~ (needs %d+%d)", c.r.NeededEach, c.r.NeededEach)
	}
	return "~"
}

func (c compared) cells() []string {
	info, _ := schema.MetricByName(c.metric)
	pm := func(mean, spread float64, n int) string {
		s := words.Quantity(mean, info.Unit)
		if n > 1 {
			s += fmt.Sprintf(" ±%.2g%s%%", 100*spread, words.Thin)
		}
		return s
	}
	interval, p := "", "n = "+fmt.Sprintf("%d+%d", c.r.NA, c.r.NB)
	if !math.IsNaN(c.r.Lo) {
		interval = words.Change(c.r.Lo) + " to " + words.Change(c.r.Hi)
	}
	if !math.IsNaN(c.r.P) {
		p = fmt.Sprintf("p = %.3f, ", c.r.P) + p
	}
	name := info.Label
	if c.stat != "value" {
		name += " " + c.stat
	}
	where := strings.Trim(c.workload+" "+c.key.Tool, " ")
	if c.system != "" {
		where = c.system + " " + where
	}
	return []string{where, name, pm(c.r.A, c.r.SpreadA, c.r.NA), pm(c.r.B, c.r.SpreadB, c.r.NB), words.Change(c.r.Change), interval, p, c.verdict()}
}

func (c *comparison) heads() []string {
	return []string{"WORKLOAD", "METRIC", c.a, c.b, "CHANGE", "95 % INTERVAL", "TEST", "VERDICT"}
}

// summary is what stands below the rows: geometric means by metric, tests used, what only one side has.
func (c *comparison) summary() []string {
	var out []string
	for _, metric := range targets.PrimaryMetrics() {
		sum, n, lo, hi := 0., 0, math.Inf(1), math.Inf(-1)
		for _, r := range c.rows {
			if r.metric == metric {
				v := math.Log1p(r.r.Change)
				sum, n, lo, hi = sum+v, n+1, math.Min(lo, v), math.Max(hi, v)
			}
		}
		if n > 1 {
			info, _ := schema.MetricByName(metric)
			out = append(out, fmt.Sprintf("%s (%s): geometric mean of %d changes %s, from %s to %s", info.Label, info.Better, n, words.Change(math.Expm1(sum/float64(n))), words.Change(math.Expm1(lo)), words.Change(math.Expm1(hi))))
		}
	}
	tests := map[string]int{}
	for _, r := range c.rows {
		tests[r.r.Test]++
	}
	for _, t := range []string{pairing.MannWhitney, pairing.Normal, pairing.Welch, pairing.NoTest} {
		if tests[t] > 0 {
			out = append(out, fmt.Sprintf("test: %s (%s)", t, plural(tests[t], "row")))
		}
	}
	if c.onlyA+c.onlyB > 0 {
		out = append(out, fmt.Sprintf("not compared: %d numbers only in %s, %d only in %s", c.onlyA, c.a, c.onlyB, c.b))
	}
	if c.badA+c.badB > 0 {
		out = append(out, fmt.Sprintf("left out: %d in %s and %d in %s that failed, are void, or are no measurement: zero, below, or beyond a hundred decades of one", c.badA, c.a, c.badB, c.b))
	}
	if c.lost > 0 {
		out = append(out, fmt.Sprintf("%s of the history cannot be read and counts for nothing here; ttreport check names it", plural(c.lost, "document")))
	}
	return append(out, "no correction for the number of rows: one in twenty unchanged ones is called changed where there is a test")
}

func (c *comparison) write(w io.Writer, format string) error {
	switch format {
	case "json":
		return c.writeJSON(w)
	case "csv":
		return c.writeCSV(w)
	case "md":
		rule := make([]string, len(c.heads()))
		for i := range rule {
			rule[i] = "---"
		}
		lines := [][]string{c.heads(), rule}
		for _, r := range c.rows {
			lines = append(lines, r.cells())
		}
		for _, l := range lines {
			for i := range l {
				l[i] = strings.ReplaceAll(l[i], "|", "\\|")
			}
			fmt.Fprintf(w, "| %s |\n", strings.Join(l, " | "))
		}
		for _, s := range c.summary() {
			fmt.Fprintf(w, "\n%s\n", s)
		}
		return nil
	}
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join(c.heads(), "\t"))
	for _, r := range c.rows {
		fmt.Fprintln(tw, strings.Join(r.cells(), "\t"))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, s := range c.summary() {
		fmt.Fprintln(w, s)
	}
	return nil
}

// finite leaves a number out of JSON and CSV that is none.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func (c *comparison) writeJSON(w io.Writer) error {
	type row struct {
		System   string   `json:"system,omitempty"`
		Key      keyJSON  `json:"key"`
		Metric   string   `json:"metric"`
		Stat     string   `json:"stat"`
		A        float64  `json:"a"`
		B        float64  `json:"b"`
		NA       int      `json:"n_a"`
		NB       int      `json:"n_b"`
		Change   float64  `json:"change"`
		Lo       *float64 `json:"lo"`
		Hi       *float64 `json:"hi"`
		P        *float64 `json:"p"`
		Test     string   `json:"test"`
		Verdict  string   `json:"verdict"`
		RunsEach int      `json:"runs_each_that_might_say,omitempty"`
	}
	out := struct {
		Schema string   `json:"schema"`
		A      string   `json:"a"`
		B      string   `json:"b"`
		OnlyA  int      `json:"only_a"`
		OnlyB  int      `json:"only_b"`
		Rows   []row    `json:"rows"`
		Notes  []string `json:"notes"`
	}{"ttreport/compare/v1", c.a, c.b, c.onlyA, c.onlyB, []row{}, c.summary()}
	for _, r := range c.rows {
		verdict, _, _ := strings.Cut(r.verdict(), " ")
		out.Rows = append(out.Rows, row{r.system, keyOf(r.key), r.metric, r.stat, r.r.A, r.r.B, r.r.NA, r.r.NB, r.r.Change, finite(r.r.Lo), finite(r.r.Hi), finite(r.r.P),
			r.r.Test, verdict, r.r.NeededEach})
	}
	return writeJSON(w, out)
}

func (c *comparison) writeCSV(w io.Writer) error {
	cw := csv.NewWriter(w)
	num := func(v float64) string {
		if f := finite(v); f != nil {
			return fmt.Sprintf("%.7g", *f)
		}
		return ""
	}
	_ = cw.Write([]string{"system", "workload", "tool", "metric", "stat", "unit", "a", "b", "n_a", "n_b", "change", "lo", "hi", "p", "test", "verdict"}) // Error reports it
	for _, r := range c.rows {
		verdict, _, _ := strings.Cut(r.verdict(), " ")
		_ = cw.Write([]string{tabular.Harmless(r.system), tabular.Harmless(r.workload), tabular.Harmless(r.key.Tool), r.metric, r.stat, schema.Unit(r.metric), num(r.r.A), num(r.r.B), fmt.Sprint(r.r.NA), fmt.Sprint(r.r.NB), num(r.r.Change), num(r.r.Lo), num(r.r.Hi), num(r.r.P), r.r.Test, verdict})
	}
	cw.Flush()
	return cw.Error()
}
