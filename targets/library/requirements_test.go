package library_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/library"
)

const requirementsHead = `{"schemaVersion":"2.6.0",` +
	`"document":{"model":{"name":"acme/tiny"},"deployment":{"hardware":"n150"}},`

const sweepPoint = `{"isl":128,"osl":128,"concurrency":1}`

// scenario is a requirements document of one scenario.
func scenario(scalars, point string) string {
	return requirementsHead + `"scenarios":[{"scalarTargets":[` + scalars + `],"sweep":[` + point + `]}]}`
}

// tiny are the targets in force of the model of these documents.
func tiny() schema.Model { return schema.Model{Name: "tiny"} }

// Of two targets for one number the more demanding one is in force, must before should, and that is reported.
func TestRequirementsKeepWhatAsksForMore(t *testing.T) {
	const (
		loose    = `{"metric":"ttft","comparator":"lte","target":300}`
		strict   = `{"metric":"ttft","comparator":"lte","target":100}`
		expected = `{"metric":"ttft","comparator":"lte","target":100,"priority":"should"}`
		expects  = `{"isl":128,"osl":128,"concurrency":1,"ttftMeanMs":50}`
	)
	for name, c := range map[string]struct {
		scalars, point string
		value          float64
	}{
		"a looser duty beside a stricter":    {strict + "," + loose, sweepPoint, 100},
		"a stricter duty after a looser":     {loose + "," + strict, sweepPoint, 100},
		"an expectation after a duty":        {loose + "," + expected, sweepPoint, 300},
		"a duty after what the sweep says":   {loose, expects, 300},
		"the same twice, which is no matter": {loose + "," + loose, sweepPoint, 300},
	} {
		l := library.New()
		problems := l.Add("req.json", []byte(scenario(c.scalars, c.point)), "", everyDevice)
		rows := l.For(tiny(), "n150", nil)
		if len(rows) != 1 || rows[0].Value != c.value || rows[0].Priority != "must" {
			t.Errorf("%s: %+v", name, rows)
		}
		shown := slices.Equal(codes(problems), []string{"targets-replaced"})
		if same := strings.HasPrefix(name, "the same"); shown == same || same && len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// An eval with should never replaces one with must.
func TestEvalDutiesStand(t *testing.T) {
	l := library.New()
	duty := requirementsHead + `"accuracyEvals":[{"name":"gsm8k","gpuReferenceScore":79,"tolerance":0.05}]}`
	l.Add("a.json", []byte(duty), "", everyDevice)
	expectation := strings.Replace(duty, `"tolerance":0.05`, `"priority":"should"`, 1)
	if p := l.Add("b.json", []byte(expectation), "", everyDevice); !slices.Equal(codes(p), []string{"targets-replaced"}) {
		t.Errorf("%v", p)
	}
	if rows := l.For(tiny(), "n150", nil); len(rows) != 1 || rows[0].Priority != "must" {
		t.Errorf("%+v", rows)
	}
}

// A should in our own file never replaces a must, and what is in force is reported. A reference without a task covers
// the same workload as one with task text.
func TestDutiesStand(t *testing.T) {
	limit := func(ms string) []byte {
		return []byte(scenario(`{"metric":"ttft","comparator":"lte","target":`+ms+`}`, sweepPoint))
	}
	l := library.New()
	l.Add("a.json", limit("50"), "", everyDevice)
	p := l.Add("b.yaml", []byte(`targets: [{model: tiny, device: n150, metric: ttft, value: 5000, priority: should,
	  workload: {task: text, isl: 128, osl: 128, concurrency: 1}, source: x, as_of: 2026-01-31}]`), "", everyDevice)
	if !slices.Equal(codes(p), []string{"targets-replaced"}) ||
		p[0].Used != "ttft target of tiny on n150 as 50 (must)" {
		t.Errorf("%v", p)
	}
	l.Add("c.json", limit("900"), "", everyDevice)
	l.Add("ref.json", []byte(`{"tiny":{"n150":[{"isl":128,"osl":128,"max_concurrency":1,
	  "targets":{"theoretical":{"ttft_ms":5000}}}]}}`), "", everyDevice)
	n := 0
	for _, r := range l.For(tiny(), "n150", nil) {
		if r.Metric == "ttft" && r.Level == schema.LevelTarget {
			if n++; r.Value != 50 || r.Priority != "must" {
				t.Errorf("%+v", r)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d rows for one number", n)
	}
}

// Units and statistics are ours once they are read.
func TestUnitsOfRequirements(t *testing.T) {
	l := library.New()
	scalar := `{"metric":"ttft","comparator":"lte","target":1.5,"unit":"s","statistic":"P50"}`
	if p := l.Add("req.json", []byte(scenario(scalar, sweepPoint)), "", everyDevice); len(p) > 0 {
		t.Error(p)
	}
	if rows := l.For(tiny(), "n150", nil); len(rows) != 1 || rows[0].Value != 1500 || rows[0].Stat != "median" {
		t.Errorf("%+v", rows)
	}
}
