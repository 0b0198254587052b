package table_test

import (
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/table"
)

func reading(t *testing.T, text string) (schema.Reading, bool) {
	t.Helper()
	f := decode.NewFile("raw/metrics.json", []byte(text), time.Time{}, decode.DefaultLimits())
	return table.Own.Read(&f), table.Own.Detect(&f).OK()
}

func TestMetrics(t *testing.T) {
	r, ok := reading(t, `{"metrics":{"my_ms":{"value":12.5,"unit":"ms","better":"lower","n":4,"std":2},`+
		`"ttft":{"value":50,"unit":"ms","better":"lower"},"hits":{"value":91,"unit":"%","better":"higher"}}}`)
	if !ok || len(r.Points) != 1 || len(r.Problems) != 0 {
		t.Fatalf("%v %+v", ok, r)
	}
	m := r.Points[0].Metrics
	own, _ := m.Get("my_ms{ms,lower}")
	if v, _ := own.Stats.Get("value"); v != 12.5 || own.N != 4 || own.Kind().Unit != "ms" {
		t.Errorf("%+v", m)
	}
	if v, _ := m.Value("ttft", "mean"); v != 50 {
		t.Errorf("a known name is that quantity: %+v", m)
	}
	if info, ok := schema.MetricByName("hits{%,higher}"); !ok || info.Better != schema.Higher || info.Label != "hits" {
		t.Errorf("%+v %v", info, ok)
	}
}

// What cannot be read is reported, and the rest is read.
func TestBadMetrics(t *testing.T) {
	r, _ := reading(t, `{"metrics":{"a":{"value":"x","unit":"ms"},"b":{"value":1,"unit":"ms","better":"sideways"},`+
		`"c<script>":{"value":1,"unit":"ms","better":"lower"},"d":{"value":1,"unit":"ms","better":"lower"}}}`)
	if len(r.Problems) != 3 || len(r.Points) != 1 || len(r.Points[0].Metrics) != 1 {
		t.Errorf("%d problems, %+v", len(r.Problems), r.Points)
	}
	for _, text := range []string{
		`{"metrics":{}}`, `{"metrics":{"a":1}}`, `{"json_schema_version":"0.0.0","metrics":{"a":{"value":1,"unit":"ms"}}}`,
		`[]`,
	} {
		if _, ok := reading(t, text); ok {
			t.Errorf("%s was taken", text)
		}
	}
}
