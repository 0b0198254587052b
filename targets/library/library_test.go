package library_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/library"
)

func everyDevice(string) bool { return true }

func noDevice(string) bool { return false }

func codes(list []schema.Problem) []string {
	var out []string
	for _, p := range list {
		out = append(out, p.Code)
	}
	return out
}

const reference = `{"Llama-3.1-8B":{
 "n150":[{"isl":128,"osl":128,"max_concurrency":1,
   "targets":{"theoretical":{"ttft_ms":89,"tput_user":21,"tolerance":0.05}}}],
 "n1500":[{"isl":1,"osl":1,"max_concurrency":1,"targets":{"theoretical":{"ttft_ms":1}}}]}}`

// A reference states the most demanding level; the others are multiples of it.
func TestLevelsOfAReference(t *testing.T) {
	l := library.New()
	problems := l.Add("t.json", []byte(reference), "2026-01-01", noDevice)
	if len(problems) != 1 || problems[0].Code != "unknown-device" || !strings.Contains(problems[0].Found, "n1500") {
		t.Errorf("%v", problems)
	}
	rows := l.For(schema.Model{Name: "Llama-3.1-8B-Instruct"}, "N150", nil) // by the first weight of its architecture
	got := map[string]float64{}
	for _, r := range rows {
		got[r.Metric+"/"+r.Level] = r.Value
		if r.Tolerance != .05 || r.SHA256 == "" || r.AsOf != "2026-01-01" {
			t.Errorf("%+v", r)
		}
	}
	for name, want := range map[string]float64{
		"ttft/functional": 890, "ttft/complete": 178, "ttft/target": 89,
		"tps_user/functional": 2.1, "tps_user/complete": 10.5, "tps_user/target": 21,
	} {
		if math.Abs(got[name]-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", name, got[name], want)
		}
	}
	if len(l.For(schema.Model{Name: "Qwen3-8B"}, "n150", nil)) != 0 ||
		len(l.For(schema.Model{Name: "Llama-3.1-8B"}, "t3k", nil)) != 0 {
		t.Error("targets of another model or device")
	}
}

func TestOverrideIsShown(t *testing.T) {
	l := library.New()
	l.Add("t.json", []byte(reference), "2026-01-01", everyDevice)
	override := strings.Replace(reference, `"ttft_ms":89`, `"ttft_ms":50`, 1)
	p := l.Add("o.json", []byte(override), "", everyDevice)
	if len(p) != 2 || p[0].Code != "targets-replaced" {
		t.Errorf("%v", p)
	}
	for _, r := range l.For(schema.Model{Name: "Llama-3.1-8B"}, "n150", nil) {
		if r.Metric == "ttft" && r.Level == schema.LevelTarget && r.Value != 50 {
			t.Errorf("%+v", r)
		}
	}
}

func TestDamagedFiles(t *testing.T) {
	for text, code := range map[string]string{
		"": "empty-file", "[": "truncated-json", "[1]": "bad-targets", `{"m":{"hf_id":"x"}}`: "not-targets",
		`{"m":{"n150":5,"t3k":[]}}`:         "bad-targets",
		`{"m":{"n150":[]},"m":{"n150":[]}}`: "model-twice", `{"m":{"n150":[],"n150":[]}}`: "device-twice",
	} {
		if p := library.New().Add("bad.json", []byte(text), "", noDevice); len(p) != 1 || p[0].Code != code {
			t.Errorf("%q: %v, want %s", text, p, code)
		}
	}
}

// Targets under the model's own name come before those under its architecture, which stay in force beside them.
func TestTargetsOfSeveralNames(t *testing.T) {
	own := func(model, device, metric, value string) string {
		return "  - {model: " + model + `, device: "` + device + `", metric: ` + metric + ", value: " + value +
			", workload: {task: text, isl: 128, osl: 128, concurrency: 1}, source: x, as_of: 2026-01-31}\n"
	}
	l := library.New()
	l.Add("ref.json", []byte(`{"Llama-3.1-8B":{"n150":[{"isl":128,"osl":128,"max_concurrency":1,"task_type":"text",
	 "targets":{"theoretical":{"ttft_ms":89,"tput_user":21}}}]}}`), "", everyDevice)
	l.Add("own.yaml", []byte("targets:\n"+own("Llama-3.1-8B-Instruct", "n150", "ttft", "70")+
		own("Llama-3.1-8B-Instruct", "*", "ttft", "75")+own("Llama-3.1-8B", "*", "e2el", "900")), "", everyDevice)
	got := map[string]float64{}
	for _, r := range l.For(schema.Model{Name: "Llama-3.1-8B-Instruct"}, "n150", nil) {
		if _, twice := got[r.Metric+"/"+r.Level]; twice {
			t.Errorf("%s %s is in force twice", r.Metric, r.Level)
		}
		got[r.Metric+"/"+r.Level] = r.Value
	}
	for name, want := range map[string]float64{
		"ttft/target": 70, "e2el/target": 900, "ttft/functional": 890, "tps_user/target": 21,
	} {
		if got[name] != want {
			t.Errorf("%s is %g, want %g; %v", name, got[name], want, got)
		}
	}
}

// Each contradiction between the targets of one workload is found, and consistent targets have none.
func TestContradictions(t *testing.T) {
	k := schema.Key{Task: "text", ISL: ptr(128), OSL: ptr(101), Concurrency: ptr(4)}
	row := func(metric, level string, value float64) schema.Target {
		return schema.Target{Key: k, Metric: metric, Stat: "mean", Level: level, Value: value}
	}
	top := schema.LevelTarget
	for name, c := range map[string]struct {
		targets []schema.Target
		want    []string
	}{
		"sound": {[]schema.Target{row("output_tps", top, 70), row("tps_user", top, 20), row("ttft", top, 500)}, nil},
		"more than all users take": {
			[]schema.Target{row("output_tps", top, 90), row("tps_user", top, 20)}, []string{"unattainable"}},
		"no time is left for TTFT": {[]schema.Target{
			row("output_tps", top, 79), row("tps_user", top, 20), row("ttft", top, 500),
		}, []string{"needs-no-ttft"}},
		"the harder level asks for less": {
			[]schema.Target{row("ttft", schema.LevelFunctional, 100), row("ttft", top, 200)}, []string{"tiers-inverted"}},
		"no tool measures it": {[]schema.Target{row("rtr", top, 3)}, []string{"unmeasured-metric"}},
	} {
		var got []string
		for _, x := range library.LintEntry(library.Entry{Model: "M", Device: "n150", Targets: c.targets}) {
			got = append(got, x.Code)
			if (x.Severity == schema.SevError) != (x.Code == "unattainable") || x.Text == "" || x.Model != "M" {
				t.Errorf("%s: %+v", name, x)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func ptr(v float64) *float64 { return &v }
