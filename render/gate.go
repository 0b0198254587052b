package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets"
)

// Gate is the judgement of a release, or of one pair in it, as a sign-off needs it.
type Gate struct {
	Release  string
	Label    string // of the release, "" for a build without one
	Baseline string // newest release that it is compared with; "" when there is none
	Decided  targets.Decided
	Pairs    []GatePair
	targets.Findings
	Fit GateFit
}

// GatePair is the decision on one model and device.
type GatePair struct {
	Model, Device string
	Decided       targets.Decided
}

// GateFit says how noisy the release's history is and how well its predictions held.
type GateFit struct {
	Cells            int
	Single           bool    // there is a baseline, of one release everywhere
	Noise            float64 // typical, relative; 0 when unknown
	Tested, Exceeded int     // forward predictions at 2 %, and how many failed
}

// Calibrated is the word for how well predictions held: passes, fails or too few.
func (f GateFit) Calibrated() string {
	const enough = 200
	switch {
	case f.Tested < enough:
		return "too few"
	case float64(f.Exceeded) > .04*float64(f.Tested):
		return "fails"
	}
	return "passes"
}

// Gate weighs a release; an empty model or device selects all.
func (r *Report) Gate(release int, model, device string) Gate {
	f := r.of(release)
	g := Gate{Release: r.Releases[release].Name, Fit: r.fitOf(release)}
	g.Label = r.labelOf(release)
	if b := r.Judged.Before(release); b >= 0 {
		g.Baseline = r.Releases[b].Name
	}
	is := func(m, d string) bool { return (model == "" || model == m) && (device == "" || device == d) }
	pick := func(list []schema.Verdict) []schema.Verdict {
		if model == "" && device == "" {
			return list
		}
		var out []schema.Verdict
		for i := range list {
			if is(list[i].Model, list[i].Device) {
				out = append(out, list[i])
			}
		}
		return out
	}
	g.Targets, g.History = pick(f.Targets), pick(f.History)
	g.Fit.Single = g.Fit.Cells == 0 && slices.ContainsFunc(g.History, func(v schema.Verdict) bool { return v.Reason.Code == "one-each" })
	for _, s := range f.Shifts {
		if device == "" || s.Device == device {
			g.Shifts = append(g.Shifts, s)
		}
	}
	for _, l := range f.Lints {
		if l.Model == "" && l.Device == "" || is(l.Model, l.Device) {
			g.Lints = append(g.Lints, l)
		}
	}
	for _, p := range r.PairsOf(release) {
		if is(p.Model, p.Device) {
			g.Pairs = append(g.Pairs, GatePair{p.Model, p.Device, r.PairDecided(p, release)})
		}
	}
	g.Decided = targets.Decide(g.Findings, r.FailOn)
	return g
}

// labelOf is the label of a release, "" for a build without one.
func (r *Report) labelOf(release int) string {
	if runs := r.Releases[release].Runs; len(runs) > 0 {
		return r.Columns.Runs[runs[0]].Release
	}
	return ""
}

// recheckLines are the commands of [Gate.Recheck] for a page.
func (r *Report) recheckLines(release int, history []schema.Verdict) string {
	g := Gate{Label: r.labelOf(release), Findings: targets.Findings{History: history}}
	return strings.Join(g.Recheck(), "\n")
}

// Told are the verdicts that need a person: what fails or is noted first, then what improved; met, same and noisy ones are counts.
func (g *Gate) Told() (history, promised []schema.Verdict) {
	for _, v := range g.History {
		switch v.Word {
		case schema.Worse, schema.Watch, schema.MissingWord, schema.Invalid, schema.BetterWord, schema.Recovered, schema.NotComparable:
			history = append(history, v)
		default:
			if v.Decision != nil { // a pinned or dismissed level: readers need the reason
				history = append(history, v)
			}
		}
	}
	for _, v := range g.Targets {
		open := v.Word == schema.Fail || v.Word == schema.MissingWord || v.Word == schema.Inconclusive
		if v.Required && open || v.Word == schema.Impossible || v.Reason.Code == "planned" || v.Decision != nil && v.Word != schema.Ungraded {
			promised = append(promised, v)
		}
	}
	return history, promised
}

// Recheck is what would settle what was seen once on a pair.
type Recheck struct {
	Model, Device, Impl, Release string
	Workloads                    []string // as collect --workload takes them
	Control                      string   // one that did not change, of this device; "" when it has been named already or there is none
}

// Rechecks lists, by pair, the workloads whose change was seen once, and a control for every device: when it changed too, the machine did.
func (g *Gate) Rechecks() []Recheck {
	var out []Recheck
	seen := map[string]bool{}
	for i := range g.History {
		v := &g.History[i]
		w := workloadFlag(v.Key)
		id := v.Model + "\x00" + v.Device + "\x00" + v.Impl + "\x00" + w
		if v.Word != schema.Worse || v.Evidence != "probable" || v.Decision.Excuses() || w == "" || seen[id] {
			continue
		}
		seen[id] = true
		at := slices.IndexFunc(out, func(r Recheck) bool { return r.Model == v.Model && r.Device == v.Device && r.Impl == v.Impl })
		if at < 0 {
			at = len(out)
			out = append(out, Recheck{Model: v.Model, Device: v.Device, Impl: v.Impl, Release: g.Label})
		}
		out[at].Workloads = append(out[at].Workloads, w)
	}
	controlled := map[string]bool{}
	for i := range out {
		if r := &out[i]; !controlled[r.Device] {
			r.Control = g.control(r)
			controlled[r.Device] = r.Control != ""
		}
	}
	return out
}

// control is a workload of a pair of which nothing is said but that it is the same, else the one that moved least: when it is as far off in
// the recheck as what is rechecked, the machine moved. "" when the pair has no other.
func (g *Gate) control(r *Recheck) string {
	worst := map[string]float64{}
	var order []string
	for i := range g.History {
		v := &g.History[i]
		w := workloadFlag(v.Key)
		if w == "" || v.Model != r.Model || v.Device != r.Device || v.Impl != r.Impl || slices.Contains(r.Workloads, w) {
			continue
		}
		if _, has := worst[w]; !has {
			order = append(order, w)
		}
		moved := 0.
		if e, ok := v.Effect.Get(); ok && v.Word != schema.Same {
			moved = math.Abs(e)
		}
		worst[w] = max(worst[w], moved)
	}
	best := ""
	for _, w := range order {
		if best == "" || worst[w] < worst[best] {
			best = w
		}
	}
	return best
}

// Recheck are the commands that would settle what was seen once, one a pair, three at most; none when nothing was.
func (g *Gate) Recheck() []string {
	const most, enough = 3, 24 // a run-wide shift is settled by twenty numbers of eight workloads
	list := g.Rechecks()
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
			argv = append(argv, "--workload", w)
		}
		if r.Control != "" {
			argv = append(argv, "--workload", r.Control)
		}
		line := shellescape.QuoteCommand(argv)
		if rest := len(r.Workloads) - enough; rest > 0 {
			line += fmt.Sprintf(" # and %d more workloads", rest)
		}
		out = append(out, line)
	}
	return out
}

// workloadFlag is a workload as collect --workload takes it; "" for one that it cannot make.
func workloadFlag(k schema.Key) string {
	if k.ISL == nil || k.OSL == nil || len(k.Dims) > 0 || k.Task != "text" && k.Task != "" || (k.Concurrency == nil) == (k.Rate == nil) {
		return ""
	}
	if k.Rate != nil {
		return fmt.Sprintf("isl=%g,osl=%g,rate=%g", *k.ISL, *k.OSL, *k.Rate)
	}
	return fmt.Sprintf("isl=%g,osl=%g,c=%g", *k.ISL, *k.OSL, *k.Concurrency)
}

// Remarks are what stands behind the decision as a whole: run-wide shifts, and how sure the comparison is.
func (g *Gate) Remarks() []string {
	var out []string
	for _, s := range g.Shifts {
		if t := ShiftText(s); t != "" {
			out = append(out, t)
		}
	}
	return append(out, FitText(g.Fit))
}

// GatePage is the gate as a page: what a job summary or a comment on a pull request shows.
func (r *Report) GatePage(g Gate, all bool) Page {
	d := words.Decide(g.Decided)
	p := Page{Title: g.Release + ": " + d.Word, Lead: Lead{Tone: d.Tone, Word: d.Word, Text: capital(d.Detail), Cmd: strings.Join(g.Recheck(), "\n")}}
	if g.Baseline != "" {
		p.Lead.Paras = append(p.Lead.Paras, "Compared with the releases up to "+g.Baseline+".")
	}
	p.Lead.Paras = append(p.Lead.Paras, g.Remarks()...)
	if len(g.Pairs) > 1 {
		t := &Table{Caption: "Pairs", Cols: []Col{{Head: "Decision"}, {Head: "Model"}, {Head: "Device"}, {Head: "Why"}}}
		for _, x := range g.Pairs {
			pd := words.Decide(x.Decided)
			t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: pd.Word, Strong: true}, {Text: nameOr(x.Model), Href: PairPath(x.Model, x.Device)}, text(nameOr(x.Device)), text(capital(pd.Detail))}})
		}
		p.Sections = append(p.Sections, Section{Title: "Pairs", Blocks: []Block{{Table: t.cut("one line a pair: ttreport check --format json")}}})
	}
	history, promised := g.Told()
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

func (r *Report) fitOf(release int) GateFit {
	f := r.Judged.Fit(release)
	out := GateFit{Cells: f.Cells, Tested: f.Tested, Exceeded: f.Exceeded}
	if f.Sd > 0 {
		out.Noise = f.Sd
	}
	return out
}

// FitText says how sure the comparison is in general.
func FitText(f GateFit) string {
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
	case "too few":
		out += "; too few earlier predictions to say how well they hold"
	default:
		out += fmt.Sprintf("; of %s earlier predictions %.2g%s%% failed where 2%s%% were expected (calibration %s)", words.Count(f.Tested), 100*float64(f.Exceeded)/float64(f.Tested), words.Thin, words.Thin, f.Calibrated())
	}
	return strings.TrimSpace(out) + "."
}
