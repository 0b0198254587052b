package render

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// TargetsPage is what is required today: how it is met, what contradicts itself, and what changed over time.
func (r *Report) TargetsPage() Page {
	all := r.today(r.Gate.PairTargets, func(v *schema.Verdict) bool { return v.Metric != "" || v.Key.IsEval() })
	p := Page{
		Path: "targets/index.html", Title: "Targets", Nav: "targets",
		Description: "The targets in force, and how they are met.",
		Crumbs:      []Link{{"Overview", "index.html"}, {"Targets", ""}}, Simulated: r.simulated(-1),
		Lead: r.targetsLead(all),
	}
	var force, scores Section
	if t := r.targetGrid(all, true); len(t.Rows) > 0 {
		force = Section{ID: "force", Title: "In force", Blocks: []Block{t.cut("data/ has all, by release")},
			Intro: gridIntro + " Stored with each run when it was first read; later edits of target files do not reach it." +
				r.leftOut()}
	}
	if t := r.referenceTable(all, true); len(t.Rows) > 0 {
		scores = Section{ID: "references", Title: "Scores against references",
			Blocks: []Block{t.cut("data/ has all, by release")}}
	}
	if scoresFirst(all) {
		force, scores = scores, force
	}
	for _, s := range []Section{force, scores} {
		if s.ID != "" {
			p.add(s)
		}
	}
	if t := r.contradictions(); len(t.Rows) > 0 {
		p.add(Section{ID: "lint", Title: "Contradictions", Blocks: []Block{t.cut("ttreport targets lint has all")},
			Intro: "Targets that their own neighbours rule out, or that no tool measures."})
	}
	if t := r.targetHistory(); len(t.Rows) > 0 {
		p.add(
			Section{
				ID: "changes", Title: "Changes over time",
				Blocks: []Block{t.cut("the pages of the releases have all")},
				Intro:  "A verdict that turned may have turned because its target did.",
			},
		)
	}
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
const gridIntro = "One row a workload; below a level its limits, in the order of the metrics. Grey: a level that " +
	"nothing requires. Picture: the metric that decides, right is better; dashed is required."

// targetsLead counts the targets that are met.
func (r *Report) targetsLead(all []schema.Verdict) Lead {
	req := required(all)
	met := metIn(req)
	switch {
	case len(all) == 0:
		return Lead{Text: "No target is in force.", Cmd: "ttreport targets propose",
			Paras: []string{"Nothing is graded by target, which is not a pass." + r.leftOut()}}
	case met == len(req):
		return Lead{
			Tone: words.ToneGood,
			Text: fmt.Sprintf("All %s required targets are met, and %s informational ones.",
				words.Count(len(req)), words.Of(metIn(all)-met, len(all)-len(req))),
		}
	}
	return Lead{Tone: words.ToneBad, Text: shortOf(req)}
}

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
		n := 0
		for i := range req {
			n += truth(req[i].Outcome == x.outcome)
		}
		switch {
		case n == 0:
		case len(parts) == 0:
			parts = append(parts, words.Of(n, len(req))+" required targets are "+x.are)
		default:
			parts = append(parts, words.Count(n)+" "+x.are)
		}
	}
	return strings.Join(parts, ", ") + "."
}

// metIn counts targets that are met.
func metIn(list []schema.Verdict) int {
	n := 0
	for i := range list {
		if list[i].Outcome == schema.Pass {
			n++
		}
	}
	return n
}

// contradiction is a finding about a metric of a workload; its levels are shares of one value.
type contradiction struct {
	of                schema.Pair
	code, key, metric string
}

// contradictions are the lint findings of the targets that the newest runs carry.
func (r *Report) contradictions() *Table {
	t := &Table{
		Caption: "Contradictions", Layout: List,
		Cols: []Col{
			{Head: "Severity", Length: Medium}, {Head: "Where", Unit: "ISL/OSL/concurrency"}, {Head: "Level"},
			{Head: "What"},
		},
	}
	seen := map[contradiction]bool{}
	for _, pair := range r.Pairs {
		runs := r.runs[pair.Pair][pair.Newest]
		e := judge.TargetEntry{Model: pair.Model, Device: pair.Device}
		for _, row := range r.Columns.TargetsOf(runs[len(runs)-1]) {
			e.Targets = append(e.Targets, row.Target)
		}
		for _, c := range judge.Contradictions(e) {
			id := contradiction{pair.Pair, c.Code, c.Target.Key.String(), c.Target.Metric}
			if !seen[id] {
				seen[id] = true
				t.row(
					text(string(c.Severity)),
					Cell{Text: words.OnDevice(pair.Model, pair.Device), Sub: words.Workload(c.Target.Key), Head: true,
						Href: PairPath(pair.Model, pair.Device)},
					text(c.Target.Level), Cell{Text: c.Text, Sentence: true},
				)
			}
		}
	}
	sort.SliceStable(t.Rows, func(a, b int) bool { return t.Rows[a].Cells[0].Text < t.Rows[b].Cells[0].Text })
	return t
}

// targetHistory counts how targets changed, newest release first.
func (r *Report) targetHistory() *Table {
	t := &Table{
		Caption: "Targets that changed, by release", Layout: List,
		Cols: []Col{
			{Head: "Release"}, {Head: "Since"}, {Head: "Changed", Num: true, Length: Short},
			{Head: "New", Num: true, Length: Short}, {Head: "Removed", Num: true, Length: Short},
		},
	}
	for at := len(r.Releases) - 1; at >= 0 && len(t.Rows) < rowsShown; at-- {
		list, since := r.Gate.TargetChanges(at)
		if len(list) == 0 {
			continue
		}
		changed, added, removed := 0, 0, 0
		for _, c := range list {
			_, was := c.Was.Get()
			_, is := c.Is.Get()
			switch {
			case was && is:
				changed++
			case is:
				added++
			default:
				removed++
			}
		}
		t.row(
			Cell{Text: r.Releases[at].Name, Head: true, Href: ReleasePath(r.Releases[at].Name) + "#target-changes"},
			text(since), text(words.Count(changed)), text(words.Count(added)), text(words.Count(removed)),
		)
	}
	return t
}
