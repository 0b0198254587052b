package judge_test

import (
	"testing"

	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// A target is proposed from what a release is judged by, which is all of its runs: one of them alone may miss it.
func TestProposalIsOfAllRuns(t *testing.T) {
	c := judgetest.History{TTFT: [][]float64{{100, 100}}, Again: [][]float64{{121, 100}}}.Columns()
	p := judged(t, c, &decision.Policy{}).Propose(0, "", "", "complete", "2026-01-02", .05)
	if len(p.File.Targets) != 2 {
		t.Fatalf("%+v", p)
	}
	if one, other := p.File.Targets[0].Value/p.File.Targets[1].Value, 1.1; one < other-.01 || one > other+.01 {
		t.Errorf("%v times the other where the runs say %v", one, other)
	}
}
