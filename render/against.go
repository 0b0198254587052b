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

// comparePath is the page that lays two releases beside each other.
func comparePath(a, b string) Address {
	return chosen("compare/index.html", "arelease", a, "brelease", b)
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

// AgainstText says what came of a comparison of two releases, conditions that differ first and means by metric last.
func AgainstText(c *compare.Against) []string {
	var means []string
	for _, m := range c.Means {
		info, _ := schema.MetricByName(m.Metric)
		means = append(means, fmt.Sprintf("%s %s (%s)", info.Label, words.Change(m.Change), info.Better))
	}
	out := againstText(c)
	if len(means) > 0 {
		out = append(out, "Geometric mean of the changes: "+strings.Join(means, ", ")+".")
	}
	return out
}

func againstText(c *compare.Against) (out []string) {
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
	if c.Numbers+c.Scores+c.OnlyA+c.OnlyB == 0 {
		return out
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
	return append(out, said+".")
}
