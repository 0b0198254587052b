package judge_test

import (
	"context"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// ending is a context that ends when it has been asked so often.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// A judgement that is interrupted is an error or whole: evals that are missing would let a release pass.
func TestInterruptedJudgementIsNone(t *testing.T) {
	h := judgetest.History{}
	for _, share := range []float64{.8, .8, .8, .8, .8, .8, .1, .1} {
		h.Scores = append(h.Scores, []schema.Score{judgetest.Share(share, 500)})
		h.TTFT = append(h.TTFT, nil)
	}
	c := h.Columns()
	releases := judge.Releases(c, nil)
	want, err := judge.New(t.Context(), c, releases, nil)
	if err != nil {
		t.Fatal(err)
	}
	for asked := range 60 {
		j, err := judge.New(&ending{t.Context(), asked}, c, releases, nil)
		if err == nil && len(j.History(7)) != len(want.History(7)) {
			t.Errorf("asked %d times: %d verdicts, want %d or an error", asked, len(j.History(7)), len(want.History(7)))
		}
	}
}
