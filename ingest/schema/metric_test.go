package schema_test

import (
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Metrics are in the order of the registry, whatever the order in which they are put, and each is there once.
func TestMetricsAreInTheOrderOfTheRegistry(t *testing.T) {
	want := schema.MetricNames(func(*schema.MetricInfo) bool { return true })
	want = append(want, "a{ms,lower}", "b{ms,lower}", "of a newer version")
	rng := rand.New(rand.NewSource(1))
	for range 100 {
		var p schema.Point
		last := map[string]float64{}
		for range 3 {
			for _, i := range rng.Perm(len(want)) {
				last[want[i]] = rng.Float64()
				p.Metrics.Put(schema.Of(want[i], "mean", last[want[i]]))
			}
		}
		var got []string
		for i := range p.Metrics {
			got = append(got, p.Metrics[i].Name())
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s, want %s", strings.Join(got, " "), strings.Join(want, " "))
		}
		for name, v := range maps.All(last) {
			if x, ok := p.Value(name, "mean"); !ok || x != v {
				t.Fatalf("%s is %v, want %v", name, x, v)
			}
		}
		p.Metrics.Drop("e2el")
		if _, has := p.Metric("e2el"); has || len(p.Metrics) != len(want)-1 {
			t.Fatalf("%d metrics with e2el dropped", len(p.Metrics))
		}
	}
}

// What a point lacks is absent: no panic, no zero that passes for a number.
func TestAbsentMetric(t *testing.T) {
	var p schema.Point
	m, has := p.Metric("ttft")
	if _, ok := m.Stat("mean").Get(); has || ok || m.Name() != "" || m.Kind().Why != "" || m.Detail().Quantiles != nil {
		t.Errorf("%+v", m)
	}
	if _, ok := p.Value("ttft", "mean"); ok {
		t.Error("a number of no metric")
	}
}

// A statistic of a name that none has is left out, and not cut to another's.
func TestStatisticsHaveShortNames(t *testing.T) {
	m := schema.Of("ttft", "p99.99999", 1)
	m.Stats.Set("mean of all", 2)
	if _, ok := m.Stats.Get("mean of all"); ok || len(m.Stats) != 0 {
		t.Errorf("%v", m.Stats)
	}
}

// A cache that finds nothing and a queue that nobody waits in are measured; a TTFT of 0 is not.
func TestMayBeZero(t *testing.T) {
	for metric, want := range map[string]bool{
		"prefix_hits": true, "queue_ms": true, "acceptance_rate": true, "ttft": false, "acceptance_length": false,
		"output_tps": false, "errors{count,lower}": true, "my_ms{ms,lower}": false,
	} {
		if schema.MayBeZero(metric) != want {
			t.Errorf("%s: want %t", metric, want)
		}
	}
}
