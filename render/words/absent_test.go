package words

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// A number of questions that no file states is not 0.
func TestUnstatedQuestionsAreNotZero(t *testing.T) {
	for _, d := range []lint.Detail{
		lint.ZeroScore{Task: "t"}, lint.Subsampled{Task: "t"}, lint.ZeroStderr{Task: "t"},
	} {
		if s := Lint(lint.Lint{Detail: d}); strings.Contains(s, " 0 question") || strings.Contains(s, "first 0") {
			t.Error(s)
		}
	}
	v := schema.Verdict{Metric: schema.MetricPassed, Value: schema.Num(.5), Reason: schema.EvalLimit{Task: "t"}}
	if s := Why(v); strings.Contains(s, "0 case") || strings.Contains(s, " 0 of") {
		t.Error(s)
	}
	if s := Lint(lint.Lint{Detail: lint.ZeroScore{Task: "t", N: 1319}}); !strings.Contains(s, "0 of 1,319 questions") {
		t.Error(s)
	}
}
