package render

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// newest are the releases that are the newest of some pair, what stands today: the site's newest first, then by age. They end at so
// many points that telling them would be most of a build; left counts the pairs whose newest release is older than that.
func (r *Report) newest() (releases []int, left int) {
	const most = 8000
	pairs := map[int]int{}
	for _, p := range r.Pairs {
		pairs[p.Newest]++
	}
	first, order := r.Newest(), []int{}
	for at := range pairs {
		order = append(order, at)
	}
	sort.Slice(order, func(i, j int) bool {
		if a, b := order[i] == first, order[j] == first; a != b {
			return a
		}
		return order[i] > order[j]
	})
	points := 0
	for i, at := range order {
		for _, run := range r.Releases[at].Runs {
			points += r.Columns.Runs[run].PointsEnd - r.Columns.Runs[run].FirstPoint
		}
		if i > 0 && points > most {
			left += pairs[at]
			continue
		}
		releases = append(releases, at)
	}
	return releases, left
}

// leftOut says that pairs are not here which were last measured long ago, "" when all are.
func (r *Report) leftOut() string {
	if _, left := r.newest(); left > 0 {
		return fmt.Sprintf(" %s, last measured in older releases, stand on their own pages alone.", words.Plural(left, "pair"))
	}
	return ""
}

// today collects verdicts of every pair in its newest release.
func (r *Report) today(list func(Pair, int) []schema.Verdict, keep func(*schema.Verdict) bool) []schema.Verdict {
	byPair := make([][]schema.Verdict, len(r.Pairs))
	releases, _ := r.newest()
	for _, at := range releases { // release by release: only the last few are kept
		for i, p := range r.Pairs {
			if p.Newest != at {
				continue
			}
			for _, v := range list(p, at) {
				if keep(&v) {
					byPair[i] = append(byPair[i], v)
				}
			}
		}
	}
	return slices.Concat(byPair...)
}

// EvalsPage is every score of today with its interval and what is said of it.
func (r *Report) EvalsPage() Page {
	isEval := func(v *schema.Verdict) bool { return v.Key.IsEval() }
	history := r.today(r.pairChanges, isEval)
	promised := r.today(r.pairVerdicts, isEval)
	p := Page{Path: "evals/index.html", Title: "Evals", Nav: "evals", Description: "Every score with its interval.", Crumbs: []Link{{"Overview", "index.html"}, {"Evals", ""}}, Simulated: r.simulated(-1)}
	p.Lead = evalLead(history, promised)
	p.Sections = append(p.Sections, Section{ID: "scores", Title: "Scores of the newest releases", Intro: "In the tool's own scale. The interval is Wilson's at 95 % from the number of questions, or from the stated standard error." + r.leftOut(), Blocks: []Block{{Table: r.scoresToday().cut("data/ has all, by release")}}})
	if len(history) > 0 {
		p.Sections = append(p.Sections, Section{ID: "history", Title: "Against history", Intro: "Changes in percentage points; scores of the same questions are compared question by question.", Blocks: []Block{{Table: r.changeReport(history, true).cut("data/ has all, by release")}}})
	}
	if t := targetTable(promised, true); len(t.Rows) > 0 {
		p.Sections = append(p.Sections, Section{ID: "references", Title: "Against references", Intro: "Published and measured scores with the tolerance that was agreed.", Blocks: []Block{{Table: t.cut("data/ has all, by release")}}})
	}
	return p
}

// evalLead says how the scores stand, and claims nothing that was not tested.
func evalLead(history, promised []schema.Verdict) Lead {
	if len(history)+len(promised) == 0 {
		return Lead{Text: "No eval was run."}
	}
	said, refs := map[schema.Outcome]int{}, map[schema.Outcome]int{}
	for _, v := range history {
		said[v.Outcome]++
	}
	for _, v := range promised {
		refs[v.Outcome]++
	}
	var parts []string
	for _, w := range historyWords() {
		if said[w] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", said[w], w))
		}
	}
	against := "nothing is compared with history"
	if len(parts) > 0 {
		against = strings.Join(parts, ", ") + " against history"
	}
	reference := "there is no reference"
	if len(promised) > 0 {
		reference = fmt.Sprintf("%d of %s met", refs[schema.Pass], words.Plural(len(promised), "reference"))
	}
	l := Lead{Text: fmt.Sprintf("%s: %s; %s.", words.Plural(len(history), "score"), against, reference)}
	switch {
	case said[schema.Regressed]+refs[schema.Fail] > 0:
		l.Tone = "hm"
	case refs[schema.Pass] == len(promised) && len(promised) > 0:
		l.Tone = "yes"
	}
	return l
}

// scoresToday lists the scores of every pair's newest release.
func (r *Report) scoresToday() *Table {
	t := &Table{Caption: "Scores", Class: "flow", Cols: []Col{{Head: "Task"}, {Head: "Where"}, {Head: "Metric"}, {Head: "Value", Num: true, Sort: true, Narrow: "third"}, {Head: "95 % interval", Narrow: "half"}, {Head: "n", Num: true, Narrow: "third"}, {Head: "Release"}}}
	for _, pair := range r.Pairs {
		for _, run := range r.runs[pair.Pair][pair.Newest] {
			h := &r.Columns.Runs[run]
			for _, s := range r.Columns.ScoresOf(run) {
				n := Cell{Text: words.Absent, Missing: "not stated"}
				if s.N > 0 {
					n = text(words.Count(s.N))
				}
				where := Cell{Text: nameOr(pair.Model) + " on " + nameOr(pair.Device), Href: PairPath(pair.Model, pair.Device)}
				if pair.Device == schema.Simulated {
					where.Tag = "simulated"
				}
				t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: s.Task, Head: true, Href: RunPath(h.ID)}, where, {Text: s.Metric, Sub: s.Filter}, number(s.Value), text(scoreInterval(&s)), n, text(releaseOrStart(h))}})
			}
		}
	}
	return t
}

// scoreInterval is the 95 % interval of a score in its own scale; the absent mark where nothing is known of its questions.
func scoreInterval(s *columns.ScoreRow) string {
	v, ok := s.Value.Get()
	if !ok {
		return words.Absent
	}
	scale := 1.
	if v > 1 {
		scale = 100
	}
	if s.N > 0 && v >= 0 && v <= scale && s.Direction != "lower" {
		lo, hi := judge.ShareInterval(v/scale, float64(s.N))
		return words.Number(lo*scale) + " to " + words.Number(hi*scale)
	}
	if e, ok := s.Stderr.Get(); ok && e > 0 {
		return words.Number(v-1.96*e) + " to " + words.Number(v+1.96*e)
	}
	return words.Absent
}

// TargetsPage is what is promised today: how it is met, what contradicts itself, and what changed over time.
func (r *Report) TargetsPage() Page {
	all := r.today(r.pairVerdicts, func(v *schema.Verdict) bool { return v.Metric != "" || v.Key.IsEval() })
	req := required(all)
	met := metIn(req)
	p := Page{Path: "targets/index.html", Title: "Targets", Nav: "targets", Description: "What is promised, and how it is met.", Crumbs: []Link{{"Overview", "index.html"}, {"Targets", ""}}, Simulated: r.simulated(-1)}
	switch {
	case len(all) == 0:
		p.Lead = Lead{Text: "No target is in force.", Paras: []string{"Nothing is promised, so nothing is graded by target: that is not a pass." + r.leftOut()}, Cmd: "ttreport targets propose"}
	case met == len(req):
		p.Lead = Lead{Tone: words.ToneGood, Text: fmt.Sprintf("All %d required targets are met, and %d of %d for information.", len(req), metIn(all)-met, len(all)-len(req))}
	default:
		p.Lead = Lead{Tone: words.ToneBad, Text: fmt.Sprintf("%d of %d required targets are met.", met, len(req))}
	}
	if t := targetTable(all, true); len(t.Rows) > 0 {
		p.Sections = append(p.Sections, Section{ID: "force", Title: "In force", Intro: "Stored with each run when it was first read; later edits of target files do not reach it." + r.leftOut(), Blocks: []Block{{Table: t.cut("data/ has all, by release")}}})
	}
	if t := r.contradictions(); len(t.Rows) > 0 {
		p.Sections = append(p.Sections, Section{ID: "lint", Title: "What contradicts itself", Intro: "Targets that their own neighbours rule out, or that no tool measures.", Blocks: []Block{{Table: t.cut("ttreport targets lint has all")}}})
	}
	if t := r.targetHistory(); len(t.Rows) > 0 {
		p.Sections = append(p.Sections, Section{ID: "changes", Title: "Changes over time", Intro: "A verdict that turned may have turned because its promise did.", Blocks: []Block{{Table: t.cut("the pages of the releases have all")}}})
	}
	return p
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

// contradictions are the lint findings of the targets that the newest runs carry.
func (r *Report) contradictions() *Table {
	t := &Table{Caption: "Contradictions", Class: "flow", Cols: []Col{{Head: "Severity", Narrow: "half"}, {Head: "Where", Unit: "ISL/OSL/concurrency"}, {Head: "Level"}, {Head: "What"}}}
	seen := map[string]bool{}
	for _, pair := range r.Pairs {
		runs := r.runs[pair.Pair][pair.Newest]
		e := judge.TargetEntry{Model: pair.Model, Device: pair.Device}
		for _, row := range r.Columns.TargetsOf(runs[len(runs)-1]) {
			e.Targets = append(e.Targets, row.Target)
		}
		for _, c := range judge.Contradictions(e) {
			if id := c.Model + c.Device + c.Code + c.Target.Key.String() + c.Target.Metric; !seen[id] { // levels of one workload are shares of one value
				seen[id] = true
				t.Rows = append(t.Rows, Row{Cells: []Cell{text(string(c.Severity)), {Text: nameOr(pair.Model) + " on " + nameOr(pair.Device), Sub: words.Workload(c.Target.Key), Head: true, Href: PairPath(pair.Model, pair.Device)}, text(c.Target.Level), {Text: c.Text, Wide: true}}})
			}
		}
	}
	sort.SliceStable(t.Rows, func(a, b int) bool { return t.Rows[a].Cells[0].Text < t.Rows[b].Cells[0].Text })
	return t
}

// targetHistory counts how promises changed, newest release first.
func (r *Report) targetHistory() *Table {
	t := &Table{Caption: "Targets that changed, by release", Class: "flow", Cols: []Col{{Head: "Release"}, {Head: "Since"}, {Head: "Changed", Num: true, Narrow: "third"}, {Head: "New", Num: true, Narrow: "third"}, {Head: "Gone", Num: true, Narrow: "third"}}}
	for at := len(r.Releases) - 1; at >= 0 && len(t.Rows) < maxRows; at-- {
		list, since := r.Gate.TargetChanges(at)
		if len(list) == 0 {
			continue
		}
		changed, added, gone := 0, 0, 0
		for _, c := range list {
			_, was := c.Was.Get()
			_, is := c.Is.Get()
			switch {
			case was && is:
				changed++
			case is:
				added++
			default:
				gone++
			}
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: r.Releases[at].Name, Head: true, Href: ReleasePath(r.Releases[at].Name) + "#target-changes"}, text(since), text(words.Count(changed)), text(words.Count(added)), text(words.Count(gone))}})
	}
	return t
}

// NotesPage are all notes of people, newest release first; those on releases that nobody measured last.
func (r *Report) NotesPage() Page {
	p := Page{Path: "notes/index.html", Title: "Notes", Nav: "notes", Description: "What people wrote about releases.", Crumbs: []Link{{"Overview", "index.html"}, {"Notes", ""}}, Lead: Lead{Text: "What people wrote about releases."}, Simulated: r.simulated(-1)}
	known := map[string]bool{}
	add := func(name, href string) {
		if notes := r.NotesOf(name); len(notes) > 0 && !known[name] {
			s := Section{ID: "note-" + schema.Slug(name), Title: name, Blocks: []Block{{Notes: notes}}}
			if href != "" {
				s.End = &Link{"the release", href}
			}
			p.Sections = append(p.Sections, s)
		}
		known[name] = true
	}
	for at := len(r.Releases) - 1; at >= 0; at-- {
		add(r.Releases[at].Name, ReleasePath(r.Releases[at].Name))
	}
	for _, n := range r.Notes {
		add(n.Release, "")
	}
	if len(p.Sections) == 0 {
		p.Sections = []Section{{ID: "none", Title: "Notes", Blocks: []Block{{Empty: &Empty{What: "No notes", Why: "Markdown files in notes/, named after a release, stand here and on the page of the release."}}}}}
	}
	return p
}
