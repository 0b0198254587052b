package tabular_test

import (
	"encoding/csv"
	"reflect"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/tabular"
)

// A text never becomes a formula or a second cell, an absent number is an empty cell, and a file without rows has its
// head.
func TestCSV(t *testing.T) {
	rows := []tabular.Score{
		{Task: "=HYPERLINK(1)", Metric: "a,b", Filter: "line\nbreak", Value: tabular.Num{Number: schema.Num(.123456789)}},
		{Task: "@x", Metric: `say "hi"`, Value: tabular.Num{Number: schema.Missing("not run")}, Simulated: true},
	}
	data, err := tabular.CSV(rows)
	if err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{
		{"release", "run", "model", "device", "simulated", "task", "metric", "filter", "value"},
		{"", "", "", "", "false", "'=HYPERLINK(1)", "a,b", "line\nbreak", "0.1234568"},
		{"", "", "", "", "true", "'@x", `say "hi"`, "", ""},
	} {
		if !reflect.DeepEqual(got[i][:len(want)], want) {
			t.Errorf("line %d is %q, want %q", i, got[i], want)
		}
	}
	empty, err := tabular.CSV[tabular.Score](nil)
	if err != nil || strings.Count(string(empty), "\n") != 1 || !strings.HasPrefix(string(empty), "release,run,") {
		t.Errorf("no rows: %q, %v", empty, err)
	}
}

// What gocsv's reflection costs.
func BenchmarkCSV(b *testing.B) {
	rows := make([]tabular.Score, 2500)
	for i := range rows {
		rows[i] = tabular.Score{
			Release: "v1.2.0", Run: "m016-d4-r010", Model: "model-016-instruct", Device: "dev4",
			Stderr: tabular.Num{Number: schema.Num(123.4567)}, Value: tabular.Num{Number: schema.Num(1234.5 + float64(i))},
		}
	}
	for b.Loop() {
		if _, err := tabular.CSV(rows); err != nil {
			b.Fatal(err)
		}
	}
	cells := float64(b.N) * float64(len(rows)*reflect.TypeFor[tabular.Score]().NumField())
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/cells, "ns/cell")
}
