package tabular

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/compare"
)

// Compared is a row of a comparison: one number of both sides.
type Compared struct {
	System   Text            `csv:"system"`
	Workload Text            `csv:"workload"`
	Tool     Text            `csv:"tool"`
	Metric   Text            `csv:"metric"`
	Stat     Text            `csv:"stat"`
	Unit     Text            `csv:"unit"`
	A        Num             `csv:"a"`
	B        Num             `csv:"b"`
	NA       int             `csv:"n_a"`
	NB       int             `csv:"n_b"`
	Change   Num             `csv:"change"`
	Lo       Num             `csv:"lo"`
	Hi       Num             `csv:"hi"`
	P        Num             `csv:"p"`
	Test     string          `csv:"test"`
	Verdict  compare.Outcome `csv:"verdict"`
	OSLA     Num             `csv:"osl_a"` // measured, as all that follows
	OSLB     Num             `csv:"osl_b"`
	FailedA  Num             `csv:"failed_share_a"`
	FailedB  Num             `csv:"failed_share_b"`
}

// Compare returns the rows of a comparison.
func Compare(c *render.Comparison) []Compared {
	var rows []Compared
	for i := range c.Rows {
		r := &c.Rows[i]
		row := Compared{
			System: Text(r.System), Workload: Text(words.Workload(r.Key)), Tool: Text(r.Key.Tool), Metric: Text(r.Metric),
			Stat: Text(r.Stat), Unit: Text(schema.Unit(r.Metric)), A: finite(r.A), B: finite(r.B), NA: r.NA, NB: r.NB,
			Change: finite(r.Change), Lo: finite(r.Lo), Hi: finite(r.Hi), P: finite(r.P), Test: r.Test,
			Verdict: r.Outcome(),
		}
		if l := r.Loads; l != nil {
			row.OSLA, row.OSLB = Num{l.A.OSL}, Num{l.B.OSL}
			row.FailedA, row.FailedB = finite(l.A.Failed/l.A.Of), finite(l.B.Failed/l.B.Of) // NaN where none are counted
		}
		rows = append(rows, row)
	}
	return rows
}
