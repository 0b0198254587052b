package render

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// The page of evals begins with what its reader asks: which scores are within the tolerance of their reference. Scores
// without an earlier one are a count.
func TestEvalsBeginWithReferences(t *testing.T) {
	t.Parallel()
	of := func(n int, o schema.Outcome) (out []schema.Verdict) {
		for range n {
			out = append(out, schema.Verdict{Outcome: o})
		}
		return out
	}
	for _, c := range []struct {
		history, targets []schema.Verdict
		want             string
		tone             words.Tone
	}{
		{of(8, schema.NoBaseline), append(of(3, schema.Fail), of(5, schema.Inconclusive)...),
			"0 of 8 references met, 3 missed, 5 inconclusive; 8 scores without an earlier one to compare with.",
			words.ToneWarning},
		{of(1, schema.Inconclusive), nil, "1 score against history: 1 inconclusive; there is no reference.", ""},
		{nil, of(2, schema.Pass), "2 of 2 references met.", words.ToneGood},
	} {
		if l := evalLead(c.history, c.targets); l.Text != c.want || l.Tone != c.tone {
			t.Errorf("%s (%s)\nwant %s (%s)", l.Text, l.Tone, c.want, c.tone)
		}
	}
	r := emptyReport()
	if s := r.scoreHistory(of(8, schema.NoBaseline)); len(s.Blocks) > 0 {
		t.Errorf("scores without an earlier one are listed: %+v", s)
	}
	targets := []schema.Verdict{{Outcome: schema.Fail, Key: schema.Key{Task: schema.EvalKey(&schema.Score{}).Task},
		Ref: schema.Num(.8), Value: schema.Num(.7), Effect: schema.Num(.1), Interval: &[2]float64{.0003, .2},
		Reason: schema.EvalLimit{Tolerance: .05, Chance: true}, Required: true, Level: schema.LevelReference}}
	row := r.targetGrid(targets, false).Rows[0].Cells
	if row[0].Sub != "may be chance" {
		t.Errorf("a score whose interval reaches the limit fails with %q", row[0].Sub)
	}
	for i, want := range map[int]string{
		3: "0.700", 4: "0.760 reference 0.800 −4.0 pp", 5: "−6.0 pp", 6: "0.600 to 0.800",
	} {
		if got := strings.TrimSpace(strings.ReplaceAll(row[i].Text+" "+row[i].Sub, words.Thin, " ")); got != want {
			t.Errorf("column %d of a missed reference: %q, want %q", i, got, want)
		}
	}
}
