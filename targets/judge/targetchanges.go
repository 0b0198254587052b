package judge

import (
	"sort"

	"github.com/ttreport/ttreport/ingest/schema"
)

// TargetChange is a promise that is another one than in the release before.
type TargetChange struct {
	Model, Device string
	Key           schema.Key
	Metric, Level string
	Was, Is       schema.Number // missing: there was none, or there is none any more
	Source        string
}

// TargetChanges compares the targets in force with those of the newest earlier release of each pair: targets are edited silently
// elsewhere, and a verdict that turned may have turned because of that.
func (j *Judgement) TargetChanges(release int) (changes []TargetChange, since string) {
	before := j.Before(release)
	if before < 0 {
		return nil, ""
	}
	type promise struct{ model, device, key, metric, stat, level string }
	collect := func(at int) map[promise]schema.Target {
		out := map[promise]schema.Target{}
		for _, run := range j.Releases[at].Runs { // a later run of a release speaks last
			h := &j.Columns.Runs[run]
			for _, t := range j.Columns.TargetsOf(run) {
				out[promise{h.Model.Name, h.Device, t.Key.String(), t.Metric, t.Stat, t.Level}] = t.Target
			}
		}
		return out
	}
	pairs := func(at int) map[[2]string]bool {
		out := map[[2]string]bool{}
		for _, run := range j.Releases[at].Runs {
			h := &j.Columns.Runs[run]
			out[[2]string{h.Model.Name, h.Device}] = true
		}
		return out
	}
	was, is, both := collect(before), collect(release), pairs(before)
	for id, t := range is {
		old, had := was[id]
		switch {
		case !both[[2]string{id.model, id.device}] || had && old.Value == t.Value && old.Tolerance == t.Tolerance:
		case had:
			changes = append(changes, TargetChange{id.model, id.device, t.Key, t.Metric, t.Level, schema.Num(old.Value), schema.Num(t.Value), t.Source})
		default:
			changes = append(changes, TargetChange{id.model, id.device, t.Key, t.Metric, t.Level, schema.Missing("none before"), schema.Num(t.Value), t.Source})
		}
	}
	now := pairs(release)
	for id, t := range was {
		if _, still := is[id]; !still && now[[2]string{id.model, id.device}] {
			changes = append(changes, TargetChange{id.model, id.device, t.Key, t.Metric, t.Level, schema.Num(t.Value), schema.Missing("none any more"), t.Source})
		}
	}
	sort.Slice(changes, func(a, b int) bool {
		x, y := changes[a], changes[b]
		if x.Model+"\x00"+x.Device != y.Model+"\x00"+y.Device {
			return x.Model+"\x00"+x.Device < y.Model+"\x00"+y.Device
		}
		if x.Key.String() != y.Key.String() {
			return x.Key.Less(y.Key)
		}
		return x.Metric+x.Level < y.Metric+y.Level
	})
	return changes, j.Releases[before].Name
}
