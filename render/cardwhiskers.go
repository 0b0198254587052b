package render

import (
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// whiskersDrawn is how many findings a card draws: more are an inventory.
const whiskersDrawn = 3

// whiskers are the first findings that decide with an interval, on one scale, and what it is: changes against history,
// or distances from targets. Both do not mix: what is shaded is another thing.
func (r *Report) whiskers(decisive []schema.Verdict) (out []Whisker, caption string) {
	var against schema.Against
	for i := range decisive {
		v := &decisive[i]
		w, ok := r.whisker(v)
		if !ok || len(out) == whiskersDrawn || len(out) > 0 && v.Against != against {
			continue
		}
		out, against = append(out, w), v.Against
	}
	if len(out) == 0 {
		return nil, ""
	}
	nameSystems(out)
	if against == schema.AgainstTarget {
		return out, "Distance from the target as a share of it, with its 95" + words.Thin + "% interval; right is worse. " +
			"Shaded: its tolerance."
	}
	return out, "Change with its 95" + words.Thin + "% interval; right is worse. Shaded: less than what matters."
}

// whisker draws a finding; false for one without an interval.
func (r *Report) whisker(v *schema.Verdict) (Whisker, bool) {
	e, ok := v.Effect.Get()
	if !ok || v.Interval == nil {
		return Whisker{}, false
	}
	w := Whisker{
		ID: v.ID, Of: words.OnDevice(v.Model, v.Device), Change: words.Effect(*v, e),
		Name: strings.TrimSpace(words.Subject(v) + " " + words.MetricOf(v)),
		Href: PairPath(v.Model, v.Device), Effect: e, Low: v.Interval[0], High: v.Interval[1],
		Outcome: v.Outcome, Evidence: v.Evidence,
	}
	if v.Against == schema.AgainstHistory {
		w.Limit = r.limitOf(v)
		return w, true
	}
	return w, w.fromTarget(v)
}

// fromTarget puts a distance from a target on the scale of its tolerance, a share of the target; false where it has
// none. A score's distance is in points of a share.
func (w *Whisker) fromTarget(v *schema.Verdict) bool {
	switch reason := v.Reason.(type) {
	case schema.Limit:
		w.Limit = reason.Tolerance
	case schema.EvalLimit:
		ref, ok := v.Ref.Get()
		if !ok || ref <= 0 || ref > 1 {
			return false
		}
		w.Name, w.Limit = words.Subject(v), reason.Tolerance
		w.Effect, w.Low, w.High = w.Effect/ref, w.Low/ref, w.High/ref
	}
	return w.Limit > 0
}

// nameSystems leaves model and device out where all whiskers are of one: the sentence above names it.
func nameSystems(list []Whisker) {
	if !slices.ContainsFunc(list, func(w Whisker) bool { return w.Of != list[0].Of }) {
		for i := range list {
			list[i].Of = ""
		}
	}
}

// limitOf is the change of a verdict's metric that matters.
func (r *Report) limitOf(v *schema.Verdict) float64 {
	switch reason := v.Reason.(type) {
	case schema.Change:
		return reason.Limit
	case schema.EvalChange:
		return reason.Limit
	}
	return r.Gate.Policy.Effect(v.Metric)
}
