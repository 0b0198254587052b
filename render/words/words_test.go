package words_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets"
)

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1.00", 2753: "2,753", 91.4: "91.4", 0.82: "0.820", 0.0123456: "0.0123", 1234567: "1,234,567", -3.14159: "−3.14", 99.96: "100", 9.999: "10.0", 0.000001: "1.00e−06", 12345.6: "12,346"} {
		if got := words.Number(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{.141: "+14.1", -.02: "−2.0", 0: "±0.0", .0004: "±0.0"} {
		if got := words.Change(v); got != want+words.Thin+"%" {
			t.Errorf("%v is written %q", v, got)
		}
	}
	if words.Signed("output_tps", .1) != "−10.0"+words.Thin+"%" || words.Signed("ttft", .1) != "+10.0"+words.Thin+"%" {
		t.Error("a worse throughput is a smaller one")
	}
	if words.Plural(1, "eval") != "1 eval" || words.Plural(1200, "entry") != "1,200 entries" {
		t.Error("plural")
	}
}

func TestEveryReasonIsASentence(t *testing.T) {
	for _, code := range []string{"no-target", "not-measured", "no-number", "metric-not-measured", "above-ceiling", "single-run", "repeats", "no-lengths", "no-baseline", "planned", "no-system", "gate", "recheck", "again", "shift", "against-shift", "not-significant", "not-seen-again", "runs-disagree", "back-again",
		"equivalent", "wide", "not-worse", "not-better", "two-modes", "one-each", "another-witness", "base-suspect", "conditions", "no-base-line", "pinned", "void", "invalid-point", "not-positive", "paired", "eval-gate", "unpaired", "by-error",
		"no-error", "prompt", "eval-not-run", "eval-point", "eval-interval", "noise-own", "noise-typical"} {
		v := schema.Verdict{Metric: "ttft", Level: "complete", Word: schema.Fail, N: 1, Value: schema.Num(91.4), Ref: schema.Num(80), Effect: schema.Num(.1425), Reason: schema.Reason{Code: code, Args: map[string]string{"why": "x", "baseline": "v1", "tolerance": "5"}}}
		got := words.Why(v)
		if got == code || !strings.HasSuffix(got, ".") || strings.Contains(got, "%!") {
			t.Errorf("%s: %q", code, got)
		}
	}
	got := words.Why(schema.Verdict{Metric: "ttft", Level: "complete", Word: schema.Fail, N: 1, Value: schema.Num(91.4), Ref: schema.Num(80), Effect: schema.Num(.1425), Reason: schema.Reason{Code: "single-run", Args: map[string]string{"tolerance": "5"}}})
	if got != "TTFT 91.4"+words.Thin+"ms is 14.2"+words.Thin+"% above the complete limit of 80.0"+words.Thin+"ms (tolerance 5"+words.Thin+"%); single run, no interval." {
		t.Error(got)
	}
}

func TestDecisions(t *testing.T) {
	for name, c := range map[string]struct {
		d    targets.Decided
		word string
		says string
	}{
		"nothing":            {targets.Decided{Word: targets.NotGraded, Exit: 5}, "Not graded", "which is not a pass"},
		"no baseline":        {targets.Decided{Word: targets.NoBaseline, Graded: 2, Counts: []targets.Tally{{Kind: "met", N: 2, Cells: 2}}}, "No baseline", "2 required targets are met"},
		"worse twice":        {targets.Decided{Word: targets.NotFit, Exit: 1, Counts: []targets.Tally{{Kind: targets.FailConfirmed, N: 4, Cells: 11, Fails: true}}}, "Not fit to ship", "4 points are confirmed worse (11 metrics)"},
		"one of each":        {targets.Decided{Word: targets.NotFit, Exit: 1, Counts: []targets.Tally{{Kind: targets.FailTarget, N: 1, Cells: 1, Fails: true}, {Kind: "better", N: 1, Cells: 2}}}, "Not fit to ship", "1 required target fails; 1 point is better"},
		"nothing to mention": {targets.Decided{Word: targets.Fit, Graded: 9}, "Fit to ship", "nothing became worse"},
	} {
		if d := words.Decide(c.d); d.Word != c.word || !strings.HasSuffix(d.Detail, ".") || !strings.Contains(d.Detail, c.says) {
			t.Errorf("%s: %+v, want %s: %s", name, d, c.word, c.says)
		}
	}
}
