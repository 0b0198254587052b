package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// Card is the card of a review: the same on pages, in markdown, on a terminal and in JSON.
func (r *Report) Card(g *gate.Review) Card {
	c := Card{}
	_, decisive := g.Decisive()
	c.Whiskers, c.Caption = r.whiskers(decisive)
	cover := r.Gate.Coverage(g)
	c.Facts = r.facts(g, &cover)
	c.Ways = r.ways(g, decisive, &cover)
	return c
}

// linesOfWay is how many commands of one kind a card has: one a system.
const linesOfWay = 3

// ways are the commands that change a decision.
func (r *Report) ways(g *gate.Review, decisive []schema.Verdict, cover *gate.Coverage) []Way {
	var out []Way
	rechecks := g.Rechecks()
	for i, line := range r.recheckLines(g) {
		out = append(out, Way{measureAgain, line, r.recheckCost(g.Release, rechecks[i])})
	}
	evals, _ := r.EvalRechecks(g)
	for i := range evals[:min(linesOfWay, len(evals))] {
		line := evals[i].line(r.serverFlag(g, evals[i].System))
		out = append(out, Way{measureAgain, line, words.Plural(max(1, len(evals[i].Tasks)), "eval")})
	}
	add := func(what, line, cost string) {
		if line != "" {
			out = append(out, Way{what, line, cost})
		}
	}
	stored := r.Ingest == ""
	if stored {
		line, cost := acceptLine(g, decisive)
		add("Accept with a reason", line, cost)
		line, cost = r.bisectLine(decisive)
		add("Find the commit", line, cost)
	} else {
		add("Store it", r.Ingest, "nothing is stored yet; what is can be accepted, searched by its commits and completed")
	}
	line, cost := r.acceptOpen(g)
	add("Accept what is still there", line, cost)
	if stored {
		line, cost = r.missingLine(g, cover)
		add("Measure what has no number", line, cost)
	}
	return out
}

// recheckCost is what measuring again takes.
func (r *Report) recheckCost(release string, x gate.Recheck) string {
	keys := slices.Clone(x.Workloads)
	out := words.Plural(len(keys), "workload")
	if x.Control != nil {
		keys = append(keys, *x.Control)
		out += " and a control"
	}
	return out + r.took(release, x.System, keys)
}

// acceptLine accepts what decides: a change against history as a new level, a missed target for a time.
func acceptLine(g *gate.Review, decisive []schema.Verdict) (line, cost string) {
	if g.Label == "" || len(decisive) == 0 {
		return "", "" // a build without a release is not decided on by name
	}
	const most = 4
	first := decisive[0]
	argv := []string{"ttreport", "accept", g.Release}
	switch {
	case first.Outcome != schema.Regressed && first.Outcome != schema.Fail:
		return "", ""
	case len(decisive) <= most:
		ids := make([]string, len(decisive))
		for i := range decisive {
			ids[i] = decisive[i].ID
		}
		argv = append(argv, "--verdict", strings.Join(ids, ","))
	default:
		argv = append(argv, "--model", first.Model, "--device", first.Device, "--metric", first.Metric)
	}
	cost = "kept in ttreport.yaml with its reason; later releases are compared with the new level"
	if first.Outcome == schema.Fail {
		argv = append(argv, "--until", "YYYY-MM-DD")
		cost = "kept in ttreport.yaml with its reason until that day"
	}
	return shellescape.QuoteCommand(argv) + ` --reason "…"`, cost
}

// bisectLine searches the build that a regression came with, between the commits that its release and its baseline
// state, or their names. The user knows how a commit is built and served. The simulator has no builds.
func (r *Report) bisectLine(decisive []schema.Verdict) (line, cost string) {
	for i := range decisive {
		v := &decisive[i]
		load := gate.Gap{System: v.System(), Key: v.Key}
		if v.Outcome != schema.Regressed || v.Against != schema.AgainstHistory || v.Device == schema.Simulated ||
			!load.Loadable() || !slices.Contains([]string{"ttft", "tpot", "e2el", "output_tps"}, v.Metric) {
			continue
		}
		good, bad, of := r.endsOf(v)
		if good == "" {
			continue
		}
		argv := []string{"ttreport", "bisect", v.ID, "--good", good, "--bad", bad}
		return shellescape.QuoteCommand(argv) + " --build '…' --server '…'",
			of + "; a step measures two builds in turns" +
				r.took(v.Release, v.System(), []schema.Key{v.Key, v.Key})
	}
	return "", ""
}

// endsOf are the commits of a verdict's baseline and release, short, and whose they are: "tt_metal a..b; vllm differs
// as well". Without commits that differ they are the names of both, which are tags.
func (r *Report) endsOf(v *schema.Verdict) (good, bad, of string) {
	before, at := judge.Named(r.Releases, v.Baseline), judge.Named(r.Releases, v.Release)
	if before < 0 || at < 0 {
		return "", "", ""
	}
	was, is := r.commitsOf(before), r.commitsOf(at)
	if names := moved(was, is); len(names) > 0 {
		const enough = 12
		a, b := was[names[0]], is[names[0]]
		good, bad = a[:min(enough, len(a))], b[:min(enough, len(b))]
		of = names[0] + " " + good + ".." + bad
		if others := differToo(names[1:]); others != "" {
			of += "; " + others
		}
		return good, bad, of
	}
	if r.Releases[before].Label && r.Releases[at].Label && isCommit(v.Baseline) && isCommit(v.Release) {
		return v.Baseline, v.Release, v.Baseline + ".." + v.Release
	}
	return "", "", ""
}

// acceptOpen is the line that accepts the worst regression of an earlier release that is still there, in the first
// release that confirmed some of it: what later ones confirm is judged anew then. It names the place and no ids, which
// depend on what was accepted before.
func (r *Report) acceptOpen(g *gate.Review) (line, cost string) {
	list := g.OpenRegressions()
	if len(list) == 0 {
		return "", ""
	}
	l := &list[0]
	d := l.Detail.(lint.OpenRegression)
	first := slices.MinFunc(slices.Collect(maps.Keys(d.Verdicts)), func(a, b string) int {
		return cmp.Compare(judge.Named(r.Releases, a), judge.Named(r.Releases, b))
	})
	argv := []string{"ttreport", "accept", first}
	if l.Model != "" {
		argv = append(argv, "--model", l.Model)
	}
	argv = append(argv, "--device", l.Device, "--metric", oneOf(d.Metrics[first]))
	if len(d.Worst) == 1 && d.Worst[0].Points == 1 && l.Model != "" {
		argv = append(argv, "--workload", l.Subject)
	}
	what := "all of it on " + l.Device + "; "
	if l.Model != "" {
		what = ""
	}
	return shellescape.QuoteCommand(argv) + ` --reason "…"`,
		what + "kept in ttreport.yaml with its reason; later releases do not name it"
}

// oneOf is a pattern that covers each of some names.
func oneOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return "{" + strings.Join(names, ",") + "}"
}

// missingLine measures what a release does not have.
func (r *Report) missingLine(g *gate.Review, cover *gate.Coverage) (line, cost string) {
	bySystem := map[schema.System][]schema.Key{}
	n := 0
	var systems []schema.System
	for i := range cover.Gaps {
		if x := &cover.Gaps[i]; x.Loadable() {
			if bySystem[x.System] == nil {
				systems = append(systems, x.System)
			}
			bySystem[x.System] = append(bySystem[x.System], x.Key)
			n++
		}
	}
	if n == 0 || g.Label == "" {
		return "", ""
	}
	line = shellescape.QuoteCommand([]string{"ttreport", "collect", "--missing", g.Release}) + " --server URL"
	cost = words.Plural(n, "workload")
	if len(systems) == 1 {
		return line, cost + r.took(g.Release, systems[0], bySystem[systems[0]])
	}
	return line, cost + fmt.Sprintf(" of %d models and devices", len(systems))
}

// took is about how long some workloads of a system took when they were last measured up to a release: ", about 12
// min"; "" when that is not known of all. What later releases took would change the page of an earlier one.
func (r *Report) took(release string, of schema.System, keys []schema.Key) string {
	at := judge.Named(r.Releases, release)
	var total time.Duration
	for _, k := range keys {
		d := r.lasted(at, of, k)
		if d == 0 {
			return ""
		}
		total += d
	}
	switch {
	case total < time.Minute:
		return ", less than a minute"
	case total < 2*time.Hour:
		return fmt.Sprintf(", about %d min", int(total.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf(", about %d h", int(total.Round(time.Hour).Hours()))
}

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

// whiskersDrawn is how many findings a card draws: more are an inventory.
const whiskersDrawn = 3

// whiskers are the first findings that decide with an interval, on one scale, and what it is: changes against history,
// or distances from targets. Both do not mix: what is shaded is another thing.
func (r *Report) whiskers(decisive []schema.Verdict) (out []Whisker, caption string) {
	var against schema.Against
	for i := range decisive {
		v := &decisive[i]
		w, ok := r.whisker(v)
		if !ok || len(out) == whiskersDrawn || len(out) > 0 && v.Against != against {
			continue
		}
		out, against = append(out, w), v.Against
	}
	if len(out) == 0 {
		return nil, ""
	}
	nameSystems(out)
	if against == schema.AgainstTarget {
		return out, "Distance from the target as a share of it, with its 95" + words.Thin + "% interval; right is worse. " +
			"Shaded: its tolerance."
	}
	return out, "Change with its 95" + words.Thin + "% interval; right is worse. Shaded: less than what matters."
}

// whisker draws a finding; false for one without an interval.
func (r *Report) whisker(v *schema.Verdict) (Whisker, bool) {
	e, ok := v.Effect.Get()
	if !ok || v.Interval == nil {
		return Whisker{}, false
	}
	w := Whisker{
		ID: v.ID, Of: words.OnDevice(v.Model, v.Device), Change: words.Effect(*v, e),
		Name: strings.TrimSpace(words.Subject(v) + " " + words.MetricOf(v)),
		Href: PairPath(v.Model, v.Device), Effect: e, Low: v.Interval[0], High: v.Interval[1],
		Outcome: v.Outcome, Evidence: v.Evidence,
	}
	if v.Against == schema.AgainstHistory {
		w.Limit = r.limitOf(v)
		return w, true
	}
	return w, w.fromTarget(v)
}

// fromTarget puts a distance from a target on the scale of its tolerance, a share of the target; false where it has
// none. A score's distance is in points of a share.
func (w *Whisker) fromTarget(v *schema.Verdict) bool {
	switch reason := v.Reason.(type) {
	case schema.Limit:
		w.Limit = reason.Tolerance
	case schema.EvalLimit:
		ref, ok := v.Ref.Get()
		if !ok || ref <= 0 || ref > 1 {
			return false
		}
		w.Name, w.Limit = words.Subject(v), reason.Tolerance
		w.Effect, w.Low, w.High = w.Effect/ref, w.Low/ref, w.High/ref
	}
	return w.Limit > 0
}

// nameSystems leaves model and device out where all whiskers are of one: the sentence above names it.
func nameSystems(list []Whisker) {
	if !slices.ContainsFunc(list, func(w Whisker) bool { return w.Of != list[0].Of }) {
		for i := range list {
			list[i].Of = ""
		}
	}
}

// limitOf is the change of a verdict's metric that matters.
func (r *Report) limitOf(v *schema.Verdict) float64 {
	switch reason := v.Reason.(type) {
	case schema.Change:
		return reason.Limit
	case schema.EvalChange:
		return reason.Limit
	}
	return r.Gate.Policy.Effect(v.Metric)
}
