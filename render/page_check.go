package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// recheckLines are the commands that would settle suspected regressions, one a system, three at most; none without any.
func (r *Report) recheckLines(x *gate.Review) []string {
	const enough = 24
	list := x.Rechecks()
	var out []string
	for _, again := range list[:min(linesOfWay, len(list))] {
		server := r.serverFlag(x, again.System)
		if again.Against != "" { // its servers are started again in every block
			server = map[gate.StartKind]string{
				gate.StartsCommand: "command …", gate.StartsImage: "docker", gate.StartsSimulator: "sim",
			}[again.Kind]
		}
		argv := r.collectAgain(again.System, server)
		if again.Against != "" && again.Kind == gate.StartsImage {
			argv = append(argv, "--image", "IMAGE")
		}
		if again.Release != "" {
			argv = append(argv, "--release", again.Release)
		}
		if again.Against != "" {
			argv = append(argv, "--against", again.Against)
		}
		argv = append(argv, "--only", "benchmarks")
		loads := slices.Clone(again.Workloads[:min(enough, len(again.Workloads))])
		if again.Control != nil {
			loads = append(loads, *again.Control)
		}
		line := shellescape.QuoteCommand(r.withLoads(argv, x.Release, again.System, loads))
		if rest := len(again.Workloads) - enough; rest > 0 {
			line += fmt.Sprintf(" # and %d more workloads", rest)
		}
		out = append(out, line)
	}
	return out
}

// withLoads adds workloads to a command of collect, with as many requests as their newest measurements up to a release.
func (r *Report) withLoads(argv []string, release string, of schema.System, loads []schema.Key) []string {
	for _, k := range loads {
		flag := WorkloadFlag(k)
		if n := r.Requests(release, of, k); n > 0 {
			flag += fmt.Sprintf(",n=%d", n)
		}
		argv = append(argv, "--workload", flag)
	}
	return argv
}

// StatedImpl is the implementation that the runs of a system state, without its setup.
func (r *Report) StatedImpl(of schema.System) string {
	at := slices.IndexFunc(r.Columns.Runs, func(h columns.RunHead) bool { return h.System() == of })
	if at < 0 {
		return of.Impl
	}
	return r.Columns.Runs[at].Impl
}

// collectAgain begins the command that measures a system again.
func (r *Report) collectAgain(of schema.System, server string) []string {
	argv := []string{"ttreport", "collect", "--model", of.Model, "--device", of.Device}
	if impl := r.StatedImpl(of); impl != "" {
		argv = append(argv, "--impl", impl)
	}
	return append(argv, "--server", server)
}

// serverFlag is the server that a release was measured on, as collect --server takes it: sim where collect started its
// own simulator, else the address; "URL" where no run states it, and on a public site, which names no machines.
func (r *Report) serverFlag(x *gate.Review, of schema.System) string {
	switch on := x.ServerOf(of); {
	case on.Kind == gate.StartsSimulator:
		return columns.EmbeddedSimulator
	case on.Address != "" && !r.Public:
		return on.Address
	}
	return "URL"
}

// WorkloadFlag is a workload as collect --workload takes it. A dimension such as a distribution of lengths takes the
// place of its mean.
func WorkloadFlag(k schema.Key) string {
	var parts []string
	for _, f := range []struct {
		name  string
		value *float64
	}{{schema.DimISL, k.ISL}, {schema.DimOSL, k.OSL}, {"c", k.Concurrency}, {"rate", k.Rate}} {
		if _, other := k.Dims[f.name]; f.value != nil && !other && (f.name != "c" || k.Rate == nil) {
			parts = append(parts, fmt.Sprintf("%s=%g", f.name, *f.value))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.Dims)) {
		parts = append(parts, name+"="+k.Dims[name])
	}
	return strings.Join(parts, ",")
}

// Remarks are what is behind the decision as a whole: what the comparison could not have seen; with all, also targets
// and how sure it is.
func Remarks(g *gate.Review, all bool) []string {
	if !all {
		if t := words.Sensitivity(g.Fit.Shown); t != "" && len(g.Fit.Turns) == 0 && !g.Fit.Single {
			return []string{t}
		}
		return []string{words.Fit(g.Fit)}
	}
	list := []string{words.Grading(gate.GradingOf(g.Targets)), words.Categories(g.Targets), words.Fit(g.Fit)}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// GatePage is the gate as a page: what a job summary or a comment on a pull request shows.
func (r *Report) GatePage(g gate.Review, all bool) Page {
	d := words.Decide(g.Result)
	p := Page{Title: g.Release + ": " + d.Word,
		Lead: Lead{Tone: d.Tone, Word: d.Word, Text: words.Headline(&g), Paras: words.Inventory(&g)}}
	p.add(Section{Blocks: r.Card(&g).plain()})
	if g.Baseline != "" {
		p.Lead.Paras = append(p.Lead.Paras, "Compared with the releases up to "+g.Baseline+".")
	}
	p.Lead.Paras = slices.Concat(p.Lead.Paras, ChangeTexts(&g), Remarks(&g, true))
	add := func(title string, t *Table) { p.add(section("", title, "", t.cut(allInJSON))) }
	add("What was measured", r.measuredPairs(&g))
	if len(g.Pairs) > 1 {
		type pair = gate.PairResult
		add("Models and devices", tableOf("Models and devices", "", g.Pairs, []Column[pair]{
			{col("Decision"), func(x pair) Cell { return Cell{Text: words.Decide(x.Result).Word, Strong: true} }},
			{col("Model"), func(x pair) Cell {
				return Cell{Text: words.OrUnknown(x.Model), Href: PairPath(x.Model, x.Device)}
			}},
			{col("Device"), func(x pair) Cell { return text(words.OrUnknown(x.Device)) }},
			{col("Why"), func(x pair) Cell { return text(words.Capital(words.Decide(x.Result).Detail)) }},
		}))
	}
	history, targets := g.NeedsAttention()
	if all {
		history, targets = g.History, g.Targets
	}
	add("Against history, worst first", r.changeReport(history, true))
	if at := judge.Named(r.Releases, g.Release); at >= 0 && !g.Fit.Wider {
		if c := r.Against(at); c != nil {
			p.add(section("", "Beside "+c.A, "", Prose(AgainstText(c))))
		}
	}
	add("Targets", r.targetTable(targets, true))
	add("Planned and not measured", plannedTable(targets))
	add("Lints", lintTable(g.Lints))
	return p
}

// Case is a finding as a test of a test report.
type Case struct {
	Suite  string // a model on a device, or the release
	Class  string // gate, lint, or what a verdict is against
	Name   string
	Why    string
	Status CaseStatus
}

// CaseStatus is what a test came to.
type CaseStatus uint8

// What a test came to: CaseNoted passed with something to read.
const (
	CasePassed CaseStatus = iota
	CaseNoted
	CaseFailed
	CaseSkipped
)

// Cases are the tests of the decision on a release, as CI systems show them: the decision itself, so that a report is
// green exactly when the gate passes, a case for each verdict that decides something, and the lints. on says which
// kinds of finding fail it.
func Cases(g *gate.Review, on gate.FailOn) (out []Case) {
	add := func(of, class, name, why string, kind gate.Kind, fails, skipped bool) {
		c := Case{Suite: of, Class: class, Name: strings.TrimSpace(name), Why: why}
		switch kind {
		case gate.NoCase, gate.FailNotRemeasured, gate.FailAbsent, gate.FailMissing:
			skipped = true
		}
		switch {
		case fails:
			c.Status = CaseFailed
		case skipped:
			c.Status = CaseSkipped
		case kind != "":
			c.Status = CaseNoted
		}
		out = append(out, c)
	}
	add(g.Release, "gate", "decision", string(g.Result.Word)+": "+words.Detail(g), "", g.Result.Exit != 0, false)
	for _, list := range [][]schema.Verdict{g.History, g.Targets} {
		for i := range list {
			v := &list[i]
			if v.Outcome == schema.NoTarget && v.Metric == "" {
				continue // that no target covers a workload is no test case
			}
			name := fmt.Sprintf("%s %s %s %s", words.Workload(v.Key), v.Key.Tool, v.Metric,
				strings.Trim(v.Stat+" "+v.Level, " "))
			kind, excused := gate.KindOf(v), v.Decision.Excuses()
			fails := on[kind] && !excused
			add(words.OnDevice(v.Model, v.Device), string(v.Against), name, words.Why(*v), kind, fails, excused)
		}
	}
	for i := range g.Lints {
		l := &g.Lints[i]
		kind := gate.KindOfLint(l)
		add(words.OnDevice(l.Model, l.Device), "lint", string(l.ID)+" "+l.Subject, words.Lint(*l), kind, on[kind], false)
	}
	return out
}
