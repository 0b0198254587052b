package ingest

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/ttreport/ttreport/ingest/duplicate"
	"github.com/ttreport/ttreport/ingest/schema"
)

// scoreKey names what an eval measured of a model.
type scoreKey struct{ model, task, metric, filter string }

// placedScore is a score and the result that has it.
type placedScore struct {
	r *result
	i int
}

func (p placedScore) score() *schema.Score { return &p.r.reading.Scores[p.i] }

// dropSameScores keeps one of several copies of a score, which tools write into files for one task, for a group and for
// a whole suite: that with the most beside its value.
func dropSameScores(results []*result) {
	byKey := map[scoreKey][]placedScore{}
	gone := map[*result]map[int]*result{}
	for _, r := range results {
		for i := range r.reading.Scores {
			s := &r.reading.Scores[i]
			key := scoreKey{modelOf(&r.facts), s.Task, s.Metric, strings.TrimPrefix(s.Filter, "none")}
			for at, other := range byKey[key] {
				if !sameValue(other.score(), s) || !sameEval(other.r, r) {
					continue
				}
				keep, drop := other, placedScore{r, i}
				if known(drop.score()) > known(keep.score()) {
					keep, drop = drop, keep
					byKey[key][at] = keep
				}
				if gone[drop.r] == nil {
					gone[drop.r] = map[int]*result{}
				}
				gone[drop.r][drop.i] = keep.r
				break
			}
			if gone[r][i] == nil {
				byKey[key] = append(byKey[key], placedScore{r, i})
			}
		}
	}
	for r, others := range gone {
		r.removeScores(others)
	}
}

func modelOf(f *schema.Facts) string {
	return strings.ToLower(path.Base(cmp.Or(f.Model.ID, f.Model.Name)))
}

func sameValue(a, b *schema.Score) bool {
	x, ok := a.Value.Get()
	y, ok2 := b.Value.Get()
	return ok && ok2 && duplicate.Number(x) == duplicate.Number(y)
}

// enoughScores is how many equal fractions make two evals without a time one.
const enoughScores = 3

// sameEval reports that two files hold the same eval. Two of one time do. Where one states none, all scores that both
// have must agree, and enough of them be fractions: an eval of a small task gives the same score again by chance, and a
// greedy one of the same model does so always, but then states its time.
func sameEval(a, b *result) bool {
	if a.file == b.file || systemOf(&a.facts) != systemOf(&b.facts) || buildOf(&a.facts) != buildOf(&b.facts) {
		return false
	}
	if x, y := a.facts.Start, b.facts.Start; !x.IsZero() && !y.IsZero() {
		return x.Equal(y)
	}
	if modelOf(&a.facts) == "." { // no model is known
		return false
	}
	have, fractions := map[scoreKey]*schema.Score{}, 0
	for i := range a.reading.Scores {
		s := &a.reading.Scores[i]
		have[scoreKey{"", s.Task, s.Metric, s.Filter}] = s
	}
	for i := range b.reading.Scores {
		s := &b.reading.Scores[i]
		other := have[scoreKey{"", s.Task, s.Metric, s.Filter}]
		if other == nil {
			continue
		}
		if !sameValue(other, s) {
			return false
		}
		if x, _ := s.Value.Get(); duplicate.IsFraction(x) {
			fractions++
		}
	}
	return fractions >= enoughScores
}

// known counts what a score states beside its value.
func known(s *schema.Score) int {
	n := 0
	if _, ok := s.Stderr.Get(); ok {
		n++
	}
	if s.N > 0 {
		n++
	}
	if s.Outcomes != nil {
		n += 2
	}
	return n
}

// removeScores takes scores that other results have out of a result.
func (r *result) removeScores(others map[int]*result) {
	var kept []schema.Score
	for i, s := range r.reading.Scores {
		if others[i] == nil {
			kept = append(kept, s)
			continue
		}
		r.reading.PartOf = others[i].shown()
	}
	r.reading.Scores = kept
	r.report(schema.Problem{
		Severity: schema.SevNote, Path: r.shown(), Code: "duplicate",
		Found: fmt.Sprintf("%d scores that %s has", len(others), r.reading.PartOf), Used: "each once",
	})
}
