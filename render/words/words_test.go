package words_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1.00", 2753: "2,753", 91.4: "91.4", 0.82: "0.820", 0.0123456: "0.0123", 1234567: "1,234,567",
		-3.14159: "−3.14", 99.96: "100", 9.999: "10.0", 0.000001: "1.00e−06", 12345.6: "12,346",
	} {
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

// declared lists the types of a package that have a method, and the constants of a type.
func declared(t *testing.T, folder, method, constants string) (types, names map[string]bool) {
	t.Helper()
	types, names = map[string]bool{}, map[string]bool{}
	sources, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		p, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(p, func(n ast.Node) bool {
			switch d := n.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.Name == method {
					types[d.Recv.List[0].Type.(*ast.Ident).Name] = true
				}
			case *ast.ValueSpec:
				if constants != "" && strings.HasPrefix(d.Names[0].Name, constants) {
					names[d.Names[0].Name] = true
				}
			}
			return true
		})
	}
	return types, names
}

func failed(r schema.Reason) schema.Verdict {
	return schema.Verdict{
		Metric: "ttft", Level: "complete", Outcome: schema.Fail, N: 1, Baseline: "v1",
		Value: schema.Num(91.4), Ref: schema.Num(80), Effect: schema.Num(.1425), Reason: r,
	}
}

func reasons() []schema.Reason {
	out := []schema.Reason{
		schema.NoTargetFor{}, schema.TargetNotMeasured{}, schema.Planned{}, schema.NoNumber{}, schema.MetricNotMeasured{},
		schema.AboveCeiling{}, schema.EvalNotRun{}, schema.EvalLimit{}, schema.NoSystem{}, schema.NoLengths{},
		schema.ExcludedBy{Why: "x"}, schema.InvalidPoint{}, schema.NotPositive{}, schema.NotRemeasured{},
	}
	for _, from := range []schema.IntervalFrom{
		schema.FromNothing, schema.FromRepeats, schema.FromOwn, schema.FromTypical,
	} {
		out = append(out, schema.Limit{Interval: from, Tolerance: .05})
	}
	for _, test := range []schema.EvalTest{
		schema.TestNone, schema.TestPaired, schema.TestGate, schema.TestUnpaired, schema.TestByError, schema.TestNoError,
		schema.TestPrompt,
	} {
		out = append(out, schema.EvalChange{Test: test, Conditions: "x"})
	}
	out = append(out, schema.EvalChange{Test: schema.TestNoError, N: 62})
	for why := schema.WhyGate; why < schema.WhyInTurns; why++ {
		out = append(out, schema.Change{Why: why, Conditions: "x"})
	}
	turns := schema.Turns{Baseline: "v1", Blocks: 2, Outcome: schema.Regressed, Evidence: schema.Suspected}
	out = append(out, schema.Change{Why: schema.WhyInTurns, Turns: &turns},
		schema.Change{Why: schema.WhyTurnsOpen, Turns: &turns},
		schema.Change{Why: schema.WhyGate, Turns: &turns})
	return out
}

func TestEveryReasonIsASentence(t *testing.T) {
	types, whys := declared(t, "../../ingest/schema", "Code", "Why")
	if len(types) < 10 || len(whys) < 20 {
		t.Fatalf("found %d types of reasons and %d whys: the test looks in the wrong place", len(types), len(whys))
	}
	seen, why := map[string]bool{}, map[schema.Why]bool{schema.WhyNone: true}
	for _, r := range reasons() {
		seen[strings.TrimPrefix(fmt.Sprintf("%T", r), "schema.")] = true
		if c, ok := r.(schema.Change); ok {
			why[c.Why] = true
		}
		got := words.Why(failed(r))
		if got == "" || !strings.HasSuffix(got, ".") || strings.Contains(got, "%!") {
			t.Errorf("%T %+v: %q", r, r, got)
		}
	}
	for name := range types {
		if !seen[name] {
			t.Errorf("no sentence of reason %s is tested", name)
		}
	}
	if len(why) != len(whys) {
		t.Errorf("%d of %d whys are tested", len(why), len(whys))
	}
	got := words.Why(failed(schema.Limit{Interval: schema.FromNothing, Tolerance: .05}))
	want := "TTFT 91.4\u202fms is 14.2\u202f% above the complete limit of 80.0\u202fms (tolerance 5\u202f%); " +
		"single run, no interval."
	if got != want {
		t.Error(got)
	}
}

func lints() []lint.Detail {
	return []lint.Detail{
		lint.ImpossibleScore{}, lint.ZeroScore{}, lint.FewItems{}, lint.Subsampled{}, lint.ZeroStderr{},
		lint.EmptyResponses{}, lint.FailedShare{}, lint.MoreFailures{}, lint.OtherUnit{},
		lint.Saturated{}, lint.ShortAnswers{}, lint.OtherLengths{},
		lint.ColdStart{},
		lint.SecondTokenStall{}, lint.PrefixCache{}, lint.FewRequests{}, lint.FewForTail{}, lint.NotPositive{},
		lint.Unsettled{}, lint.Imprecise{}, lint.Overload{}, lint.OpenSearch{},
		lint.ImpossibleError{}, lint.ReleaseOrder{},
		lint.NoCommits{}, lint.LatestImage{}, lint.DirtyBuild{}, lint.MixedTools{}, lint.NothingGraded{},
		lint.StaleTargets{}, lint.NoStart{}, lint.BadTimestamps{}, lint.DuplicateRun{},
		lint.Unread{Found: "x"}, lint.LostDocument{}, lint.NoPair{},
		lint.ReportRejects{},
		lint.UnknownChannel{}, lint.CutOff{}, lint.Unlisted{}, lint.Drift{}, lint.UnusedDecision{},
	}
}

func TestEveryLintIsASentence(t *testing.T) {
	seen := map[lint.ID]bool{}
	for _, d := range lints() {
		id := lint.New("", "", d).ID
		seen[id] = true
		got := words.Lint(lint.Lint{ID: id, Subject: "128/128/1", Count: 2, Detail: d})
		if strings.HasPrefix(got, " 2 cases") || !strings.HasSuffix(got, ".") || strings.Contains(got, "%!") {
			t.Errorf("%T: %q", d, got)
		}
	}
	for _, id := range lint.IDs() {
		if !seen[id] {
			t.Errorf("no sentence of lint %s is tested", id)
		}
	}
}

// ITL stands in for TPOT: earlier releases may have it, and were judged by TPOT.
func TestWhyAStandInHasNoBaseline(t *testing.T) {
	for metric, want := range map[string]string{
		"itl":  "ITL is judged only where a point has no TPOT, and so in no earlier release of its line.",
		"rps":  "Req/s is judged only where a point has no Output tok/s, and so in no earlier release of its line.",
		"e2el": "No earlier release of its line has this measurement.",
	} {
		v := schema.Verdict{Metric: metric, Outcome: schema.NoBaseline, Reason: schema.Change{Why: schema.WhyNoBaseline}}
		if got := words.Why(v); got != want {
			t.Errorf("%s: %s", metric, got)
		}
		if got := words.WhyBeside(v); strings.TrimSuffix(got, ".") != strings.TrimSuffix(want, ".") {
			t.Errorf("%s beside: %s", metric, got)
		}
	}
}

func TestDecisions(t *testing.T) {
	for name, c := range map[string]struct {
		r    gate.Result
		says string
	}{
		"nothing": {gate.Result{Word: gate.NotGraded, Exit: 5}, "which is not a pass"},
		"no baseline": {gate.Result{Word: gate.NoBaseline, Graded: 2, Counts: []gate.Tally{
			{Kind: gate.NoteMet, N: 2, Cells: 2},
		}}, "2 required targets are met"},
		"regressed": {gate.Result{Word: gate.Fail, Exit: 1, Counts: []gate.Tally{
			{Kind: gate.FailConfirmed, N: 4, Cells: 11, Fails: true},
		}}, "4 regressions are confirmed (11 numbers)."},
		"of many numbers": {gate.Result{Word: gate.PassWithWarnings, Counts: []gate.Tally{
			{Kind: gate.FailRunWide, N: 2, Cells: 96},
		}}, "2 regressions of many numbers are suspected: not confirmed yet (96 numbers)."},
		"still there": {gate.Result{Word: gate.Fail, Exit: 1, Counts: []gate.Tally{
			{Kind: gate.FailOpen, N: 1, Cells: 48, Fails: true},
		}}, "1 regression of an earlier release is still there and not accepted (48 numbers)."},
		"blind": {gate.Result{Word: gate.PassWithWarnings, Graded: 9, Blind: true, Counts: []gate.Tally{
			{Kind: gate.NoteImproved, N: 1, Cells: 1},
		}}, "most numbers could not have shown a regression of twice the limit; 1 improvement."},
		"one of each": {gate.Result{Word: gate.Fail, Exit: 1, Counts: []gate.Tally{
			{Kind: gate.FailTarget, N: 1, Cells: 1, Fails: true}, {Kind: gate.NoteImproved, N: 1, Cells: 2},
		}}, "1 required target fails; 1 improvement (2 numbers)."},
		"left out": {gate.Result{Word: gate.PassWithWarnings, Graded: 9, Release: "v5", Baseline: "v4", Counts: []gate.Tally{
			{Kind: gate.FailNotRemeasured, N: 3, Systems: 1},
		}}, "1 pair of model and device and 2 measurements of v4 were not measured again in v5"},
		"nothing to mention": {gate.Result{Word: gate.Pass, Graded: 9}, "nothing is shown to have regressed"},
	} {
		d := words.Decide(c.r)
		if d.Word != string(c.r.Word) || !strings.HasSuffix(d.Detail, ".") || !strings.Contains(d.Detail, c.says) {
			t.Errorf("%s: %+v, want %s", name, d, c.says)
		}
	}
}

// Two counts in one sentence are written alike.
func TestCountsAreWrittenAlike(t *testing.T) {
	if got := words.Of(10_000, 10_000); got != "10,000 of 10,000" {
		t.Error(got)
	}
	lead := words.Grading(gate.Grading{Graded: 1200, Workloads: 10_000})
	if !strings.Contains(lead, "1,200 of 10,000 workloads") {
		t.Error(lead)
	}
}

// A build without a release is called by its day in sentences, and never by the id of a run.
func TestBuildsAreCalledByTheirDay(t *testing.T) {
	const id, want = "20260904T021400Z-3e9d3830", "the build of 2026-09-04"
	for name, called := range map[string]string{
		id: want, "v0.6.0": "v0.6.0", "": "", "undated-1232836f": "undated-1232836f",
		"20260904T021400Z": "20260904T021400Z", "20269904T021400Z-3e9d3830": "20269904T021400Z-3e9d3830"} {
		if got := words.Release(name); got != called {
			t.Errorf("%q is called %q, want %q", name, got, called)
		}
	}
	word, _ := words.Slower(words.Decision{}, gate.Result{Counts: []gate.Tally{{Kind: gate.FailConfirmed}}}, id, "")
	for _, s := range []string{words.ComparedWith(id), words.StillSlower("ttft", .1, id), word,
		words.Decide(gate.Result{Word: gate.NotMeasured, Last: id}).Detail} {
		if !strings.Contains(s, want) || strings.Contains(s, id) {
			t.Errorf("%q, want %q in it", s, want)
		}
	}
}
