package compare_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/regression/pairing"
)

func ptr(v float64) *float64 { return &v }

func key(tool string, concurrency float64) schema.Key {
	return schema.Key{Task: "text", Tool: tool, ISL: ptr(128), OSL: ptr(128), Concurrency: ptr(concurrency)}
}

// point has a TTFT in ms and an output rate in tok/s; 0: none.
func point(k schema.Key, ttft, rate float64) schema.Point {
	p := schema.Point{Key: k, Status: schema.StatusOK}
	if ttft != 0 {
		p.Metrics.Put(schema.Of("ttft", "mean", ttft))
	}
	if rate != 0 {
		p.Metrics.Put(schema.Of("output_tps", "value", rate))
	}
	return p
}

// run is a run of a model on n150.
func run(model string, points ...schema.Point) schema.Run {
	r := schema.Run{Model: schema.Model{Name: model}, Points: points}
	r.Device.Name = "n150"
	return r
}

// side is one run a value: repeats of points with these TTFTs.
func side(name string, k schema.Key, ttft ...float64) compare.Side {
	s := compare.Side{Name: name}
	for _, v := range ttft {
		s.Runs = append(s.Runs, run("M", point(k, v, 0)))
	}
	return s
}

// rows returns the rows in short: "c1 ttft regressed".
func rows(r *compare.Result) string {
	var out []string
	for i := range r.Rows {
		x := &r.Rows[i]
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %g %s %s",
			x.System, x.Key.Tool, *x.Key.Concurrency, x.Metric, x.Outcome())))
	}
	return strings.Join(out, "; ")
}

func TestRepeatsAreCompared(t *testing.T) {
	k := key("vllm", 1)
	r := compare.Sides(side("v1", k, 100, 101, 102, 99), side("v2", k, 120, 121, 122, 119))
	if r.A != "v1" || r.B != "v2" || len(r.Rows) != 1 || r.OnlyA+r.OnlyB+r.BadA+r.BadB != 0 {
		t.Fatalf("%+v", r)
	}
	x := r.Rows[0]
	if x.NA != 4 || x.NB != 4 || x.Test != pairing.Welch || x.Stat != "mean" || x.System != "" {
		t.Errorf("%+v", x)
	}
	if math.Abs(x.Change-.199) > .002 || math.Abs(x.Badness-math.Log1p(x.Change)) > 1e-12 || x.P > .05 {
		t.Errorf("change %v, badness %v, p %v", x.Change, x.Badness, x.P)
	}
	if x.Outcome() != schema.Regressed {
		t.Errorf("%s", x.Outcome())
	}
	one := compare.Sides(side("v1", k, 100), side("v2", k, 200))
	if x := one.Rows[0]; x.Outcome() != schema.Inconclusive || x.Test != pairing.NoTest {
		t.Errorf("one value each: %+v", x)
	}
}

// A rate that rises improved, and one that falls regressed.
func TestRatesImproveUpwards(t *testing.T) {
	of := func(rates ...float64) (s compare.Side) {
		for _, v := range rates {
			s.Runs = append(s.Runs, run("M", point(key("vllm", 1), 0, v)))
		}
		return s
	}
	slow, fast := of(10, 10.1, 10.2, 9.9), of(12, 12.1, 12.2, 11.9)
	up, down := compare.Sides(slow, fast).Rows[0], compare.Sides(fast, slow).Rows[0]
	if up.Outcome() != schema.Improved || up.Change < 0 || up.Badness > 0 {
		t.Errorf("%+v", up)
	}
	if down.Outcome() != schema.Regressed || down.Change > 0 || down.Badness < 0 {
		t.Errorf("%+v", down)
	}
}

// Regressions come first, then improvements, then the rest, each by size; equals by workload.
func TestOrder(t *testing.T) {
	repeats := func(factor map[float64]float64) (s compare.Side) {
		for i := range 4 {
			var points []schema.Point
			for _, c := range []float64{1, 2, 3, 4, 5, 6, 7} {
				f := factor[c]
				if f == 0 {
					f = 1
				}
				points = append(points, point(key("vllm", c), 100*f*(1+.002*float64(i)), 0))
			}
			s.Runs = append(s.Runs, run("M", points...))
		}
		return s
	}
	want := "vllm 3 ttft regressed; vllm 2 ttft regressed; vllm 4 ttft improved; vllm 5 ttft improved; " +
		"vllm 6 ttft inconclusive; vllm 1 ttft inconclusive; vllm 7 ttft inconclusive"
	for range 10 { // the values of a side are in maps
		r := compare.Sides(repeats(nil), repeats(map[float64]float64{2: 1.1, 3: 1.5, 4: .6, 5: .8, 6: .9999}))
		if got := rows(r); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}

// Numbers of only one side are counted, and numbers of two tools or definitions are never one row.
func TestOnlyOneSideHas(t *testing.T) {
	defined := point(key("vllm", 2), 100, 0)
	defined.Metrics.Put(schema.NewMetric(schema.Kind{Name: "ttft", Def: "first-token"}, schema.NewStat("mean", 100)))
	median := point(key("vllm", 3), 0, 0)
	median.Metrics.Put(schema.Of("ttft", "median", 100))
	a := compare.Side{Runs: []schema.Run{run("M",
		point(key("vllm", 1), 100, 5), point(key("vllm", 2), 100, 0), point(key("vllm", 3), 100, 0))}}
	b := compare.Side{Runs: []schema.Run{run("M",
		point(key("vllm", 1), 100, 0), point(key("aiperf", 1), 100, 5), defined, median)}}
	r := compare.Sides(a, b)
	if got := rows(r); got != "vllm 1 ttft inconclusive" {
		t.Error(got)
	}
	if r.OnlyA != 3 || r.OnlyB != 4 { // a: the rate, two TTFTs; b: two of aiperf, the other definition, the median
		t.Errorf("only a %d, only b %d", r.OnlyA, r.OnlyB)
	}
}

// The system is part of a row's name when a side has several; else two systems are compared with each other.
func TestSeveralSystems(t *testing.T) {
	k := key("vllm", 1)
	of := func(model string, ttft float64) schema.Run { return run(model, point(k, ttft, 0)) }
	across := compare.Sides(compare.Side{Runs: []schema.Run{of("A", 100)}}, compare.Side{Runs: []schema.Run{of("B", 110)}})
	if got := rows(across); got != "vllm 1 ttft inconclusive" {
		t.Error(got)
	}
	a, ab := compare.Side{Runs: []schema.Run{of("A", 100)}}, compare.Side{Runs: []schema.Run{of("A", 105), of("B", 1)}}
	for _, sides := range [][2]compare.Side{{a, ab}, {ab, a}} {
		r := compare.Sides(sides[0], sides[1])
		if got := rows(r); got != "A on n150 vllm 1 ttft inconclusive" || r.OnlyA+r.OnlyB != 1 {
			t.Errorf("one side has two: %s, %d, %d", got, r.OnlyA, r.OnlyB)
		}
	}
	both := compare.Side{Runs: []schema.Run{of("A", 100), of("B", 300), of("", 500)}}
	r := compare.Sides(both, compare.Side{Runs: []schema.Run{of("B", 330), of("A", 105), of("C", 1)}})
	want := "B on n150 vllm 1 ttft inconclusive; A on n150 vllm 1 ttft inconclusive"
	if got := rows(r); got != want || r.OnlyA != 1 || r.OnlyB != 1 {
		t.Errorf("%s, %d, %d", got, r.OnlyA, r.OnlyB)
	}
}

// Points that failed or are invalid, and values that no measurement can give, are counted and left out.
func TestBadValues(t *testing.T) {
	failed, invalid := point(key("vllm", 1), 100, 5), point(key("vllm", 1), 100, 5)
	failed.Status, invalid.Status = schema.StatusFailed, schema.StatusInvalid
	a := compare.Side{Runs: []schema.Run{run("M", failed, invalid, point(key("vllm", 1), 100, -1))}}
	b := compare.Side{Runs: []schema.Run{
		run("M", point(key("vllm", 1), 120, 1e308)), run("M", point(key("vllm", 1), 1e200, 1e-320)),
	}}
	r := compare.Sides(a, b)
	if r.BadA != 3 || r.BadB != 3 || len(r.Rows) != 1 || r.Rows[0].NA != 1 || r.Rows[0].NB != 1 {
		t.Errorf("%+v", r)
	}
	if r.Rows[0].Metric != "ttft" || math.Abs(r.Rows[0].Change-.2) > 1e-12 || r.OnlyA+r.OnlyB != 0 {
		t.Errorf("%+v", r)
	}
	none := compare.Sides(compare.Side{}, compare.Side{})
	if len(none.Rows) != 0 || len(none.Means()) != 0 {
		t.Errorf("%+v", none)
	}
}

// A user's own metric is compared like the others; a metric that is not judged is not compared.
func TestWhichMetrics(t *testing.T) {
	const own = "power{W,lower}"
	of := func(v float64) compare.Side {
		p := point(key("vllm", 1), 100, 0)
		p.Metrics.Put(schema.Of("duration_s", "value", v))
		p.Metrics.Put(schema.Of(own, "value", v))
		return compare.Side{Runs: []schema.Run{run("M", p)}}
	}
	r := compare.Sides(of(1), of(2))
	got := map[string]bool{}
	for _, x := range r.Rows {
		got[x.Metric] = true
	}
	if len(got) != 2 || !got["ttft"] || !got[own] {
		t.Errorf("%v", got)
	}
}

// The mean of changes is geometric: twice and half as long are no change.
func TestMeans(t *testing.T) {
	of := func(factors ...float64) (s compare.Side) {
		var points []schema.Point
		for i, f := range factors {
			points = append(points, point(key("vllm", float64(i+1)), 100*f, 0))
		}
		points = append(points, point(key("vllm", 99), 0, 7))
		s.Runs = append(s.Runs, run("M", points...))
		return s
	}
	r := compare.Sides(of(1, 1, 1), of(2, .5, 1.1))
	means := r.Means()
	if len(means) != 1 { // the rate has one row
		t.Fatalf("%+v", means)
	}
	m := means[0]
	if m.Metric != "ttft" || m.N != 3 || math.Abs(m.Change-(math.Cbrt(1.1)-1)) > 1e-12 ||
		math.Abs(m.Low+.5) > 1e-12 || math.Abs(m.High-1) > 1e-12 {
		t.Errorf("%+v", m)
	}
	if tests := r.Tests(); tests[pairing.NoTest] != 4 || len(tests) != 1 {
		t.Errorf("%v", tests)
	}
}

// Where a recheck decided, the first run of the release does not count, whatever the order of the files: a release has
// the number here that its verdict has.
func TestFirstRunsThatARecheckReplaced(t *testing.T) {
	k := key("vllm", 1)
	b := side("b", k, 150, 120, 122)
	for i := range b.Runs {
		b.Runs[i].Start = time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
	}
	b.Runs[0], b.Runs[2] = b.Runs[2], b.Runs[0]
	number := judge.Number{
		System: schema.System{Model: "M", Device: "n150"}, Key: k.String(), Metric: "ttft", Stat: "mean",
	}
	for later, want := range map[bool]float64{false: 150 * 120 * 122, true: 120 * 122} {
		b.Later = map[judge.Number]bool{number: later}
		r := compare.Sides(side("a", k, 100), b)
		n := map[bool]float64{false: 3, true: 2}[later]
		if got := r.Rows[0].B; math.Abs(got-math.Pow(want, 1/n)) > 1e-9 || r.Rows[0].NB != int(n) {
			t.Errorf("later %v: %v of %d", later, got, r.Rows[0].NB)
		}
	}
}

// A phase of prompts has no output: its total rate is compared, as verdicts have it.
func TestCompareStandIns(t *testing.T) {
	p := point(key("llama-bench", 1), 0, 0)
	p.Metrics.Put(schema.Of("total_tps", "value", 197))
	of := func(name string) compare.Side { return compare.Side{Name: name, Runs: []schema.Run{run("M", p)}} }
	if r := compare.Sides(of("A"), of("B")); len(r.Rows) != 1 || r.Rows[0].Metric != "total_tps" {
		t.Errorf("%+v", r)
	}
}

// Numbers of two quantisations are compared when somebody asks for it, and it is said that they are of two.
func TestSettingsThatDiffer(t *testing.T) {
	of := func(settings string) compare.Side {
		p := point(key("vllm", 1), 100, 0)
		p.Conditions = map[string]string{"quantization": settings, "num_prompts": settings, "stream": "true"}
		return compare.Side{Runs: []schema.Run{run("M", p)}}
	}
	want := []compare.Setting{{Name: "quantization", A: "fp8", B: "none"}}
	if got := compare.Sides(of("fp8"), of("none")).Settings; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := compare.Sides(of("fp8"), of("fp8")).Settings; len(got) > 0 {
		t.Errorf("%v", got)
	}
}
