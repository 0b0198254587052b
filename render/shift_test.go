package render_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets/judge"
)

// The metrics of a device that moved alike are one line; what moved on another device, otherwise, or in parts has its
// own.
func TestShiftsOfADeviceAreOneLine(t *testing.T) {
	shift := func(device, metric string, o schema.Outcome, effect float64) judge.Shift {
		return judge.Shift{
			Device: device, Metric: metric, Outcome: o, Effect: schema.Num(effect), Cells: 40, Agree: 1,
			Interval: &[2]float64{effect - .01, effect + .01},
		}
	}
	mixed := shift("a", "e2el", schema.Inconclusive, .2)
	mixed.Mixed = true
	got := render.ShiftTexts([]judge.Shift{
		shift("a", "ttft", schema.BelowLimit, .036), shift("a", "tpot", schema.BelowLimit, .033),
		shift("a", "output_tps", schema.BelowLimit, .031), shift("b", "ttft", schema.BelowLimit, .03),
		shift("b", "tpot", schema.Regressed, .08), mixed, shift("c", "ttft", schema.Unchanged, .001),
	})
	if len(got) != 4 {
		t.Fatalf("%d lines: %s", len(got), strings.Join(got, "\n"))
	}
	for i, want := range []string{
		"real change, below the limit. With it TPOT +3.3\u202f%, Output tok/s −3.1\u202f%.",
		"below the limit.", "+8.0\u202f% together (regressed)", "not alike",
	} {
		if !strings.Contains(got[i], want) || i > 0 && strings.Contains(got[i], "With it") {
			t.Errorf("%q, want %q", got[i], want)
		}
	}
}
