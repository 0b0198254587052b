package compare

import (
	"encoding/json"

	"github.com/ttreport/ttreport/ingest/schema"
)

// mismatch returns why runs of two sides that name each other are no pair; nil where nothing that is stated says so.
func mismatch(a, b Side, left, right *schema.Run) *schema.Mismatch {
	if why := schema.Mismatched(turnSideOf(left), turnSideOf(right)); why != nil {
		return why
	}
	for _, x := range []struct {
		of  Side
		run *schema.Run
	}{{a, left}, {b, right}} {
		var others []schema.Build
		for i := range x.of.Runs {
			o := &x.of.Runs[i]
			if o.Interleaved.IsZero() && systemOf(o) == systemOf(x.run) {
				others = append(others, turnSideOf(o).Build)
			}
		}
		if why := schema.OtherBuild(turnSideOf(x.run).Build, x.of.Name, others); why != nil {
			return why
		}
	}
	return nil
}

func turnSideOf(r *schema.Run) schema.TurnSide {
	var setting map[string]string
	if json.Unmarshal(r.Extra["setting"], &setting) != nil {
		setting = nil // it states nothing
	}
	s := schema.TurnSideOf(r.Device, r.Stack, setting)
	s.Start, s.End = r.Start, r.End
	return s
}
