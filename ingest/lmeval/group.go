package lmeval

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// group states of each score the nearest group around its task that has a score of its own: groups may be in groups, of
// which some have none.
func group(v decode.Value, scores []schema.Score) {
	around := map[string]string{}
	for _, g := range v.Get("group_subtasks").Members() {
		for task := range g.Val.Items() {
			if name := task.Str(); name != g.Key {
				around[name] = g.Key
			}
		}
	}
	scored := map[string]bool{}
	for i := range scores {
		scored[scores[i].Task] = true
	}
	const depth = 8 // a damaged file may have a circle
	for i := range scores {
		s := &scores[i]
		at := around[s.Task]
		for n := 0; n < depth && at != "" && !scored[at]; n++ {
			at = around[at]
		}
		if scored[at] && at != s.Task {
			s.Group = at
		}
	}
}
