package render_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// slowed is a history in which the releases from v10 to v15 are 12 % slower at two of 30 workloads; each states a
// commit.
func slowed(releases int) *columns.Columns {
	h := judgetest.History{}
	for r := range releases {
		row := make([]float64, 30)
		for w := range row {
			row[w] = 50 * float64(w+1) * (1 + .004*math.Sin(float64(7*r+3*w)))
			if w < 2 && r >= 10 && r < 16 {
				row[w] *= 1.12
			}
		}
		h.TTFT = append(h.TTFT, row)
	}
	c := h.Columns()
	for i := range c.Runs {
		c.Runs[i].Commits = map[string]string{"vllm": fmt.Sprintf("%07d", i)}
	}
	return c
}

func reportOf(t *testing.T, c *columns.Columns, mode render.Mode) *render.Report {
	t.Helper()
	g, err := gate.New(context.Background(), c, judge.Releases(c, nil), &decision.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	return render.New(render.Input{Gate: g, Mode: mode})
}

// The page of changes says which of the regressions that nobody explained are still there: the card counts these alone.
func TestOpenChangesThatAreGone(t *testing.T) {
	t.Parallel()
	for releases, want := range map[int]string{14: "1 still there in v13.", 20: "0 still there in v19."} {
		p := reportOf(t, slowed(releases), render.ModeRelease).ChangesPage()
		if !strings.HasSuffix(p.Lead.Text, want) || !strings.HasPrefix(p.Lead.Word, "1 open") {
			t.Errorf("%d releases: %s %s", releases, p.Lead.Word, p.Lead.Text)
		}
		cells := p.Sections[0].Blocks[0].(*render.Table).Rows[0].Cells
		if state := cells[len(cells)-1].Sub; strings.Contains(state, "not seen in v19") != (releases == 20) {
			t.Errorf("%d releases: %s", releases, state)
		}
	}
}

// The front page of builds says since when it is slower, and by which commits.
func TestNightlySaysSinceWhen(t *testing.T) {
	t.Parallel()
	p := reportOf(t, slowed(12), render.ModeNightly).Landing()
	want := "Between v9 and v10: vllm 0000009..0000010."
	if p.Lead.Word != "Slower since v10" || !slices.Contains(p.Lead.Paras, want) {
		t.Errorf("%s: %s %q", p.Lead.Word, p.Lead.Text, p.Lead.Paras)
	}
}
