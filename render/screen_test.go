package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/terminal"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// large is a release with 30 new changes, one of an earlier release that is still there and one that is fixed, on 40
// models of which 9 pass; 30 numbers are part of a change, 30 are below the limit and 30 regressed alone.
func large() gate.Review {
	var f gate.Findings
	const models, failing, changes = 40, 30, 30
	for m := range models {
		for w := range 4 {
			v := schema.Verdict{ID: fmt.Sprintf("v%d-%d", m, w), Model: fmt.Sprintf("m%d", m), Device: "d1",
				Key: key(float64(w + 1)), Metric: "ttft", Stat: "mean", Against: schema.AgainstHistory,
				Outcome: schema.Regressed, Evidence: schema.Suspected, Value: schema.Num(112), Ref: schema.Num(100),
				Effect: schema.Num(.12), Reason: schema.Change{Why: schema.WhyGate}, Release: "v9"}
			switch {
			case m >= failing || w == 0:
				v.Outcome, v.Evidence = schema.Unchanged, schema.NoEvidence
			case w == 1:
				v.Outcome, v.Evidence = schema.BelowLimit, schema.NoEvidence
			case w == 2:
				v.Evidence, v.Change = schema.Confirmed, fmt.Sprintf("c%d", m)
			}
			f.History = append(f.History, v)
		}
	}
	for i := range changes + 2 {
		c := judge.Change{ID: fmt.Sprintf("c%d", i), Worse: true, Evidence: schema.Confirmed, Since: "v8", Found: "v9",
			State: judge.StateOpen, Effect: .12, Interval: [2]float64{.1, .14}, Limit: .05, Scope: judge.Scope{
				Models: []string{fmt.Sprintf("m%d", i)}, Devices: []string{"d1"}, Metrics: []string{"ttft"}, Points: 1, Pairs: 1,
				Of: 4}}
		c.Numbers = []*judge.Series{{Model: fmt.Sprintf("m%d", i), Device: "d1", Key: key(3), Metric: "ttft", Stat: "mean"}}
		switch i {
		case changes:
			c.Found, c.Since, c.Earlier = "v5", "v4", true
		case changes + 1:
			c.Found, c.Since, c.State, c.Ended = "v3", "v2", judge.StateFixed, "v6"
		}
		f.Changes = append(f.Changes, c)
	}
	x := gate.Review{Release: "v9", Label: "v9", Baseline: "v8", Findings: f}
	var pairs map[schema.Pair]gate.Result
	x.Result, pairs = gate.DecidePairs(f, gate.DefaultFailOn(schema.ChannelRelease))
	for m := range models {
		p := schema.Pair{Model: fmt.Sprintf("m%d", m), Device: "d1"}
		x.Pairs = append(x.Pairs, gate.PairResult{Pair: p, Result: pairs[p]})
	}
	return x
}

// However much a release changed, its check fits a screen, and says how much more there is; --all has all of it.
func TestCheckFitsAScreen(t *testing.T) {
	g := large()
	var short, all strings.Builder
	terminal.Check(&short, &g, render.Card{}, false)
	terminal.Check(&all, &g, render.Card{}, true)
	const most = 40
	if n := strings.Count(short.String(), "\n"); n > most {
		t.Errorf("%d lines, at most %d:\n%s", n, most, short.String())
	}
	for _, want := range []string{"[c0]", "… and 21 more changes: --all lists them", "31 FAIL, 9 PASS; --all lists them",
		"… and 20 more: --format json lists all"} {
		if !strings.Contains(short.String(), want) {
			t.Errorf("%q is missing:\n%s", want, short.String())
		}
	}
	if strings.Contains(short.String(), "[v0-2]") || strings.Contains(short.String(), "[v0-1]") {
		t.Errorf("what is part of a change or below the limit is told again:\n%s", short.String())
	}
	for i := range g.Changes {
		if line := fmt.Sprintf("[c%d]", i); strings.Count(all.String(), line) != 1 {
			t.Errorf("%s stands %d times in all", line, strings.Count(all.String(), line))
		}
	}
	for i := range g.History {
		if !strings.Contains(all.String(), "["+g.History[i].ID+"]") {
			t.Errorf("%s is not in all", g.History[i].ID)
		}
	}
	if strings.Contains(all.String(), "… and") {
		t.Errorf("all leaves something out:\n%s", all.String())
	}
}

// A release with one cause on many models and devices is told in one screen of 24 lines, and its cause once.
func TestOneCauseFitsAScreen(t *testing.T) {
	g := large()
	g.Changes = g.Changes[:1]
	for i := range g.History {
		if v := &g.History[i]; v.Evidence == schema.Confirmed {
			v.Change = "c0"
		} else {
			v.Outcome, v.Evidence = schema.Unchanged, schema.NoEvidence
		}
	}
	var out strings.Builder
	terminal.Check(&out, &g, render.Card{}, false)
	if n := strings.Count(out.String(), "\n"); n > 24 || strings.Count(out.String(), "[c0]") != 1 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}

// A release without changes says nothing of them.
func TestCheckWithoutChanges(t *testing.T) {
	g := large()
	g.Changes = nil
	var out strings.Builder
	terminal.Check(&out, &g, render.Card{}, false)
	if strings.Contains(out.String(), "[c0]") || strings.Contains(out.String(), "more change") {
		t.Error(out.String())
	}
}

// The sentences beside a headline are about the other new changes, ten at most.
func TestChangeTextsBesideTheHeadline(t *testing.T) {
	g := large()
	got := render.ChangeTexts(&g)
	if len(got) != 11 || !strings.HasPrefix(got[0], "TTFT mean of m1 on d1") || got[10] != "19 more changes." {
		t.Errorf("%d: %q", len(got), got)
	}
}
