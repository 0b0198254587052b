package targets

import (
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Glance is what one release says of a series, short: for tables of all series, which have no room for a verdict's sentence.
type Glance struct {
	Release        int
	Word, Evidence string
	Value          float64
	Effect         float64           // relative, positive is worse; NaN without a baseline
	Conditions     map[string]string // that change what the number means
	Rank           int               // in the order of triage, and within it by Weight, larger first
	Weight         float64
}

// Glance looks at a series in a release, or in the newest that has it for release < 0.
func (j *Judgement) Glance(s *Series, release int) (Glance, bool) {
	obs := j.table.Cells[s.cell].End - 1
	if release >= 0 {
		obs = s.find(release)
	}
	if obs < j.table.Cells[s.cell].First {
		return Glance{}, false
	}
	row := &j.rows.Rows[obs]
	g := Glance{Release: int(j.table.Obs[obs].Release), Word: wordOf(row.Word, row.Large()), Evidence: evidenceOf(row.Evidence), Value: s.value(obs).Value, Effect: math.NaN(), Conditions: j.classes.list[j.table.Obs[obs].Cond]}
	if row.N > 0 && !math.IsNaN(row.D) {
		g.Effect = relative(sign(s.Metric), row.D)
	}
	v := schema.Verdict{Word: g.Word, Evidence: g.Evidence, Effect: schema.Num(g.Effect)}
	if math.IsNaN(g.Effect) {
		v.Effect = schema.Missing("no baseline")
	}
	g.Rank, g.Weight = rankOf(&v), effectOf(&v)
	return g, true
}

// Higher reports whether a larger value of a metric is better.
func Higher(metric string) bool { return sign(metric) < 0 }
