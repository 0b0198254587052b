package terminal_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/terminal"
)

// What no file states is said, and is no zero.
func TestVerdictWithoutN(t *testing.T) {
	for n, want := range map[int]string{0: "not stated", 1319: "1319"} {
		var b strings.Builder
		terminal.Verdict(&b, schema.Verdict{
			N: n, Value: schema.Num(.5), Against: schema.AgainstHistory, Outcome: schema.NoBaseline,
			Reason: schema.EvalChange{Test: schema.TestNone},
		})
		line := ""
		for l := range strings.Lines(b.String()) {
			if strings.HasPrefix(l, "n ") {
				line = strings.TrimSpace(l[1:])
			}
		}
		if line != want {
			t.Errorf("n %d: %q", n, line)
		}
	}
}
