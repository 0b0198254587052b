package collect_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/ingest/schema"
)

// sideBySide measures a pair whose servers are to keep running, and returns the starts, how the manifests say they
// were, and what was said of turns.
func sideBySide(t *testing.T, m *machine) (starts, how, said string) {
	t.Helper()
	a, b := pairOn(m, 2, true)
	outs, err := against(a, b, t.TempDir(), func(e collect.Event) {
		if e.Step == "turn" {
			said += e.Text + "\n"
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outs {
		if len(o.Points) != 4 || m.up != 0 {
			t.Errorf("%d points, %d servers left", len(o.Points), m.up)
		}
	}
	first, second := readManifest(t, outs[0].Dir).Interleaved, readManifest(t, outs[1].Dir).Interleaved
	if first.Starts != second.Starts {
		t.Errorf("%+v, %+v", first, second)
	}
	return strings.Join(m.starts, " "), first.Starts, said
}

// A candidate that does not start beside the baseline takes turns with it, which is said and recorded.
func TestSecondServerDoesNotStart(t *testing.T) {
	starts, how, said := sideBySide(t, &machine{fails: 2})
	if starts != "old new old new new old" || how != schema.StartsFresh ||
		!strings.Contains(said, "the candidate does not run beside the baseline, so they take turns: server: ") {
		t.Errorf("started %s, %s: %s", starts, how, said)
	}
}

// One that does keeps running beside it.
func TestServersSideBySide(t *testing.T) {
	t.Parallel()
	if starts, how, said := sideBySide(t, &machine{}); starts != "old new" || how != schema.StartsKept {
		t.Errorf("started %s, %s: %s", starts, how, said)
	}
}
