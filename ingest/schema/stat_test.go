package schema_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

func TestParseStat(t *testing.T) {
	for text, want := range map[string]string{
		"avg": "mean", "Average": "mean", "mean": "mean", "p50": "median", "P50": "median", "stddev": "std",
		"p99": "p99", "p99.9": "p99.9", "p99p9": "p99.9", "p5": "p5", "maximum": "max", "p100": "max", "value": "value",
		"": "", "p": "", "pp": "", "p101": "", "p-1": "", "p1e1": "", "p.5": "", "n": "", "se": "", "prefix": "",
	} {
		name, ok := schema.ParseStat(text)
		if name != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", text, name, ok, want)
		}
		if ok && !schema.IsStat(name) {
			t.Errorf("%q: its name %q is no statistic", text, name)
		}
	}
}

// A percentile beyond the 95th of fewer than 100 requests is no number, however sharp it is.
func TestTailHolds(t *testing.T) {
	for _, tt := range []struct {
		stat string
		n    float64
		want bool
	}{
		{"p99", 99, false}, {"p99", 100, true}, {"p99.9", 99, false}, {"p96", 20, false}, {"p95", 20, true},
		{"median", 1, true}, {"mean", 1, true}, {"max", 1, true}, {"value", 0, true},
	} {
		if got := schema.TailHolds(tt.stat, tt.n); got != tt.want {
			t.Errorf("%s of %g requests: %v", tt.stat, tt.n, got)
		}
	}
}
