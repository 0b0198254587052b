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
	for i := range decisive {
		v := &decisive[i]
		if w, ok := r.whisker(v); ok && len(c.Whiskers) < whiskersDrawn {
			c.Whiskers = append(c.Whiskers, w)
		}
	}
	if len(c.Whiskers) > 0 {
		c.Caption = "Change with its 95" + words.Thin + "% interval; right is worse. Shaded: less than what matters."
	}
	cover := r.Gate.Coverage(g)
	c.Facts = r.facts(g, &cover)
	c.Ways = r.ways(g, decisive, &cover)
	return c
}

// whiskersDrawn is how many findings a card draws: more are an inventory.
const whiskersDrawn = 3

// whisker draws a change; false for a verdict without one.
func (r *Report) whisker(v *schema.Verdict) (Whisker, bool) {
	e, ok := v.Effect.Get()
	if !ok || v.Interval == nil || v.Against != schema.AgainstHistory {
		return Whisker{}, false
	}
	limit := r.Gate.Policy.Effect(v.Metric)
	switch reason := v.Reason.(type) {
	case schema.Change:
		limit = reason.Limit
	case schema.EvalChange:
		limit = reason.Limit
	}
	return Whisker{
		ID: v.ID, Name: strings.TrimSpace(words.Subject(v) + " " + MetricName(v)), Change: words.Effect(*v, e),
		Href: PairPath(v.Model, v.Device), Effect: e, Low: v.Interval[0], High: v.Interval[1], Limit: limit,
		Outcome: v.Outcome, Evidence: v.Evidence,
	}, true
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
	add("Targets", requiredText(required(g.Targets)))
	at := judge.Named(r.Releases, g.Release)
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

// basisText counts what was compared with history.
func basisText(g *gate.Review) string {
	b := g.Basis()
	if b.Compared == 0 {
		return fmt.Sprintf("nothing is compared; %s without a baseline", words.Plural(b.Without, "number"))
	}
	out := fmt.Sprintf("%s of %s unchanged", words.Count(b.Unchanged), words.Count(b.Compared))
	for _, x := range []struct {
		n    int
		word string
	}{
		{b.BelowLimit, "changed below the limit"},
		{b.Inconclusive, "inconclusive"}, {b.Regressed, "regressed"}, {b.Improved, "improved"},
		{b.Without, "without a baseline"},
	} {
		if x.n > 0 {
			out += fmt.Sprintf(", %s %s", words.Count(x.n), x.word)
		}
	}
	if n := g.Fit.Shown.Once.Hidden; n > 0 && !g.Fit.Wider {
		out += fmt.Sprintf("; %s could hide more than the limit in one look", words.Count(n))
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
		out += fmt.Sprintf("; %s missing", words.Count(len(c.Gaps)))
		if o.Last != "" {
			out += ", the oldest since " + o.Last
		}
	}
	return out
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

// ways are the commands that change a decision.
func (r *Report) ways(g *gate.Review, decisive []schema.Verdict, cover *gate.Coverage) []Way {
	var out []Way
	rechecks := g.Rechecks()
	for i, line := range RecheckLines(g) {
		out = append(out, Way{"Measure again", line, r.recheckCost(rechecks[i])})
	}
	if line, cost := acceptLine(g, decisive); line != "" {
		out = append(out, Way{"Accept with a reason", line, cost})
	}
	if line, cost := r.acceptOpen(g); line != "" {
		out = append(out, Way{"Accept what is still there", line, cost})
	}
	if line, cost := r.missingLine(g, cover); line != "" {
		out = append(out, Way{"Measure what is missing", line, cost})
	}
	return out
}

// recheckCost is what measuring again takes.
func (r *Report) recheckCost(x gate.Recheck) string {
	keys := slices.Clone(x.Workloads)
	out := words.Plural(len(keys), "workload")
	if x.Control != nil {
		keys = append(keys, *x.Control)
		out += " and a control"
	}
	return out + r.took(x.System, keys)
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
	argv = append(argv, "--device", l.Device)
	if d.Points == 1 {
		argv = append(argv, "--workload", l.Subject)
	}
	return shellescape.QuoteCommand(argv) + ` --reason "…"`,
		"kept in ttreport.yaml with its reason; later releases do not name it"
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
		return line, cost + r.took(systems[0], bySystem[systems[0]])
	}
	return line, cost + fmt.Sprintf(" of %d models and devices", len(systems))
}

// took is about how long some workloads of a system took when they were last measured: ", about 12 min"; "" when that
// is not known of all.
func (r *Report) took(of schema.System, keys []schema.Key) string {
	var total time.Duration
	for _, k := range keys {
		d := r.lasted(of, k)
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

// lasted is how long the requests of a workload took in the newest run that has it: each lane of the load made its
// share of them one after the other.
func (r *Report) lasted(of schema.System, load schema.Key) time.Duration {
	releases := r.measuredIn(of.Model, of.Device)
	for i := len(releases) - 1; i >= 0; i-- {
		for _, run := range r.runs[schema.Pair{Model: of.Model, Device: of.Device}][releases[i]] {
			h := &r.Columns.Runs[run]
			for p := h.FirstPoint; p < h.PointsEnd && h.Impl == of.Impl; p++ {
				k := r.Columns.Keys[r.Columns.Points[p].Key]
				if k.Workload() != load.Workload() || k.Concurrency == nil || *k.Concurrency <= 0 {
					continue
				}
				each, ok := r.Shown(&r.Columns.Points[p], "e2el", "mean").Get()
				n, counted := r.Shown(&r.Columns.Points[p], "requests_ok", "value").Get()
				if ok && counted {
					return time.Duration(each * n / *k.Concurrency * float64(time.Millisecond))
				}
			}
		}
	}
	return 0
}
