package ingest

import (
	"math"
	"slices"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// point has a course of four slices of two seconds.
func point() schema.Point {
	p := schema.Point{Slices: schema.Slices{Step: 2, Series: []schema.SliceOf{
		{Name: "ttft", Values: []float64{10, 11, 12, 13}}}}}
	p.Metrics.Put(schema.Of("output_tps", "value", 50))
	return p
}

// Gauges are means of each slice, counters differences, shares percents; what was not known stays so.
func TestGauges(t *testing.T) {
	p := point()
	addGauges(&p, &manifest.Sidecar{Samples: &manifest.Samples{
		Names: []string{"s", "running", "waiting", "kv", "preemptions_total", "prefix_hits_total", "prefix_queries_total"},
		Rows: [][]float64{
			{0, 4, -1, .25, 7, 100, 1000}, {1, 6, -1, .35, 7, 100, 1000}, {3, 8, -1, .5, 9, 150, 1100},
			{4, 8, -1, .5, 9, 200, 1200},
			{7, 2, -1, .75, 9, 200, 1200}, {8, 2, -1, .25, 9, 200, 1200}},
	}})
	nan := math.NaN()
	want := map[string][]float64{"ttft": {10, 11, 12, 13}, "running": {5, 8, 8, 2}, "kv": {30, 50, 50, 50},
		"preemptions": {1, 1, 0, 0}, "prefix_hits": {50, 50, nan, nan}}
	if len(p.Slices.Series) != len(want) {
		t.Errorf("%+v", p.Slices.Series)
	}
	for _, x := range p.Slices.Series {
		for k, v := range want[x.Name] {
			if len(x.Values) != 4 || x.Values[k] != v && !(math.IsNaN(v) && math.IsNaN(x.Values[k])) {
				t.Errorf("%s: %v, want %v", x.Name, x.Values, want[x.Name])
				break
			}
		}
	}
}

// What a server's counters grew by during a measurement is a metric, unless one was set back or the client states it.
func TestGrowths(t *testing.T) {
	names := []string{"s", "prefix_hits_total", "prefix_queries_total", "queue_seconds_total", "queued_total",
		"kv_transfer_seconds_total", "kv_transfers_total", "drafts_total", "draft_tokens_total", "accepted_total",
		"external_prefix_hits_total", "external_prefix_queries_total"}
	first := []float64{0, 100, 1000, 5, 10, 2, 100, 1000, 4000, 2000, 10, 100}
	last := []float64{9, 150, 1100, 5.5, 20, 2.5, 200, 1100, 4400, 2125, 30, 150}
	p := point()
	addGauges(&p, &manifest.Sidecar{Samples: &manifest.Samples{Names: names, Rows: [][]float64{first, last}}})
	drafttest.Expect(t, p, map[string]float64{"prefix_hits.value": 50, "prefix_hits_external.value": 40,
		"queue_ms.value": 50, "kv_transfer_ms.value": 5, "acceptance_rate.value": 31.25, "acceptance_length.value": 2.25})
	p = point()
	p.Metrics.Put(schema.Of("acceptance_rate", "value", 60))
	back := slices.Clone(last)
	back[1], back[8] = 0, 0
	addGauges(&p, &manifest.Sidecar{Samples: &manifest.Samples{Names: names, Rows: [][]float64{first, last, back}}})
	drafttest.Expect(t, p, map[string]float64{"acceptance_rate.value": 60, "queue_ms.value": 50})
	if m, has := p.Metric("prefix_hits"); has {
		t.Errorf("of a counter that was set back: %+v", m)
	}
}

// A time that no measurement has belongs to no slice, and neither does one just after the end.
func TestDamagedTimes(t *testing.T) {
	for _, at := range []float64{1e300, -1e300, math.MaxInt64, math.NaN(), 1e9} {
		p := point()
		addGauges(&p, &manifest.Sidecar{Samples: &manifest.Samples{Names: []string{"s", "running"},
			Rows: [][]float64{{0, 1}, {2, 1}, {4, 1}, {6, 1}, {at, 99}}}})
		for _, x := range p.Slices.Series {
			if x.Name == "running" && (len(x.Values) != 4 || x.Values[0] != 1 || x.Values[3] != 1) {
				t.Errorf("a reading at %g: %v", at, x.Values)
			}
		}
	}
}

// A point without a course of its own, such as one of a tool that keeps no requests, has that of the gauges.
func TestGaugesAlone(t *testing.T) {
	p := schema.Point{}
	rows := make([][]float64, 40)
	for i := range rows {
		rows[i] = []float64{float64(i), float64(i)}
	}
	addGauges(&p, &manifest.Sidecar{Samples: &manifest.Samples{Names: []string{"s", "running"}, Rows: rows}})
	if len(p.Slices.Series) != 1 || len(p.Slices.Series[0].Values) != schema.MostSlices || p.Slices.Step < 39./16 ||
		p.Slices.Series[0].Values[15] < 37 {
		t.Errorf("%+v", p.Slices)
	}
	for name, rows := range map[string][][]float64{
		"none": nil, "few": {{0, 1}}, "empty": {{}, {}, {}, {}, {}}, "no time": {{0, 1}, {0, 1}, {0, 1}, {0, 1}},
		"infinite": {{0, 1}, {1, 1}, {2, 1}, {math.Inf(1), 1}}, "negative": {{-4, 1}, {-3, 1}, {-2, 1}, {-1, 1}},
	} {
		p := schema.Point{}
		addGauges(&p, &manifest.Sidecar{Samples: &manifest.Samples{Names: []string{"s", "running"}, Rows: rows}})
		if len(p.Slices.Series) > 0 {
			t.Errorf("%s: %+v", name, p.Slices)
		}
	}
}

// 100 W at 50 tokens a second are 2 J a token; with fewer than three readings nothing is known, and a failed point has
// no energy.
func TestEnergy(t *testing.T) {
	power := &manifest.Samples{Names: []string{"s", "power", "cpu_power", "temperature"},
		Rows: [][]float64{{1, 90, 40, 60}, {3, 100, 40, 61}, {5, 110, 40, 63}, {7, -1, 40, 64}}}
	for name, c := range map[string]struct {
		of     string
		rows   int
		status schema.Status
		energy float64
	}{
		"boards":          {schema.DefBoards, 4, schema.StatusOK, 2},
		"processors":      {schema.DefCPUs, 4, schema.StatusOK, .8},
		"too few":         {schema.DefBoards, 2, schema.StatusOK, 0},
		"failed":          {schema.DefBoards, 4, schema.StatusFailed, 0},
		"of what unknown": {"", 4, schema.StatusOK, 0},
	} {
		p := point()
		p.Status = c.status
		rows := &manifest.Samples{Names: power.Names, Rows: power.Rows[:c.rows]}
		addGauges(&p, &manifest.Sidecar{PowerOf: c.of, Power: rows})
		m := drafttest.Metric(p, schema.MetricEnergy)
		if v, _ := m.Stats.Get("value"); v != c.energy || c.energy > 0 && (m.Kind().Def != c.of || m.Kind().Unit != "J/tok") {
			t.Errorf("%s: %+v, want %g J/tok", name, m, c.energy)
		}
	}
	p := point()
	addGauges(&p, &manifest.Sidecar{PowerOf: schema.DefBoards, Power: power})
	if last := p.Slices.Series[len(p.Slices.Series)-1]; last.Name != schema.GaugeTemperature || last.Values[3] != 64 {
		t.Errorf("%+v", p.Slices.Series)
	}
}

// A mean of a small part of a measurement is not that of the measurement: the program stopped answering, or answered
// at both ends alone.
func TestPowerOfAPart(t *testing.T) {
	for name, c := range map[string]struct {
		at    []float64
		known bool
	}{
		"all of it":             {[]float64{1, 20, 40, 60, 80, 99}, true},
		"the first five of 100": {[]float64{1, 3, 5}, false},
		"only the ends":         {[]float64{1, 2, 3, 4, 97, 98, 99}, false},
		"more than half":        {[]float64{40, 50, 60, 70, 80, 90, 99}, true},
	} {
		p := point()
		p.Metrics.Put(schema.Of("duration_s", "value", 100))
		samples := &manifest.Samples{Names: []string{"s", "power"}}
		for _, at := range c.at {
			samples.Rows = append(samples.Rows, []float64{at, 90})
		}
		addGauges(&p, &manifest.Sidecar{PowerOf: schema.DefBoards, Power: samples})
		if _, known := p.Metric(schema.MetricPower); known != c.known {
			t.Errorf("%s: power known is %t", name, known)
		}
	}
}
