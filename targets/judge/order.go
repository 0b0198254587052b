package judge

import (
	"cmp"
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// worstFirst sorts verdicts: confirmed regressions first, by size; then open findings; then improvements; then the
// rest. It sorts indexes and moves each verdict once, within the list, because verdicts are large.
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
	for i := range order { // each circle of places is moved on by one
		if order[i].at == i {
			continue
		}
		first, to := list[i], i
		for from := order[to].at; from != i; from = order[to].at {
			list[to], order[to].at = list[from], to
			to = from
		}
		list[to], order[to].at = first, to
	}
	return list
}

// rank is a position in that order.
type rank int

// Ranks.
const (
	rankConfirmed rank = iota
	rankSuspected
	rankMissing
	rankLarge // inconclusive with an effect beyond what matters
	rankGone  // measured before, and not now
	rankImproved
	rankBelowLimit
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
		if schema.ReasonIs[schema.NotRemeasured](v.Reason) {
			return rankGone
		}
		return rankMissing
	case schema.Improved, schema.Recovered:
		return rankImproved
	case schema.Inconclusive:
		if v.Large {
			return rankLarge
		}
		return rankInconclusive
	case schema.BelowLimit:
		return rankBelowLimit
	case schema.NotComparable:
		return rankNotComparable
	case schema.Unchanged:
		return rankUnchanged
	}
	return rankRest
}

// weightOf orders verdicts of one rank: the largest effect first, also of improvements.
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
