package words

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// history is what history says of a number without the pair that decided; "" where that is the same.
func history(v *schema.Verdict, r schema.Change) string {
	said := "unknown"
	if r.Turns.Outcome != schema.NoBaseline {
		said = OutcomeText(r.Turns.Outcome, r.Turns.Evidence)
	}
	if said == OutcomeText(v.Outcome, v.Evidence) {
		return ""
	}
	return said
}

// standsInFor is the better metric that a number stands in for, which earlier releases may have beside it; "" for none.
func standsInFor(metric string) string {
	for _, of := range schema.Metrics() {
		if slices.Contains(of.StandIns, metric) {
			return of.Label
		}
	}
	return ""
}

// movedSince says how a number moved since the releases before it.
func movedSince(v *schema.Verdict, r schema.Change) string {
	base := "the release before"
	if r.Releases > 1 {
		base = fmt.Sprintf("the mean of %d releases", r.Releases)
	}
	return moved(v, base, r.Turns == nil)
}

// moved is the first half of most sentences: "TTFT is 14.1 % above the mean of 4 releases (2,415 → 2,753 ms)". of is
// what the number is compared with; alone is set where the first run of the release was tested, not a pair.
func moved(v *schema.Verdict, of string, alone bool) string {
	info, _ := schema.MetricByName(v.Metric)
	value, _ := v.Value.Get()
	ref, _ := v.Ref.Get()
	name := info.Label + rank(v.Stat)
	if _, ok := v.Effect.Get(); !ok || ref == 0 {
		return fmt.Sprintf("%s is %s", name, Quantity(value, info.Unit))
	}
	raw, share := value/ref-1, "level with"
	switch {
	case math.Abs(raw) < .0005:
	case raw < 0:
		share = fmt.Sprintf("%.1f%s%% below", -raw*100, Thin)
	default:
		share = fmt.Sprintf("%.1f%s%% above", raw*100, Thin)
	}
	out := fmt.Sprintf("%s is %s %s (%s → %s)", name, share, of, Number(ref), Quantity(value, info.Unit))
	if alone && ofFirstRun(v) {
		effect, _ := v.Effect.Get()
		out += "; its first run, which is what is tested, " + Signed(v.Metric, effect)
	}
	return out
}

// ofFirstRun reports that the change is that of the first run of a release, and the value the mean of several.
func ofFirstRun(v *schema.Verdict) bool {
	value, _ := v.Value.Get()
	ref, has := v.Ref.Get()
	effect, _ := v.Effect.Get()
	if info, _ := schema.MetricByName(v.Metric); info.Better == schema.Higher {
		effect = -effect
	}
	return has && ref != 0 && !(math.Abs(effect-(value/ref-1)) < .0005)
}

// rank names a percentile, with a space before it; "" for another statistic.
func rank(stat string) string {
	if rank, tail := strings.CutPrefix(stat, "p"); tail {
		return " P" + rank
	}
	return ""
}

// rarity is q, behind a sign of equality; "" where there is none.
func rarity(v *schema.Verdict, equal string) string {
	switch q, ok := v.Q.Get(); {
	case !ok:
		return ""
	case q < .0001:
		return "under 0.0001"
	default:
		return fmt.Sprintf("%s%.2g", equal, q)
	}
}
