package rows_test

import (
	"encoding/csv"
	"reflect"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/render/rows"
)

// A text never becomes a formula or a second cell, an absent number is an empty cell, and a file without rows has its
// head.
func TestCSV(t *testing.T) {
	list := []rows.Score{
		{Task: "=HYPERLINK(1)", Metric: "a,b", Filter: "line\nbreak", Value: num(.123456789)},
		{Task: "@x", Metric: `say "hi"`, Simulated: true},
	}
	data, err := rows.CSV(list)
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
	empty, err := rows.CSV[rows.Score](nil)
	if err != nil || strings.Count(string(empty), "\n") != 1 || !strings.HasPrefix(string(empty), "release,run,") {
		t.Errorf("no rows: %q, %v", empty, err)
	}
}

// What gocsv's reflection costs.
func BenchmarkCSV(b *testing.B) {
	list := make([]rows.Score, 2500)
	for i := range list {
		list[i] = rows.Score{
			Release: "v1.2.0", Run: "m016-d4-r010", Model: "model-016-instruct", Device: "dev4",
			Stderr: num(123.4567), Value: num(1234.5 + rows.Num(i)),
		}
	}
	for b.Loop() {
		if _, err := rows.CSV(list); err != nil {
			b.Fatal(err)
		}
	}
	cells := float64(b.N) * float64(len(list)*reflect.TypeFor[rows.Score]().NumField())
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/cells, "ns/cell")
}

func num(v rows.Num) *rows.Num { return &v }
