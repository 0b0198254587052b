package words_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// What changed in the measurement is said first, what changed in the build last. q stands only with the change that it
// is of, and with what it means; noise says whose deviation it is.
func TestWhatElseDiffersIsSaid(t *testing.T) {
	v := schema.Verdict{
		Metric: "ttft", Outcome: schema.Regressed, Evidence: schema.Suspected, Value: schema.Num(110),
		Ref: schema.Num(100), Effect: schema.Num(.1), Q: schema.Num(.003),
	}
	say := func(c schema.Change) string {
		c.Releases, c.Noise, c.Limit = 4, .01, .05
		v.Reason = c
		return words.Why(v)
	}
	out := say(schema.Change{Why: schema.WhyGate, Differs: "num_prompts 100 → 400", Build: "image x:1 → x:2"})
	if !strings.HasPrefix(out, "With num_prompts 100 → 400: TTFT is 10.0") || !strings.HasSuffix(out, "image x:1 → x:2.") {
		t.Errorf("%s", out)
	}
	for _, want := range []string{"noise is 1\u202f% (one standard deviation)", "q = 0.003 (share of such findings",
		"one run shows it, and another one must confirm it"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing: %s", want, out)
		}
	}
	if out := say(schema.Change{Why: schema.WhyRecheck, First: 111}); strings.Contains(out, "q =") {
		t.Errorf("q of another run: %s", out)
	}
	out = say(schema.Change{Why: schema.WhyGate, SameBuild: "digest 0123456789ab"})
	if !strings.Contains(out, "not the release") {
		t.Errorf("%s", out)
	}
	v.Follow = schema.Follow{Release: "v9", Again: true}
	if out := say(schema.Change{Why: schema.WhyGate}); strings.Contains(out, "one run shows it") {
		t.Errorf("the next release contradicts it: %s", out)
	}
	v.First = "v3"
	if out := say(schema.Change{Why: schema.WhyOneMoreRun}); !strings.Contains(out, "suspected since v3") {
		t.Errorf("%s", out)
	}
}
