package judge

import (
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
)

// Shift is a stratum (all numbers of a metric on a device) that changed as a whole, or in part.
type Shift struct {
	ID       string
	Device   string
	Metric   string
	Stat     string // p99 of tails, else ""
	Line     string
	Outcome  schema.Outcome
	Evidence schema.Evidence
	Large    bool // inconclusive, and beyond what matters
	Mixed    bool // most cells changed, by different amounts: nothing was removed
	Effect   schema.Number
	Interval *[2]float64
	P        schema.Number
	Releases int // earlier releases behind it
	Cells    int
	Agree    float64 // share of cells that changed alike
	First    string
	Turns    *schema.Turns // the paired difference, where the release was measured in turns with the one before
}

func (j *Judgement) shiftID(finding int32) string {
	f := &j.rows.Findings[finding]
	s := j.strata[f.Stratum]
	release := j.Releases[f.Release].Name
	at := schema.Pair{Model: s.seq.line, Device: s.device}
	return schema.VerdictID(release, "", at, schema.Key{}, s.metric, "shift"+s.stat(), schema.AgainstHistory)
}

// stat is the statistic of a stratum of tails; "" for others.
func (s stratum) stat() string {
	if s.tail {
		return tailStat
	}
	return ""
}

// Shifts lists the run-wide shifts of a release: those that changed, are large or mixed first.
func (j *Judgement) Shifts(release int) []Shift {
	var out, quiet []Shift
	rows := j.pairedOf(release)
	for i := range j.rows.Findings {
		f := &j.rows.Findings[i]
		if int(f.Release) != release || f.Kind == regression.RunFinding {
			continue
		}
		x := j.shift(int32(i))
		j.settleShift(release, &rows, &x, math.Log1p(j.policy.Effect(x.Metric)))
		switch x.Outcome {
		case schema.Regressed, schema.Improved, schema.BelowLimit:
			out = append(out, x)
		default:
			if x.Mixed || x.Large {
				out = append(out, x)
			} else {
				quiet = append(quiet, x)
			}
		}
	}
	return append(out, quiet...)
}

func (j *Judgement) shift(finding int32) Shift {
	f := &j.rows.Findings[finding]
	s := j.strata[f.Stratum]
	x := Shift{
		ID: j.shiftID(finding), Device: s.device, Metric: s.metric, Stat: s.stat(), Line: s.seq.line,
		Outcome: outcomeOf(f.Word), Evidence: evidenceOf(f.Evidence), Large: f.Large(),
		Mixed:  f.Kind == regression.MixedFinding,
		Effect: schema.Num(relative(sign(s.metric), f.D)),
		P:      schema.Num(f.P), Releases: f.N, Cells: f.Cells, Agree: f.Agree,
	}
	if f.SE > 0 {
		half := regression.Quantile(.975, f.Df) * f.SE
		x.Interval = &[2]float64{relative(sign(s.metric), f.D-half), relative(sign(s.metric), f.D+half)}
	}
	if f.First >= 0 {
		x.First = j.Releases[f.First].Name
	}
	return x
}

// group sets the cause of regressions: verdicts of a run-wide shift have theirs already; else, where more than half
// of the points of a system regressed, the cause is the run; else each point is a cause of its own.
func (j *Judgement) group(release int, list []schema.Verdict) {
	points, worse := map[schema.System]map[string]bool{}, map[schema.System]map[string]bool{}
	for i := range list {
		v := &list[i]
		if v.Outcome != schema.Regressed || v.Cause != (schema.Cause{}) {
			continue
		}
		p := v.System()
		if points[p] == nil {
			points[p], worse[p] = map[string]bool{}, map[string]bool{}
		}
		worse[p][v.Key.String()] = true
	}
	if len(worse) == 0 {
		return
	}
	for i := range list {
		if of := points[list[i].System()]; of != nil {
			of[list[i].Key.String()] = true
		}
	}
	const fewest = 4 // most of two or three points are no pattern
	for i := range list {
		v := &list[i]
		if v.Outcome != schema.Regressed || v.Cause != (schema.Cause{}) {
			continue
		}
		p := v.System()
		if len(points[p]) >= fewest && 2*len(worse[p]) > len(points[p]) {
			v.Cause = schema.Cause{Kind: schema.CauseRun, ID: j.runID(v)}
			continue
		}
		id := schema.VerdictID(v.Release, "", v.Pair(), v.Key, v.Impl, "point", schema.AgainstHistory)
		v.Cause = schema.Cause{Kind: schema.CausePoint, ID: id}
	}
}
