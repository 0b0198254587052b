package render

import (
	"fmt"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
)

// recheckLines are the commands that would settle the suspected regressions of a list, for a page.
func (r *Report) recheckLines(release int, history []schema.Verdict) string {
	x := gate.Review{Label: r.Gate.Label(release), Findings: gate.Findings{History: history}}
	return strings.Join(RecheckLines(&x), "\n")
}

// RecheckLines are the commands that would settle suspected regressions, one a system, three at most; none without any.
func RecheckLines(x *gate.Review) []string {
	const most, enough = 3, 24 // a run-wide shift is settled by twenty numbers of eight workloads
	list := x.Rechecks()
	var out []string
	for _, r := range list[:min(most, len(list))] {
		server := "URL"
		if r.Device == schema.Simulated {
			server = "sim"
		}
		argv := []string{"ttreport", "collect", "--model", r.Model, "--device", r.Device}
		if r.Impl != "" {
			argv = append(argv, "--impl", r.Impl)
		}
		argv = append(argv, "--server", server)
		if r.Release != "" {
			argv = append(argv, "--release", r.Release)
		}
		argv = append(argv, "--only", "benchmarks")
		for _, w := range r.Workloads[:min(enough, len(r.Workloads))] {
			argv = append(argv, "--workload", WorkloadFlag(w))
		}
		if r.Control != nil {
			argv = append(argv, "--workload", WorkloadFlag(*r.Control))
		}
		line := shellescape.QuoteCommand(argv)
		if rest := len(r.Workloads) - enough; rest > 0 {
			line += fmt.Sprintf(" # and %d more workloads", rest)
		}
		out = append(out, line)
	}
	return out
}

// WorkloadFlag is a workload as collect --workload takes it.
func WorkloadFlag(k schema.Key) string {
	if k.Rate != nil {
		return fmt.Sprintf("isl=%g,osl=%g,rate=%g", *k.ISL, *k.OSL, *k.Rate)
	}
	return fmt.Sprintf("isl=%g,osl=%g,c=%g", *k.ISL, *k.OSL, *k.Concurrency)
}

// Remarks are what stands behind the decision as a whole: run-wide shifts, and how sure the comparison is.
func Remarks(g *gate.Review) []string {
	var out []string
	for _, s := range g.Shifts {
		if t := ShiftText(s); t != "" {
			out = append(out, t)
		}
	}
	return append(out, FitText(g.Fit))
}

// GatePage is the gate as a page: what a job summary or a comment on a pull request shows.
func (r *Report) GatePage(g gate.Review, all bool) Page {
	d := words.Decide(g.Result)
	p := Page{Title: g.Release + ": " + d.Word, Lead: Lead{Tone: d.Tone, Word: d.Word, Text: capital(d.Detail), Cmd: strings.Join(RecheckLines(&g), "\n")}}
	if g.Baseline != "" {
		p.Lead.Paras = append(p.Lead.Paras, "Compared with the releases up to "+g.Baseline+".")
	}
	p.Lead.Paras = append(p.Lead.Paras, Remarks(&g)...)
	if len(g.Pairs) > 1 {
		t := &Table{Caption: "Pairs", Cols: []Col{{Head: "Decision"}, {Head: "Model"}, {Head: "Device"}, {Head: "Why"}}}
		for _, x := range g.Pairs {
			pd := words.Decide(x.Result)
			t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: pd.Word, Strong: true}, {Text: nameOr(x.Model), Href: PairPath(x.Model, x.Device)}, text(nameOr(x.Device)), text(capital(pd.Detail))}})
		}
		p.Sections = append(p.Sections, Section{Title: "Pairs", Blocks: []Block{{Table: t.cut("one line a pair: ttreport check --format json")}}})
	}
	history, promised := g.NeedsAttention()
	if all {
		history, promised = g.History, g.Targets
	}
	if len(history) > 0 {
		t := r.changeReport(history, true).cut("ttreport check --format json has all")
		p.Sections = append(p.Sections, Section{Title: "Against history, worst first", Blocks: []Block{{Table: t}}})
	}
	if t := targetTable(promised, true); len(t.Rows) > 0 {
		p.Sections = append(p.Sections, Section{Title: "Targets", Blocks: []Block{{Table: t.cut("ttreport check --format json has all")}}})
	}
	if t := plannedTable(promised); len(t.Rows) > 0 {
		p.Sections = append(p.Sections, Section{Title: "Planned and not measured", Blocks: []Block{{Table: t.cut("ttreport check --format json has all")}}})
	}
	if t := lintTable(g.Lints); len(t.Rows) > 0 {
		p.Sections = append(p.Sections, Section{Title: "Lints", Blocks: []Block{{Table: t.cut("ttreport check --format json has all")}}})
	}
	return p
}

// dropColumn leaves a column out.
func (t *Table) dropColumn(i int) {
	t.Cols = append(t.Cols[:i:i], t.Cols[i+1:]...)
	for k := range t.Rows {
		t.Rows[k].Cells = append(t.Rows[k].Cells[:i:i], t.Rows[k].Cells[i+1:]...)
	}
}

// FitText says how sure the comparison is in general.
func FitText(f gate.Fit) string {
	if f.Single {
		return "Every number has one earlier release, which says nothing of its noise: no change can be told from chance yet."
	}
	if f.Cells == 0 {
		return "Nothing has a history to be compared with."
	}
	out := fmt.Sprintf("%s compared as one family", words.Plural(f.Cells, "number"))
	if f.Noise > 0 {
		out += fmt.Sprintf("; typical noise between releases is ±%.2g%s%%", 100*f.Noise, words.Thin)
	}
	switch f.Calibrated() {
	case gate.CalibrationUnknown:
		out += "; too few earlier predictions to say how well they hold"
	default:
		out += fmt.Sprintf("; of %s earlier predictions %.2g%s%% failed where 2%s%% were expected (calibration %s)", words.Count(f.Tested), 100*float64(f.Exceeded)/float64(f.Tested), words.Thin, words.Thin, f.Calibrated())
	}
	return strings.TrimSpace(out) + "."
}
