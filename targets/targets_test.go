package targets_test

import (
	"context"
	"maps"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets"
)

func ptr(v float64) *float64 { return &v }

func key(c float64) schema.Key {
	return schema.Key{Task: "text", Tool: "vllm", ISL: ptr(128), OSL: ptr(128), Concurrency: ptr(c)}
}

func target(metric, level string, value, tolerance float64) schema.Target {
	stat := "mean"
	if metric != "ttft" {
		stat = "value"
	}
	return schema.Target{Key: schema.Key{Task: "text", ISL: ptr(128), OSL: ptr(128), Concurrency: ptr(1)}, Metric: metric, Stat: stat, Value: value, Level: level, Tolerance: tolerance}
}

// run makes columns of one run: a point per TTFT with the given TPOT, all of one workload.
type run struct {
	release, status string
	start           time.Time
	targets         []schema.Target
	plan            []schema.Key
	ttft            []float64
	tpot, tps       float64
	key             schema.Key
	failed          bool
}

func build(runs ...run) *columns.Columns {
	b := columns.NewBuilder()
	for i, r := range runs {
		h := columns.RunHead{ID: r.release + string(rune('a'+i)), Release: r.release, Start: r.start, Model: schema.Model{Name: "M", Status: r.status}, Device: "n150", FirstPoint: len(b.C.Points)}
		k := b.Key(r.key, r.key.String())
		for _, v := range r.ttft {
			p := columns.PointRow{Run: int32(i), Key: k, Repeat: 1, Status: 1}
			b.Begin(&p)
			if r.failed {
				p.Status, p.Reason = 3, b.Reason("no request completed")
			} else {
				b.Value(b.StatID(columns.StatID{Metric: "ttft", Stat: "mean", Unit: "ms"}), v)
				b.Value(b.StatID(columns.StatID{Metric: "tpot", Stat: "mean", Unit: "ms"}), r.tpot)
				b.Value(b.StatID(columns.StatID{Metric: "output_tps", Stat: "value", Unit: "tok/s"}), r.tps)
			}
			b.End(p)
		}
		h.PointsEnd = len(b.C.Points)
		for _, t := range r.targets {
			b.C.Targets = append(b.C.Targets, columns.TargetRow{Run: int32(i), Target: t})
		}
		for _, p := range r.plan {
			b.C.Plans = append(b.C.Plans, columns.PlanRow{Run: int32(i), Key: b.Key(p, p.String())})
		}
		b.C.Runs = append(b.C.Runs, h)
	}
	return b.Seal()
}

// judge is what the newest release's targets say, judged with its whole history.
func judge(t *testing.T, c *columns.Columns) []schema.Verdict {
	t.Helper()
	j, err := targets.New(context.Background(), c, targets.Releases(c, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	return j.Targets(len(j.Releases)-1, "M", "n150")
}

func words(list []schema.Verdict) string {
	var out []string
	for _, v := range list {
		out = append(out, strings.Trim(v.Metric+"/"+v.Level+" "+v.Word, "/ "))
	}
	return strings.Join(out, ", ")
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name, want string
		r          run
	}{
		{"met", "ttft/target pass", run{ttft: []float64{99}, targets: []schema.Target{target("ttft", "target", 100, 0)}}},
		{"met exactly", "ttft/target pass", run{ttft: []float64{100}, targets: []schema.Target{target("ttft", "target", 100, 0)}}},
		{"missed", "ttft/target fail", run{ttft: []float64{101}, targets: []schema.Target{target("ttft", "target", 100, 0)}}},
		{"within tolerance", "ttft/target pass", run{ttft: []float64{104}, targets: []schema.Target{target("ttft", "target", 100, .05)}}},
		{"beyond tolerance", "ttft/target fail", run{ttft: []float64{106}, targets: []schema.Target{target("ttft", "target", 100, .05)}}},
		{"a rate is met from above", "tps_user/target pass", run{ttft: []float64{1}, tpot: 40, targets: []schema.Target{target("tps_user", "target", 25, 0)}}},
		{"a rate within tolerance", "tps_user/target pass", run{ttft: []float64{1}, tpot: 41, targets: []schema.Target{target("tps_user", "target", 25, .05)}}},
		{"a rate missed", "tps_user/target fail", run{ttft: []float64{1}, tpot: 41, targets: []schema.Target{target("tps_user", "target", 25, 0)}}},
		{"three repeats, clear", "ttft/target pass", run{ttft: []float64{90, 91, 92}, targets: []schema.Target{target("ttft", "target", 100, 0)}}},
		{"three repeats across the limit", "ttft/target inconclusive", run{ttft: []float64{90, 99, 108}, targets: []schema.Target{target("ttft", "target", 100, 0)}}},
		{"a crash is no zero", "ttft/target missing", run{ttft: []float64{0}, failed: true, targets: []schema.Target{target("ttft", "target", 100, 0)}}},
		{"another workload", "ttft/target missing, ungraded", run{key: key(32), ttft: []float64{1}, targets: []schema.Target{target("ttft", "target", 100, 0)}}},
		{"no target", "ungraded", run{ttft: []float64{1}}},
		{"a metric nobody measures", "rtr/target ungraded", run{ttft: []float64{1}, targets: []schema.Target{target("rtr", "target", 100, 0)}}},
		{"more output than users can have", "output_tps/target impossible, tps_user/target pass", run{ttft: []float64{1}, tpot: 10, tps: 90, targets: []schema.Target{target("output_tps", "target", 5329, 0), target("tps_user", "target", 50, 0)}}},
		{"planned and not measured", "ungraded, missing", run{ttft: []float64{1}, plan: []schema.Key{key(1), key(8)}}},
	} {
		if c.r.key.Task == "" {
			c.r.key = key(1)
		}
		if got := words(judge(t, build(c.r))); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Nobody can measure until it fits: all runs of a release count together.
func TestRunsOfAReleaseCountTogether(t *testing.T) {
	tg := []schema.Target{target("ttft", "target", 100, 0)}
	c := build(run{release: "v1", key: key(1), ttft: []float64{120}, targets: tg}, run{release: "v1", key: key(1), ttft: []float64{95}, targets: tg})
	v := judge(t, c)
	if len(v) != 1 || v[0].Word != schema.Fail || v[0].N != 2 {
		t.Fatalf("%+v", v)
	}
	if got, _ := v[0].Value.Get(); math.Abs(got-math.Sqrt(120*95)) > 1e-9 {
		t.Errorf("value %v", got)
	}
}

func TestRequired(t *testing.T) {
	for status, want := range map[string]string{"": "", "EXPERIMENTAL": "", "FUNCTIONAL": "functional", "COMPLETE": "functional complete", "TOP_PERF": "functional complete target"} {
		var got []string
		for _, l := range schema.Levels() {
			if targets.Required(status, l) {
				got = append(got, l)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q requires %v, want %s", status, got, want)
		}
	}
}

func TestLibrary(t *testing.T) {
	a, err := targets.DefaultAliases()
	if err != nil {
		t.Fatal(err)
	}
	l := targets.NewLibrary(a)
	none := func(string) bool { return false }
	file := `{"Llama-3.1-8B":{"n150":[{"isl":128,"osl":128,"max_concurrency":1,"targets":{"theoretical":{"ttft_ms":89,"tput_user":21,"tolerance":0.05}}}],"n1500":[{"isl":1,"osl":1,"max_concurrency":1,"targets":{"theoretical":{"ttft_ms":1}}}]}}`
	problems := l.Add("t.json", []byte(file), "2026-01-01", none)
	if len(problems) != 1 || problems[0].Code != "unknown-device" || !strings.Contains(problems[0].Found, "n1500") {
		t.Errorf("%v", problems)
	}
	rows := l.For(schema.Model{Name: "Llama-3.1-8B-Instruct"}, "N150") // found by the first weight of its architecture
	got := map[string]float64{}
	for _, r := range rows {
		got[r.Metric+"/"+r.Level] = r.Value
		if r.Tolerance != .05 || r.SHA256 == "" || r.AsOf != "2026-01-01" {
			t.Errorf("%+v", r)
		}
	}
	for name, want := range map[string]float64{"ttft/functional": 890, "ttft/complete": 178, "ttft/target": 89, "tps_user/functional": 2.1, "tps_user/complete": 10.5, "tps_user/target": 21} {
		if math.Abs(got[name]-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", name, got[name], want)
		}
	}
	if len(l.For(schema.Model{Name: "Qwen3-8B"}, "n150")) != 0 || len(l.For(schema.Model{Name: "Llama-3.1-8B"}, "t3k")) != 0 {
		t.Error("targets of somebody else")
	}
	if p := l.Add("o.json", []byte(strings.Replace(file, `"ttft_ms":89`, `"ttft_ms":50`, 1)), "", func(string) bool { return true }); len(p) != 2 || p[0].Code != "targets-replaced" {
		t.Errorf("an override is not told: %v", p)
	}
	for text, code := range map[string]string{"": "empty-file", "[": "truncated-json", "[1]": "bad-targets", `{"m":{"hf_id":"x"}}`: "not-targets", `{"m":{"n150":5,"t3k":[]}}`: "bad-targets",
		`{"m":{"n150":[]},"m":{"n150":[]}}`: "model-twice", `{"m":{"n150":[],"n150":[]}}`: "device-twice"} {
		if p := l.Add("bad.json", []byte(text), "", none); len(p) != 1 || p[0].Code != code {
			t.Errorf("%q: %v", text, p)
		}
	}
}

// All of the real target files read, where they are.
func TestRealTargets(t *testing.T) {
	corpus := os.Getenv("TTREPORT_CORPUS")
	if corpus == "" {
		t.Skip("TTREPORT_CORPUS names no folder of real files")
	}
	dir := corpus + "/tenstorrent/targets/"
	data, err := os.ReadFile(dir + "model_performance_reference.json")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := targets.DefaultAliases()
	l := targets.NewLibrary(a)
	twice := map[string]int{}
	for _, p := range l.Add("ref.json", data, "", func(string) bool { return false }) {
		twice[p.Code]++
	}
	// Three entries of the real file are replaced by a later one of the same name, which nobody may have noticed.
	if want := map[string]int{"model-twice": 2, "device-twice": 1}; !maps.Equal(twice, want) {
		t.Errorf("problems %v, want %v", twice, want)
	}
	n := 0
	for _, e := range l.List() {
		n += len(e.Targets)
	}
	if pairs := len(l.List()); pairs != 375 || n < 3000 {
		t.Errorf("%d pairs, %d targets", pairs, n)
	}
	for _, name := range []string{"model_performance_targets_early.json", "test_benchmarks_override.json", "model_benchmarks_override.json"} {
		data, err := os.ReadFile(dir + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range targets.NewLibrary(a).Add(name, data, "", func(string) bool { return false }) {
			if p.Severity == schema.SevError {
				t.Errorf("%s: %v", name, p)
			}
		}
	}
	rows := l.For(schema.Model{Name: "Llama-3.1-8B-Instruct"}, "n150")
	if len(rows) == 0 || rows[0].Value != 890 {
		t.Errorf("%+v", rows)
	}
}

func TestReleaseOrder(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	c := build(run{release: "v0.10.0", start: day(5), key: key(1), ttft: []float64{11}}, run{release: "v0.9.0", start: day(5), key: key(1), ttft: []float64{10}}, run{release: "v0.11.0", start: day(1), key: key(1), ttft: []float64{12}}, run{start: day(3), key: key(1), ttft: []float64{50}})
	names := func(list []targets.Release) string {
		var out []string
		for _, r := range list {
			if r.Label {
				out = append(out, r.Name)
			} else {
				out = append(out, "build")
			}
		}
		return strings.Join(out, " ")
	}
	if got := names(targets.Releases(c, nil)); got != "v0.11.0 build v0.9.0 v0.10.0" {
		t.Error(got)
	}
	listed := []targets.Configured{{Name: "v0.9.0", Date: day(1)}, {Name: "v0.10.0", Date: day(2)}, {Name: "v0.11.0", Date: day(4)}}
	rel := targets.Releases(c, listed)
	if got := names(rel); got != "v0.9.0 v0.10.0 build v0.11.0" {
		t.Error(got)
	}
	if rel[2].Channel != schema.ChannelDev || rel[1].Channel != schema.ChannelRelease {
		t.Errorf("channels %+v", rel)
	}
	j, err := targets.New(context.Background(), c, rel, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range j.History(3) {
		if v.Metric == "ttft" {
			if ref, _ := v.Ref.Get(); math.Abs(ref-math.Sqrt(110)) > 1e-9 || v.Baseline != "v0.10.0" {
				t.Errorf("a build served as a release's baseline: %+v", v)
			}
			if e, _ := v.Effect.Get(); math.Abs(e-(12/math.Sqrt(110)-1)) > 1e-9 {
				t.Errorf("effect %v: positive is worse", e)
			}
		}
	}
	for _, v := range j.History(0) {
		if v.Metric == "ttft" && v.Reason.Code != "no-baseline" {
			t.Errorf("%+v", v)
		}
	}
}

func TestNaturalOrder(t *testing.T) {
	for _, c := range [][2]string{{"v0.9.0", "v0.10.0"}, {"a2", "a10"}, {"a", "b"}, {"v1", "v1.1"}} {
		if !targets.NaturalLess(c[0], c[1]) || targets.NaturalLess(c[1], c[0]) {
			t.Errorf("%s is not before %s", c[0], c[1])
		}
	}
}
