package schema_test

import (
	"fmt"
	"maps"
	"math/rand"
	"reflect"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

// someMetrics are metrics with any of their members there or not.
func someMetrics(rng *rand.Rand) map[string]schema.Metric {
	maybe := func() bool { return rng.Intn(3) == 0 }
	out := map[string]schema.Metric{}
	for i := range rng.Intn(6) {
		m := schema.Metric{Unit: "ms"}
		for _, stat := range []string{"mean", "p99", "std", "value"} {
			if maybe() {
				m.Stats.Set(stat, rng.NormFloat64())
			}
		}
		if maybe() {
			m.Def, m.From = "first-chunk", schema.FromDerived
		}
		if maybe() {
			m.N = 1 + rng.Intn(1000)
		}
		if maybe() {
			m.SE = schema.Num(rng.Float64())
		} else if maybe() {
			m.SE = schema.Missing("too few")
		}
		if maybe() {
			m.CI = map[string][2]float64{"mean": {1, rng.Float64()}, "p50": {rng.Float64(), 2}}
		}
		for range rng.Intn(2) * 33 {
			m.Quantiles = append(m.Quantiles, rng.Float64())
		}
		if len(m.Stats) == 0 {
			m.Why = fmt.Sprint("why ", rng.Intn(2))
		}
		if rng.Intn(40) == 0 {
			m.Unknown = schema.Unknown{"newer": []byte("1")}
		}
		out[fmt.Sprint("metric", i)] = m
	}
	return out
}

// What is packed is read, and unpacked, as it was.
func TestPackedPoints(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	var shapes schema.Shapes
	for range 3000 {
		want := someMetrics(rng)
		p := schema.Point{Metrics: maps.Clone(want)}
		shapes.Pack(&p)
		if p.Measured() != (len(want) > 0) {
			t.Fatalf("measured %v of %v", p.Measured(), want)
		}
		if got := maps.Collect(p.EachMetric()); len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("read as\n%+v, want\n%+v", got, want)
		}
		for name, m := range want {
			if def, ok := p.Definition(name); !ok || def != m.Def {
				t.Fatalf("%s is defined as %q, want %q", name, def, m.Def)
			}
			for _, stat := range []string{"mean", "p99", "nothing"} {
				x, ok := p.Value(name, stat)
				if y, has := m.Stats.Get(stat); x != y || ok != has {
					t.Fatalf("%s %s is %v %v, want %v %v", name, stat, x, ok, y, has)
				}
			}
		}
		if _, ok := p.Definition("nothing"); ok {
			t.Fatal("a metric that no point has")
		}
		p.Unpack()
		if !reflect.DeepEqual(p, schema.Point{Metrics: want}) {
			t.Fatalf("unpacked as\n%+v, want\n%+v", p.Metrics, want)
		}
	}
}

// Two statistics of one metric may be changed, and grow, after they are unpacked.
func TestUnpackedStatisticsAreApart(t *testing.T) {
	one := func(x float64) schema.Metric { return schema.Metric{Stats: schema.Stats{{Name: "mean", Value: x}}} }
	p := schema.Point{Metrics: map[string]schema.Metric{"a": one(1), "b": one(2)}}
	new(schema.Shapes).Pack(&p)
	p.Unpack()
	a := p.Metrics["a"]
	a.Stats.Set("p99", 9)
	if x, _ := p.Value("b", "mean"); x != 2 {
		t.Errorf("b is %v since a has another statistic", x)
	}
}
