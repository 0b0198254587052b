package judge_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// judged judges a history without listed releases.
func judged(t *testing.T, c *columns.Columns, policy *decision.Policy) *judge.Judgement {
	t.Helper()
	j, err := judge.New(context.Background(), c, judge.Releases(c, nil), policy)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// change is the reason of a verdict of a number against history.
func change(t *testing.T, v schema.Verdict) schema.Change {
	t.Helper()
	c, ok := v.Reason.(schema.Change)
	if !ok {
		t.Fatalf("the reason is %T, not a change: %+v", v.Reason, v)
	}
	return c
}

// near reports whether two numbers agree to a share of the second.
func near(got, want, share float64) bool { return math.Abs(got-want) <= share*math.Abs(want) }

// Units and the inversion of a metric change no verdict.
func TestUnitsAndInversionChangeNothing(t *testing.T) {
	values := judgetest.Steady(8)
	values[6][2], values[7][2] = values[6][2]*1.2, values[7][2]*1.2
	a := judged(t, judgetest.History{TTFT: values}.Columns(), nil).History(7)
	for name, m := range map[string]judgetest.History{
		"seconds": {TTFT: values, Unit: .001}, "a rate": {TTFT: values, Rate: true},
	} {
		b := judged(t, m.Columns(), nil).History(7)
		if len(a) != len(b) {
			t.Fatalf("%s: %d verdicts, %d", name, len(a), len(b))
		}
		for _, x := range a {
			y := judgetest.Find(b, x.Key.Workload())
			if x.Outcome != y.Outcome || x.Evidence != y.Evidence || x.Large != y.Large {
				t.Errorf("%s, %s: %s %s, %s %s", name, x.Key.Workload(), x.Outcome, x.Evidence, y.Outcome, y.Evidence)
			}
		}
	}
	v := a[0]
	if v.Outcome != schema.Regressed || v.Evidence != schema.Confirmed || v.Key.Workload() != judgetest.Workload(3) ||
		v.First != "v6" || len(v.Change) != 12 {
		t.Errorf("%+v", v)
	}
	if e, _ := v.Effect.Get(); math.Abs(e-.2) > .02 {
		t.Errorf("effect %v", e)
	}
	rate := judged(t, judgetest.History{TTFT: values, Rate: true}.Columns(), nil).History(7)[0]
	if e, _ := rate.Effect.Get(); math.Abs(e-(1-1/1.2)) > .02 {
		t.Errorf("a rate that fell by a sixth has effect %v: it is the change of the number itself, positive worse", e)
	}
}

// The reason of a change holds the numbers that decided it, as numbers.
func TestReasonOfAChange(t *testing.T) {
	values := judgetest.Steady(8)
	values[7][2] *= 1.2
	c := judgetest.History{TTFT: values}.Columns()
	policy := &decision.Policy{Effects: map[string]float64{"ttft": .1}}
	j := judged(t, c, policy)
	regressed := judgetest.Find(j.History(7), judgetest.Workload(3))
	if regressed.Outcome != schema.Regressed || regressed.Evidence != schema.Suspected || regressed.Baseline != "v6" {
		t.Fatalf("%+v", regressed)
	}
	why := change(t, regressed)
	if why.Why != schema.WhyGate || why.Releases != 7 || why.Limit != .1 || !(why.Noise > .001 && why.Noise < .02) {
		t.Errorf("%+v", why)
	}
	if q, ok := regressed.Q.Get(); !ok || q < 0 || q > .05 {
		t.Errorf("q %v", q)
	}
	first := judgetest.Find(j.History(0), judgetest.Workload(3))
	why = change(t, first)
	if first.Outcome != schema.NoBaseline || why.Why != schema.WhyNoBaseline || why.Releases != 0 {
		t.Errorf("%+v", first)
	}
	quiet := judgetest.Find(j.History(7), judgetest.Workload(1))
	if quiet.Outcome != schema.Unchanged || change(t, quiet).Why != schema.WhyEquivalent {
		t.Errorf("%+v", quiet)
	}
}

// A re-run that decides has its own p, and no q: the gate's are of the first run. Two releases that decide together say
// what they show together.
func TestNumbersAreOfWhatDecided(t *testing.T) {
	values := judgetest.Steady(8)
	values[7][3] *= 1.2
	rerun := judgetest.Find(judged(t, judgetest.Rerun(values, values[7][3]*.95), nil).History(7), judgetest.Workload(4))
	if change(t, rerun).Why != schema.WhyRecheck {
		t.Fatalf("%+v", rerun)
	}
	if q, has := rerun.Q.Get(); has {
		t.Errorf("q %v beside the change of another run", q)
	}
	once := judgetest.Find(judged(t, judgetest.History{TTFT: values}.Columns(), nil).History(7), judgetest.Workload(4))
	first, _ := once.P.Get()
	if p, _ := rerun.P.Get(); p <= first {
		t.Errorf("p of a smaller change %v, of the first run %v", p, first)
	}
	values[6][3] *= 1.1
	again := judgetest.Find(judged(t, judgetest.History{TTFT: values}.Columns(), nil).History(7), judgetest.Workload(4))
	both := change(t, again).Together
	if both == nil || both.Runs != 2 || math.Abs(both.Effect-.15) > .01 || both.Interval[0] < .1 || both.Interval[1] > .2 {
		t.Errorf("+10 and +20 %% together: %+v", both)
	}
}

// A workload that does not state how long its prompts are is compared where they were measured to be about as long.
func TestLengthsThatNobodyStates(t *testing.T) {
	for newest, want := range map[float64]schema.Outcome{1010: schema.Regressed, 6000: schema.NotComparable} {
		values := judgetest.Steady(6)
		for w := range values[5] {
			values[5][w] *= 1.4
		}
		cols := judgetest.History{TTFT: values, Prompts: []float64{1000, 990, 1005, 1100, 1000, newest}}.Columns()
		for _, v := range judged(t, cols, nil).History(5) {
			why, _ := v.Reason.(schema.Change)
			if v.Outcome != want || want == schema.NotComparable && why.Conditions != "measured ISL 1000 → 6000" {
				t.Errorf("%g: %s of %s, %q", newest, v.Outcome, v.Key.Workload(), why.Conditions)
			}
		}
	}
}

// Every primary cell of the release has a verdict, and a planned point that failed is missing, not unchanged.
func TestEveryCellHasAVerdict(t *testing.T) {
	c := judgetest.History{TTFT: judgetest.Steady(5)}.Columns()
	p := &c.Points[len(c.Points)-1]
	p.Status, p.Reason = 3, 0
	list := judged(t, c, nil).History(4)
	count := map[schema.Outcome]int{}
	for _, v := range list {
		count[v.Outcome]++
		if why, ok := v.Reason.(schema.NoNumber); v.Outcome == schema.NotMeasured &&
			(!ok || why.Why != "no request completed" || why.Other != "") {
			t.Errorf("%+v", v.Reason)
		}
	}
	if len(list) != judgetest.Workloads || count[schema.NotMeasured] != 1 {
		t.Errorf("%v", count)
	}
}

func TestConditionsAreNamed(t *testing.T) {
	on := columns.Conditions{"ignore_eos": "true", "num_prompts": "8"}
	off := columns.Conditions{"ignore_eos": "false", "num_prompts": "64"}
	last := func(now columns.Conditions) schema.Verdict {
		h := judgetest.History{TTFT: judgetest.Steady(5), Conditions: []columns.Conditions{on, on, on, on, now}}
		return judged(t, h.Columns(), nil).History(4)[0]
	}
	v := last(off)
	if v.Outcome != schema.NotComparable || change(t, v).Why != schema.WhyConditions ||
		change(t, v).Conditions != "ignore_eos true → false" {
		t.Errorf("%s, %+v", v.Outcome, v.Reason)
	}
	half := columns.Conditions{"num_prompts": "64"} // ignore_eos is not stated: unknown is not different
	if v := last(half); v.Outcome == schema.NotComparable {
		t.Errorf("%+v", v.Reason)
	}
}

// pr and dev builds are judged against main or release, and never serve as a baseline.
func TestChannels(t *testing.T) {
	values := judgetest.Steady(6)
	values[3][0] *= 2
	channels := []string{"release", "release", "release", "pr", "release", "dev"}
	j := judged(t, judgetest.History{TTFT: values, Channels: channels}.Columns(), nil)
	at := func(release int) schema.Verdict { return judgetest.Find(j.History(release), judgetest.Workload(1)) }
	if v := at(3); v.Outcome != schema.Regressed || v.Baseline != "v2" {
		t.Errorf("a pull request's regression: %s against %s", v.Outcome, v.Baseline)
	}
	if v := at(4); v.Outcome == schema.Improved || v.Baseline != "v2" {
		t.Errorf("a pull request was a baseline: %s against %s", v.Outcome, v.Baseline)
	}
	if v := at(5); v.Baseline != "v4" {
		t.Errorf("a dev build is compared with %q", v.Baseline)
	}
	only := judged(t, judgetest.History{TTFT: judgetest.Steady(2), Channels: []string{"dev", "dev"}}.Columns(), nil)
	if v := only.History(1)[0]; v.Outcome != schema.NoBaseline || change(t, v).Why != schema.WhyNoBaselineLine {
		t.Errorf("%s %+v", v.Outcome, v.Reason)
	}
}

// A build keeps its baseline when main gets later builds.
func TestLaterMainChangesNoBuild(t *testing.T) {
	m := judgetest.History{TTFT: judgetest.Steady(5), Channels: []string{"", "", "", schema.ChannelPR}}
	m.TTFT[3][1] *= 1.3
	before := judgetest.Find(judged(t, m.Columns(), nil).History(3), judgetest.Workload(2))
	m.Channels = append(m.Channels, schema.ChannelMain)
	after := judgetest.Find(judged(t, m.Columns(), nil).History(3), judgetest.Workload(2))
	if before.Outcome != schema.Regressed || after.Outcome != before.Outcome || after.Baseline != before.Baseline {
		t.Errorf("%s %s, then %s %s", before.Outcome, before.Baseline, after.Outcome, after.Baseline)
	}
}

// Values that no measurement can give are excluded, and do not affect the others.
func TestValuesThatNoMeasurementGives(t *testing.T) {
	values := judgetest.Steady(5)
	bad := map[string]float64{
		judgetest.Workload(2): -5, judgetest.Workload(3): math.Inf(1),
		judgetest.Workload(4): 1e308, judgetest.Workload(5): 1e-320,
	}
	values[4][1], values[4][2], values[4][3], values[4][4] = -5, math.Inf(1), 1e308, 1e-320
	j := judged(t, judgetest.History{TTFT: values}.Columns(), nil)
	n := 0
	for _, v := range j.History(4) {
		want, isBad := bad[v.Key.Workload()]
		if (v.Outcome == schema.Excluded) != isBad {
			t.Errorf("%s is %s", v.Key.Workload(), v.Outcome)
		}
		if why, ok := v.Reason.(schema.NotPositive); ok {
			n++
			if why.Metric != "ttft" || why.Value != want {
				t.Errorf("%s: %+v, want %g", v.Key.Workload(), why, want)
			}
		}
	}
	if n != 4 || len(j.NotPositive(4)) != 4 {
		t.Errorf("%d excluded, %d not positive", n, len(j.NotPositive(4)))
	}
}

// A later run of a release that is far worse than its unremarkable first one is large and inconclusive, with its own
// numbers.
func TestLaterRunFarWorse(t *testing.T) {
	for _, first := range []float64{.995, 1, 1.004} {
		values := judgetest.Steady(6)
		base := values[5][3]
		values[5][3] = base * first
		v := judgetest.Find(judged(t, judgetest.Rerun(values, base*2), nil).History(5), judgetest.Workload(4))
		e, _ := v.Effect.Get()
		ref, _ := v.Ref.Get()
		value, _ := v.Value.Get()
		if v.Outcome != schema.Inconclusive || !v.Large || e < .9 || ref > base*1.1 || !near(value, base*2, 1e-9) {
			t.Errorf("first run %g: %s, effect %.3f, reference %.4g of about %.4g", first, v.Outcome, e, ref, base)
		}
		if why := change(t, v); why.Why != schema.WhyRunsDisagree || !near(why.First, base*first, 1e-9) {
			t.Errorf("first run %g: %+v", first, why)
		}
	}
}

// A run that is excluded or failed refers to the run of the release that measured its points.
func TestExcludedAndMeasuredAgain(t *testing.T) {
	values := judgetest.Steady(6)
	c := judgetest.Rerun(values, values[5][3])
	exclude := &decision.Policy{Decisions: []decision.Decision{{
		ID: "D", Kind: schema.Invalidate, Select: decision.Select{Run: "run-5"}, Reason: "throttled",
	}}}
	n := 0
	for _, v := range judged(t, c, exclude).History(5) {
		why, ok := v.Reason.(schema.ExcludedBy)
		if !ok {
			continue
		}
		n++
		want := schema.ExcludedBy{Why: "throttled", Kind: "invalidate", Other: "run-6"}
		if v.Outcome != schema.Excluded || why != want || v.Decision == nil || v.Decision.Reason != "throttled" {
			t.Errorf("%+v", v)
		}
	}
	if n != judgetest.Workloads {
		t.Errorf("%d of %d points are excluded", n, judgetest.Workloads)
	}
	invalid := judgetest.Rerun(values, values[5][3]) // as a client says that was too busy
	for i := range invalid.Points {
		if p := &invalid.Points[i]; invalid.Runs[p.Run].ID == "run-5" {
			p.Status = uint8(slices.Index(columns.Statuses(), schema.StatusInvalid))
		}
	}
	n = 0
	for _, v := range judged(t, invalid, nil).History(5) {
		if why, ok := v.Reason.(schema.InvalidPoint); ok {
			if n++; why.Other != "run-6" || v.Outcome != schema.Excluded || gate.KindOf(&v) != gate.NoCase {
				t.Errorf("%+v, kind %s", v, gate.KindOf(&v))
			}
		}
	}
	if n != judgetest.Workloads {
		t.Errorf("%d of %d points are invalid", n, judgetest.Workloads)
	}
	damaged := judgetest.Rerun(values, 1e308) // no measurement
	for _, v := range judged(t, damaged, exclude).History(5) {
		if why, ok := v.Reason.(schema.ExcludedBy); ok && (why.Other == "") != (v.Key.Workload() == judgetest.Workload(4)) {
			t.Errorf("%s: measured by %q", v.Key.Workload(), why.Other)
		}
	}
	superseded := &decision.Policy{Decisions: []decision.Decision{{
		ID: "D", Kind: schema.Supersede, Select: decision.Select{Run: "run-5"}, By: "nobody", Reason: "x",
	}}}
	for _, v := range judged(t, c, superseded).History(5) {
		if schema.ReasonIs[schema.ExcludedBy](v.Reason) {
			t.Errorf("a run that nobody replaces is excluded: %+v", v)
		}
	}
}

// What one release makes worse on a model and device is one change.
func TestChangeOfManyNumbers(t *testing.T) {
	values := judgetest.Steady(7)
	for w := range 6 {
		values[6][w] *= 1 + .1*float64(w+1)
	}
	regressed := map[string]int{}
	for _, v := range judged(t, judgetest.History{TTFT: values}.Columns(), nil).History(6) {
		if v.Outcome == schema.Regressed {
			regressed[v.Change]++
		} else if v.Change != "" {
			t.Errorf("%s %s is part of a change", v.Key.Workload(), v.Outcome)
		}
	}
	if len(regressed) != 1 {
		t.Errorf("%v", regressed)
	}
	for c, n := range regressed {
		if c == "" || n != 6 {
			t.Errorf("%q: %d", c, n)
		}
	}
}

// A run that began before the first one ended is no other start of the server: it confirms nothing.
func TestOverlappingRunsConfirmNothing(t *testing.T) {
	values := judgetest.Steady(6)
	values[5][3] *= 1.3
	for _, c := range []struct {
		end  time.Duration
		want schema.Evidence
	}{{time.Hour, schema.Confirmed}, {30 * time.Hour, schema.Suspected}} {
		cols := judgetest.Rerun(values, values[5][3])
		cols.Runs[5].End = cols.Runs[5].Start.Add(c.end) // the re-run starts a day later
		v := judgetest.Find(judged(t, cols, nil).History(5), judgetest.Workload(4))
		if v.Outcome != schema.Regressed || v.Evidence != c.want {
			t.Errorf("a first run of %s: %s, %s", c.end, v.Outcome, v.Evidence)
		}
	}
}

// Ids do not change in re-runs: they contain no values, and decisions refer to verdicts by id.
func TestVerdictIDs(t *testing.T) {
	values := judgetest.Steady(5)
	ids := func() map[string]string {
		out := map[string]string{}
		for _, v := range judged(t, judgetest.History{TTFT: values}.Columns(), nil).History(4) {
			out[v.Key.Workload()] = v.ID
		}
		return out
	}
	before := ids()
	values[4][0] *= 1.001
	after := ids()
	seen := map[string]bool{}
	for w, id := range before {
		if len(id) != 12 || after[w] != id || seen[id] {
			t.Errorf("%s: %q, then %q", w, id, after[w])
		}
		seen[id] = true
	}
	// Histories and ttreport.yaml files contain such ids: how they are made must not change.
	if id := before[judgetest.Workload(1)]; id != "44b22a8e9e81" {
		t.Errorf("the id is %s: decisions that people wrote would no longer find their verdicts", id)
	}
}
