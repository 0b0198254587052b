package targets_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets"
)

func day(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }

// made is a history: one run a release, points by concurrency, TTFT in ms by release.
type made struct {
	ttft     [][]float64 // by release, by workload; 0: not measured; negative: as it is
	conds    []columns.Conditions
	scores   [][]schema.Score
	channels []string
	higher   bool // store 1000/TTFT as output tokens a second instead
	unit     float64
}

func (m made) columns() *columns.Columns {
	b := columns.NewBuilder()
	if m.unit == 0 {
		m.unit = 1
	}
	for r, values := range m.ttft {
		h := columns.RunHead{ID: fmt.Sprintf("run-%d", r), Release: fmt.Sprintf("v%d", r), Start: day(r + 1), Model: schema.Model{Name: "M"}, Device: "n150", FirstPoint: len(b.C.Points)}
		if r < len(m.channels) {
			h.Channel = m.channels[r]
		}
		for w, v := range values {
			if v == 0 {
				continue
			}
			k := key(float64(w + 1))
			p := columns.PointRow{Run: int32(r), Key: b.Key(k, k.String()), Repeat: 1, Status: 1}
			if r < len(m.conds) {
				p.Cond = b.Cond(m.conds[r])
			}
			b.Begin(&p)
			if m.higher {
				b.Value(b.StatID(columns.StatID{Metric: "output_tps", Stat: "value", Unit: "tok/s"}), 1000/v)
			} else {
				b.Value(b.StatID(columns.StatID{Metric: "ttft", Stat: "mean", Unit: "ms"}), v*m.unit)
			}
			b.End(p)
		}
		h.PointsEnd = len(b.C.Points)
		if r < len(m.scores) {
			for _, s := range m.scores[r] {
				b.C.Scores = append(b.C.Scores, columns.ScoreRow{Run: int32(r), Score: s})
				h.Scores++
			}
		}
		b.C.Runs = append(b.C.Runs, h)
	}
	return b.Seal()
}

func judged(t *testing.T, c *columns.Columns, policy *targets.Policy) *targets.Judgement {
	t.Helper()
	j, err := targets.New(context.Background(), c, targets.Releases(c, nil), policy)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// steady is a history of ten workloads that vary by half a percent.
func steady(releases int) [][]float64 {
	var out [][]float64
	for r := range releases {
		var row []float64
		for w := range 10 {
			row = append(row, 100*float64(w+1)*(1+.005*math.Sin(float64(7*r+3*w*w))))
		}
		out = append(out, row)
	}
	return out
}

func find(list []schema.Verdict, workload string) schema.Verdict {
	for _, v := range list {
		if v.Key.Workload() == workload {
			return v
		}
	}
	return schema.Verdict{}
}

// Units and the inversion of a metric change no verdict.
func TestUnitsAndInversionChangeNothing(t *testing.T) {
	values := steady(8)
	values[6][2], values[7][2] = values[6][2]*1.2, values[7][2]*1.2
	a := judged(t, made{ttft: values}.columns(), nil).History(7)
	for name, m := range map[string]made{"seconds": {ttft: values, unit: .001}, "a rate": {ttft: values, higher: true}} {
		b := judged(t, m.columns(), nil).History(7)
		if len(a) != len(b) {
			t.Fatalf("%s: %d verdicts, %d", name, len(a), len(b))
		}
		for _, x := range a {
			y := find(b, x.Key.Workload())
			if x.Word != y.Word || x.Evidence != y.Evidence {
				t.Errorf("%s, %s: %s %s, %s %s", name, x.Key.Workload(), x.Word, x.Evidence, y.Word, y.Evidence)
			}
		}
	}
	if v := a[0]; v.Word != schema.Worse || v.Evidence != "confirmed" || v.Key.Workload() != "128/128/3" || v.First != "v6" || !strings.HasPrefix(v.Cause, "point:") {
		t.Errorf("%+v", v)
	}
	if e, _ := a[0].Effect.Get(); math.Abs(e-.2) > .02 {
		t.Errorf("effect %v", e)
	}
	rate := judged(t, made{ttft: values, higher: true}.columns(), nil).History(7)[0]
	if e, _ := rate.Effect.Get(); math.Abs(e-(1-1/1.2)) > .02 {
		t.Errorf("a rate that fell by a sixth has effect %v: it is the change of the number itself, positive worse", e)
	}
}

// Every primary cell of the release has a verdict, and a planned point that failed is missing, not the same.
func TestEveryCellHasAVerdict(t *testing.T) {
	c := made{ttft: steady(5)}.columns()
	p := &c.Points[len(c.Points)-1]
	p.Status, p.Reason = 3, 0
	list := judged(t, c, nil).History(4)
	words := map[string]int{}
	for _, v := range list {
		words[v.Word]++
	}
	if len(list) != 10 || words[schema.MissingWord] != 1 {
		t.Errorf("%v", words)
	}
}

func TestConditionsAreNamed(t *testing.T) {
	on, off := columns.Conditions{"ignore_eos": "true", "num_prompts": "8"}, columns.Conditions{"ignore_eos": "false", "num_prompts": "64"}
	j := judged(t, made{ttft: steady(5), conds: []columns.Conditions{on, on, on, on, off}}.columns(), nil)
	v := j.History(4)[0]
	if v.Word != schema.NotComparable || v.Reason.Args["conditions"] != "ignore_eos true → false" {
		t.Errorf("%s, %v", v.Word, v.Reason)
	}
	half := columns.Conditions{"num_prompts": "64"} // says nothing of ignore_eos: unknown is not different
	if v := judged(t, made{ttft: steady(5), conds: []columns.Conditions{on, on, on, on, half}}.columns(), nil).History(4)[0]; v.Word == schema.NotComparable {
		t.Errorf("%v", v.Reason)
	}
}

// pr and dev builds are judged against main or release, and never serve as a baseline.
func TestChannels(t *testing.T) {
	values := steady(6)
	values[3][0] *= 2
	j := judged(t, made{ttft: values, channels: []string{"release", "release", "release", "pr", "release", "dev"}}.columns(), nil)
	if v := find(j.History(3), "128/128/1"); v.Word != schema.Worse || v.Baseline != "v2" {
		t.Errorf("a pull request's regression: %s against %s", v.Word, v.Baseline)
	}
	if v := find(j.History(4), "128/128/1"); v.Word == schema.BetterWord || v.Baseline != "v2" {
		t.Errorf("a pull request was a baseline: %s against %s", v.Word, v.Baseline)
	}
	if v := find(j.History(5), "128/128/1"); v.Baseline != "v4" {
		t.Errorf("a dev build is compared with %q", v.Baseline)
	}
	only := judged(t, made{ttft: steady(2), channels: []string{"dev", "dev"}}.columns(), nil)
	if v := only.History(1)[0]; v.Word != schema.Insufficient || v.Reason.Code != "no-base-line" {
		t.Errorf("%s %v", v.Word, v.Reason)
	}
}

// Values that no measurement gives are invalid, and one of them does not spoil the others.
func TestImpossibleValues(t *testing.T) {
	values := steady(5)
	values[4][1], values[4][2], values[4][3], values[4][4] = -5, math.Inf(1), 1e308, 1e-320
	j := judged(t, made{ttft: values}.columns(), nil)
	n := 0
	for _, v := range j.History(4) {
		if v.Word == schema.Invalid {
			n++
		}
	}
	if n != 4 {
		t.Errorf("%d invalid", n)
	}
	var ids []string
	for _, l := range j.Lints(4) {
		ids = append(ids, l.ID)
	}
	if !strings.Contains(strings.Join(ids, " "), "not-positive") {
		t.Errorf("lints %v", ids)
	}
}

func TestDecisions(t *testing.T) {
	values := steady(7)
	values[5][0], values[6][0] = values[5][0]*1.3, values[6][0]*1.3
	c := made{ttft: values}.columns()
	gate := func(policy *targets.Policy) (targets.Decided, schema.Verdict) {
		j := judged(t, c, policy)
		f := targets.Findings{History: j.History(6), Lints: j.Lints(6)}
		return targets.Decide(f, targets.DefaultFailOn()), find(f.History, "128/128/1")
	}
	if d, v := gate(nil); d.Word != targets.NotFit || d.Exit != 1 || v.Evidence != "confirmed" {
		t.Errorf("%+v, %s %s", d, v.Word, v.Evidence)
	}
	waiver := targets.Decision{ID: "D-1", Kind: targets.Waive, Select: targets.Select{Model: "M*", Workload: "128/128/1"}, Release: "v6", Reason: "known", Owner: "jana", Expires: "2026-02-01"}
	if d, v := gate(&targets.Policy{Decisions: []targets.Decision{waiver}, Today: day(20)}); d.Word != targets.FitWithNotes || v.Word != schema.Worse || v.Decision == nil || len(d.Waived) != 1 {
		t.Errorf("waived: %+v, %+v", d, v)
	}
	if d, v := gate(&targets.Policy{Decisions: []targets.Decision{waiver}, Today: day(1).AddDate(0, 3, 0)}); d.Word != targets.NotFit || v.Decision == nil || !v.Decision.Expired {
		t.Errorf("an expired waiver: %+v", d)
	}
	void := targets.Decision{ID: "D-2", Kind: targets.Invalidate, Select: targets.Select{Run: "run-6"}, Reason: "the fan was broken"}
	if _, v := gate(&targets.Policy{Decisions: []targets.Decision{void}}); v.Word != schema.Invalid || v.Decision.Reason != "the fan was broken" {
		t.Errorf("%+v", v)
	}
	accepted := targets.Decision{ID: "D-3", Kind: targets.Accept, Select: targets.Select{Workload: "128/128/1"}, Release: "v5", Reason: "wanted", Owner: "jana"}
	if d, v := gate(&targets.Policy{Decisions: []targets.Decision{accepted}}); d.Exit != 0 || v.Word == schema.Worse {
		t.Errorf("after an accepted change: %+v, %s", d, v.Word)
	}
}

func TestDecisionsAreChecked(t *testing.T) {
	ok := targets.Decision{ID: "a", Kind: targets.Waive, Select: targets.Select{Lint: "saturated"}, Reason: "r", Owner: "o", Expires: "2027-01-31"}
	with := func(change func(*targets.Decision)) *targets.Policy {
		d := ok
		change(&d)
		return &targets.Policy{Decisions: []targets.Decision{d}}
	}
	if err := with(func(*targets.Decision) {}).Check([]string{"saturated"}); err != nil {
		t.Error(err)
	}
	for want, p := range map[string]*targets.Policy{
		"an id is needed":      with(func(d *targets.Decision) { d.ID = "" }),
		"is none of":           with(func(d *targets.Decision) { d.Kind = "ignore" }),
		"a reason is needed":   with(func(d *targets.Decision) { d.Reason = " " }),
		"an owner is needed":   with(func(d *targets.Decision) { d.Owner = "" }),
		"needs an expiry date": with(func(d *targets.Decision) { d.Expires = "" }),
		"is not of the form":   with(func(d *targets.Decision) { d.Expires = "31.1.2027" }),
		"no lint is called":    with(func(d *targets.Decision) { d.Select.Lint = "saturatd" }),
		"select must say":      with(func(d *targets.Decision) { d.Select = targets.Select{} }),
		"needs the release":    with(func(d *targets.Decision) { d.Kind = targets.Pin }),
		"select.run and by":    with(func(d *targets.Decision) { d.Kind = targets.Supersede }),
	} {
		if err := p.Check([]string{"saturated"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The gate: what fails, what is a note, and what was never graded.
func TestGate(t *testing.T) {
	v := func(word, evidence string, more ...func(*schema.Verdict)) schema.Verdict {
		x := schema.Verdict{Model: "M", Device: "d", Key: key(1), Against: schema.AgainstHistory, Word: word, Evidence: evidence}
		for _, m := range more {
			m(&x)
		}
		return x
	}
	required := func(x *schema.Verdict) { x.Against, x.Required, x.Metric = schema.AgainstTarget, true, "ttft" }
	for name, c := range map[string]struct {
		f    targets.Findings
		word string
		exit int
	}{
		"nothing at all":              {targets.Findings{}, targets.NotGraded, 5},
		"only insufficient":           {targets.Findings{History: []schema.Verdict{v(schema.Insufficient, "")}}, targets.NotGraded, 5},
		"ungraded is no pass":         {targets.Findings{Targets: []schema.Verdict{v(schema.Ungraded, "")}}, targets.NotGraded, 5},
		"targets met, no history":     {targets.Findings{Targets: []schema.Verdict{v(schema.Pass, "", required)}}, targets.NoBaseline, 0},
		"all the same":                {targets.Findings{History: []schema.Verdict{v(schema.Same, "")}}, targets.Fit, 0},
		"seen once":                   {targets.Findings{History: []schema.Verdict{v(schema.Worse, "probable"), v(schema.Same, "")}}, targets.FitWithNotes, 0},
		"confirmed":                   {targets.Findings{History: []schema.Verdict{v(schema.Worse, "confirmed")}}, targets.NotFit, 1},
		"required target fails":       {targets.Findings{Targets: []schema.Verdict{v(schema.Fail, "", required)}, History: []schema.Verdict{v(schema.Same, "")}}, targets.NotFit, 1},
		"required and not measured":   {targets.Findings{Targets: []schema.Verdict{v(schema.MissingWord, "", required)}, History: []schema.Verdict{v(schema.Same, "")}}, targets.NotFit, 1},
		"for information":             {targets.Findings{Targets: []schema.Verdict{v(schema.Fail, "")}, History: []schema.Verdict{v(schema.Same, "")}}, targets.Fit, 0},
		"inconclusive is a note":      {targets.Findings{Targets: []schema.Verdict{v(schema.Inconclusive, "", required)}, History: []schema.Verdict{v(schema.Same, "")}}, targets.FitWithNotes, 0},
		"void":                        {targets.Findings{History: []schema.Verdict{v(schema.Invalid, ""), v(schema.Same, "")}}, targets.NotFit, 1},
		"no measurement is told once": {targets.Findings{History: []schema.Verdict{v(schema.Same, ""), v(schema.Invalid, "", func(v *schema.Verdict) { v.Reason.Code = "not-positive" })}, Lints: []schema.Lint{{ID: "not-positive", Severity: schema.SevError, Decision: &schema.Decision{ID: "D", Kind: "waive"}}}}, targets.FitWithNotes, 0},
		"void, and measured by another run": {targets.Findings{History: []schema.Verdict{v(schema.Same, ""), v(schema.Invalid, "", func(v *schema.Verdict) {
			v.Reason = schema.Reason{Code: "void", Args: map[string]string{"other": "run-2"}}
		})}}, targets.FitWithNotes, 0},
		"a lint that is an error": {targets.Findings{History: []schema.Verdict{v(schema.Same, "")}, Lints: []schema.Lint{{ID: "hollow", Severity: schema.SevError}}}, targets.NotFit, 1},
		"a lint that warns":       {targets.Findings{History: []schema.Verdict{v(schema.Same, "")}, Lints: []schema.Lint{{ID: "x", Severity: schema.SevWarning}}}, targets.FitWithNotes, 0},
	} {
		if d := targets.Decide(c.f, targets.DefaultFailOn()); d.Word != c.word || d.Exit != c.exit {
			t.Errorf("%s: %s, exit %d; want %s, %d", name, d.Word, d.Exit, c.word, c.exit)
		}
	}
	strict, err := targets.ParseFailOn("probable, confirmed")
	if err != nil {
		t.Fatal(err)
	}
	if d := targets.Decide(targets.Findings{History: []schema.Verdict{v(schema.Worse, "probable")}}, strict); d.Exit != 1 {
		t.Errorf("%+v", d)
	}
	if _, err := targets.ParseFailOn("confirmd"); err == nil {
		t.Error("a kind that does not exist is taken")
	}
}
