package gate_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// world is the input of a gate.
type world struct {
	history judgetest.History
	policy  decision.Policy
	listed  []judge.Configured
	lost    []schema.Problem
	edit    func(*columns.Columns)
}

// newWorld is a history of seven releases, the files of which have hashes.
func newWorld() *world {
	return &world{history: judgetest.History{TTFT: judgetest.Steady(7)}, edit: func(*columns.Columns) {}}
}

// digests are those of all releases.
func (w *world) digests(t *testing.T) []string {
	t.Helper()
	c := w.history.Columns()
	for i := range c.Runs {
		c.Runs[i].SHA256 = c.Runs[i].ID + " as it was"
	}
	w.edit(c)
	g := listedGate(t, c, w.listed, &w.policy)
	g.Lost = w.lost
	var out []string
	for r := range g.Releases {
		out = append(out, g.Digest(r))
	}
	return out
}

// digestCase changes one thing of a world.
type digestCase struct {
	before, after func(*world) // before is done to both worlds
	changed       []int        // releases whose digest changes
}

// historyCases change what was measured.
func historyCases() map[string]digestCase {
	return map[string]digestCase{
		"nothing":              {},
		"the content of a run": {after: func(w *world) { w.edit = rewritten(3) }, changed: []int{3, 4, 5, 6}},
		"the newest run":       {after: func(w *world) { w.edit = rewritten(6) }, changed: []int{6}},
		"a release more":       {after: func(w *world) { w.history.TTFT = judgetest.Steady(8) }},
		"a channel": {after: func(w *world) {
			w.edit = func(c *columns.Columns) { c.Runs[5].Channel = "pr" }
		}, changed: []int{5, 6}},
		// The newest release that serves as a baseline shows later runs of an unknown channel.
		"a later run of an unknown channel": {after: func(w *world) {
			w.history.TTFT = judgetest.Steady(8)
			w.edit = func(c *columns.Columns) { c.Runs[7].Channel = "nightly-ish" }
		}, changed: []int{6}},
		"a lost document": {after: func(w *world) { w.lost = []schema.Problem{{Path: "a.json"}} }, changed: all()},
		"how it was lost": {
			before: func(w *world) { w.lost = []schema.Problem{{Path: "a.json", Found: "x"}} },
			after:  func(w *world) { w.lost = []schema.Problem{{Path: "a.json", Found: "y"}} }, changed: all(),
		},
	}
}

// decisionCases change what people decided, and the day.
func decisionCases() map[string]digestCase {
	waive := decision.Decision{
		ID: "D", Kind: schema.Waive, Release: "v6", Expires: "2026-01-20", Select: decision.Select{Model: "M"},
	}
	on := func(day int) func(*world) { return func(w *world) { w.on(waive, day) } }
	because := func(reason string) func(*world) { return func(w *world) { w.decide(waive, reason) } }
	today := func(day int) func(*world) { return func(w *world) { w.policy.Today = judgetest.Day(day) } }
	return map[string]digestCase{
		"a decision":                      {after: because("a"), changed: all()},
		"its reason":                      {before: because("a"), after: because("b"), changed: all()},
		"its expiry":                      {before: on(20), after: on(21), changed: all()},
		"another day":                     {before: on(19), after: on(20)},
		"a day, and no decision":          {before: today(19), after: today(30)},
		"a run that starts in the future": {before: today(19), after: today(4), changed: []int{5, 6}},
		// Decisions and listed releases are checked against the names of all releases.
		"a release more, beside a decision": {
			before: because("a"), after: func(w *world) { w.history.TTFT = judgetest.Steady(8) }, changed: all(),
		},
		"a listed release": {after: func(w *world) { w.listed = []judge.Configured{{Name: "v9"}} }, changed: all()},
	}
}

// all are the releases of a new world.
func all() []int { return []int{0, 1, 2, 3, 4, 5, 6} }

// The digest of a release changes when something that it covers changes, and when nothing does it stays.
func TestDigest(t *testing.T) {
	cases := historyCases()
	maps.Copy(cases, decisionCases())
	for name, c := range cases {
		before, after := newWorld(), newWorld()
		if c.before != nil {
			c.before(before)
			c.before(after)
		}
		if c.after != nil {
			c.after(after)
		}
		a, b := before.digests(t), after.digests(t)
		var changed []int
		for r := range a {
			if a[r] != b[r] {
				changed = append(changed, r)
			}
		}
		if !slices.Equal(changed, c.changed) {
			t.Errorf("%s: the digests of %v change, want %v", name, changed, c.changed)
		}
		slices.Sort(a)
		if len(slices.Compact(a)) != 7 {
			t.Errorf("%s: two releases have one digest", name)
		}
	}
}

// rewritten changes the hash of a run's document.
func rewritten(run int) func(*columns.Columns) {
	return func(c *columns.Columns) { c.Runs[run].SHA256 = "rewritten" }
}

// decide adds a decision for a reason.
func (w *world) decide(d decision.Decision, reason string) {
	d.Reason = reason
	w.policy.Decisions = []decision.Decision{d}
}

// on adds a decision on a day of January.
func (w *world) on(d decision.Decision, day int) {
	w.policy.Decisions, w.policy.Today = []decision.Decision{d}, judgetest.Day(day)
}

// A later release changes the digest of an earlier one only when it follows up on a change there.
func TestDigestCoversFollowUps(t *testing.T) {
	values := judgetest.Steady(8)
	values[6][2] *= 1.2
	seenOnce := world{history: judgetest.History{TTFT: values[:7]}, edit: func(*columns.Columns) {}}
	seenAgain := world{history: judgetest.History{TTFT: values}, edit: func(*columns.Columns) {}}
	a, b := seenOnce.digests(t), seenAgain.digests(t)
	for r := range a {
		if changed := a[r] != b[r]; changed != (r == 6) {
			t.Errorf("v%d: changed %v", r, changed)
		}
	}
}

// Two gates with one digest for a release decide alike.
func TestDigestFixesTheResult(t *testing.T) {
	results := map[string]gate.Word{}
	for _, factor := range []float64{1, 1, 1.3, 1.3, 3} {
		values := judgetest.Steady(7)
		values[5][0] *= factor
		values[6][0] *= factor
		c := judgetest.History{TTFT: values}.Columns()
		for i := range c.Runs {
			c.Runs[i].SHA256 = fmt.Sprint(values[i])
		}
		g := gateOf(t, c, nil)
		for r := range g.Releases {
			d, w := g.Digest(r), wordOf(g, r)
			if known, ok := results[d]; ok && known != w {
				t.Errorf("v%d at %g: %s, and %s under the same digest", r, factor, w, known)
			}
			results[d] = w
		}
	}
	if len(results) != 5+2*3 { // v0 to v4 are the same in all, v5 and v6 in two of three
		t.Errorf("%d digests", len(results))
	}
}
