package words_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
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
	for _, code := range []string{"no-target", "not-measured", "no-number", "metric-not-measured", "above-ceiling", "single-run", "repeats", "no-lengths", "no-baseline", "not-judged", "planned", "no-system"} {
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
	v := func(word string, required bool, code string) schema.Verdict {
		return schema.Verdict{Against: schema.AgainstTarget, Word: word, Required: required, Reason: schema.Reason{Code: code}}
	}
	for name, c := range map[string]struct {
		list []schema.Verdict
		word string
	}{
		"nothing":                             {nil, "Not graded"},
		"only ungraded":                       {[]schema.Verdict{v(schema.Ungraded, false, "")}, "Not graded"},
		"impossible grades nothing":           {[]schema.Verdict{v(schema.Impossible, true, "")}, "Not graded"},
		"met":                                 {[]schema.Verdict{v(schema.Pass, true, "")}, "Fit with notes"},
		"required missed":                     {[]schema.Verdict{v(schema.Pass, true, ""), v(schema.Fail, true, "")}, "Not fit to ship"},
		"missed for information":              {[]schema.Verdict{v(schema.Pass, true, ""), v(schema.Fail, false, "")}, "Fit with notes"},
		"required not measured":               {[]schema.Verdict{v(schema.Pass, true, ""), v(schema.MissingWord, true, "")}, "Not fit to ship"},
		"planned and not measured is no pass": {[]schema.Verdict{v(schema.MissingWord, false, "planned")}, "Not graded"},
	} {
		if d := words.Decide(c.list); d.Word != c.word || !strings.HasSuffix(d.Detail, ".") {
			t.Errorf("%s: %+v, want %s", name, d, c.word)
		}
	}
}
