package words_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// More questions are asked for only where the task has them.
func TestQuestionsThatWouldSettleIt(t *testing.T) {
	v := schema.Verdict{
		Outcome: schema.Inconclusive, Value: schema.Num(.2), Ref: schema.Num(.21), Effect: schema.Num(.01),
		Interval: &[2]float64{-.06, .08}, Key: schema.EvalKey(&schema.Score{Task: "t"}),
	}
	for of, want := range map[int]string{
		0: "about 900 questions would settle it", 541: "all 541 questions would not settle it",
		1000: "about 900 questions would settle it",
	} {
		v.Reason = schema.EvalLimit{Task: "t", N: 108, Of: of, Needed: 900, Chance: true}
		if got := words.Why(v); !strings.Contains(got, want) {
			t.Errorf("of %d: %s, want %q", of, got, want)
		}
	}
}
