package decision_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/targets/decision"
)

func TestPercent(t *testing.T) {
	for text, want := range map[string]float64{"5%": .05, " 5 % ": .05, "0.05": .05, "900%": 9} {
		var p decision.Percent
		if err := p.UnmarshalText([]byte(text)); err != nil || float64(p) < want-1e-12 || float64(p) > want+1e-12 {
			t.Errorf("%q: %v %v", text, p, err)
		}
	}
	for _, text := range []string{"", "0", "-1%", "much", "1000%", "NaN", "5", "2x", "5%%", "0.05 of it"} {
		var p decision.Percent
		if err := p.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %v", text, p)
		}
	}
}

func TestNewPolicy(t *testing.T) {
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	th := decision.Thresholds{Effects: map[string]decision.Percent{"ttft": .1}, EvalPoints: 2}
	p, err := decision.NewPolicy(th, []decision.Decision{{ID: "a"}}, now)
	if err != nil || p.Effect("ttft") != .1 || p.Effect("tpot") != decision.DefaultEffect || p.EvalEffect() != .02 ||
		len(p.Decisions) != 1 || !p.Today.Equal(now) {
		t.Errorf("%+v %v", p, err)
	}
	for want, th := range map[string]decision.Thresholds{
		`no metric is called "ttfft"`:              {Effects: map[string]decision.Percent{"ttfft": .1}},
		"-1 is not a number of percentage points":  {EvalPoints: -1},
		"100 is not a number of percentage points": {EvalPoints: 100},
	} {
		if _, err := decision.NewPolicy(th, nil, now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
