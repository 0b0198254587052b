package targets

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/regression"
)

// Required reports whether a model's declared status promises a level. An unknown status promises none: its verdicts are
// information.
func Required(status, level string) bool {
	if level == schema.LevelReference {
		return status == "FUNCTIONAL" || status == "COMPLETE" || status == "TOP_PERF"
	}
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

// required reports whether a target decides: by its own priority where its source states one, else by the model's status.
func required(t schema.Target, status string) bool {
	switch t.Priority {
	case "must":
		return true
	case "should":
		return false
	}
	return Required(status, t.Level)
}

// Targets returns the verdicts of one pair in one release against the targets in force: one per target, tool and level, one per
// planned workload that was not measured, and one ungraded verdict per workload that no target speaks of. All runs of the release
// count: a later run adds to what an earlier one measured and never replaces it, so nobody can measure until it fits. Targets that
// the newest run was stamped with are in force.
func (j *Judgement) Targets(release int, model, device string) []schema.Verdict {
	runs := j.runsOf(release, model, device)
	if len(runs) == 0 {
		return nil
	}
	c := j.Columns
	g := grading{j: j, c: c, release: release, head: &c.Runs[runs[len(runs)-1]], bySlot: map[slot][]*columns.PointRow{}}
	for _, run := range runs {
		h := &c.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &c.Points[i]
			if j.Policy.void(h) || j.Policy.voidPoint(h, c.Keys[p.Key]) != nil {
				continue
			}
			at := slot{h.Impl, p.Key}
			if g.bySlot[at] == nil {
				g.slots = append(g.slots, at)
			}
			g.bySlot[at] = append(g.bySlot[at], p)
		}
		if rows := c.TargetsOf(run); len(rows) > 0 {
			g.rows = g.rows[:0]
			for _, t := range rows {
				g.rows = append(g.rows, t.Target)
			}
		}
	}
	sort.Slice(g.slots, func(a, b int) bool {
		x, y := g.slots[a], g.slots[b]
		if x.key != y.key {
			return c.Keys[x.key].Less(c.Keys[y.key])
		}
		return x.impl < y.impl
	})
	out := g.all()
	out = append(out, g.unmeasured(runs)...)
	for i := range out {
		out[i].Decision = j.Policy.about(&out[i])
	}
	return out
}

// runsOf lists the runs of a pair in a release.
func (j *Judgement) runsOf(release int, model, device string) []int {
	var runs []int
	for _, run := range j.Releases[release].Runs {
		if h := &j.Columns.Runs[run]; h.Model.Name == model && h.Device == device {
			runs = append(runs, run)
		}
	}
	return runs
}

// all grades every target, then names what no target speaks of.
func (g *grading) all() []schema.Verdict {
	graded := map[slot]bool{}
	var out []schema.Verdict
	for _, t := range g.rows {
		if IsEval(t.Key) {
			out = append(out, g.eval(t))
			continue
		}
		met := false
		for _, at := range g.slots {
			if t.Matches(g.c.Keys[at.key]) {
				met, graded[at] = true, true
				out = append(out, g.one(t, at))
			}
		}
		if !met {
			v := g.start(t, t.Key)
			v.Word, v.Reason = schema.MissingWord, schema.Reason{Code: "not-measured"}
			out = append(out, v)
		}
	}
	for _, at := range g.slots {
		if !graded[at] {
			v := g.of(schema.Target{}, at)
			v.Word, v.Reason = schema.Ungraded, schema.Reason{Code: "no-target"}
			out = append(out, v)
		}
	}
	return out
}

// unmeasured lists planned workloads without any point.
func (j *grading) unmeasured(runs []int) []schema.Verdict {
	var out []schema.Verdict
	seen := map[int32]bool{}
	for at := range j.bySlot {
		seen[at.key] = true
	}
	for _, run := range runs {
		for _, p := range j.c.PlanOf(run) {
			if seen[p.Key] {
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

// grading is one pair in one release beside its targets.
type grading struct {
	j       *Judgement
	release int
	c       *columns.Columns
	head    *columns.RunHead
	slots   []slot
	bySlot  map[slot][]*columns.PointRow
	rows    []schema.Target
}

// slot is a workload of one implementation: two of them are two products, and their mean is neither's number.
type slot struct {
	impl string
	key  int32
}

// of starts the verdict on a slot.
func (j *grading) of(t schema.Target, at slot) schema.Verdict {
	v := j.start(t, j.c.Keys[at.key])
	v.Impl = at.impl
	v.Run = j.c.Runs[j.bySlot[at][0].Run].ID
	if at.impl != "" {
		v.ID = schema.VerdictID(v.Release, at.impl, v.Model, v.Device, v.Key, v.Metric+"/"+v.Level, v.Stat, schema.AgainstTarget)
	}
	return v
}

func (j *grading) start(t schema.Target, k schema.Key) schema.Verdict {
	stat := t.Metric
	if t.Level != "" {
		stat += "/" + t.Level
	}
	return schema.Verdict{
		ID:  schema.VerdictID(releaseOf(j.head), "", j.head.Model.Name, j.head.Device, k, stat, t.Stat, schema.AgainstTarget),
		Run: j.head.ID, Release: j.head.Release, Model: j.head.Model.Name, Device: j.head.Device, Key: k, Metric: t.Metric, Stat: t.Stat,
		Against: schema.AgainstTarget, Level: t.Level, Required: required(t, j.head.Model.Status), Ref: refOf(t),
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
func (j *grading) one(t schema.Target, at slot) schema.Verdict {
	points := j.bySlot[at]
	v := j.of(t, at)
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
		if x, ok := n.Get(); ok && Measurable(x) && p.StatusWord() != schema.StatusInvalid {
			values = append(values, x)
		} else if ok && why == "" && p.StatusWord() != schema.StatusInvalid {
			why = num(x) + " is no measurement"
		} else if why == "" {
			why = n.Why()
		}
	}
	if len(values) == 0 {
		v.Word, v.Value = schema.MissingWord, schema.Missing(why)
		v.Reason = schema.Reason{Code: "no-number", Args: map[string]string{"why": why}}
		return v
	}
	decide(&v, t, info.Better, values, j.noise(t, at))
	return v
}

// Measured is the value of a point that a target speaks of. Speed per user is computed as 1000 / mean TPOT for every
// tool, because tools average it in ways that differ by percents.
func Measured(c *columns.Columns, p *columns.PointRow, metric, stat string) schema.Number {
	if metric == "tps_user" {
		if n, _ := c.Value(p, "tpot", "mean"); n.Why() == "" {
			if x, ok := n.Get(); ok && Measurable(x) {
				return schema.Num(1000 / x)
			}
		}
	}
	n, _ := c.Value(p, metric, stat)
	if _, ok := n.Get(); ok {
		return tail(c, p, metric, stat, n)
	}
	switch stat {
	case "", "mean", "median", "value": // tools write one of them; a percentile stands for itself alone
		for _, s := range []string{"mean", "median", "value"} {
			if other, _ := c.Value(p, metric, s); other.Why() == "" {
				if _, ok := other.Get(); ok {
					return other
				}
			}
		}
	}
	return n
}

// tail refuses a percentile beyond the 95th of fewer than 100 requests: it is no number, and grades nothing.
func tail(c *columns.Columns, p *columns.PointRow, metric, stat string, v schema.Number) schema.Number {
	q, ok := strings.CutPrefix(stat, "p")
	rank, err := strconv.ParseFloat(q, 64)
	if !ok || err != nil || rank <= 95 {
		return v
	}
	n, _ := c.Value(p, metric, "n")
	count, known := n.Get()
	if !known {
		n, _ = c.Value(p, "requests_ok", "value")
		count, known = n.Get()
	}
	const few = 100
	if known && count < few {
		return schema.Missing(fmt.Sprintf("a %s of %.0f requests is no number", stat, count))
	}
	return v
}

// impossible finds a target that its own neighbours rule out: more output than all users at their own promised speed.
func (j *grading) impossible(t schema.Target) schema.Reason {
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

// decide compares the measurements of a release with one limit: the target moved by its tolerance. The whole 95 % interval must
// lie on one side. The interval is that of another run, not of the requests: their own standard error covers 38 to 53 % where it
// promises 95 (measured). Without any known noise three repeats give an interval of their own, and fewer none: then the point
// decides, and the reason says so.
func decide(v *schema.Verdict, t schema.Target, better schema.Better, values []float64, known noise) {
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
	if half, code := halfWidth(logs, known); half >= 0 {
		a, b := math.Exp(mean-half), math.Exp(mean+half)
		if sign < 0 {
			a, b = b, a
		}
		v.Interval = &[2]float64{sign * (a/t.Value - 1), sign * (b/t.Value - 1)}
		lo, hi = sign*(a-limit), sign*(b-limit)
		v.Reason.Code = code
		v.Reason.Args["noise"] = num2(100 * half / regression.Quantile(.975, dfOf(known, len(values))))
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

func num(v float64) string { return fmt.Sprintf("%.4g", v) }
