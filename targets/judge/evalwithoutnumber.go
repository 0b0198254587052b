package judge

import (
	"cmp"

	"github.com/ttreport/ttreport/ingest/schema"
)

// lost handles a score that was attempted and has no value: with none the eval must not count as passed.
func (d *evalDecision) lost() bool {
	value := d.value()
	now := value.scores[0]
	if _, has := now.Value.Get(); has {
		return false
	}
	why := schema.NoNumber{Why: cmp.Or(now.Value.Why(), "the score has no value")}
	for i, s := range value.scores {
		if _, has := s.Value.Get(); has {
			why.Other = value.runs[i]
		}
	}
	d.v.Outcome, d.v.Reason = schema.NotMeasured, why
	return true
}

// flipped handles a score whose direction is the opposite of its baseline's: what was worse would count as better.
func (d *evalDecision) flipped() bool {
	if len(d.st.base) == 0 {
		return false
	}
	was, is := d.cells[d.cell].values[d.st.base[len(d.st.base)-1]].scores[0].Direction, d.value().scores[0].Direction
	if was == "" || is == "" || was == is {
		return false
	}
	d.v.Outcome = schema.Excluded
	d.v.Reason = schema.InvalidPoint{Why: "better was " + was + " and is " + is}
	return true
}
