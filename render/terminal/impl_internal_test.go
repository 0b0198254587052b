package terminal

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

// A finding names its implementation where another one of its model and device has nothing to find.
func TestFindingsNameTheirImplementation(t *testing.T) {
	of := []schema.Verdict{
		{Model: "m", Device: "x", Impl: "vllm", Metric: "ttft", Outcome: schema.Regressed},
		{Model: "m", Device: "x", Impl: "sglang", Metric: "ttft", Outcome: schema.Unchanged},
	}
	var b strings.Builder
	verdicts(&b, "AGAINST HISTORY", of[:1], of, false)
	if !strings.Contains(b.String(), "m on x, vllm") {
		t.Error(b.String())
	}
}
