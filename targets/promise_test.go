package targets_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets"
)

func library(t *testing.T) *targets.Library {
	t.Helper()
	a, err := targets.DefaultAliases()
	if err != nil {
		t.Fatal(err)
	}
	return targets.NewLibrary(a)
}

func everyDevice(string) bool { return true }

func codes(list []schema.Problem) []string {
	var out []string
	for _, p := range list {
		out = append(out, p.Code)
	}
	return out
}

const requirementsHead = `{"schemaVersion":"2.6.0","document":{"model":{"name":"acme/tiny"},"deployment":{"hardware":"n150"}},`

// Of two numbers for one thing the one that asks for more is in force, a duty before an expectation, and it is told.
func TestRequirementsKeepWhatAsksForMore(t *testing.T) {
	sweep := `"sweep":[{"isl":128,"osl":128,"concurrency":1%s}]`
	scalar := func(rows ...string) string { return `"scalarTargets":[` + strings.Join(rows, ",") + `]` }
	for name, c := range map[string]struct {
		scalars, expects string
		value            float64
		priority         string
	}{
		"a looser duty beside a stricter":    {scalar(`{"metric":"ttft","comparator":"lte","target":100}`, `{"metric":"ttft","comparator":"lte","target":300}`), "", 100, "must"},
		"a stricter duty after a looser":     {scalar(`{"metric":"ttft","comparator":"lte","target":300}`, `{"metric":"ttft","comparator":"lte","target":100}`), "", 100, "must"},
		"an expectation after a duty":        {scalar(`{"metric":"ttft","comparator":"lte","target":300}`, `{"metric":"ttft","comparator":"lte","target":100,"priority":"should"}`), "", 300, "must"},
		"a duty after what the sweep says":   {scalar(`{"metric":"ttft","comparator":"lte","target":300}`), `,"ttftMeanMs":50`, 300, "must"},
		"the same twice, which is no matter": {scalar(`{"metric":"ttft","comparator":"lte","target":300}`, `{"metric":"ttft","comparator":"lte","target":300}`), "", 300, "must"},
	} {
		l := library(t)
		problems := l.Add("req.json", []byte(requirementsHead+`"scenarios":[{`+c.scalars+`,`+fmt.Sprintf(sweep, c.expects)+`}]}`), "", everyDevice)
		rows := l.For(schema.Model{Name: "tiny"}, "n150")
		if len(rows) != 1 || rows[0].Value != c.value || rows[0].Priority != c.priority {
			t.Errorf("%s: %+v", name, rows)
		}
		if told := slices.Equal(codes(problems), []string{"targets-replaced"}); told == strings.HasPrefix(name, "the same") {
			t.Errorf("%s: %v", name, problems)
		}
	}
	l := library(t)
	duty := requirementsHead + `"accuracyEvals":[{"name":"gsm8k","gpuReferenceScore":79,"tolerance":0.05}]}`
	l.Add("a.json", []byte(duty), "", everyDevice)
	if p := l.Add("b.json", []byte(strings.Replace(duty, `"tolerance":0.05`, `"priority":"should"`, 1)), "", everyDevice); !slices.Equal(codes(p), []string{"targets-replaced"}) {
		t.Errorf("%v", p)
	}
	if rows := l.For(schema.Model{Name: "tiny"}, "n150"); len(rows) != 1 || rows[0].Priority != "must" {
		t.Errorf("%+v", rows)
	}
}

// An expectation of our own file never takes the place of a duty, and what is in force is said; a reference without a task speaks of
// the same workload as one that says text.
func TestDutiesStand(t *testing.T) {
	l := library(t)
	l.Add("a.json", []byte(requirementsHead+`"scenarios":[{"scalarTargets":[{"metric":"ttft","comparator":"lte","target":50}],"sweep":[{"isl":128,"osl":128,"concurrency":1}]}]}`), "", everyDevice)
	p := l.Add("b.yaml", []byte("targets: [{model: tiny, device: n150, workload: {task: text, isl: 128, osl: 128, concurrency: 1}, metric: ttft, value: 5000, priority: should, source: x, as_of: 2026-01-31}]"), "", everyDevice)
	if !slices.Equal(codes(p), []string{"targets-replaced"}) || !strings.Contains(p[0].Hint, "in force is ttft target of tiny on n150 as 50 (must)") {
		t.Errorf("%v", p)
	}
	l.Add("c.json", []byte(requirementsHead+`"scenarios":[{"scalarTargets":[{"metric":"ttft","comparator":"lte","target":900}],"sweep":[{"isl":128,"osl":128,"concurrency":1}]}]}`), "", everyDevice)
	l.Add("ref.json", []byte(`{"tiny":{"n150":[{"isl":128,"osl":128,"max_concurrency":1,"targets":{"theoretical":{"ttft_ms":5000}}}]}}`), "", everyDevice)
	n := 0
	for _, r := range l.For(schema.Model{Name: "tiny"}, "n150") {
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

// What no measurement can miss, or none can meet, is refused and told.
func TestUnsoundPromises(t *testing.T) {
	scenario := func(scalar, point string) string {
		return requirementsHead + `"scenarios":[{"scalarTargets":[` + scalar + `],"sweep":[` + point + `]}]}`
	}
	point := `{"isl":128,"osl":128,"concurrency":1}`
	for _, doc := range []string{
		requirementsHead + `"accuracyEvals":[{"name":"a","gpuReferenceScore":79,"tolerance":5}]}`,
		requirementsHead + `"accuracyEvals":[{"name":"a","gpuReferenceScore":79,"tolerance":-3}]}`,
		requirementsHead + `"accuracyEvals":[{"name":"a","gpuReferenceScore":500}]}`,
		scenario(`{"metric":"ttft","comparator":"lte","target":1,"unit":"fortnights"}`, point),
		scenario(`{"metric":"ttft","comparator":"lte","target":100,"statistic":"typical"}`, point),
		scenario(`{"metric":"ttft","comparator":"lte","target":-100}`, point),
		scenario(`{"metric":"ttft","comparator":"lte","target":100}`, `{"isl":128,"osl":128,"concurrency":-1}`),
	} {
		l := library(t)
		if p := l.Add("req.json", []byte(doc), "", everyDevice); !slices.Equal(codes(p), []string{"bad-target"}) || p[0].Severity != schema.SevError || len(l.List()) != 0 {
			t.Errorf("%s: %v", doc, p)
		}
	}
	row := `targets: [{model: M, device: n150, workload: {isl: 128, osl: 128, concurrency: 1}, metric: ttft, value: 80, tolerance: 0.05, stat: mean, source: x, as_of: 2026-01-31}]`
	eval := `evals: [{model: M, task: gsm8k, value: 0.79, tolerance: 0.05, source: x, as_of: 2026-01-31}]`
	for _, c := range [][3]string{{row, "80", ".nan"}, {row, "80", ".inf"}, {row, "80", "-1"}, {row, "0.05", ".nan"}, {row, "0.05", "1"}, {row, "mean", "average"}, {row, "mean", "p100"}, {row, "2026-01-31", "soon"},
		{row, "concurrency: 1", "concurrency: -1"}, {eval, "0.79", ".nan"}, {eval, "0.79", "790"}, {eval, "0.05", ".nan"}, {eval, "2026-01-31", "2026-31-01"}} {
		l := library(t)
		doc := strings.Replace(c[0], c[1], c[2], 1)
		if p := l.Add("own.yaml", []byte(doc), "", everyDevice); !slices.Equal(codes(p), []string{"bad-target"}) || len(l.List()) != 0 {
			t.Errorf("%s: %v", doc, p)
		}
	}
	l := library(t)
	if p := l.Add("req.json", []byte(scenario(`{"metric":"ttft","comparator":"lte","target":1.5,"unit":"s","statistic":"P50"}`, point)), "", everyDevice); len(p) > 0 {
		t.Error(p)
	}
	if rows := l.For(schema.Model{Name: "tiny"}, "n150"); len(rows) != 1 || rows[0].Value != 1500 || rows[0].Stat != "median" {
		t.Errorf("%+v", rows)
	}
}

// A promise under the model's own name does not make those under its architecture vanish, and goes before them.
func TestTargetsOfSeveralNames(t *testing.T) {
	own := func(model, device, metric string, value float64) string {
		return fmt.Sprintf("  - {model: %s, device: %q, workload: {task: text, isl: 128, osl: 128, concurrency: 1}, metric: %s, value: %g, source: x, as_of: 2026-01-31}\n", model, device, metric, value)
	}
	l := library(t)
	l.Add("ref.json", []byte(`{"Llama-3.1-8B":{"n150":[{"isl":128,"osl":128,"max_concurrency":1,"task_type":"text","targets":{"theoretical":{"ttft_ms":89,"tput_user":21}}}]}}`), "", everyDevice)
	l.Add("own.yaml", []byte("targets:\n"+own("Llama-3.1-8B-Instruct", "n150", "ttft", 70)+own("Llama-3.1-8B-Instruct", "*", "ttft", 75)+own("Llama-3.1-8B", "*", "e2el", 900)), "", everyDevice)
	got := map[string]float64{}
	for _, r := range l.For(schema.Model{Name: "Llama-3.1-8B-Instruct"}, "n150") {
		if _, twice := got[r.Metric+r.Level]; twice {
			t.Errorf("%s %s is in force twice", r.Metric, r.Level)
		}
		got[r.Metric+r.Level] = r.Value
	}
	for name, want := range map[string]float64{"ttfttarget": 70, "e2eltarget": 900, "ttftfunctional": 890, "tps_usertarget": 21} {
		if got[name] != want {
			t.Errorf("%s is %g, want %g; %v", name, got[name], want, got)
		}
	}
}

// What import writes, targets reads back without a word.
func TestExportReadsBack(t *testing.T) {
	corpus := os.Getenv("TTREPORT_CORPUS")
	if corpus == "" {
		t.Skip("TTREPORT_CORPUS names no folder of real files")
	}
	data, err := os.ReadFile(corpus + "/tenstorrent/targets/model_performance_reference.json")
	if err != nil {
		t.Fatal(err)
	}
	l := library(t)
	l.Add("ref.json", data, "2026-01-31", everyDevice)
	var f targets.File
	left := 0
	for _, e := range l.List() {
		part, n := targets.Export(e.Model, e.Device, e.Targets)
		f.Targets, left = append(f.Targets, part.Targets...), left+n
	}
	if left == 0 {
		t.Error("the reference has targets on what no tool measures; none was left out")
	}
	text, err := f.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	back := library(t)
	if p := back.Add("own.yaml", text, "", everyDevice); len(p) > 0 {
		t.Errorf("%d problems, the first: %v", len(p), p[0])
	}
}
