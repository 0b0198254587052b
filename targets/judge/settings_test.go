package judge_test

import (
	"encoding/json"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// A model in other numbers is another one, for speeds and scores alike: neither is compared. What one side does not
// state parts nothing.
func TestModelSettingsPartSeries(t *testing.T) {
	for _, name := range schema.ModelSettings() {
		before := columns.Conditions{name: "bfloat16"}
		for now, parted := range map[string]bool{"float16": true, "bfloat16": false, "": false} {
			h := judgetest.History{TTFT: judgetest.Steady(4),
				Conditions: []columns.Conditions{before, before, before, {name: now}}}
			v := judged(t, h.Columns(), nil).History(3)[0]
			if (v.Outcome == schema.NotComparable) != parted ||
				parted && change(t, v).Conditions != name+" bfloat16 → float16" {
				t.Errorf("%s %q: %s, %+v", name, now, v.Outcome, v.Reason)
			}
			a, b := judgetest.Share(.8, 500), judgetest.Share(.7, 500)
			a.Unknown = schema.Unknown{name: json.RawMessage(`"bfloat16"`)}
			if now != "" {
				b.Unknown = schema.Unknown{name: json.RawMessage(`"` + now + `"`)}
			}
			v, why := last(t, a, b)
			if (v.Outcome == schema.NotComparable) != parted || parted && why.Conditions != name+" bfloat16 → float16" {
				t.Errorf("scores, %s %q: %s, %+v", name, now, v.Outcome, why)
			}
		}
	}
}
