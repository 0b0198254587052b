package decision_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "anything", true},
		{"", "", true},
		{"n150", "n150", true},
		{"n150", "n1500", false},
		{"n150", "", false},
		{"n*", "n150", true},
		{"Llama-*", "Llama-3.1-8B", true},
		{"128/128/*", "128/128/30", true},
		{"128/*", "128/128/30", true}, // a star crosses the slashes of a workload
		{"*/30", "128/128/30", true},
		{"128/128/?", "128/128/30", false},
		{"128/128/[13]0", "128/128/30", true},
		{"{n150,t3k}", "t3k", true}, // as doublestar has it
		{"{n150,t3k}", "n300", false},
		{"[", "[", true}, // a malformed pattern is itself
		{"[", "n150", false},
	} {
		if got := decision.Match(c.pattern, c.s); got != c.want {
			t.Errorf("%q, %q: %v", c.pattern, c.s, got)
		}
	}
}

func day(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }

// A decision is valid through the day that it names.
func TestHolds(t *testing.T) {
	until := func(expires string) decision.Decision { return decision.Decision{Expires: expires} }
	for _, c := range []struct {
		today   time.Time
		expires string
		want    bool
	}{
		{day(31), "", true}, {time.Time{}, "2020-01-01", true}, {day(20), "2026-01-21", true},
		{day(21).Add(23 * time.Hour), "2026-01-21", true}, {day(22), "2026-01-21", false}, {day(22), "soon", false},
	} {
		p := &decision.Policy{Today: c.today}
		if got := p.Holds(until(c.expires)); got != c.want {
			t.Errorf("%s on %s: %v", c.expires, c.today, got)
		}
		if p.Shown(until(c.expires)).Expired == c.want {
			t.Errorf("%s on %s is shown as expired: %v", c.expires, c.today, c.want)
		}
	}
}

// runs of two models.
func runs() []columns.RunHead {
	return []columns.RunHead{
		{ID: "r1", Release: "v1", Model: schema.Model{Name: "A"}, Device: "n150"},
		{ID: "r2", Release: "v2", Model: schema.Model{Name: "A"}, Device: "n150"},
		{ID: "r3", Release: "v2", Model: schema.Model{Name: "B"}, Device: "t3k"},
	}
}

func TestExcludesRun(t *testing.T) {
	type sel = decision.Select
	for name, c := range map[string]struct {
		d    decision.Decision
		want string // ids of the runs that are excluded
	}{
		"by run":        {decision.Decision{Kind: schema.Invalidate, Select: sel{Run: "r1"}}, "r1"},
		"by release":    {decision.Decision{Kind: schema.Invalidate, Release: "v2"}, "r2 r3"},
		"by glob":       {decision.Decision{Kind: schema.Invalidate, Select: sel{Run: "r*"}, Release: "v2"}, "r2 r3"},
		"by model":      {decision.Decision{Kind: schema.Invalidate, Release: "v2", Select: sel{Model: "B"}}, "r3"},
		"by device":     {decision.Decision{Kind: schema.Invalidate, Release: "v2", Select: sel{Device: "n*"}}, "r2"},
		"in capitals":   {decision.Decision{Kind: schema.Invalidate, Release: "v2", Select: sel{Device: "N1*"}}, "r2"},
		"a point":       {decision.Decision{Kind: schema.Invalidate, Select: sel{Run: "r1", Workload: "1/1/1"}}, ""},
		"a tool":        {decision.Decision{Kind: schema.Invalidate, Select: sel{Run: "r1", Tool: "vllm"}}, ""},
		"a waiver":      {decision.Decision{Kind: schema.Waive, Select: sel{Run: "r1"}}, ""},
		"replaced":      {decision.Decision{Kind: schema.Supersede, Select: sel{Run: "r1"}, By: "r2"}, "r1"},
		"by no run":     {decision.Decision{Kind: schema.Supersede, Select: sel{Run: "r1"}, By: "nobody"}, ""},
		"expired":       {decision.Decision{Kind: schema.Invalidate, Select: sel{Run: "r1"}, Expires: "2026-01-04"}, ""},
		"holding still": {decision.Decision{Kind: schema.Invalidate, Select: sel{Run: "r1"}, Expires: "2026-01-05"}, "r1"},
	} {
		p := (&decision.Policy{Decisions: []decision.Decision{c.d}, Today: day(5)}).For(runs())
		var got []string
		for _, h := range runs() {
			if p.ExcludesRun(&h) != nil {
				got = append(got, h.ID)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
	var nobody *decision.Policy
	if p := nobody.For(runs()); p.ExcludesRun(&runs()[0]) != nil || p.Effect("ttft") != decision.DefaultEffect {
		t.Error("no policy decides something")
	}
}

func TestExcludesPoint(t *testing.T) {
	one := 1.
	k := schema.Key{Tool: "vllm", ISL: &one, OSL: &one, Concurrency: &one}
	type sel = decision.Select
	for name, c := range map[string]struct {
		d    decision.Decision
		want bool
	}{
		"by workload":      {decision.Decision{Kind: schema.Invalidate, Select: sel{Run: "r1", Workload: "1/1/*"}}, true},
		"by tool":          {decision.Decision{Kind: schema.Invalidate, Release: "v1", Select: sel{Tool: "vllm"}}, true},
		"another tool":     {decision.Decision{Kind: schema.Invalidate, Release: "v1", Select: sel{Tool: "aiperf"}}, false},
		"another workload": {decision.Decision{Kind: schema.Invalidate, Select: sel{Run: "r1", Workload: "2/*"}}, false},
		"another run":      {decision.Decision{Kind: schema.Invalidate, Select: sel{Run: "r2", Workload: "1/1/1"}}, false},
		"another model":    {decision.Decision{Kind: schema.Invalidate, Select: sel{Model: "B", Tool: "vllm"}}, false},
		"the whole run":    {decision.Decision{Kind: schema.Invalidate, Select: sel{Run: "r1"}}, false},
		"a superseded run": {decision.Decision{
			Kind: schema.Supersede, Select: sel{Run: "r1", Tool: "vllm"}, By: "r2"}, false},
		"a waived workload": {decision.Decision{Kind: schema.Waive, Select: sel{Workload: "1/1/1"}}, false},
		"expired": {decision.Decision{
			Kind: schema.Invalidate, Select: sel{Tool: "vllm"}, Expires: "2026-01-04"}, false},
	} {
		p := (&decision.Policy{Decisions: []decision.Decision{c.d}, Today: day(5)}).For(runs())
		if got := p.ExcludesPoint(&runs()[0], k); (got != nil) != c.want {
			t.Errorf("%s: %+v", name, got)
		}
		if c.want && !p.ExcludesPoints() {
			t.Errorf("%s: nobody would ask", name)
		}
	}
}

// A decision that names something that does not exist has no effect and is reported.
func TestUnused(t *testing.T) {
	d := func(id string, kind schema.DecisionKind, release string, s decision.Select, by string) decision.Decision {
		return decision.Decision{ID: id, Kind: kind, Release: release, Select: s, By: by}
	}
	type sel = decision.Select
	p := &decision.Policy{Decisions: []decision.Decision{
		d("used", schema.Waive, "v2", sel{Model: "A", Device: "n150"}, ""),
		d("globs", schema.Waive, "v*", sel{Run: "r*", Model: "*"}, ""),
		d("all", schema.Waive, "", sel{Metric: "ttft"}, ""),
		d("release", schema.Waive, "v3", sel{Model: "A"}, ""),
		d("run", schema.Invalidate, "", sel{Run: "r9"}, ""),
		d("by", schema.Supersede, "", sel{Run: "r1"}, "r9"),
		d("by-glob", schema.Supersede, "", sel{Run: "r1"}, "r*"), // one run replaces another: no glob
		d("pair", schema.Waive, "v1", sel{Model: "A", Device: "t3k"}, ""),
	}}
	want := []string{
		"release: unknown release v3", "run: unknown run r9", "by: unknown run r9",
		"by-glob: unknown run r*", "pair: no run is of its model and device",
	}
	if got := p.Unused([]string{"v1", "v2"}, runs()); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCovers(t *testing.T) {
	one := 1.
	v := schema.Verdict{
		ID: "0123456789ab", Release: "v1", Run: "r1", Model: "A", Device: "n150", Metric: "ttft", Level: "target",
		Key: schema.Key{Tool: "vllm", ISL: &one, OSL: &one, Concurrency: &one},
	}
	eval := schema.Verdict{Release: "v1", Model: "A", Key: schema.EvalKey(&schema.Score{Task: "gsm8k"})}
	type sel = decision.Select
	all := sel{
		Run: "r1", Model: "A", Device: "n150", Workload: "1/1/1", Tool: "vllm", Metric: "ttft", Level: "target",
	}
	for name, c := range map[string]struct {
		d    decision.Decision
		of   schema.Verdict
		want bool
	}{
		"everything":          {decision.Decision{}, v, true},
		"all fields":          {decision.Decision{Release: "v1", Select: all}, v, true},
		"another release":     {decision.Decision{Release: "v2"}, v, false},
		"another run":         {decision.Decision{Select: sel{Run: "r2"}}, v, false},
		"another model":       {decision.Decision{Select: sel{Model: "B"}}, v, false},
		"another device":      {decision.Decision{Select: sel{Device: "t3k"}}, v, false},
		"another workload":    {decision.Decision{Select: sel{Workload: "1/1/2"}}, v, false},
		"another tool":        {decision.Decision{Select: sel{Tool: "aiperf"}}, v, false},
		"another metric":      {decision.Decision{Select: sel{Metric: "tpot"}}, v, false},
		"another level":       {decision.Decision{Select: sel{Level: "complete"}}, v, false},
		"an eval's task":      {decision.Decision{Select: sel{Task: "gsm*"}}, eval, true},
		"another eval's task": {decision.Decision{Select: sel{Task: "mmlu"}}, eval, false},
		"no eval":             {decision.Decision{Select: sel{Task: "gsm8k"}}, v, false},
		"the verdict":         {decision.Decision{Release: "v9", Select: sel{Verdict: "0123456789ab", Model: "B"}}, v, true},
		"another verdict":     {decision.Decision{Select: sel{Verdict: "ba9876543210"}}, v, false},
	} {
		if got := c.d.Covers(&c.of); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The effect that matters is set by metric, and for evals in percentage points.
func TestEffects(t *testing.T) {
	p := &decision.Policy{Effects: map[string]float64{"ttft": .1}, EvalPoint: 2}
	if p.Effect("ttft") != .1 || p.Effect("tpot") != .05 || p.EvalEffect() != .02 {
		t.Errorf("%v %v %v", p.Effect("ttft"), p.Effect("tpot"), p.EvalEffect())
	}
	if e := (&decision.Policy{}).EvalEffect(); e != .02 {
		t.Errorf("%v", e)
	}
}
