package tabular

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// Verdict is a row of verdicts.csv.
type Verdict struct {
	ID        Text            `csv:"id"`
	Release   Text            `csv:"release"`
	Run       Text            `csv:"run"`
	Model     Text            `csv:"model"`
	Device    Text            `csv:"device"`
	Simulated bool            `csv:"simulated"`
	Key       Text            `csv:"key"`
	Metric    Text            `csv:"metric"`
	Stat      Text            `csv:"stat"`
	Against   schema.Against  `csv:"against"`
	Level     Text            `csv:"level"`
	Required  bool            `csv:"required"`
	Verdict   schema.Outcome  `csv:"verdict"`
	Evidence  schema.Evidence `csv:"evidence"`
	Value     Num             `csv:"value"`
	Reference Num             `csv:"reference"`
	Unit      Text            `csv:"unit"`
	Effect    Num             `csv:"effect_positive_is_worse"`
	N         int             `csv:"n"`
	Why       Text            `csv:"why"`
}

// Verdicts returns the rows of verdicts.csv of a release, first against targets, then against history: those that
// show something. That a number is unchanged, or has no history or target yet, follows from its line in points.csv
// and from the counts on the release's page; as rows here they were a third of a large site.
func Verdicts(r *render.Report, release int) []Verdict {
	f := r.Gate.Findings(release)
	var rows []Verdict
	for _, list := range [][]schema.Verdict{f.Targets, f.History} {
		for i := range list {
			v := &list[i]
			if v.Outcome == schema.Unchanged || v.Outcome == schema.NoBaseline || v.Outcome == schema.NoTarget {
				continue
			}
			rows = append(rows, Verdict{
				ID: Text(v.ID), Release: Text(v.Release), Run: Text(v.Run), Model: Text(v.Model), Device: Text(v.Device),
				Simulated: v.Device == schema.Simulated, Key: Text(v.Key.String()), Metric: Text(v.Metric),
				Stat: Text(v.Stat), Against: v.Against, Level: Text(v.Level), Required: v.Required, Verdict: v.Outcome,
				Evidence: v.Evidence, Value: Num{v.Value}, Reference: Num{v.Ref}, Unit: Text(schema.Unit(v.Metric)),
				Effect: Num{v.Effect}, N: v.N, Why: plain(words.Why(*v)),
			})
		}
	}
	return rows
}
