package words_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// A headline names the one finding that decides, with its numbers, and counts the rest; it is no inventory.
func TestHeadline(t *testing.T) {
	c := 8.
	key := schema.Key{Task: "text", Tool: "vllm", ISL: &c, OSL: &c, Concurrency: &c}
	regressed := func(metric string, effect float64, e schema.Evidence) schema.Verdict {
		return schema.Verdict{
			Model: "M", Device: "D", Key: key, Metric: metric, Stat: "mean", Against: schema.AgainstHistory,
			Outcome: schema.Regressed, Evidence: e, Value: schema.Num(1), Ref: schema.Num(1), Effect: schema.Num(effect),
			Reason: schema.Change{Why: schema.WhyGate},
		}
	}
	missed := schema.Verdict{
		Model: "M", Device: "D", Key: key, Metric: "ttft", Stat: "mean", Against: schema.AgainstTarget, Level: "complete",
		Required: true, Outcome: schema.Fail, Value: schema.Num(91.4), Ref: schema.Num(80), Reason: schema.Limit{},
	}
	score := missed
	score.Key, score.Metric, score.Stat, score.Level = schema.EvalKey(&schema.Score{Task: "ifeval"}), "acc", "",
		"reference"
	score.Value, score.Ref = schema.Num(.741), schema.Num(.814)
	sameBuild := regressed("ttft", .3, schema.Confirmed)
	sameBuild.Reason = schema.Change{Why: schema.WhyRecheck, SameBuild: "digest 0123456789ab"}
	unchanged := regressed("ttft", .001, schema.NoEvidence)
	unchanged.Outcome = schema.Unchanged
	for want, f := range map[string]gate.Findings{
		"TTFT mean of M on D regressed (confirmed): +12.0 % at 8/8/8.": {
			History: []schema.Verdict{regressed("tpot", .07, schema.Confirmed), regressed("ttft", .12, schema.Confirmed)},
			Targets: []schema.Verdict{missed},
		},
		"TTFT mean of M on D at 8/8/8 is 91.4 ms, the required complete target is 80.0 ms; " +
			"1 more required target is missed.": {
			Targets: []schema.Verdict{missed, missed}, History: []schema.Verdict{regressed("ttft", .3, schema.Suspected)},
		},
		"ifeval of M on D is 0.741, the required reference is 0.814.": {Targets: []schema.Verdict{score}},
		"TTFT mean of M on D regressed (suspected: not confirmed yet): +30.0 % at 8/8/8.": {
			History: []schema.Verdict{regressed("ttft", .3, schema.Suspected), unchanged},
		},
		"Nothing is shown to have regressed: 1 of 1 number unchanged.": {History: []schema.Verdict{unchanged}},
		"1 regression is on the same build: the machine, not the release; of the rest nothing is shown to have " +
			"regressed: 1 of 2 numbers unchanged.": {History: []schema.Verdict{sameBuild, unchanged}},
		"Nothing can be compared with an earlier release.": {
			Targets: []schema.Verdict{func() schema.Verdict { v := missed; v.Outcome = schema.Pass; return v }()},
		},
	} {
		g := gate.Review{Findings: f, Result: gate.Decide(f, gate.DefaultFailOn(schema.ChannelRelease))}
		got := strings.ReplaceAll(words.Headline(&g), words.Thin, " ")
		if got != want && !(strings.HasPrefix(want, "Nothing can") && strings.HasPrefix(got, "Nothing can be compared")) {
			t.Errorf("%s: %q, want %q", g.Result.Word, got, want)
		}
	}
	bad := lint.New("v1", "x", lint.UnusedDecision{What: "D-1: it expired"})
	bad.Severity = schema.SevError
	f := gate.Findings{Lints: []lint.Lint{bad, bad}, History: []schema.Verdict{unchanged}}
	g := gate.Review{Findings: f, Result: gate.Decide(f, gate.DefaultFailOn(schema.ChannelRelease))}
	if got := words.Headline(&g); !strings.Contains(got, "D-1") || g.Result.Word != gate.Fail {
		t.Errorf("%s: %q", g.Result.Word, got)
	}
}

// A headline has room for the end of a long name, which tells one test function from another.
func TestShort(t *testing.T) {
	for name, want := range map[string]string{
		"128/128/8": "128/128/8",
		"1024/1024/32 prefix_tokens 512, hit 9, Output tok/s":                   "1024/1024/32 …512, hit 9, Output tok/s",
		"131072/1024/32 images_per_request 8, image_resolution 1024x1024":       "131072/1024/32 …image_resolution 1024x1024",
		"tests/benchmarks/test_serving.py::test_decode_throughput[llama-8b-32]": "…test_decode_throughput[llama-8b-32]",
		"1000000 req/s, sharegpt, max_model_len 4096, x":                        "…req/s, sharegpt, max_model_len 4096, x",
		strings.Repeat("é", 50):                                                 strings.Repeat("é", 39),
	} {
		got := words.Short(name, 45)
		if len([]rune(name)) == 50 {
			got = words.Short(name, 40)
			want = "…" + want
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// What a workload lost is named with its statistic: it may well have the others.
func TestMissingStatisticIsNamed(t *testing.T) {
	lost := schema.Verdict{Metric: "ttft", Stat: "p99", Baseline: "v1", Against: schema.AgainstHistory,
		Outcome: schema.NotMeasured, Reason: schema.NotRemeasured{Releases: 1}}
	for def, want := range map[string]string{
		"":            "v1 has TTFT P99 of it, and this release does not.",
		"first-chunk": "v1 has TTFT P99 of it (first-chunk), and this release does not.",
	} {
		lost.Def = def
		if got := words.Why(lost); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// "Missing" is what was asked for and has no number; what an earlier release has and nobody asked for has its own word.
func TestMissingIsNotNotMeasuredAgain(t *testing.T) {
	gone := schema.Verdict{Model: "M", Device: "d", Key: schema.Key{Task: "text", Tool: "vllm"}, Baseline: "v1",
		Against: schema.AgainstHistory, Outcome: schema.NotMeasured, Reason: schema.NotRemeasured{Releases: 1}}
	absent, metric, planned := gone, gone, gone
	absent.Reason = schema.NotRemeasured{Releases: 3}
	metric.Metric, metric.Stat = "ttft", "mean"
	planned.Against, planned.Reason = schema.AgainstTarget, schema.Planned{}
	for want, list := range map[string][]schema.Verdict{
		"not measured again": {gone, absent}, "missing": {metric, planned},
	} {
		for i := range list {
			if got := words.Verdict(&list[i]); got != want {
				t.Errorf("%+v: %q, want %q", list[i].Reason, got, want)
			}
		}
	}
	f := gate.Findings{Targets: []schema.Verdict{planned}, History: []schema.Verdict{gone}}
	g := gate.Review{Findings: f, Result: gate.Decide(f, gate.DefaultFailOn(schema.ChannelRelease))}
	if got := words.Headline(&g); !strings.HasSuffix(got, "of M on d is missing: planned, and no result was found.") {
		t.Errorf("%q", got)
	}
}

// A night in which everything failed for one reason is one sentence.
func TestAllMissingForOneReason(t *testing.T) {
	var f gate.Findings
	for _, model := range []string{"M", "N", "N"} {
		f.History = append(f.History, schema.Verdict{Model: model, Device: "d", Key: schema.Key{Task: "text", Tool: "vllm"},
			Against: schema.AgainstHistory, Outcome: schema.NotMeasured, Reason: schema.NoNumber{Why: "no request completed"}})
	}
	g := gate.Review{Findings: f, Result: gate.Decide(f, gate.DefaultFailOn(schema.ChannelRelease))}
	const want = "3 numbers of M on d and 1 more pair are missing: measured without a number: no request completed."
	if got := words.Headline(&g); !strings.HasSuffix(got, want) {
		t.Errorf("%q", got)
	}
}
