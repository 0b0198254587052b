package judge

import (
	"cmp"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// TargetChange is a target that differs from the one in the release before.
type TargetChange struct {
	Model, Device string
	Key           schema.Key
	Metric, Level string
	Was, Is       schema.Number // missing: there was none, or it was removed
	Source        string
}

// targetID names a target in a release.
type targetID struct {
	pair                     schema.Pair
	key, metric, stat, level string
}

// TargetChanges compares the targets in force with those of the newest earlier release of each model and device: a
// verdict may have changed only because somebody edited a target.
func (j *Judgement) TargetChanges(release int) (changes []TargetChange, since string) {
	before := j.Before(release)
	if before < 0 {
		return nil, ""
	}
	was, is := j.targetsIn(before), j.targetsIn(release)
	then, now := j.pairsIn(before), j.pairsIn(release)
	change := func(id targetID, t schema.Target, was, is schema.Number) {
		changes = append(changes, TargetChange{id.pair.Model, id.pair.Device, t.Key, t.Metric, t.Level, was, is,
			t.Source})
	}
	for id, t := range is {
		old, had := was[id]
		switch {
		case !then[id.pair] || had && old.Value == t.Value && old.Tolerance == t.Tolerance:
		case had:
			change(id, t, schema.Num(old.Value), schema.Num(t.Value))
		default:
			change(id, t, schema.Missing("none before"), schema.Num(t.Value))
		}
	}
	for id, t := range was {
		if _, still := is[id]; !still && now[id.pair] {
			change(id, t, schema.Num(t.Value), schema.Missing("none any more"))
		}
	}
	slices.SortFunc(changes, compareChanges)
	return changes, j.Releases[before].Name
}

// targetsIn returns the targets in force in a release; its newest run decides.
func (j *Judgement) targetsIn(release int) map[targetID]schema.Target {
	out := map[targetID]schema.Target{}
	for _, run := range j.Releases[release].Runs {
		h := &j.Columns.Runs[run]
		for _, t := range j.Columns.TargetsOf(run) {
			out[targetID{pairOf(h), t.Key.String(), t.Metric, t.Stat, t.Level}] = t.Target
		}
	}
	return out
}

func (j *Judgement) pairsIn(release int) map[schema.Pair]bool {
	out := map[schema.Pair]bool{}
	for _, run := range j.Releases[release].Runs {
		out[pairOf(&j.Columns.Runs[run])] = true
	}
	return out
}

func compareChanges(x, y TargetChange) int {
	keys := 0
	if x.Key.String() != y.Key.String() {
		keys = 1
		if x.Key.Less(y.Key) {
			keys = -1
		}
	}
	return cmp.Or(cmp.Compare(x.Model, y.Model), cmp.Compare(x.Device, y.Device), keys,
		cmp.Compare(x.Metric+x.Level, y.Metric+y.Level))
}
