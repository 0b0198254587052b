package judge

import (
	"cmp"
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// worstFirst is the order of triage: confirmed regressions first, by size; then what is open; then improvements; then
// the rest. Places are sorted, and each verdict is moved once: it is large.
func worstFirst(list []schema.Verdict) []schema.Verdict {
	type place struct {
		at     int
		rank   rank
		effect float64
	}
	order := make([]place, len(list))
	for i := range list {
		order[i] = place{i, rankOf(&list[i]), weightOf(&list[i])}
	}
	slices.SortStableFunc(order, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.effect, a.effect))
	})
	sorted := make([]schema.Verdict, len(list))
	for i, p := range order {
		sorted[i] = list[p.at]
	}
	return sorted
}

// rank is a place in the order of triage.
type rank int

// Ranks.
const (
	rankConfirmed rank = iota
	rankSuspected
	rankMissing
	rankLarge // inconclusive, and the effect is beyond what matters
	rankImproved
	rankInconclusive
	rankNotComparable
	rankUnchanged
	rankRest
)

func rankOf(v *schema.Verdict) rank {
	switch v.Outcome {
	case schema.Regressed:
		if v.Evidence == schema.Confirmed {
			return rankConfirmed
		}
		return rankSuspected
	case schema.NotMeasured, schema.Excluded:
		return rankMissing
	case schema.Improved, schema.Recovered:
		return rankImproved
	case schema.Inconclusive:
		if v.Large {
			return rankLarge
		}
		return rankInconclusive
	case schema.NotComparable:
		return rankNotComparable
	case schema.Unchanged:
		return rankUnchanged
	}
	return rankRest
}

// weightOf orders verdicts of one rank: the largest effect first, of improvements too.
func weightOf(v *schema.Verdict) float64 {
	e, ok := v.Effect.Get()
	if !ok {
		return math.Inf(-1)
	}
	if v.Outcome == schema.Improved || v.Outcome == schema.Recovered {
		return -e
	}
	return e
}
