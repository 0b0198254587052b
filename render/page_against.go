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

// besideOf is the release that a release stands beside, with a number of one series in both; -1 for none.
func (r *Report) besideOf(at int) int {
	before := r.Gate.Before(at)
	if before >= 0 && r.Graded() && slices.ContainsFunc(r.Gate.Series, func(s judge.Series) bool {
		_, hasA := s.At(before)
		_, hasB := s.At(at)
		return hasA && hasB && !s.Tail()
	}) {
		return before
	}
	return -1
}

// Against is a release beside the one that it is compared with, made once; nil where there is none. A score that one of
// them has in several ways is left out.
func (r *Report) Against(at int) *compare.Against {
	r.laying.Lock()
	of, ok := r.against[at]
	if !ok {
		of = sync.OnceValue(func() *compare.Against {
			before := r.besideOf(at)
			if before < 0 {
				return nil
			}
			c := compare.Releases(r.Gate.Judgement, before, at)
			a := r.scoresByName(before)
			for name, now := range r.scoresByName(at) {
				if len(now) != 1 || len(a[name]) != 1 {
					continue
				}
				c.Scores++
				c.Regressed += truth(now[0].Verdict == schema.Regressed)
				c.Improved += truth(now[0].Verdict == schema.Improved)
			}
			return c
		})
		r.against[at] = of
	}
	r.laying.Unlock()
	return of()
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

// AgainstPage shows what of a release is significant beside the release before; it needs no script. The page has no
// path where there is nothing to compare.
func (r *Report) AgainstPage(at int) Page {
	c := r.Against(at)
	if c == nil {
		return Page{}
	}
	said := AgainstText(c)
	p := r.page(AgainstPath(c.B), "compare", c.B+" beside "+c.A, said[len(said)-1], Link{"Compare", "compare/index.html"})
	p.Simulated = r.simulated(at)
	p.Lead = Lead{Text: fmt.Sprintf("%s beside %s: %s regressed, %s improved.", c.B, c.A, words.Count(c.Regressed),
		words.Count(c.Improved)), Paras: said}
	if c.Regressed > 0 {
		p.Lead.Tone = words.ToneBad
	}
	all := exploring("Every number in Compare", "arelease", c.A, "brelease", c.B, "all", "1")
	all.Href = Address(strings.Replace(string(all.Href), "explore/", "compare/", 1))
	p.add(r.significantSection(c, at, all), section("means", "By metric",
		"Over all numbers of both releases under the same conditions.",
		tableOf("Geometric means by metric", List, c.Means, []Column[compare.Mean]{
			{col("Metric"), func(m compare.Mean) Cell {
				info, _ := schema.MetricByName(m.Metric)
				return Cell{Text: info.Label, Sub: info.Better.String(), Head: true}
			}},
			{num("Numbers"), func(m compare.Mean) Cell { return count(m.N) }},
			{num("Geometric mean"), func(m compare.Mean) Cell { return Cell{Text: words.Change(m.Change), Strong: true} }},
			{num("Lowest"), func(m compare.Mean) Cell { return text(words.Change(m.Low)) }},
			{num("Highest"), func(m compare.Mean) Cell { return text(words.Change(m.High)) }},
		})), section("more", "More", "", Links{
		{"The page of " + c.B, ReleasePath(c.B)}, {"The page of " + c.A, ReleasePath(c.A)}, *all,
	}))
	return p
}

// significantSection has the numbers of B whose change against its baseline is significant, worst first, with the value
// of A below the baseline.
func (r *Report) significantSection(c *compare.Against, at int, all *Link) Section {
	before := r.Gate.Before(at)
	list := slices.DeleteFunc(slices.Clone(r.Gate.Findings(at).History), func(v schema.Verdict) bool {
		return !slices.Contains([]schema.Outcome{schema.Regressed, schema.Improved, schema.Recovered, schema.BelowLimit},
			v.Outcome)
	})
	if len(list) == 0 {
		return section("significant", "Significant changes", "", Empty{What: "No change is significant",
			Why: words.Plural(c.Numbers, "number") + " compared: none regressed or improved, none changed below the limit."})
	}
	found := Fold(list, true)
	t := r.changesOf(found, changes{"Significant changes, worst first", true, false, at, besideShared(list)})
	t.Cols[3].Unit, t.Cols[4].Head, t.Cols[8].Unit = "and "+c.A, c.B, whyUnit
	for i := range t.Rows {
		s := r.seriesOf(*found[i].Verdict)
		if s == nil {
			continue
		}
		a, has := s.At(before)
		if b, ok := s.At(at); has && ok && a != 0 {
			t.Rows[i].Cells[3].Sub = fmt.Sprintf("%s %s, %s", c.A, words.Number(a), words.Change(b/a-1))
		}
	}
	return section("significant", "Significant changes", above("Change, interval and order are those of "+c.B+
		" against its own baseline, which may be several releases; below the baseline stands "+c.A+".", list),
		t.elsewhere("Compare has all").keep(rowsShown).whole(all))
}

// againstLinks are the releases that have a page beside the one before, newest first.
func (r *Report) againstLinks() Section {
	var out Links
	for i := len(r.Releases) - 1; i >= 0 && len(out) < rowsShown; i-- {
		if before := r.besideOf(i); before >= 0 {
			out = append(out, Link{r.Releases[i].Name + " beside " + r.Releases[before].Name, AgainstPath(r.Releases[i].Name)})
		}
	}
	if len(out) == 0 {
		return Section{}
	}
	return section("against", "Each release beside the one before",
		"What is significant, the conditions that differ and the means by metric, without script.", out)
}
