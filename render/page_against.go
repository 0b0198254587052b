package render

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/judge"
)

// AgainstPath is the page of a release beside the one before it.
func AgainstPath(release string) Address {
	return Address("compare/" + segment(release) + "/index.html")
}

// besideOf is the release that a release stands beside, with numbers of both; -1 for none.
func (r *Report) besideOf(at int) int {
	before := r.Gate.Before(at)
	if before >= 0 && r.graded() && r.sharesNumbers(before, at) {
		return before
	}
	return -1
}

// Against is a release beside the one that it is compared with, made once; nil where there is none.
func (r *Report) Against(at int) *compare.Against {
	r.laying.Lock()
	of, ok := r.against[at]
	if !ok {
		of = sync.OnceValue(func() *compare.Against { return r.laid(at) })
		r.against[at] = of
	}
	r.laying.Unlock()
	return of()
}

func (r *Report) laid(at int) *compare.Against {
	before := r.besideOf(at)
	if before < 0 {
		return nil
	}
	c := compare.Releases(r.Gate.Judgement, before, at)
	r.scoresBeside(c, before, at)
	return c
}

// scoresBeside counts the scores of two releases. A score that one of them has in several ways is left out.
func (r *Report) scoresBeside(c *compare.Against, before, at int) {
	a, b := r.scoresByName(before), r.scoresByName(at)
	for name, now := range b {
		if len(now) != 1 || len(a[name]) != 1 {
			continue
		}
		c.Scores++
		switch now[0].Verdict {
		case schema.Regressed:
			c.Regressed++
		case schema.Improved:
			c.Improved++
		}
	}
}

// AgainstText says what came of a comparison of two releases, conditions that differ first.
func AgainstText(c *compare.Against) (out []string) {
	if len(c.Differ) > 0 {
		const most = 6
		var parts []string
		for _, x := range c.Differ[:min(most, len(c.Differ))] {
			parts = append(parts, fmt.Sprintf("%s %s → %s (%s)", x.Name, x.A, x.B, words.Plural(x.N, "number")))
		}
		said := "Conditions differ: " + strings.Join(parts, "; ")
		if rest := len(c.Differ) - most; rest > 0 {
			said += fmt.Sprintf("; and %d more", rest)
		}
		out = append(out, fmt.Sprintf("%s. %s not compared.", said, words.Plural(c.Unlike, "number")))
	}
	numbers := words.Plural(c.Numbers, "number")
	if c.Scores > 0 {
		numbers += " and " + words.Plural(c.Scores, "score")
	}
	said := fmt.Sprintf("%s of %s and %s: %s regressed and %s improved, as %s was judged against its own baseline",
		numbers, c.A, c.B, words.Count(c.Regressed), words.Count(c.Improved), c.B)
	if c.OnlyA+c.OnlyB > 0 {
		said += fmt.Sprintf("; %s only in %s, %s only in %s", words.Count(c.OnlyA), c.A, words.Count(c.OnlyB), c.B)
	}
	out = append(out, said+".")
	var means []string
	for _, m := range c.Means {
		info, _ := schema.MetricByName(m.Metric)
		means = append(means, fmt.Sprintf("%s %s (%s)", info.Label, words.Change(m.Change), info.Better))
	}
	if len(means) > 0 {
		out = append(out, "Geometric mean of the changes: "+strings.Join(means, ", ")+".")
	}
	return out
}

// inCompare is Compare with two releases chosen, all numbers shown.
func inCompare(a, b string) *Link {
	l := exploring("Every number in Compare", "arelease", a, "brelease", b, "all", "1")
	l.Href = Address(strings.Replace(string(l.Href), "explore/", "compare/", 1))
	return l
}

// AgainstPage shows what of a release is significant beside the release before; it needs no script. The page has no
// path where there is nothing to compare.
func (r *Report) AgainstPage(at int) Page {
	c := r.Against(at)
	if c == nil {
		return Page{}
	}
	said := AgainstText(c)
	title := c.B + " beside " + c.A
	p := Page{
		Path: AgainstPath(c.B), Title: title, Nav: "compare", Description: said[len(said)-1], Simulated: r.simulated(at),
		Crumbs: []Link{{"Overview", "index.html"}, {"Compare", "compare/index.html"}, {title, ""}},
		Lead: Lead{Text: fmt.Sprintf("%s beside %s: %s regressed, %s improved.", c.B, c.A, words.Count(c.Regressed),
			words.Count(c.Improved)), Paras: said},
	}
	if c.Regressed > 0 {
		p.Lead.Tone = words.ToneBad
	}
	p.add(r.significantSection(c, at), meansSection(c))
	p.add(Section{ID: "more", Title: "More", Blocks: []Block{Links{
		{"The page of " + c.B, ReleasePath(c.B)}, {"The page of " + c.A, ReleasePath(c.A)}, *inCompare(c.A, c.B),
	}}})
	return p
}

// significantSection has the numbers of B whose change against its baseline is significant, worst first, beside A.
func (r *Report) significantSection(c *compare.Against, at int) Section {
	before := r.Gate.Before(at)
	var list []schema.Verdict
	for _, v := range r.Gate.Findings(at).History {
		switch v.Outcome {
		case schema.Regressed, schema.Improved, schema.Recovered, schema.BelowLimit:
			list = append(list, v)
		}
	}
	s := Section{ID: "significant", Title: "Significant changes", Intro: "Verdict, interval and reason are those of " +
		c.B + " against its own baseline, which may be several releases; the change is from " + c.A + "."}
	if len(list) == 0 {
		s.Intro = ""
		s.Blocks = []Block{Empty{What: "No change is significant", Why: words.Plural(c.Numbers, "number") +
			" compared: none regressed or improved, none changed below the limit.", Cmd: ""}}
		return s
	}
	t := changeHead("Significant changes, worst first")
	t.Cols[3].Head, t.Cols[4].Head, t.Cols[8].Unit = c.A, c.B, whyUnit
	why := besideWhy(list)
	t.fill(Fold(list, true), false, func(f Finding) Row { return r.besideRow(f, before, at, why) })
	s.Intro = above(s.Intro, list)
	s.Blocks = []Block{t.elsewhere("Compare has all").keep(rowsShown).whole(inCompare(c.A, c.B))}
	return s
}

// besideRow is a row of changes with the value of an earlier release in the place of the baseline.
func (r *Report) besideRow(f Finding, before, at int, why func(schema.Verdict) string) Row {
	row := r.changeRow(f, true, why, func(s *judge.Series) *Spark { return r.spark(s, at) })
	s := r.seriesOf(*f.Verdict)
	if s == nil {
		return row
	}
	a, has := s.At(before)
	b, ok := s.At(at)
	if !has || !ok || a == 0 {
		row.Cells[3], row.Cells[5] = Cell{Text: words.Absent, Missing: "not measured there"}, Cell{Text: words.Absent}
		return row
	}
	row.Cells[3] = number(schema.Num(a))
	row.Cells[3].Href = r.numberPath(s, before, false)
	row.Cells[5].Text = words.Change(b/a - 1)
	return row
}

// meansSection is how much each metric changed over all numbers.
func meansSection(c *compare.Against) Section {
	t := &Table{Caption: "Geometric means by metric", Layout: List, Cols: []Col{
		{Head: "Metric"}, {Head: "Numbers", Num: true, Length: Short}, {Head: "Geometric mean", Num: true, Length: Short},
		{Head: "Lowest", Num: true, Length: Short}, {Head: "Highest", Num: true, Length: Short},
	}}
	for _, m := range c.Means {
		info, _ := schema.MetricByName(m.Metric)
		t.row(Cell{Text: info.Label, Sub: info.Better.String(), Head: true}, text(words.Count(m.N)),
			Cell{Text: words.Change(m.Change), Strong: true}, text(words.Change(m.Low)), text(words.Change(m.High)))
	}
	if len(t.Rows) == 0 {
		return Section{}
	}
	return Section{ID: "means", Title: "By metric", Intro: "Over all numbers of both releases under the same conditions.",
		Blocks: []Block{t}}
}

// againstLinks are the releases that have a page beside the one before, newest first.
func (r *Report) againstLinks() Section {
	var out Links
	for i := len(r.Releases) - 1; i >= 0 && len(out) < rowsShown; i-- {
		if before := r.Gate.Before(i); before >= 0 && r.graded() && r.sharesNumbers(before, i) {
			out = append(out, Link{r.Releases[i].Name + " beside " + r.Releases[before].Name, AgainstPath(r.Releases[i].Name)})
		}
	}
	if len(out) == 0 {
		return Section{}
	}
	return Section{ID: "against", Title: "Each release beside the one before",
		Intro:  "What is significant, the conditions that differ and the means by metric, without script.",
		Blocks: []Block{out}}
}

// sharesNumbers reports whether two releases have a number of one series.
func (r *Report) sharesNumbers(a, b int) bool {
	return slices.ContainsFunc(r.Gate.Series, func(s judge.Series) bool {
		_, hasA := s.At(a)
		_, hasB := s.At(b)
		return hasA && hasB && !s.Tail()
	})
}

// besideLink leads from a release's changes to its page beside the release before; nil where there is none.
func (r *Report) besideLink(at int) *Link {
	before := r.besideOf(at)
	if before < 0 {
		return nil
	}
	return &Link{"beside " + r.Releases[before].Name, AgainstPath(r.Releases[at].Name)}
}
