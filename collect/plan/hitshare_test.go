package plan

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/plan/spec"
	"github.com/ttreport/ttreport/collect/traffic"
)

// planned makes the plan of one workload.
func planned(t *testing.T, text string) (Plan, error) {
	t.Helper()
	w, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{System: System{Model: "acme/m", Device: "d"},
		Measure: Measure{Workloads: []Workload{w}, Only: OnlyBenchmarks, Seed: 1}}
	p, _, err := Make(o, spec.Model{}, stated(TargetPlan{}))
	return p, err
}

// A share of hits that the requests cannot have is refused, with what they would have and how many would do.
func TestHitShareOutOfReach(t *testing.T) {
	for text, want := range map[string]string{
		"isl=500,osl=1,c=1,n=8,hit=60%,prefixes=8":                "about 26.6% in 8 requests n=",
		"isl=500,osl=1,c=1,hit=60%,prefixes=2000":                 "in 8 requests n=",
		"isl=500,osl=1,c=1,n=32,hit=90%,prefixes=16":              "in 32 requests n=",
		"isl=500,osl=1,c=1,n=64,hit=60%,prefixes=100":             "in 64 requests n=",
		"isl=500,osl=1,c=1,n=8,hit=90%":                           "in 8 requests n=",
		"isl=500,osl=1,c=1,n=1,hit=3%":                            "would find about 0.0% in 1 requests n=",
		"isl=lognormal(1000,2),osl=1,c=1,n=64,hit=90%":            "in 64 requests",
		"isl=lognormal(1000,2),osl=1,c=1,n=64,prefix=700,hit=60%": "in 64 requests fewer prefixes",
		"isl=500,osl=8,hit=60%,prefixes=8,slo=ttft_mean<1s":       "in 12 requests fewer prefixes",
	} {
		_, err := planned(t, text)
		var refused UsageError
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := refused.Error() + " " + refused.Fix; !strings.Contains(got, want) || !strings.Contains(got, "hit=") {
			t.Errorf("%s: %s", text, got)
		}
	}
	for _, text := range []string{"isl=500,osl=1,c=1,n=8,hit=60%", "isl=500,osl=1,c=1,n=8,hit=5%",
		"isl=500,osl=1,c=1,n=500,hit=60%,prefixes=8", "isl=500,osl=8,hit=60%,slo=ttft_mean<1s"} {
		if _, err := planned(t, text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Where no number of requests is stated, there are as many as the share needs.
func TestRequestsOfHitShare(t *testing.T) {
	for _, text := range []string{"isl=500,osl=1,c=1,hit=90%", "isl=500,osl=1,c=2,hit=60%,prefixes=8",
		"isl=lognormal(500,0.4),osl=1,c=1,hit=80%,prefixes=3"} {
		p, err := planned(t, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		w := p.Workloads[0]
		list, err := w.Draw(1)
		if got := traffic.HitShare(list); err != nil || w.Requests <= 8 || math.Abs(got-w.Hit) > .02 {
			t.Errorf("%s: %g in %d requests, %v", text, got, w.Requests, err)
		}
	}
}
