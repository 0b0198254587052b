// Package drafttest has helpers for tests of readers: decoding a text, finding a point, and the rules that every
// reading must satisfy. Only tests import it.
package drafttest

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Reader is one format.
type Reader struct {
	Detect func(*decode.File) schema.Match
	Read   func(*decode.File) schema.Reading
}

// File decodes text as a file of a name.
func File(name, text string) *decode.File {
	f := decode.NewFile(name, []byte(text), time.Time{}, decode.DefaultLimits())
	return &f
}

// Must recognises text and reads it; the test fails if the text is not of the reader's format.
func (r Reader) Must(t *testing.T, name, text string) schema.Reading {
	t.Helper()
	f := File(name, text)
	if m := r.Detect(f); !m.OK() {
		t.Fatalf("%s is not recognised: has %v, lacks %v, problems %v", name, m.Has, m.Lacks, f.Problems)
	}
	got := r.Read(f)
	Check(t, got)
	return got
}

// Stat returns one statistic of a point, NaN if it is absent.
func Stat(p schema.Point, metric, stat string) float64 {
	if x, ok := p.Value(metric, stat); ok {
		return x
	}
	return math.NaN()
}

// Metric returns a metric of a point, one without numbers and kind where there is none.
func Metric(p schema.Point, name string) *schema.Metric {
	m, _ := p.Metric(name)
	return &m
}

// Near reports whether two values agree to a millionth; two NaN are equal.
func Near(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-6*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

// Expect compares statistics of a point, "ttft.mean" by "metric.statistic".
func Expect(t *testing.T, p schema.Point, want map[string]float64) {
	t.Helper()
	for name, x := range want {
		metric, stat, _ := strings.Cut(name, ".")
		if got := Stat(p, metric, stat); !Near(got, x) {
			t.Errorf("%s = %v, want %v", name, got, x)
		}
	}
}

// Codes returns the codes of a reading's problems, sorted.
func Codes(r schema.Reading) string {
	var out []string
	for _, p := range r.Problems {
		out = append(out, p.Code)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// Check fails the test if a reading breaks a rule for all formats.
func Check(t *testing.T, r schema.Reading) {
	t.Helper()
	if r.Format == "" {
		t.Error("a reading without a format")
	}
	for i := range r.Points {
		checkPoint(t, &r.Points[i])
	}
	for _, s := range r.Scores {
		if v, ok := s.Value.Get(); v-v != 0 || !ok && s.Value.Why() == "" || s.Task+s.Metric == "" {
			t.Errorf("score %+v", s)
		}
	}
	for _, p := range r.Problems {
		if p.Code == "" || p.Found == "" || !slices.Contains(schema.Severities(), p.Severity) {
			t.Errorf("a problem that does not say what it is: %+v", p)
		}
	}
	for _, m := range r.More {
		Check(t, m)
	}
}

func checkPoint(t *testing.T, p *schema.Point) {
	t.Helper()
	if p.Key.Tool == "" || p.Source.Format == "" || !slices.Contains(schema.Statuses(), p.Status) {
		t.Errorf("point without tool, format or status: %s %+v %q", p.Key, p.Source, p.Status)
	}
	for i := range p.Metrics {
		checkMetric(t, p.Status, &p.Metrics[i])
	}
	for name, raw := range p.Extra {
		if !json.Valid(raw) {
			t.Errorf("extra %q is not JSON: %s", name, raw)
		}
	}
}

func checkMetric(t *testing.T, status schema.Status, m *schema.Metric) {
	t.Helper()
	k := m.Kind()
	name := k.Name
	info, known := schema.MetricByName(name)
	switch {
	case !known:
		t.Errorf("metric %q is not in the catalogue", name)
	case k.Unit != info.Unit:
		t.Errorf("%s has unit %q, want %q", name, k.Unit, info.Unit)
	case len(m.Stats) == 0 && k.Why == "":
		t.Errorf("%s has neither a number nor a reason", name)
	case status == schema.StatusFailed && len(m.Stats) > 0 && strings.Contains(" ttft e2el output_tps ", " "+name+" "):
		t.Errorf("%s of a failed point has numbers", name)
	}
	for _, s := range m.Stats {
		if s.Value-s.Value != 0 || info.Latency && !s.Is("std") && s.Value < 0 {
			t.Errorf("%s %s is %v", name, s.Name(), s.Value)
		}
	}
}

// Fuzz fuzzes a reader: it must not panic, and every reading must pass [Check].
func (r Reader) Fuzz(f *testing.F, name string, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
		f.Add(s[:len(s)/2])
		f.Add(strings.NewReplacer("1", "-1e308", "0", "1e999").Replace(s))
		f.Add(strings.NewReplacer(":[", ":{\"a\":[", "]", "]}").Replace(s))
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := decode.NewFile(name, []byte(text), time.Time{}, decode.Limits{
			Bytes: 1 << 20, Packed: 1 << 20, Text: 1 << 20, Depth: 50, Values: 1000, Results: 1000, Members: 100,
			Total: 1 << 20, Nesting: 2,
		})
		for v := range file.Values() {
			one := file.With(v)
			if r.Detect(one).OK() {
				Check(t, r.Read(one))
			}
		}
		if r.Detect(&file).OK() {
			Check(t, r.Read(&file))
		}
	})
}
