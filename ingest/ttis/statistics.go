package ttis

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// readStatistics reads the table of results that a report is made of: one row a point, rounded for vLLM's results. A
// row names its model, its device where the version writes it, and the file that it was made of.
func readStatistics(f *decode.File, m schema.Match) schema.Reading {
	type system struct{ model, device string }
	var runs draft.Runs[system]
	rows := 0
	for row := range linesOf(string(f.Data)) {
		rows++
		who := system{row.Get("model_id").Str(), strings.ToLower(row.Get("device").Str())}
		r := runs.Of(who, func() schema.Reading {
			return schema.Reading{
				Format: Statistics, Detail: m.Detail,
				Facts: schema.Facts{Model: schema.Model{ID: who.model}, Device: schema.Device{Name: who.device}},
			}
		})
		reportRow(f, r, row, toolName(row.Get("source").Str(), row.Get("backend").Str()), row.Get("timestamp").Str(),
			draft.First(row, "completed"))
	}
	out := runs.Join(Statistics, fmt.Sprintf("a table of %d results", rows))
	if rows == 0 {
		p := f.Problem(schema.SevWarning, "bad-table", decode.Value{})
		p.Found, p.Used = "a table that is damaged or has no row", "none"
		p.Expected = "lines with as many columns as the first"
		out.Problems = append(out.Problems, p)
	}
	return out
}
