package tabular

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets/gate"
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
	Low       Num             `csv:"effect_low"` // 95 %
	High      Num             `csv:"effect_high"`
	Limit     Num             `csv:"limit"` // least change that matters; against targets the tolerance
	Noise     Num             `csv:"noise"` // one standard deviation, relative
	Releases  Text            `csv:"baseline_releases"`
	N         Text            `csv:"n"`
	Reason    Text            `csv:"reason"`
	Detail    Text            `csv:"detail"` // what people and tools wrote, and what differs
	Decision  Text            `csv:"decision"`
}

// Verdicts returns the rows of verdicts.csv of a release, first against targets, then against history: those that
// show something. That a number is unchanged, is inconclusive with a change of less than what matters, or has no
// history or target yet, follows from its line in points.csv and from the counts on the release's page; as rows here
// they were half of the files, and package parquet has them. Where inconclusive numbers fail a release, all are here. A
// reason is a code and numbers: the sentences of package words were most of the file, and a script had to take the
// numbers out of them.
func Verdicts(r *render.Report, release int) []Verdict {
	f := r.Gate.Findings(release)
	all := r.Gate.FailsOn(release)[gate.FailInconclusive]
	rows := []Verdict{}
	for _, list := range [][]schema.Verdict{f.Targets, f.History} {
		for i := range list {
			v := &list[i]
			if !shows(v) && !(all && v.Outcome == schema.Inconclusive) {
				continue
			}
			rows = append(rows, verdictOf(v))
		}
	}
	return rows
}

// shows reports whether a verdict has a row of its own.
func shows(v *schema.Verdict) bool {
	switch v.Outcome {
	case schema.Unchanged, schema.NoBaseline, schema.NoTarget:
		return false
	case schema.Inconclusive:
		return v.Large || v.Decision != nil || v.Against == schema.AgainstTarget
	}
	return true
}

func verdictOf(v *schema.Verdict) Verdict {
	row := Verdict{
		ID: Text(v.ID), Release: Text(v.Release), Run: Text(v.Run), Model: Text(v.Model), Device: Text(v.Device),
		Simulated: v.Device == schema.Simulated, Key: Text(v.Key.String()), Metric: Text(v.Metric),
		Stat: Text(v.Stat), Against: v.Against, Level: Text(v.Level), Required: v.Required, Verdict: v.Outcome,
		Evidence: v.Evidence, Value: Num{v.Value}, Reference: Num{v.Ref}, Unit: Text(schema.Unit(v.Metric)),
		Effect: Num{v.Effect}, N: count(v.N),
	}
	if v.Interval != nil {
		row.Low, row.High = finite(v.Interval[0]), finite(v.Interval[1])
	}
	if v.Decision != nil {
		row.Decision = Text(v.Decision.ID)
	}
	if v.Reason != nil {
		row.Reason = Text(v.Reason.Code())
		row.facts(v.Reason)
	}
	return row
}

// facts adds the numbers of a reason, and what people wrote.
func (row *Verdict) facts(r schema.Reason) {
	known := func(v float64) Num {
		if v == 0 {
			return Num{} // 0 is unknown
		}
		return Num{schema.Num(v)}
	}
	switch r := r.(type) {
	case schema.Change:
		row.Limit, row.Noise, row.Releases = known(r.Limit), known(r.Noise), count(r.Releases)
		row.Detail = joined(r.Conditions, r.Differs, r.Build, r.SameBuild, r.SameCommit)
	case schema.EvalChange:
		row.Limit, row.Releases, row.Detail = known(r.Limit), count(r.Releases), Text(r.Conditions)
	case schema.Limit:
		row.Limit, row.Noise = Num{schema.Num(r.Tolerance)}, known(r.Noise)
	case schema.EvalLimit:
		row.Limit = Num{schema.Num(r.Tolerance)}
	case schema.NoNumber:
		row.Detail = Text(r.Why)
	case schema.ExcludedBy:
		row.Detail = Text(r.Why)
	case schema.InvalidPoint:
		row.Detail = Text(r.Why)
	}
}

// joined is texts with semicolons, without empty ones.
func joined(list ...string) Text {
	out := ""
	for _, s := range list {
		if s != "" && out != "" {
			out += "; "
		}
		out += s
	}
	return plain(out)
}
