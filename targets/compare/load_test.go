package compare_test

import (
	"math"
	"slices"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/compare"
)

// served is a run whose workloads, by concurrency, have answers of a length, and requests that failed of a hundred.
func served(device string, rate float64, lengths, failures map[float64]float64) compare.Side {
	r := run("M")
	r.Device.Name = device
	for _, c := range []float64{1, 2, 4, 8} {
		p := point(key("vllm", c), 0, rate)
		if n, ok := lengths[c]; ok {
			p.Metrics.Put(schema.Of("osl", "mean", n))
		}
		if n, ok := failures[c]; ok {
			p.Metrics.Put(schema.Of("requests_failed", "value", n))
			p.Metrics.Put(schema.Of("requests_ok", "value", 100-n))
		}
		r.Points = append(r.Points, p)
	}
	s := compare.Side{Name: device}
	s.Runs = append(s.Runs, r)
	return s
}

// Workloads whose answers are clearly shorter on one side, or of which requests failed, are marked, stay in the mean,
// and have one without them beside it. What a side does not state is no difference.
func TestLoadsThatDiffer(t *testing.T) {
	full := map[float64]float64{1: 128, 2: 128, 4: 128, 8: 128}
	none := map[float64]float64{1: 0, 2: 0, 4: 0, 8: 0}
	for name, c := range map[string]struct {
		lengths, failures map[float64]float64
		differ, failing   []float64
	}{
		"the same":             {full, none, nil, nil},
		"nothing is stated":    {nil, nil, nil, nil},
		"short at two":         {map[float64]float64{1: 128, 2: 120, 4: 64, 8: 100}, none, []float64{4, 8}, nil},
		"longer, not shorter":  {map[float64]float64{1: 200}, none, []float64{1}, nil},
		"requests that failed": {full, map[float64]float64{1: 1, 2: 2, 4: 38}, []float64{2, 4}, []float64{2, 4}},
	} {
		r := compare.Sides(served("a", 100, full, none), served("b", 100, c.lengths, c.failures))
		var differ, failing []float64
		for _, l := range r.Loads {
			if l.Differ() {
				differ = append(differ, *l.Key.Concurrency)
			}
			if l.B.Failing() {
				failing = append(failing, *l.Key.Concurrency)
			}
			if l.A.Failing() {
				t.Errorf("%s: A fails", name)
			}
		}
		if !slices.Equal(differ, c.differ) || !slices.Equal(failing, c.failing) || len(r.Loads) != 4 {
			t.Errorf("%s: %v differ and %v fail of %d, want %v and %v", name, differ, failing, len(r.Loads), c.differ,
				c.failing)
		}
		for i := range r.Rows {
			if x := &r.Rows[i]; x.Loads == nil || *x.Loads.Key.Concurrency != *x.Key.Concurrency {
				t.Errorf("%s: row %d has the loads %+v", name, i, x.Loads)
			}
		}
		means := r.Means()
		if len(means) != 1 || means[0].N != 4 || (means[0].NAlike > 0) != (len(c.differ) > 0) {
			t.Errorf("%s: %+v", name, means)
		}
	}
}

// The mean without the workloads that are marked is that of the others.
func TestMeanOfAlikeLoads(t *testing.T) {
	full := map[float64]float64{1: 128, 2: 128, 4: 128, 8: 128}
	b := served("b", 90, full, nil)
	for _, i := range []int{2, 3} {
		b.Runs[0].Points[i].Metrics.Put(schema.Of("osl", "mean", 64))
		b.Runs[0].Points[i].Metrics.Put(schema.Of("output_tps", "value", 40))
	}
	m := compare.Sides(served("a", 100, full, nil), b).Means()[0]
	if m.N != 4 || m.NAlike != 2 || math.Abs(m.Alike+.1) > 1e-9 || math.Abs(m.Change+.4) > 1e-9 {
		t.Errorf("%+v", m)
	}
}

// Tools that measured one workload have loads, too.
func TestLoadsOfTools(t *testing.T) {
	p, q := point(key("vllm", 1), 0, 100), point(key("aiperf", 1), 0, 90)
	p.Metrics.Put(schema.Of("osl", "mean", 128))
	q.Metrics.Put(schema.Of("osl", "value", 60))
	s := compare.Side{}
	s.Runs = append(s.Runs, run("M", p, q))
	r := compare.Tools(s.Runs, "vllm", "aiperf")
	if len(r.Loads) != 1 || !r.Loads[0].Lengths() || r.Rows[0].Loads != r.Loads[0] {
		t.Errorf("%+v", r.Loads)
	}
}
