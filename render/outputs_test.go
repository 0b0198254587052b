package render_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/markdown"
	"github.com/ttreport/ttreport/render/rows"
	"github.com/ttreport/ttreport/render/terminal"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/regression/pairing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with its golden file, or rewrites that.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; go test ./render -update rewrites it\n%s", file, got)
	}
}

func ptr(v float64) *float64 { return &v }

// key is a workload of the fixtures.
func key(concurrency float64) schema.Key {
	return schema.Key{Task: "text", Tool: "vllm", ISL: ptr(128), OSL: ptr(64), Concurrency: &concurrency}
}

// review is a release with a verdict of each weight, a target that fails, a lint, and changes: one that it confirmed,
// one that it suspects and one of an earlier release that is still there.
func review() gate.Review {
	verdict := func(id, metric string, o schema.Outcome, e schema.Evidence, effect float64,
		r schema.Change) schema.Verdict {
		return schema.Verdict{
			ID: id, Run: "r3", Release: "v1.2.0", Model: "m|1", Device: "d1", Key: key(8), Metric: metric, Stat: "mean",
			Against: schema.AgainstHistory, Outcome: o, Evidence: e, Value: schema.Num(100 * (1 + effect)), Ref: schema.Num(100),
			Effect: schema.Num(effect), Interval: &[2]float64{effect - .02, effect + .02}, N: 2, Reason: r, Baseline: "v1.1.0",
			P: schema.Num(.001), Q: schema.Missing("not tested"),
		}
	}
	history := []schema.Verdict{
		verdict("a1", "ttft", schema.Regressed, schema.Confirmed, .12,
			schema.Change{Why: schema.WhyRecheck, Releases: 4, Limit: .05, Noise: .01, First: 111}),
		verdict("a2", "tpot", schema.Inconclusive, schema.NoEvidence, .07,
			schema.Change{Why: schema.WhyNotSignificant, Releases: 4, Limit: .05, Noise: .06}),
		verdict("a3", "e2el", schema.Unchanged, schema.NoEvidence, .004,
			schema.Change{Why: schema.WhyEquivalent, Releases: 4, Limit: .05, Noise: .01}),
	}
	history[1].Large = true
	targets := []schema.Verdict{{
		ID: "b1", Run: "r3", Release: "v1.2.0", Model: "m|1", Device: "d1", Key: key(8), Metric: "ttft", Stat: "mean",
		Against: schema.AgainstTarget, Level: "complete", Required: true, Outcome: schema.Fail, Value: schema.Num(112),
		Ref: schema.Num(80), Effect: schema.Num(.4), N: 1, Reason: schema.Limit{Interval: schema.FromNothing, Tolerance: .05},
		P: schema.Missing(""), Q: schema.Missing(""),
	}}
	history[0].Change = "c1"
	of := func(id string, metrics ...string) judge.Change {
		c := judge.Change{ID: id, Worse: true, State: judge.StateOpen, Limit: .05, Scope: judge.Scope{
			Models: []string{"m|1"}, Devices: []string{"d1"}, Metrics: metrics, Points: 1, Pairs: 1, Of: 3,
		}}
		for _, m := range metrics {
			c.Numbers = append(c.Numbers, &judge.Series{Model: "m|1", Device: "d1", Key: key(8), Metric: m, Stat: "mean"})
		}
		return c
	}
	confirmed, suspected, earlier := of("c1", "ttft"), of("c2", "tpot", "e2el"), of("c3", "ttft", "tpot", "e2el")
	confirmed.Evidence, confirmed.Since, confirmed.Found = schema.Confirmed, "v1.2.0", "v1.2.0"
	confirmed.Rerun = true
	confirmed.Effect, confirmed.Interval = .12, [2]float64{.1, .14}
	confirmed.Votes = []judge.Vote{{Release: "v1.2.0", Numbers: 1}}
	confirmed.What.Build = "version 1.1.0 → 1.2.0"
	suspected.Evidence, suspected.Since, suspected.Effect, suspected.Interval = schema.Suspected, "v1.2.0", .06,
		[2]float64{.03, .09}
	earlier.Evidence, earlier.Since, earlier.Found, earlier.Earlier = schema.Confirmed, "v0.9.0", "v1.0.0", true
	earlier.Effect, earlier.Interval = .081, [2]float64{.07, .09}
	earlier.Votes = []judge.Vote{{Release: "v0.9.0", Numbers: 2}, {Release: "v0.8.0", Numbers: 1}}
	f := gate.Findings{Targets: targets, History: history, Changes: []judge.Change{confirmed, suspected, earlier},
		Lints: []lint.Lint{lint.New("v1.2.0", "128/64/8", lint.EmptyResponses{Found: "3 of 8"})}}
	result, pairs := gate.DecidePairs(f, gate.DefaultFailOn(schema.ChannelRelease))
	x := gate.Review{Release: "v1.2.0", Label: "v1.2.0", Baseline: "v1.1.0", Result: result, Findings: f,
		Fit: gate.Fit{Cells: 3, Noise: .011, Tested: 1000, Exceeded: 21}}
	for p, r := range pairs {
		x.Pairs = append(x.Pairs, gate.PairResult{Pair: p, Result: r})
	}
	return x
}

// Each output of a gate is exactly this.
func TestCheckOutputs(t *testing.T) {
	g := review()
	card := render.Card{
		Decisive: []string{"0123456789ab"},
		Facts:    []render.CardFact{{Name: "Basis", Text: "2 of 3 unchanged"}, {Name: "Exit code", Text: "1"}},
		Ways:     []render.Way{{What: "Measure again", Cmd: "ttreport collect …", Cost: "1 workload, about 12 min"}},
	}
	var text, doc, xml bytes.Buffer
	terminal.Check(&text, &g, card, true)
	if err := rows.CheckJSON(&doc, &g, card, nil); err != nil {
		t.Fatal(err)
	}
	if err := terminal.JUnit(&xml, &g, gate.DefaultFailOn(schema.ChannelRelease)); err != nil {
		t.Fatal(err)
	}
	golden(t, "check.txt", text.Bytes())
	golden(t, "check.json", doc.Bytes())
	golden(t, "check.xml", xml.Bytes())
}

// Each output of a comparison is exactly this.
func TestCompareOutputs(t *testing.T) {
	c := &render.Comparison{
		Lost: 1,
		Result: &compare.Result{A: "v1.1.0", B: "v1.2.0", OnlyA: 2, BadB: 1, Rows: []compare.Row{
			{Key: key(8), Metric: "ttft", Stat: "mean", Badness: .11, Result: pairing.Result{
				A: 100, B: 112, NA: 5, NB: 5, SpreadA: .02, SpreadB: .03, Change: .12, Lo: .08, Hi: .16, P: .008, Sure: true,
				Test: compare.Interleaved,
			}},
			{Key: key(1), Metric: "output_tps", Stat: "value", Badness: .01, Result: pairing.Result{
				A: 50, B: 49.5, NA: 3, NB: 3, SpreadA: 1.234, Change: -.01, Lo: -.04, Hi: .02, P: .4, NeededEach: 9,
				Test: pairing.Welch,
			}},
		}},
	}
	var text, doc bytes.Buffer
	if err := terminal.Compare(&text, c); err != nil {
		t.Fatal(err)
	}
	if err := rows.CompareJSON(&doc, c); err != nil {
		t.Fatal(err)
	}
	csv, err := rows.CSV(rows.Compare(c))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "compare.txt", text.Bytes())
	golden(t, "compare.json", doc.Bytes())
	golden(t, "compare.csv", csv)
	golden(t, "compare.md", markdown.Compare(c))
}

// Each output says of which workloads answers differ in length or requests failed, and marks their rows.
func TestCompareLoadsOutputs(t *testing.T) {
	load := func(osl, failed float64) compare.Load {
		return compare.Load{OSL: schema.Num(osl), Failed: failed, Of: 100}
	}
	of := []*compare.Loads{
		{Key: key(1), A: load(64, 0), B: load(64, 1)},
		{Key: key(4), A: load(64, 0), B: compare.Load{}},
		{Key: key(8), A: load(1024, 0), B: load(145.4, 38)},
		{Key: key(16), A: load(1024, 2), B: load(900, 0)},
	}
	r := &compare.Result{A: "one", B: "other", Loads: of,
		Settings: []compare.Setting{{Name: "precision", A: "fp8", B: "fp4"}}}
	for i, change := range []float64{-.1, -.1, -.7, -.2} {
		r.Rows = append(r.Rows, compare.Row{Key: of[i].Key, Metric: "output_tps", Stat: "value", Loads: of[i],
			Result: pairing.Result{A: 100, B: 100 + 100*change, NA: 1, NB: 1, Change: change, Lo: math.NaN(), Hi: math.NaN(),
				P: math.NaN(), Test: pairing.NoTest}})
	}
	c := &render.Comparison{Result: r}
	var text, doc bytes.Buffer
	if err := terminal.Compare(&text, c); err != nil {
		t.Fatal(err)
	}
	if err := rows.CompareJSON(&doc, c); err != nil {
		t.Fatal(err)
	}
	csv, err := rows.CSV(rows.Compare(c))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "compare-loads.txt", text.Bytes())
	golden(t, "compare-loads.json", doc.Bytes())
	golden(t, "compare-loads.csv", csv)
	golden(t, "compare-loads.md", markdown.Compare(c))
}

// A report is exactly this in markdown, with and without links.
func TestMarkdownOutput(t *testing.T) {
	page := render.Page{Title: "All that reports have", Simulated: "made up", Lead: render.Lead{
		Word: "PASS", Text: "One | two.", Paras: []string{"A *star* stays."},
	}}
	for _, b := range render.BlockSamples() {
		switch b.(type) {
		case *render.Table, render.Prose, render.Commands, render.Empty:
		default:
			continue
		}
		page.Sections = append(page.Sections, render.Section{Title: fmt.Sprintf("%T", b), Blocks: []render.Block{b}})
	}
	golden(t, "blocks.md", markdown.Page(page, ""))
	golden(t, "blocks-linked.md", markdown.Page(page, "https://example.org/site/"))
}
