package table

import (
	"path"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Stated is an object of somebody's own whose names leave nothing to say: a metric with its unit, and its statistics
// below it, as in {"ttft_s": {"p50": 0.12, "p99": 0.3}}. It is read by the mapping that a message would propose.
var Stated = draft.Format{
	Name: Format, Detail: "numbers that are called by metric, unit and statistic",
	Sniff: func(f *decode.File, m *draft.Check) {
		has := false
		for _, x := range (place{at: f.First}).members() {
			has = has || statistics(x.Val) > 1 && isDistribution(x)
		}
		m.Want(has && !ofLimit.MatchString(path.Base(f.Path)), "statistics of a metric that names its unit")
	},
	All: func(f *decode.File, r *schema.Reading) {
		t := Table{tool: schema.ToolTable, detail: r.Detail, columns: map[string]column{}}
		for _, c := range meanings(scalars(f.First, "", mostProposed)) {
			if made, err := newColumn(c.says); err == nil {
				t.columns[c.heading] = made
			}
		}
		*r = t.Read(f)
	},
}

// statistics counts the numbers of an object that are statistics by their names.
func statistics(v decode.Value) (n int) {
	for _, m := range v.Members() {
		if _, isStat := schema.ParseStat(m.Key); isStat && m.Val.Kind() == decode.Number {
			n++
		}
	}
	return n
}
