package words_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// A release that passes over a regression of an earlier one says so in its headline: where, how much, since when. The
// worst number of a device with several models is named as what it is, and not as one of the whole device.
func TestHeadlineNamesWhatIsOpen(t *testing.T) {
	one := lint.New("v0.47.0", "2048/128/8", lint.OpenRegression{
		Before: "v0.45.0", Confirmed: "v0.45.0", Worst: []lint.OpenNumber{{
			Pair:     schema.Pair{Model: "llama-8b", Device: "n150"},
			Workload: "2048/128/8", Metric: "ttft", Stat: "mean", Change: .12, Points: 3,
		}},
	})
	one.Model, one.Device = "llama-8b", "n150"
	all := lint.New("v0.47.0", "t3k", lint.OpenRegression{
		Before: "v0.44.0", Confirmed: "v0.45.0", Worst: []lint.OpenNumber{
			{Pair: schema.Pair{Model: "qwen", Device: "t3k"}, Workload: "1024/128/32", Metric: "output_tps", Stat: "value",
				Change: .08, Points: 38},
			{Pair: schema.Pair{Model: "phi", Device: "t3k"}, Metric: "ttft", Stat: "mean", Change: .07, Points: 2},
		},
	})
	all.Device = "t3k"
	r := gate.Review{Result: gate.Result{Word: gate.PassWithWarnings}}
	r.Lints = []lint.Lint{one, all}
	got := strings.ReplaceAll(words.Headline(&r), words.Thin, " ")
	want := "TTFT mean of llama-8b on n150 at 2048/128/8 is still +12.0 % since v0.45.0; 2 more like it."
	if !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	one.Detail.(lint.OpenRegression).Worst[0].Largest = "v0.46.0"
	got = strings.ReplaceAll(words.Headline(&r), words.Thin, " ")
	if want := "is still +12.0 % since v0.45.0, most of it since v0.46.0; 2 more like it."; !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	one.Detail.(lint.OpenRegression).Worst[0].Largest = ""
	r.Findings.History = []schema.Verdict{{Against: schema.AgainstHistory, Outcome: schema.Unchanged, Metric: "ttft",
		Value: schema.Num(1)}}
	got = strings.ReplaceAll(words.Headline(&r), words.Thin, " ")
	if want = strings.TrimSuffix(want, ".") + "; nothing else is shown to have regressed."; got != want {
		t.Errorf("with numbers that were compared: %s\nwant %s", got, want)
	}
	got = strings.ReplaceAll(words.Lint(all), words.Thin, " ")
	want = "Output tok/s of qwen on t3k at 1024/128/32 is still −8.0 % against the level before v0.44.0, confirmed in " +
		"v0.45.0 and not accepted; 39 more points of 2 models on t3k with it."
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
