package words_test

import (
	"slices"
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
	v.First = "v8"
	both := &schema.Together{Runs: 2, Effect: .08, Interval: [2]float64{.05, .11}}
	out = say(schema.Change{Why: schema.WhyAgain, Together: both})
	together := "first seen in v8, and again here; 2 runs together +8.0\u202f% (95\u202f% interval +5.0"
	if !strings.Contains(out, together) {
		t.Errorf("%s", out)
	}
	v.First, v.Follow = "", schema.Follow{Release: "v9", Again: true}
	if out := say(schema.Change{Why: schema.WhyGate}); strings.Contains(out, "one run shows it") {
		t.Errorf("the next release contradicts it: %s", out)
	}
	v.First = "v3"
	if out := say(schema.Change{Why: schema.WhyOneMoreRun}); !strings.Contains(out, "suspected since v3") {
		t.Errorf("%s", out)
	}
}

// Beside columns that show the change, a row says what it alone knows: on a page it is one or two lines high.
func TestBesideColumns(t *testing.T) {
	v := schema.Verdict{
		Metric: "ttft", Outcome: schema.Regressed, Evidence: schema.Confirmed, Value: schema.Num(110),
		Ref: schema.Num(100), Effect: schema.Num(.2),
	}
	change := schema.Change{Why: schema.WhyRecheck, First: 120, Releases: 4, Noise: .02, Limit: .05}
	change.Build = "version v8 → v9"
	turns, same := change, change
	turns.Why, turns.Turns = schema.WhyInTurns, &schema.Turns{Baseline: "v7", Blocks: 6, Effect: .2}
	same.Build, same.SameBuild = "", "digest 0123456789ab"
	eval := schema.EvalChange{Test: schema.TestPaired, N: 80, Lost: 9, Gained: 2}
	for _, c := range []struct {
		why        schema.Reason
		want, over string // what it says, and what the columns say
	}{
		{change, "4 releases, noise 2\u202f%; change of the first run; confirmed by a re-run (first run: ", "10.0"},
		{change, "(first run: 120\u202fms). Built with version v8 → v9.", "→ 110"},
		{turns, "In turns with v7, 6 blocks", "100 → 110"},
		{same, "Same build (digest 0123456789ab): the machine or its settings changed", "→"},
		{eval, "Of 80 the same questions 9 were lost and 2 gained", "→"},
	} {
		v.Reason = c.why
		beside, whole := words.WhyBeside(v), words.Why(v)
		if !strings.Contains(beside, c.want) || strings.Contains(beside, c.over) || !strings.Contains(whole, c.over) {
			t.Errorf("beside columns: %s\nalone: %s", beside, whole)
		}
	}
}

// Every reason that decides a change has a short form for a row, of at most two lines in a column of a page.
func TestEveryReasonFitsARow(t *testing.T) {
	const twoLines = 110
	v := schema.Verdict{
		Model: "llama-3.1-8b", Device: "n150", Metric: "ttft", Outcome: schema.Regressed,
		Value: schema.Num(110), Ref: schema.Num(100), Effect: schema.Num(.2), Q: schema.Num(.003),
		Interval: &[2]float64{.1, .3}, First: "v0.12.0", Follow: schema.Follow{Release: "v0.13.0", Again: true},
	}
	alone := []schema.Why{schema.WhyNoBaseline, schema.WhyNoBaselineLine, schema.WhyPinned, schema.WhyConditions}
	for _, reason := range reasons() {
		r, change := reason.(schema.Change)
		if !change || slices.Contains(alone, r.Why) {
			continue
		}
		r.Releases, r.Noise, r.Limit, r.First, r.Repeats, r.Host = 12, .021, .05, 1234, 12, "rack-7"
		r.Part = &schema.PartOf{Model: v.Model, Device: v.Device, Numbers: 48, Effect: .12}
		if r.Why != schema.WhyInTurns && r.Why != schema.WhyTurnsOpen {
			r.Turns = nil
		}
		v.Reason = r
		out := words.WhyBeside(v)
		if n := len([]rune(out)); n > twoLines {
			t.Errorf("%s: %d characters: %s", r.Why, n, out)
		}
		if out == "" || strings.Contains(out, "; .") || strings.Contains(out, "..") {
			t.Errorf("%s: %q", r.Why, out)
		}
	}
}
