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
	g := grading{j: j, c: c, release: release, head: &c.Runs[runs[len(runs)-1]], byKey: map[int32][]*columns.PointRow{}}
	for _, run := range runs {
		h := &c.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &c.Points[i]
			if j.Policy.void(h) || j.Policy.voidPoint(h, c.Keys[p.Key]) != nil {
				continue
			}
			if g.byKey[p.Key] == nil {
				g.keys = append(g.keys, p.Key)
			}
			g.byKey[p.Key] = append(g.byKey[p.Key], p)
		}
		if rows := c.TargetsOf(run); len(rows) > 0 {
			g.rows = g.rows[:0]
			for _, t := range rows {
				g.rows = append(g.rows, t.Target)
			}
		}
	}
	sort.Slice(g.keys, func(a, b int) bool { return c.Keys[g.keys[a]].Less(c.Keys[g.keys[b]]) })
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
	graded := map[int32]bool{}
	var out []schema.Verdict
	for _, t := range g.rows {
		if IsEval(t.Key) {
			out = append(out, g.eval(t))
			continue
		}
		met := false
		for _, k := range g.keys {
			if t.Matches(g.c.Keys[k]) {
				met, graded[k] = true, true
				out = append(out, g.one(t, k))
			}
		}
		if !met {
			v := g.start(t, t.Key)
			v.Word, v.Reason = schema.MissingWord, schema.Reason{Code: "not-measured"}
			out = append(out, v)
		}
	}
	for _, k := range g.keys {
		if !graded[k] {
			v := g.start(schema.Target{}, g.c.Keys[k])
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

// grading is one pair in one release beside its targets.
type grading struct {
	j       *Judgement
	release int
	c       *columns.Columns
	head    *columns.RunHead
	keys    []int32
	byKey   map[int32][]*columns.PointRow
	rows    []schema.Target
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
func (j *grading) one(t schema.Target, key int32) schema.Verdict {
	points := j.byKey[key]
	v := j.start(t, j.c.Keys[key])
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
	decide(&v, t, info.Better, values, j.noise(t, key, points[0]))
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

// noise is what is known of how much one measurement may lie from another run of the same thing, on the log scale.
type noise struct {
	variance float64 // of one release's value; NaN where nothing is known
	df       float64
	from     string // own: the series' own history; typical: that of its device and metric
}

// noise looks a target's series up in the judgement of history. Speed per user is 1000 / mean TPOT, so its noise is TPOT's.
func (j *grading) noise(t schema.Target, key int32, p *columns.PointRow) noise {
	metric := t.Metric
	if metric == "tps_user" {
		metric = "tpot"
	}
	h := &j.c.Runs[p.Run]
	s := j.j.lookup(h.Model.Name, h.Device, h.Impl, key, metric)
	if s == nil {
		return noise{variance: math.NaN()}
	}
	obs := s.find(j.release)
	if obs < 0 {
		return noise{variance: math.NaN()}
	}
	row, o := &j.j.rows.Rows[obs], &j.j.table.Obs[obs]
	floor := float64(o.SE) * float64(o.SE)
	if row.N > 0 && row.SE > 0 {
		v := float64(row.SE) * float64(row.SE) / (1 + 1/float64(row.N))
		return noise{math.Max(v, floor), float64(row.Df), "own"}
	}
	fit := &j.j.rows.Fits[j.release]
	if s0 := fit.S0[j.j.table.Cells[s.cell].Stratum]; s0 > 0 {
		return noise{math.Max(s0, floor), math.Min(fit.D0, fit.SumNu), "typical"}
	}
	return noise{variance: math.NaN()}
}

// lookup finds the series of a workload and metric on a system, in any line; nil when there is none.
func (j *Judgement) lookup(model, device, impl string, key int32, metric string) *Series {
	for _, i := range j.byKey[key] {
		if s := &j.Series[i]; s.Model == model && s.Device == device && s.Impl == impl && s.Metric == metric {
			return s
		}
	}
	return nil
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
	if half, code := halfWidth(logs, mean, known); half >= 0 {
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

func dfOf(known noise, n int) float64 {
	if math.IsNaN(known.variance) {
		return float64(n - 1)
	}
	return known.df
}

// halfWidth is the half width of the 95 % interval of a release's value on the log scale, and where its noise comes from; -1
// where nothing is known. Noise between releases is not averaged away by repeats of one: it enters whole.
func halfWidth(logs []float64, mean float64, known noise) (float64, string) {
	n := len(logs)
	if !math.IsNaN(known.variance) {
		return regression.Quantile(.975, known.df) * math.Sqrt(known.variance), "noise-" + known.from
	}
	if n < 3 {
		return -1, ""
	}
	var sq float64
	for _, x := range logs {
		sq += (x - mean) * (x - mean)
	}
	return regression.Quantile(.975, float64(n-1)) * math.Sqrt(sq/float64(n-1)/float64(n)), "repeats"
}

func num(v float64) string { return fmt.Sprintf("%.4g", v) }
