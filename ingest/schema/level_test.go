package schema_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

func TestParseLevel(t *testing.T) {
	for text, want := range map[string]schema.Level{
		"tps_user=35": {Metric: "tps_user", Value: 35}, "ttft<200": {Metric: "ttft", Stat: "mean", Value: 200},
		"ttft.p90<0.5": {Metric: "ttft", Stat: "p90", Value: .5}, "tps_user<35": {}, "ttft=200": {}, "ttft.px<2": {},
		"tok_s_user=35": {Metric: "tps_user", Value: 35}, "ttft_p90<200ms": {Metric: "ttft", Stat: "p90", Value: 200},
		"tps_user=35ms": {}, "tps_user=0": {}, "tps_user=1.2.3": {}, "": {}, "usd=1": {},
	} {
		if got, ok := schema.ParseLevel(text); got != want && ok || ok != (want != schema.Level{}) {
			t.Errorf("%q: %+v %t", text, got, ok)
		}
	}
}
