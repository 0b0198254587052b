package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// TargetsPage is what is required today: how it is met, what contradicts itself, and what changed over time.
func (r *Report) TargetsPage() Page {
	all := r.today(r.Gate.PairTargets, func(v *schema.Verdict) bool { return v.Metric != "" || v.Key.IsEval() })
	p := r.page("targets/index.html", "targets", "Targets", "The targets in force, and how they are met.")
	p.Scripts = []string{filterScript}
	req := required(all)
	met := metIn(req)
	switch {
	case len(all) == 0:
		p.Lead = Lead{Text: "No target is in force.", Cmd: "ttreport targets propose",
			Paras: []string{"Nothing is graded by target, which is not a pass."}}
	case met == len(req):
		p.Lead = Lead{Tone: words.ToneGood, Text: fmt.Sprintf("All %s required targets are met, and %s informational ones.",
			words.Count(len(req)), words.Of(metIn(all)-met, len(all)-len(req)))}
	default:
		p.Lead = Lead{Tone: words.ToneBad, Text: shortOf(req)}
	}
	const rest = "data/ has all, by release"
	sections := []Section{
		section("force", "In force", gridIntro+r.chanceRule()+" Stored with each run when it was first "+
			"read; later edits of target files do not reach it.", r.targetGrid(all, true).filtered(rest)),
		section("references", "Scores against references", referenceIntro+r.chanceRule(),
			r.referenceTable(all, true).cut(rest)),
	}
	if scoresFirst(all) {
		slices.Reverse(sections)
	}
	p.add(sections...)
	p.add(section("lint", "Contradictions", "Targets that their own neighbours rule out, or that no tool measures.",
		r.contradictions().cut("ttreport targets lint has all")),
		section("changes", "Changes over time", "A verdict that turned may have turned because its target did.",
			r.targetHistory().cut("the pages of the releases have all")))
	return p
}

// scoresFirst reports whether all required targets that are missed are references of scores: what is missed is read
// first.
func scoresFirst(all []schema.Verdict) bool {
	missed := func(eval bool) bool {
		return slices.ContainsFunc(all, func(v schema.Verdict) bool {
			return v.Required && v.Outcome == schema.Fail && v.Key.IsEval() == eval
		})
	}
	return missed(true) && !missed(false)
}

// gridIntro says how a table of targets reads.
const gridIntro = "One row per number. Limit: the level that decides, with its tolerance. Grey: not required. " +
	"Picture: right is better, dashed is required."

// shortOf counts the required targets that are not met, by verdict, and then those that are.
func shortOf(req []schema.Verdict) string {
	var parts []string
	for _, x := range []struct {
		outcome schema.Outcome
		are     string
	}{
		{schema.Fail, "missed"}, {schema.NotMeasured, "missing"}, {schema.Unattainable, "unattainable"},
		{schema.Inconclusive, "inconclusive"}, {schema.Pass, "met"},
	} {
		switch n := outcomes(req, x.outcome); {
		case n == 0:
		case len(parts) == 0:
			parts = append(parts, words.Of(n, len(req))+" required targets are "+x.are)
		default:
			parts = append(parts, words.Count(n)+" "+x.are)
		}
	}
	return strings.Join(parts, ", ") + "."
}

// outcomes counts the verdicts with an outcome, metIn the targets that are met.
func outcomes(list []schema.Verdict, is schema.Outcome) (n int) {
	for i := range list {
		n += truth(list[i].Outcome == is)
	}
	return n
}

func metIn(list []schema.Verdict) int { return outcomes(list, schema.Pass) }

// contradictions are the lint findings of the targets that the newest runs carry. One about a metric of a workload is
// listed once: its levels are shares of one value.
func (r *Report) contradictions() *Table {
	type about struct {
		of                schema.Pair
		code, key, metric string
	}
	type found struct {
		of schema.Pair
		judge.Contradiction
	}
	var list groups[about, found]
	for _, pair := range r.Pairs {
		runs := r.runs[pair.Pair][pair.Newest]
		e := judge.TargetEntry{Model: pair.Model, Device: pair.Device}
		for _, row := range r.Columns.TargetsOf(runs[len(runs)-1]) {
			e.Targets = append(e.Targets, row.Target)
		}
		for _, c := range judge.Contradictions(e) {
			if x, known := list.of(about{pair.Pair, c.Code, c.Target.Key.String(), c.Target.Metric}); !known {
				*x = found{pair.Pair, c}
			}
		}
	}
	slices.SortStableFunc(list.list, func(a, b found) int {
		return strings.Compare(string(a.Severity), string(b.Severity))
	})
	return tableOf("Contradictions", List, list.list, []Column[found]{
		{medium("Severity"), func(x found) Cell { return text(string(x.Severity)) }},
		{col("Where").in(loadUnit), func(x found) Cell {
			c := pairHead(x.of)
			c.Sub = words.Workload(x.Target.Key)
			return c
		}},
		{col("Level"), func(x found) Cell { return text(x.Target.Level) }},
		{col("What"), func(x found) Cell { return sentence(x.Text) }},
	})
}

// targetHistory counts how targets changed, newest release first.
func (r *Report) targetHistory() *Table {
	type changed struct {
		release, since        string
		changed, new, removed int
	}
	var list []changed
	for _, at := range newestFirst(r.Releases) {
		changes, since := r.Gate.TargetChanges(at)
		if len(changes) == 0 {
			continue
		}
		x := changed{release: r.Releases[at].Name, since: since}
		for _, c := range changes {
			was, is := present(c.Was), present(c.Is)
			x.changed += truth(was && is)
			x.new += truth(is && !was)
			x.removed += truth(!is)
		}
		if list = append(list, x); len(list) == rowsShown {
			break
		}
	}
	return tableOf("Targets that changed, by release", List, list, []Column[changed]{
		{col("Release"), func(x changed) Cell { return head(x.release, ReleasePath(x.release)+"#target-changes") }},
		{col("Since"), func(x changed) Cell { return text(x.since) }},
		{num("Changed"), func(x changed) Cell { return count(x.changed) }},
		{num("New"), func(x changed) Cell { return count(x.new) }},
		{num("Removed"), func(x changed) Cell { return count(x.removed) }},
	})
}
