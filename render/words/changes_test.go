package words_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// changeOf is a confirmed regression since v7 of one number for each model, device and metric, all of those measured.
func changeOf(models, devices, metrics []string, effect float64) judge.Change {
	c := judge.Change{
		ID: "c1", Worse: effect > 0, Evidence: schema.Confirmed, Since: "v7", Found: "v8", State: judge.StateOpen,
		Effect: effect, Interval: [2]float64{effect - .01, effect + .02}, Limit: .05,
		Scope: judge.Scope{Models: models, Devices: devices, Metrics: metrics, Points: 1},
	}
	for _, model := range models {
		for _, device := range devices {
			c.Scope.Pairs++
			for _, m := range metrics {
				s := &judge.Series{Model: model, Device: device, Metric: m, Stat: "mean"}
				s.Key = schema.Key{Task: "text", ISL: schema.Num(128).Ptr(), OSL: schema.Num(64).Ptr(),
					Concurrency: schema.Num(8).Ptr()}
				if metric, stat, tail := strings.Cut(m, " "); tail {
					s.Metric, s.Stat = metric, stat
				}
				if s.Metric == "output_tps" {
					s.Stat = "value"
				}
				c.Numbers = append(c.Numbers, s)
			}
		}
	}
	c.Scope.Of = len(c.Numbers)
	return c
}

var (
	oneModel, oneDevice = []string{"llama"}, []string{"n150"}
	latencies           = []string{"ttft", "tpot", "e2el"}
)

// A change is one sentence: of what, by how much, since when, in how many of the numbers there, and how sure.
func TestChangeText(t *testing.T) {
	of := func(set func(*judge.Change), c judge.Change) judge.Change { set(&c); return c }
	one := changeOf(oneModel, oneDevice, latencies[:1], .12)
	alone := of(func(c *judge.Change) { c.Scope.Of = 48 }, one)
	for _, x := range []struct {
		c    judge.Change
		want string
	}{
		{one, "TTFT mean of llama on n150 at 128/64/8 is +12.0 % since v7 (1 number), confirmed in v8."},
		{alone, "TTFT mean of llama on n150 at 128/64/8 is +12.0 % since v7 (1 of 48 numbers), confirmed in v8."},
		{
			of(func(c *judge.Change) { c.Numbers = append(c.Numbers, c.Numbers[0]); c.Scope.Of = 2 }, one),
			"TTFT of llama on n150 at 128/64/8 is +12.0 % since v7 (all 2 numbers), confirmed in v8.",
		},
		{
			changeOf(oneModel, oneDevice, latencies[:2], .12),
			"TTFT and TPOT of llama on n150 at 128/64/8 are 12.0 % slower since v7 (all 2 numbers), confirmed in v8.",
		},
		{
			changeOf(oneModel, oneDevice, []string{"ttft", "ttft p99"}, .12),
			"TTFT and TTFT p99 of llama on n150 at 128/64/8 are +12.0 % since v7 (all 2 numbers), confirmed in v8.",
		},
		{
			of(func(c *judge.Change) { c.Scope.Of = 48 }, changeOf(oneModel, oneDevice, latencies, .12)),
			"llama on n150 at 128/64/8 is 12.0 % slower since v7 (3 of 48 numbers), confirmed in v8.",
		},
		{
			changeOf([]string{"a", "b", "c"}, oneDevice, latencies, .12),
			"3 models on n150 are 12.0 % slower since v7 (all 9 numbers), confirmed in v8.",
		},
		{
			changeOf([]string{"a", "b"}, oneDevice, latencies[:1], .12),
			"TTFT of 2 models on n150 is +12.0 % since v7 (all 2 numbers), confirmed in v8.",
		},
		{
			changeOf(oneModel, []string{"n150", "t3k"}, latencies, .12),
			"llama on 2 devices is 12.0 % slower since v7 (all 6 numbers), confirmed in v8.",
		},
		{
			changeOf([]string{"a", "b"}, []string{"n150", "t3k"}, latencies, .12),
			"4 pairs of model and device are 12.0 % slower since v7 (all 12 numbers), confirmed in v8.",
		},
		{
			changeOf(oneModel, oneDevice, []string{"output_tps"}, .12),
			"Output tok/s of llama on n150 at 128/64/8 is −12.0 % since v7 (1 number), confirmed in v8.",
		},
		{
			changeOf(oneModel, oneDevice, []string{"output_tps"}, -.12),
			"Output tok/s of llama on n150 at 128/64/8 is +12.0 % since v7 (1 number), confirmed in v8.",
		},
		{
			changeOf(oneModel, oneDevice, append([]string{"output_tps"}, latencies...), -.12),
			"llama on n150 at 128/64/8 is 12.0 % faster since v7 (all 4 numbers), confirmed in v8.",
		},
		{
			of(func(c *judge.Change) { c.Evidence, c.Found = schema.Suspected, "" }, one),
			"TTFT mean of llama on n150 at 128/64/8 is +12.0 % since v7 (1 number), suspected: another run must confirm it.",
		},
		{
			of(func(c *judge.Change) { c.Found, c.Rerun = c.Since, true }, one),
			"TTFT mean of llama on n150 at 128/64/8 is +12.0 % since v7 (1 number), confirmed by a re-run.",
		},
		{
			changeOf(oneModel, oneDevice, latencies[:1], .03),
			"TTFT mean of llama on n150 at 128/64/8 is +3.0 % since v7 (1 number), confirmed in v8, below the limit of 5 %.",
		},
		{
			of(func(c *judge.Change) { c.What.Differs = "num_prompts 100 → 400" }, one),
			"TTFT mean of llama on n150 at 128/64/8 is +12.0 % since v7 (1 number), confirmed in v8; measured with " +
				"num_prompts 100 → 400.",
		},
		{
			of(func(c *judge.Change) {
				c.State, c.Decision = judge.StateAccepted, &schema.Decision{ID: "accept-1"}
			}, one),
			"TTFT mean of llama on n150 at 128/64/8 is +12.0 % since v7 (1 number), confirmed in v8; accepted (accept-1).",
		},
		{
			of(func(c *judge.Change) {
				c.State, c.Decision = judge.StateAccepted, &schema.Decision{ID: "waive-1", Kind: schema.Waive}
			}, one),
			"TTFT mean of llama on n150 at 128/64/8 is +12.0 % since v7 (1 number), confirmed in v8; waived (waive-1).",
		},
		{
			of(func(c *judge.Change) { c.State, c.Ended = judge.StateFixed, "v11" }, one),
			"TTFT mean of llama on n150 at 128/64/8 is +12.0 % since v7 (1 number), confirmed in v8; returned in v11.",
		},
		{
			of(func(c *judge.Change) { c.State, c.Ended = judge.StateLost, "v11" },
				changeOf(oneModel, oneDevice, latencies[:1], -.12)),
			"TTFT mean of llama on n150 at 128/64/8 is −12.0 % since v7 (1 number), confirmed in v8; lost in v11.",
		},
		{
			of(func(c *judge.Change) { c.State, c.Back = judge.StateRecovered, "v3" },
				changeOf(oneModel, oneDevice, latencies[:1], -.12)),
			"TTFT mean of llama on n150 at 128/64/8 is −12.0 % since v7 (1 number), confirmed in v8; back at the level " +
				"before v3.",
		},
	} {
		if got := plain(words.ChangeText(&x.c)); got != x.want {
			t.Errorf("%s\nwant %s", got, x.want)
		}
	}
}

// plain has ordinary spaces.
func plain(s string) string { return strings.ReplaceAll(s, words.Thin, " ") }

// The interval of a change is written as its size is: of the number itself, or how much slower or faster, in order.
func TestChangeInterval(t *testing.T) {
	for _, x := range []struct {
		metrics []string
		effect  float64
		want    string
	}{
		{latencies[:1], .12, "+11.0 % to +14.0 %"},
		{[]string{"output_tps"}, .12, "−14.0 % to −11.0 %"},
		{latencies, .12, "11.0 % to 14.0 %"},
		{latencies, .005, "−0.5 % to 2.5 %"},
		{latencies, -.12, "10.0 % to 13.0 %"}, // faster
	} {
		c := changeOf(oneModel, oneDevice, x.metrics, x.effect)
		if got := plain(words.ChangeInterval(&c)); got != x.want {
			t.Errorf("%v %g: %s, want %s", x.metrics, x.effect, got, x.want)
		}
	}
}

// Where members place the beginning apart, each release is named with how many do.
func TestChangeVotes(t *testing.T) {
	c := changeOf(oneModel, oneDevice, latencies, .12)
	c.Votes = []judge.Vote{{Release: "v7", Numbers: 2}, {Release: "v6", Numbers: 1}}
	if got := words.ChangeVotes(&c); got != "v7 in 2 of 3, v6 in 1" {
		t.Error(got)
	}
}

// A release that passes over a regression of an earlier one says so in its headline: where, how much, since when, and
// how many more there are; what is accepted, fixed, below the limit or found by the release itself is no such thing.
func TestHeadlineNamesWhatIsOpen(t *testing.T) {
	earlier := func(c judge.Change) judge.Change { c.Earlier = true; return c }
	one := earlier(changeOf(oneModel, oneDevice, latencies[:1], .12))
	all := earlier(changeOf([]string{"qwen", "phi", "gemma"}, []string{"t3k"}, latencies, .08))
	accepted, fixed, small, faster, same := all, all, all, all, all
	accepted.State, fixed.State = judge.StateAccepted, judge.StateFixed
	small.Effect, faster.Worse, same.SameBuild = .01, false, true
	r := gate.Review{Result: gate.Result{Word: gate.PassWithWarnings}}
	r.Changes = []judge.Change{accepted, fixed, small, faster, same, one, all}
	got := plain(words.Headline(&r))
	want := "3 models on t3k are still 8.0 % slower since v7 (all 9 numbers); 1 more change is open."
	if !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	r.History = []schema.Verdict{{Against: schema.AgainstHistory, Outcome: schema.Unchanged, Metric: "ttft",
		Value: schema.Num(1)}}
	r.Result.Basis = gate.Basis{Compared: 1, Unchanged: 1}
	got = plain(words.Headline(&r))
	if want = strings.TrimSuffix(want, ".") + "; nothing else is shown to have regressed."; got != want {
		t.Errorf("with numbers that were compared: %s\nwant %s", got, want)
	}
	r.Changes = []judge.Change{accepted, fixed, small, faster, same}
	if got = words.Headline(&r); strings.Contains(got, "still") {
		t.Errorf("nothing is open: %s", got)
	}
}

// A release that fails for nothing but what is still there says first that nothing new did it.
func TestHeadlineOfOpenAlone(t *testing.T) {
	c := changeOf(oneModel, oneDevice, latencies, .12)
	c.Earlier = true
	f := gate.Findings{Changes: []judge.Change{c}, History: []schema.Verdict{{Against: schema.AgainstHistory,
		Model: "llama", Device: "n150", Outcome: schema.Unchanged, Metric: "ttft", Value: schema.Num(1)}}}
	r := gate.Review{Findings: f}
	var pairs map[schema.Pair]gate.Result
	r.Result, pairs = gate.DecidePairs(f, gate.DefaultFailOn(schema.ChannelRelease))
	if r.Result.Word != gate.Fail || pairs[c.Numbers[0].Pair()].Word != gate.Fail {
		t.Fatalf("%+v", r.Result)
	}
	want := "Nothing new got slower. llama on n150 at 128/64/8 is still 12.0 % slower since v7 (all 3 numbers)."
	if got := plain(words.Headline(&r)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	want = "1 regression of an earlier release is still there and not accepted (3 numbers)."
	if got := words.Inventory(&r); len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
}

// What decides a release is its change, and not one number of it.
func TestHeadlineNamesTheChange(t *testing.T) {
	c := changeOf(oneModel, oneDevice, latencies, .12)
	second := changeOf(oneModel, []string{"t3k"}, latencies[:1], .08)
	second.ID = "c2"
	r := gate.Review{Release: "v8", Findings: gate.Findings{Changes: []judge.Change{c, second}}}
	for i := range r.Changes {
		for _, s := range r.Changes[i].Numbers {
			r.History = append(r.History, schema.Verdict{Model: s.Model, Device: s.Device, Key: s.Key, Metric: s.Metric,
				Stat: s.Stat, Against: schema.AgainstHistory, Outcome: schema.Regressed, Evidence: schema.Confirmed,
				Effect: schema.Num(.1), Change: r.Changes[i].ID, Reason: schema.Change{Why: schema.WhyAgain}})
		}
	}
	r.Result, _ = gate.DecidePairs(r.Findings, gate.DefaultFailOn(schema.ChannelRelease))
	want := "llama on n150 at 128/64/8 is 12.0 % slower since v7 (all 3 numbers), confirmed in v8; 1 more change."
	if got := plain(words.Headline(&r)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if n := r.Result.Counts[0]; n.Kind != gate.FailConfirmed || n.N != 2 || n.Cells != 4 {
		t.Errorf("two changes of 4 numbers are counted as %+v", n)
	}
}

// A pass that most numbers could not have failed says that first, once, and is no clean pass.
func TestBlindPassSaysSo(t *testing.T) {
	f := gate.Findings{Blind: map[schema.Pair]int{{Model: "llama", Device: "n150"}: 2},
		Seen: map[schema.Pair]int{{Model: "llama", Device: "n150"}: 3}}
	for range 3 {
		f.History = append(f.History, schema.Verdict{Model: "llama", Device: "n150", Metric: "ttft",
			Against: schema.AgainstHistory, Outcome: schema.Unchanged, Value: schema.Num(1)})
	}
	r := gate.Review{Findings: f}
	var pairs map[schema.Pair]gate.Result
	r.Result, pairs = gate.DecidePairs(f, gate.DefaultFailOn(schema.ChannelRelease))
	of := pairs[schema.Pair{Model: "llama", Device: "n150"}]
	if r.Result.Word != gate.PassWithWarnings || !r.Result.Blind || of.Word != r.Result.Word || !of.Blind {
		t.Fatalf("%+v, of the pair %+v", r.Result, of)
	}
	const blind = "ost numbers could not have shown a regression of twice the limit"
	const rest = "; nothing is shown to have regressed: 3 of 3 numbers"
	if got := words.Headline(&r); !strings.HasPrefix(got, "M"+blind+rest) {
		t.Error(got)
	}
	if got := words.Detail(&r); strings.Count(got, blind) != 1 {
		t.Errorf("said twice: %s", got)
	}
	f.Blind[schema.Pair{Model: "llama", Device: "n150"}] = 1
	if result, _ := gate.DecidePairs(f, gate.DefaultFailOn(schema.ChannelRelease)); result.Blind {
		t.Errorf("most numbers would have shown one: %+v", result)
	}
}

// A number that its group decided names the change, its place and its size.
func TestWhyOfAPart(t *testing.T) {
	for _, x := range []struct {
		part schema.PartOf
		want string
	}{
		{
			schema.PartOf{Model: "llama", Device: "n150", Numbers: 48, Effect: .12},
			"48 numbers of llama on n150 (12.0 % slower)",
		},
		{schema.PartOf{Device: "n150", Numbers: 90, Effect: .12}, "90 numbers of n150 (12.0 % slower)"},
		{schema.PartOf{Model: "llama", Numbers: 90, Effect: -.12}, "90 numbers of llama (12.0 % faster)"},
		{schema.PartOf{Numbers: 1200, Effect: .12}, "1,200 numbers of several models and devices (12.0 % slower)"},
	} {
		v := failed(schema.Change{Why: schema.WhyGroup, Releases: 4, Limit: .05, Part: &x.part})
		if got := plain(words.Why(v)); !strings.HasSuffix(got, ", as "+x.want+": one change, counted once.") {
			t.Errorf("%s\nwant %s", got, x.want)
		}
	}
}
