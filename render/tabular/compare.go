package tabular

import (
	"math"
	"strconv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// Compare returns a comparison as CSV, one row a number of both sides.
func Compare(c *render.Comparison) []byte {
	w := newTable(1<<12, "system", "workload", "tool", "metric", "stat", "unit", "a", "b", "n_a", "n_b", "change", "lo", "hi",
		"p", "test", "verdict")
	for i := range c.Rows {
		r := &c.Rows[i]
		w.text(r.System, words.Workload(r.Key), r.Key.Tool, r.Metric, r.Stat, schema.Unit(r.Metric))
		for _, s := range []string{
			short(r.A), short(r.B), strconv.Itoa(r.NA), strconv.Itoa(r.NB), short(r.Change), short(r.Lo), short(r.Hi), short(r.P),
			r.Test, string(r.Outcome()),
		} {
			w.cell(s)
		}
		w.end()
	}
	return w.b
}

// short is a number with seven digits; "" for none.
func short(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 7, 64)
}
