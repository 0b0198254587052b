package targets

import (
	"fmt"
	"math"
	"sort"
	"strconv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Required reports whether a model's declared status promises a level. An unknown status promises none: its verdicts are
// information.
func Required(status, level string) bool {
	switch status {
	case "FUNCTIONAL":
		return level == schema.LevelFunctional
	case "COMPLETE":
		return level == schema.LevelFunctional || level == schema.LevelComplete
	case "TOP_PERF":
		return true
	}
	return false
}

// Judge returns the verdicts of one system in one release against the targets in force: one per target, tool and level,
// one per planned workload that was not measured, and one ungraded verdict per workload that no target speaks of. All runs
// of the release count: a later run adds to what an earlier one measured and never replaces it, so nobody can measure until
// it fits. Targets that the newest run was stamped with are in force.
func Judge(c *columns.Columns, runs []int) []schema.Verdict {
	if len(runs) == 0 {
		return nil
	}
	j := judge{c: c, head: &c.Runs[runs[len(runs)-1]], byKey: map[int32][]*columns.PointRow{}}
	for _, run := range runs {
		h := &c.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &c.Points[i]
			if j.byKey[p.Key] == nil {
				j.keys = append(j.keys, p.Key)
			}
			j.byKey[p.Key] = append(j.byKey[p.Key], p)
		}
		if rows := c.TargetsOf(run); len(rows) > 0 {
			j.rows = j.rows[:0]
			for _, t := range rows {
				j.rows = append(j.rows, t.Target)
			}
		}
	}
	sort.Slice(j.keys, func(a, b int) bool { return c.Keys[j.keys[a]].Less(c.Keys[j.keys[b]]) })
	graded := map[int32]bool{}
	var out []schema.Verdict
	for _, t := range j.rows {
		met := false
		for _, k := range j.keys {
			if t.Matches(c.Keys[k]) {
				met, graded[k] = true, true
				out = append(out, j.one(t, c.Keys[k], j.byKey[k]))
			}
		}
		if !met {
			v := j.start(t, t.Key)
			v.Word, v.Reason = schema.MissingWord, schema.Reason{Code: "not-measured"}
			out = append(out, v)
		}
	}
	for _, k := range j.keys {
		if !graded[k] {
			v := j.start(schema.Target{}, c.Keys[k])
			v.Word, v.Reason = schema.Ungraded, schema.Reason{Code: "no-target"}
			out = append(out, v)
		}
	}
	return append(out, j.unmeasured(runs)...)
}

// unmeasured lists planned workloads without any point.
func (j *judge) unmeasured(runs []int) []schema.Verdict {
	var out []schema.Verdict
	seen := map[int32]bool{}
	for _, run := range runs {
		for _, p := range j.c.PlanOf(run) {
			if seen[p.Key] || j.byKey[p.Key] != nil {
				continue
			}
			seen[p.Key] = true
			v := j.start(schema.Target{}, j.c.Keys[p.Key])
			v.Word, v.Reason = schema.MissingWord, schema.Reason{Code: "planned"}
			out = append(out, v)
		}
	}
	return out
}

type judge struct {
	c     *columns.Columns
	head  *columns.RunHead
	keys  []int32
	byKey map[int32][]*columns.PointRow
	rows  []schema.Target
}

func (j *judge) start(t schema.Target, k schema.Key) schema.Verdict {
	stat := t.Metric
	if t.Level != "" {
		stat += "/" + t.Level
	}
	return schema.Verdict{
		ID:  schema.VerdictID(releaseOf(j.head), "", j.head.Model.Name, j.head.Device, k, stat, t.Stat, schema.AgainstTarget),
		Run: j.head.ID, Release: j.head.Release, Model: j.head.Model.Name, Device: j.head.Device, Key: k, Metric: t.Metric, Stat: t.Stat,
		Against: schema.AgainstTarget, Level: t.Level, Required: Required(j.head.Model.Status, t.Level), Ref: refOf(t),
	}
}

func refOf(t schema.Target) schema.Number {
	if t.Metric == "" {
		return schema.Missing("no target")
	}
	return schema.Num(t.Value)
}

func releaseOf(h *columns.RunHead) string {
	if h.Release != "" {
		return h.Release
	}
	return h.ID
}

// one judges the repeats of one workload against one target.
func (j *judge) one(t schema.Target, k schema.Key, points []*columns.PointRow) schema.Verdict {
	v := j.start(t, k)
	info, known := schema.MetricByName(t.Metric)
	if why := j.impossible(t); why.Code != "" {
		v.Word, v.Reason = schema.Impossible, why
		return v
	}
	if !known || info.Better == schema.Neither {
		v.Word, v.Reason = schema.Ungraded, schema.Reason{Code: "metric-not-measured", Args: map[string]string{"metric": t.Metric}}
		return v
	}
	var values []float64
	why := ""
	for _, p := range points {
		n := Measured(j.c, p, t.Metric, t.Stat)
		if x, ok := n.Get(); ok && x > 0 && p.StatusWord() != schema.StatusInvalid {
			values = append(values, x)
		} else if why == "" {
			why = n.Why()
		}
	}
	if len(values) == 0 {
		v.Word, v.Value = schema.MissingWord, schema.Missing(why)
		v.Reason = schema.Reason{Code: "no-number", Args: map[string]string{"why": why}}
		return v
	}
	decide(&v, t, info.Better, values)
	return v
}

// Measured is the value of a point that a target speaks of. Speed per user is computed as 1000 / mean TPOT for every
// tool, because tools average it in ways that differ by percents.
func Measured(c *columns.Columns, p *columns.PointRow, metric, stat string) schema.Number {
	if metric == "tps_user" {
		if n, _ := c.Value(p, "tpot", "mean"); n.Why() == "" {
			if x, ok := n.Get(); ok && x > 0 {
				return schema.Num(1000 / x)
			}
		}
	}
	first := schema.Missing("")
	for i, s := range []string{stat, "mean", "median", "value"} {
		n, _ := c.Value(p, metric, s)
		if _, ok := n.Get(); ok {
			return n
		}
		if i == 0 {
			first = n
		}
	}
	return first
}

// impossible finds a target that its own neighbours rule out: more output than all users at their own promised speed.
func (j *judge) impossible(t schema.Target) schema.Reason {
	if t.Metric != "output_tps" || t.Key.Concurrency == nil {
		return schema.Reason{}
	}
	for _, o := range j.rows {
		if o.Metric != "tps_user" || o.Level != t.Level || o.Key.String() != t.Key.String() {
			continue
		}
		if ceiling := o.Value * *t.Key.Concurrency; t.Value > ceiling*(1+1e-9) {
			return schema.Reason{Code: "above-ceiling", Args: map[string]string{"target": num(t.Value), "ceiling": num(ceiling),
				"user": num(o.Value), "concurrency": num(*t.Key.Concurrency)}}
		}
	}
	return schema.Reason{}
}

// decide compares repeats with one limit: the target moved by its tolerance. With three repeats or more the 95 % interval
// of their geometric mean must lie wholly on one side; with fewer there is no interval and the mean decides.
func decide(v *schema.Verdict, t schema.Target, better schema.Better, values []float64) {
	logs := make([]float64, len(values))
	mean := 0.
	for i, x := range values {
		logs[i] = math.Log(x)
		mean += logs[i] / float64(len(values))
	}
	value, sign, limit := math.Exp(mean), 1., t.Value*(1+t.Tolerance)
	if len(values) == 1 {
		value = values[0] // the logarithm and back may miss a limit that is met exactly
	}
	if better == schema.Higher {
		sign, limit = -1, t.Value*(1-t.Tolerance)
	}
	v.Value, v.N = schema.Num(value), len(values)
	v.Effect = schema.Num(sign * (value/t.Value - 1))
	v.Reason = schema.Reason{Code: "single-run", Args: map[string]string{"n": strconv.Itoa(len(values)), "tolerance": num(100 * t.Tolerance)}}
	lo, hi := sign*(value-limit), sign*(value-limit)
	if half, ok := halfWidth(logs, mean); ok {
		a, b := math.Exp(mean-half), math.Exp(mean+half)
		if sign < 0 {
			a, b = b, a
		}
		v.Interval = &[2]float64{sign * (a/t.Value - 1), sign * (b/t.Value - 1)}
		lo, hi = sign*(a-limit), sign*(b-limit)
		v.Reason.Code = "repeats"
	}
	switch {
	case hi <= 0:
		v.Word = schema.Pass
	case lo > 0:
		v.Word = schema.Fail
	default:
		v.Word = schema.Inconclusive
	}
}

// student975 holds the 97.5 % quantile of Student's t for 2 to 9 degrees of freedom (Fisher and Yates, table III); more
// repeats of one point than ten use the last.
var student975 = [...]float64{2: 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262}

// halfWidth is the half width of the 95 % interval of a mean of logarithms; ok is false below three values.
func halfWidth(logs []float64, mean float64) (float64, bool) {
	n := len(logs)
	if n < 3 {
		return 0, false
	}
	var sq float64
	for _, x := range logs {
		sq += (x - mean) * (x - mean)
	}
	t := student975[min(n-1, len(student975)-1)]
	return t * math.Sqrt(sq/float64(n-1)/float64(n)), true
}

func num(v float64) string { return fmt.Sprintf("%.4g", v) }
