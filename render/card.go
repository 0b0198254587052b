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
