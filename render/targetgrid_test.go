package render

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// emptyReport has no runs: no number has an address in it.
func emptyReport() *Report {
	return New(Input{Gate: &gate.Gate{Judgement: &judge.Judgement{Columns: &columns.Columns{}}}})
}

func levelVerdict(concurrency float64, level string, ref, value float64, o schema.Outcome, required bool) schema.Verdict {
	return schema.Verdict{
		Model: "m", Device: "n150", Metric: "ttft", Stat: "mean", Key: schema.Key{Concurrency: &concurrency},
		Level: level, Ref: schema.Num(ref), Value: schema.Num(value), Outcome: o, Required: required,
	}
}

// A number has one row with its levels side by side; what misses only an informational level is no red word, and the
// largest miss stands first.
func TestTargetGrid(t *testing.T) {
	tab := emptyReport().targetGrid([]schema.Verdict{
		levelVerdict(1, "functional", 200, 110, schema.Pass, true), levelVerdict(1, "target", 100, 110, schema.Fail, false),
		levelVerdict(8, "functional", 200, 250, schema.Fail, true), levelVerdict(8, "target", 100, 250, schema.Fail, false),
		levelVerdict(32, "functional", 200, 400, schema.Fail, true),
		levelVerdict(64, "target", 100, 80, schema.Pass, false),
	}, false)
	var got []string
	for _, r := range tab.Rows {
		var row []string
		for _, c := range r.Cells[:len(r.Cells)-1] {
			row = append(row, strings.TrimSpace(string(c.Outcome)+" "+c.Text))
		}
		got = append(got, strings.Join(row, " | "))
	}
	want := []string{
		"fail | -/-/8 | TTFT mean | 200 | 100 | 250 | 40.0",
		"fail | -/-/32 | TTFT mean | 200 | – | 400 | 50.0",
		"pass | -/-/1 | TTFT mean | 200 | 100 | 110 | 90.9",
		"pass | -/-/64 | TTFT mean | – | 100 | 80.0 | 125",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if b := tab.Rows[0].Cells[7].Bullet; b == nil || b.Label != "250 among functional 200, target 100" {
		t.Errorf("the picture is %+v", tab.Rows[0].Cells[7])
	}
	only := emptyReport().targetGrid([]schema.Verdict{levelVerdict(1, "target", 100, 110, schema.Fail, false)}, false)
	if c := only.Rows[0].Cells[0]; c.Outcome != "" || c.Sub != "informational" {
		t.Errorf("a missed informational level alone: %+v", c)
	}
}
