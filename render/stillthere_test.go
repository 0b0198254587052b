package render_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// The page of changes says which of the regressions that nobody explained are still there: the card counts these alone.
func TestOpenChangesThatAreGone(t *testing.T) {
	t.Parallel()
	for releases, want := range map[int]string{
		14: "1 still there in v13.", // slower from v10 on
		20: "0 still there in v19.", // as before from v16 on
	} {
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
		g, err := gate.New(context.Background(), c, judge.Releases(c, nil), &decision.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		p := render.New(render.Input{Gate: g}).ChangesPage()
		if !strings.HasSuffix(p.Lead.Text, want) || !strings.HasPrefix(p.Lead.Word, "1 open") {
			t.Errorf("%d releases: %s %s", releases, p.Lead.Word, p.Lead.Text)
		}
		cells := p.Sections[0].Blocks[0].(*render.Table).Rows[0].Cells
		if state := cells[len(cells)-1].Sub; strings.Contains(state, "not seen in v19") != (releases == 20) {
			t.Errorf("%d releases: %s", releases, state)
		}
	}
}
