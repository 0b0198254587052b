package collect_test

import (
	"math"
	"strings"
	"testing"
	"time"
)

// The throughput of a steady window is that of a long measurement, however soon the window had to end: where no
// request was answered before that, behind a few waves, in streams of equal and of different lengths, and where more
// arrives than the server answers.
func TestThroughputOfShortWindows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		workload, rule string
		budget         time.Duration
		within         float64 // share of the throughput of a long measurement
	}{
		{"isl=64,osl=500,c=8,n=160", "ci=2%,most=2s", 0, .02}, // E2EL is 2.2 s
		{"isl=64,osl=500,c=8,n=160", "ci=0.1%,most=8s", 0, .02},
		{"isl=64,osl=500,c=8,n=160", "ci=0.1%", 10 * time.Second, .02},
		{"isl=64,osl=uniform(8,64),c=8,n=800", "ci=2%,most=1ms", 0, .2}, // eight requests
		{"isl=64,osl=uniform(8,64),c=8,n=800", "ci=10%", 0, .04},
		{"isl=64,osl=128,rate=70,n=2000", "ci=2%,most=100s", 0, .03}, // the server answers 60 a second
		{"isl=64,osl=128,rate=300,n=2000", "ci=2%,most=10s", 0, .03},
	} {
		busy := c.workload
		if load, _, open := strings.Cut(busy, ",rate="); open { // which is stopped, with its start and end in the mean
			busy = load + ",c=256,n=1500"
		}
		_, long, _ := measuredUntil(t, "", 0, busy)
		_, short, _ := measuredUntil(t, c.rule, c.budget, c.workload)
		if got, want := short[0].OutputTPS, long[0].OutputTPS; math.Abs(got-want) > c.within*want {
			t.Errorf("%s, %s, budget %s: %.0f tokens a second, in the long run %.0f", c.workload, c.rule, c.budget, got, want)
		}
	}
}
