package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge"
)

// Against is a release of a history beside an earlier one: B as it was judged, and what changed since A.
type Against struct {
	A, B                string
	Numbers             int // on both sides under the same conditions
	Scores              int // of evals on both sides, which the caller counts with the verdicts on them
	Regressed, Improved int // of numbers and scores, as B was judged against its own baseline
	Unlike              int // on both sides under conditions that differ: not compared
	OnlyA, OnlyB        int
	Differ              []Condition // the most frequent first
	Means               []Mean
}

// Condition is one that two sides state and state differently.
type Condition struct {
	Name, A, B string
	N          int // numbers
}

// Releases compares release b with the earlier release a.
func Releases(j *judge.Judgement, a, b int) *Against {
	out := &Against{A: j.Releases[a].Name, B: j.Releases[b].Name}
	differ := map[Condition]int{}
	var changes []changed
	for i := range j.Series {
		s := &j.Series[i]
		before, inA := j.Summary(s, a)
		now, inB := j.Summary(s, b)
		switch {
		case s.Tail() || !inA && !inB:
			continue
		case !inB:
			out.OnlyA++
			continue
		case !inA:
			out.OnlyB++
			continue
		}
		if unlike := judge.Differing(before.Conditions, now.Conditions); len(unlike) > 0 {
			out.Unlike++
			for _, name := range unlike {
				differ[Condition{name, judge.Stated(name, before.Conditions), judge.Stated(name, now.Conditions), 0}]++
			}
			continue
		}
		out.Numbers++
		switch now.Outcome {
		case schema.Regressed:
			out.Regressed++
		case schema.Improved:
			out.Improved++
		}
		if before.Value > 0 && now.Value > 0 {
			changes = append(changes, changed{s.Metric, math.Log(now.Value / before.Value)})
		}
	}
	for c, n := range differ {
		c.N = n
		out.Differ = append(out.Differ, c)
	}
	slices.SortFunc(out.Differ, func(x, y Condition) int {
		return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.Name, y.Name), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	out.Means = means(changes)
	return out
}

// changed is the change of a number of a metric, on the log scale.
type changed struct {
	metric string
	log    float64
}

// means are the geometric means of changes, by metric with two of them or more: the primary ones.
func means(list []changed) (out []Mean) {
	for _, metric := range judge.PrimaryMetrics() {
		sum, n, lo, hi := 0., 0, math.Inf(1), math.Inf(-1)
		for _, c := range list {
			if c.metric == metric {
				sum, n, lo, hi = sum+c.log, n+1, math.Min(lo, c.log), math.Max(hi, c.log)
			}
		}
		if n > 1 {
			out = append(out, Mean{Metric: metric, N: n, Change: math.Expm1(sum / float64(n)), Low: math.Expm1(lo),
				High: math.Expm1(hi)})
		}
	}
	return out
}

// Judge gives each row the verdict on its number of B, where B is a release of the history.
func (r *Result) Judge(history []schema.Verdict) {
	several := slices.ContainsFunc(r.Rows, func(x Row) bool { return x.System != "" })
	exact, plain := map[cell][]*schema.Verdict{}, map[cell][]*schema.Verdict{} // with implementations, and without
	for i := range history {
		v := &history[i]
		c := cell{"", v.Key.String(), v.Metric, v.Stat, v.Def}
		if several {
			c.system = onDevice(v.Model, v.Device)
		}
		plain[c] = append(plain[c], v)
		if v.Impl != "" {
			c.system += ", " + v.Impl
		}
		exact[c] = append(exact[c], v)
	}
	for i := range r.Rows {
		of := exact[r.Rows[i].of]
		if len(of) == 0 {
			of = plain[r.Rows[i].of]
		}
		if len(of) == 1 {
			r.Rows[i].Judged = of[0]
		}
	}
}

// Nearest is what keeps two sides apart that have no number in common.
type Nearest struct {
	Differ []Setting // fields of the nearest pairs of numbers, with the values of one pair; "" where a side states none
	N      int       // numbers of B that have such a neighbour in A
}

// Bounds of a search for neighbours.
const (
	mostNeighbours = 400 // numbers a side that are looked at
	mostDiffering  = 3   // fields: what differs in more is no neighbour
)

// nearest finds for each number of B the one of A from which it differs in the fewest fields, and returns what most of
// those that differ in the fewest differ in; nil without a neighbour.
func nearest(a, b *side) *Nearest {
	left, right := a.fields(), b.fields()
	found := map[string]*Nearest{}
	differing := func(x, y map[string]string) (out []Setting) {
		names := maps.Clone(x)
		maps.Copy(names, y)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if x[name] != y[name] {
				out = append(out, Setting{name, x[name], y[name]})
			}
		}
		return out
	}
	for _, y := range right {
		var best []Setting
		for _, x := range left {
			if d := differing(x, y); best == nil || distance(d) < distance(best) {
				best = d
			}
		}
		if len(best) == 0 || len(best) > mostDiffering {
			continue
		}
		var names []string
		for _, d := range best {
			names = append(names, d.Name)
		}
		name := strings.Join(names, "\n")
		if found[name] == nil {
			found[name] = &Nearest{Differ: best}
		}
		found[name].N++
	}
	names := slices.SortedFunc(maps.Keys(found), func(x, y string) int {
		p, q := found[x], found[y]
		return cmp.Or(cmp.Compare(distance(p.Differ), distance(q.Differ)), cmp.Compare(q.N, p.N), cmp.Compare(x, y))
	})
	if len(names) == 0 {
		return nil
	}
	return found[names[0]]
}

// fieldMetric is a field that differs in kind: another metric is further away than another setting.
const fieldMetric = "metric"

func distance(d []Setting) int {
	n := 2 * len(d)
	if slices.ContainsFunc(d, func(s Setting) bool { return s.Name == fieldMetric }) {
		n++
	}
	return n
}

// fields are those by which numbers of a side are told apart, in the order of cells.
func (s *side) fields() (out []map[string]string) {
	cells := slices.SortedFunc(maps.Keys(s.values), func(x, y cell) int {
		return cmp.Or(cmp.Compare(x.system, y.system), cmp.Compare(x.key, y.key), cmp.Compare(x.metric, y.metric),
			cmp.Compare(x.stat, y.stat), cmp.Compare(x.def, y.def))
	})
	for _, c := range cells[:min(mostNeighbours, len(cells))] {
		k := s.keys[c.key]
		f := map[string]string{
			"system": c.system, "task": k.Task, "tool": k.Tool, "isl": stated(k.ISL), "osl": stated(k.OSL),
			"concurrency": stated(k.Concurrency), "rate": stated(k.Rate), "dataset": k.Dataset,
			fieldMetric: c.metric + " " + c.stat, "definition of " + c.metric: c.def,
		}
		maps.Copy(f, k.Dims)
		out = append(out, f)
	}
	return out
}

func stated(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'g', -1, 64)
}
