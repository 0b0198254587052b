package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// Card is the card of a review: the same on pages, in markdown, on a terminal and in JSON.
func (r *Report) Card(g *gate.Review) (c Card) {
	_, decisive := g.Decisive()
	cover := r.Gate.Coverage(g)
	const most = 3 // more are an inventory
	for i := range decisive[:min(most, len(decisive))] {
		c.Decisive = append(c.Decisive, decisive[i].ID)
	}
	c.Facts, c.Ways = r.facts(g, &cover), r.ways(g, decisive, &cover)
	return c
}

// linesOfWay is how many commands of one kind a card has: one a system.
const linesOfWay = 3

// What commands do.
const (
	acceptIt   = "Accept with a reason"
	findCommit = "Find the commit"
)

// ways are the commands that change a decision.
func (r *Report) ways(g *gate.Review, decisive []schema.Verdict, cover *gate.Coverage) []Way {
	var out []Way
	rechecks := g.Rechecks()
	for i, line := range r.recheckLines(g) {
		keys := slices.Clone(rechecks[i].Workloads)
		cost := words.Plural(len(keys), "workload")
		if control := rechecks[i].Control; control != nil {
			keys = append(keys, *control)
			cost += " and a control"
		}
		out = append(out, Way{measureAgain, line, cost + r.took(g.Release, rechecks[i].System, keys)})
	}
	evals, _ := r.EvalRechecks(g)
	for i := range evals[:min(linesOfWay, len(evals))] {
		x := &evals[i]
		argv := r.collectAgain(x.System, r.serverFlag(g, x.System))
		if x.Release != "" {
			argv = append(argv, "--release", x.Release)
		}
		argv = append(argv, "--only", "evals")
		if len(x.Tasks) > 0 {
			argv = append(argv, "--evals", strings.Join(x.Tasks, ","))
		}
		if x.Limit > 0 {
			argv = append(argv, "--eval-limit", fmt.Sprint(x.Limit))
		}
		out = append(out, Way{measureAgain, shellescape.QuoteCommand(argv), words.Plural(max(1, len(x.Tasks)), "eval")})
	}
	add := func(what, line, cost string) {
		if line != "" {
			out = append(out, Way{what, line, cost})
		}
	}
	stored := r.Ingest == ""
	if stored {
		line, cost := acceptLine(g, decisive)
		add(acceptIt, line, cost)
		line, cost = r.bisectLine(decisive)
		add(findCommit, line, cost)
	} else {
		add("Store it", r.Ingest, "nothing is stored yet; what is can be accepted, searched by its commits and completed")
	}
	if open := g.OpenChanges(); len(open) > 0 { // the regression of an earlier release with the most numbers
		add("Accept what is still there", accepting(g.Release, "--change", open[0].ID),
			"all of it; kept in ttreport.yaml with its reason; later releases do not name it")
	}
	if stored {
		line, cost := r.missingLine(g, cover)
		add("Measure what has no number", line, cost)
	}
	return out
}

// acceptLine accepts what decides: a change against history as a new level, a missed target for a time.
func acceptLine(g *gate.Review, decisive []schema.Verdict) (line, cost string) {
	if g.Label == "" || len(decisive) == 0 {
		return "", "" // a build without a release is not decided on by name
	}
	const most = 4
	first := decisive[0]
	var of, changes []string
	for i := range decisive {
		if id := decisive[i].Change; id != "" && !slices.Contains(changes, id) {
			changes = append(changes, id)
		}
	}
	switch {
	case first.Outcome != schema.Regressed && first.Outcome != schema.Fail:
		return "", ""
	case len(changes) > 0:
		of = []string{"--change", strings.Join(changes[:min(most, len(changes))], ",")}
	case len(decisive) <= most:
		ids := make([]string, len(decisive))
		for i := range decisive {
			ids[i] = decisive[i].ID
		}
		of = []string{"--verdict", strings.Join(ids, ",")}
	default:
		of = []string{"--model", first.Model, "--device", first.Device, "--metric", first.Metric}
	}
	cost = "kept in ttreport.yaml with its reason; later releases are compared with the new level"
	if first.Outcome == schema.Fail {
		of = append(of, "--until", "YYYY-MM-DD")
		cost = "kept in ttreport.yaml with its reason until that day"
	}
	return accepting(g.Release, of...), cost
}

// accepting is the command that accepts something of a release, for a reason that a person gives.
func accepting(release string, of ...string) string {
	return shellescape.QuoteCommand(append([]string{"ttreport", "accept", release}, of...)) + ` --reason "…"`
}

// bisectLine searches the build that a regression came with.
func (r *Report) bisectLine(decisive []schema.Verdict) (line, cost string) {
	for i := range decisive {
		v := &decisive[i]
		c, _ := v.Reason.(schema.Change)
		if v.Outcome != schema.Regressed || v.Against != schema.AgainstHistory || c.OtherClient() {
			continue
		}
		before, at := judge.Named(r.Releases, v.Baseline), judge.Named(r.Releases, v.Release)
		line, cost = r.searching(v.System(), v.Key, v.Metric, v.Release, before, at, v.ID)
		if line != "" {
			return line, cost
		}
	}
	return "", ""
}

// searching is the command that finds the build after which a number was another one, between the commits that two
// releases state, or their names, and what that costs; "" where nobody can search it. Without the id of a verdict, it
// states the number. The user knows how a commit is built and served. The simulator has no builds.
func (r *Report) searching(
	of schema.System, k schema.Key, metric, measured string, before, at int, verdict string,
) (line, cost string) {
	good, bad, whose := r.endsOf(before, at)
	load := gate.Gap{System: of, Key: k}
	if good == "" || of.Device == schema.Simulated || !load.Loadable() ||
		!slices.Contains([]string{"ttft", "tpot", "e2el", "output_tps"}, metric) {
		return "", ""
	}
	argv := []string{"ttreport", "bisect", verdict, "--good", good, "--bad", bad}
	if verdict == "" {
		argv = append(slices.Delete(argv, 2, 3), "--model", of.Model, "--device", of.Device, "--workload", WorkloadFlag(k),
			"--metric", metric)
	}
	return shellescape.QuoteCommand(argv) + " --build '…' --server '…'",
		whose + "; a step measures two builds in turns" + r.took(measured, of, []schema.Key{k, k})
}

// endsOf are the commits of two releases, short, and whose they are: "tt_metal a..b; vllm differs as well". Without
// commits that differ they are the names of both, which are tags.
func (r *Report) endsOf(before, at int) (good, bad, of string) {
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
	if a, b := &r.Releases[before], &r.Releases[at]; a.Label && b.Label && isCommit(a.Name) && isCommit(b.Name) {
		return a.Name, b.Name, a.Name + ".." + b.Name
	}
	return "", "", ""
}

// missingLine measures what a release does not have.
func (r *Report) missingLine(g *gate.Review, cover *gate.Coverage) (line, cost string) {
	var systems groups[schema.System, []schema.Key]
	n := 0
	for i := range cover.Gaps {
		if x := &cover.Gaps[i]; x.Loadable() {
			keys, _ := systems.of(x.System)
			*keys = append(*keys, x.Key)
			n++
		}
	}
	if n == 0 || g.Label == "" {
		return "", ""
	}
	line = shellescape.QuoteCommand([]string{"ttreport", "collect", "--missing", g.Release}) + " --server URL"
	cost = words.Plural(n, "workload")
	if len(systems.list) > 1 {
		return line, cost + fmt.Sprintf(" of %d models and devices", len(systems.list))
	}
	for of := range systems.at {
		cost += r.took(g.Release, of, systems.list[0])
	}
	return line, cost
}

// took is about how long some workloads of a system took when they were last measured up to a release: ", about 12
// min"; "" when that is not known of all. What later releases took would change the page of an earlier one.
func (r *Report) took(release string, of schema.System, keys []schema.Key) string {
	at := judge.Named(r.Releases, release)
	var total time.Duration
	for _, k := range keys {
		p := r.lastPoint(at, of, k)
		if p == nil {
			return ""
		}
		lanes := r.Columns.Keys[p.Key].Concurrency // each made its share of the requests one after the other
		each, _ := r.Shown(p, "e2el", "mean").Get()
		if each <= 0 || lanes == nil || *lanes <= 0 {
			return ""
		}
		total += time.Duration(each * r.requests(p) / *lanes * float64(time.Millisecond))
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
	at := judge.Named(r.Releases, g.Release)
	var on []string
	for _, k := range gate.FailKinds() {
		if at >= 0 && r.Gate.FailsOn(at)[k] {
			on = append(on, string(k))
		}
	}
	rule := "nothing fails it (fail_on: none)"
	if len(on) > 0 {
		rule = "FAIL on " + strings.Join(on, ", ")
	}
	var drifts []string
	for _, same := range FoldLints(g.Lints) {
		if same[0].ID == lint.IDDrift {
			drifts = append(drifts, words.Lint(same[0]))
		}
	}
	drift := strings.Join(drifts[:min(1, len(drifts))], "")
	if len(drifts) > 1 {
		drift += fmt.Sprintf(" %d more among the lints.", len(drifts)-1)
	}
	curves := "" // those of the reviewed systems that moved since the newest release of the baseline
	if base := judge.Named(r.Releases, g.Baseline); base >= 0 && base < at {
		runs := func(release int) (list []int) {
			for _, p := range g.Pairs {
				list = append(list, r.runs[p.Pair][release]...)
			}
			return list
		}
		curves = words.CurvesMoved(compare.ReleaseCurves(r.Gate.Judgement, base, at, runs, true), g.Baseline)
	}
	targets := words.Required(required(g.Targets))
	if len(g.Unmeasured) > 0 { // no verdict is about what was never measured
		var names []string
		for _, p := range g.Unmeasured {
			names = append(names, words.OnDevice(p.Model, p.Device))
		}
		targets += "; targets of what was never measured grade nothing: " + words.Few(names, 3)
	}
	exit := fmt.Sprintf("ttreport check exits %d (%s)", g.Result.Exit,
		map[int]string{0: "pass", 1: "fail", 5: "nothing graded"}[g.Result.Exit])
	out := []CardFact{{"Basis", words.Basis(g.Result.Basis, g.Fit), ""}, {"Coverage", coverageText(cover), CoveragePath},
		{"Drift", drift, ""}, {"Curves", curves, ""}, {"Targets", targets, ""}, {"Order", r.orderText(at), ""},
		{"Rule", rule, ""}, {"Exit code", exit, ""}}
	return slices.DeleteFunc(out, func(f CardFact) bool { return f.Text == "" })
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
		const order = "; the %d without a date stand in the order of their names, builds in that of their files"
		out += fmt.Sprintf(order, undated)
	}
	return out + ". releases: in ttreport.yaml states the order"
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

// ChangeCard is a change with its course over the releases, what is known of it, and the ways out.
type ChangeCard struct {
	ID       string // of the change
	Title    string
	Outcome  schema.Outcome
	Evidence schema.Evidence
	Course   Course
	Facts    []CardFact
	Ways     []Way
	Series   Address // of the number in the middle
}

// Course is how the numbers of a change went, as a picture: see [judge.Course].
type Course struct {
	judge.Course
	Releases []string
	At       int     // in which the change began
	Size     float64 // the level since then, relative
	Limit    float64 // what matters, relative
	Label    string
}

// mostCards is how many changes of a page have a card.
const mostCards = 3

// changeCards are the cards of the worst regressions among the changes of a release, and the others.
func (r *Report) changeCards(list []judge.Change, at int) (cards []ChangeCard, others []judge.Change) {
	byNumbers := slices.SortedStableFunc(slices.Values(list), func(a, b judge.Change) int {
		return cmp.Compare(len(b.Numbers), len(a.Numbers))
	})
	for i := range byNumbers {
		if c := &byNumbers[i]; c.Large() && len(cards) < mostCards {
			cards = append(cards, r.changeCard(c, at))
		} else {
			others = append(others, *c)
		}
	}
	return cards, others
}

// changeCard is the card of a change as a release sees it: the page of a release does not change when the next one
// comes.
func (r *Report) changeCard(c *judge.Change, at int) ChangeCard {
	began, state := judge.Named(r.Releases, c.Since), r.state(c, at)
	card := ChangeCard{ID: changeAnchor(c.ID), Outcome: schema.Regressed, Evidence: c.Evidence}
	card.Title = fmt.Sprintf("%s: %s since %s", words.ChangeOf(c), words.ChangeSize(c), r.nameOf(began))
	all := make([]int, at+1)
	for i := range all {
		all[i] = i
	}
	card.Course = Course{r.Gate.Course(c, at), r.namesOf(all), began, c.Effect, c.Limit, ""}
	card.Course.Label = fmt.Sprintf("Median of %s, each against its own level before %s: %s since then.",
		words.ChangeShare(c), c.Since, words.Change(c.Effect))
	size := fmt.Sprintf("%s, 95"+words.Thin+"%% interval %s; the limit is %s", words.ChangeSize(c),
		words.ChangeInterval(c), words.Percent(c.Limit))
	since := c.Since
	if date := r.Releases[began].Date; !date.IsZero() {
		since += within(day(date))
	}
	if len(c.Votes) > 1 {
		since += "; " + words.ChangeVotes(c)
	}
	commits, scope, where := r.commitRange(began), words.ChangeShare(c), Address("")
	if c.Scope.Pairs > 1 {
		scope += " of " + words.Plural(len(c.Scope.Models), "model") + " on " + words.Plural(len(c.Scope.Devices), "device")
	}
	seen := words.ChangeEvidence(c)
	if c.Evidence == schema.Confirmed && gate.Open(c) && c.Since != r.Releases[at].Name {
		seen += "; still there in " + r.nameOf(at)
	}
	if at == r.Newest() && len(c.Numbers) > 1 { // a later release may have taken an earlier one's change back
		where = ChangesPath + "#" + Address(numbersAnchor(c.ID))
	}
	for _, f := range []CardFact{
		{"Size", size, ""}, {"Since", since, ReleasePath(c.Since)}, {"Began with", elseChanged(c.What), ""},
		{"Commits", commits.Text + within(commits.Sub), commits.Href},
		{"Where", scope, where}, {"Evidence", words.Capital(seen), ""},
		{"State", state.Text + within(state.Sub), state.Href},
	} {
		if f.Text != "" && (f.Name != "State" || c.Evidence != schema.Suspected) { // what is suspected says so
			card.Facts = append(card.Facts, f)
		}
	}
	card.Ways, card.Series = r.waysOf(c, at), r.SeriesPath(middleOf(c))
	return card
}

// within puts a text into brackets behind another; "" stays "".
func within(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// waysOf are the commands that accept a change or search the build that it came with, at its number in the middle.
func (r *Report) waysOf(c *judge.Change, at int) (out []Way) {
	if r.Ingest != "" || c.State == judge.StateAccepted {
		return nil
	}
	release := r.Releases[at].Name
	out = append(out, Way{acceptIt, accepting(release, "--change", c.ID),
		"all of it; kept in ttreport.yaml; later releases are compared with the new level"})
	if s := middleOf(c); !s.Tail() && !c.What.OtherClient() {
		began := judge.Named(r.Releases, c.Since)
		line, cost := r.searching(s.System(), s.Key, s.Metric, release, r.Gate.Before(began), began, "")
		if line != "" {
			out = append(out, Way{findCommit, line, cost})
		}
	}
	return out
}

// has reports whether the card has what a way of the decision does: it accepts the change, or searches a build.
func (c *ChangeCard) has(w Way) bool {
	return slices.ContainsFunc(c.Ways, func(own Way) bool {
		return own.What == w.What && w.What == findCommit || strings.Contains(w.Cmd, " --change ") &&
			strings.Contains(w.Cmd, strings.TrimPrefix(c.ID, changeAnchor("")))
	})
}
