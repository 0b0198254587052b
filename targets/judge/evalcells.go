package judge

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/regression/proportion"
)

// evalID is one eval of one system within one line of releases.
type evalID struct {
	system schema.System
	task   string
	file   string // what the names of its files say, where results state no difference
	seq    sequence
}

// evalCell is the history of one eval under its primary metric.
type evalCell struct {
	id             evalID
	metric, filter string
	values         []evalValue // by release
}

// evalValue holds the scores of one release: the first run's, and those of later runs.
type evalValue struct {
	release int
	scores  []*columns.ScoreRow
	runs    []string // ids
}

// at returns the value of a release, or nil.
func (c *evalCell) at(release int) *evalValue {
	for i := range c.values {
		if c.values[i].release == release {
			return &c.values[i]
		}
	}
	return nil
}

// evalName is the name of a task's score.
type evalName struct{ metric, filter string }

// evalCells gathers the evals of a history, one primary metric for each task and release, so that a release's page
// does not count one eval several times. A task keeps its metric for as long as releases report it, even if a later
// release has a better one, so that verdicts on earlier releases do not change.
func evalCells(c *columns.Columns, releases []Release, screen *screen) []*evalCell {
	cells := map[evalID]map[evalName]*evalCell{}
	primary := map[evalID]evalName{}
	var out []*evalCell
	seqs := sequences(releases)
	for ri := range releases {
		for id, byName := range evalsOf(c, releases[ri].Runs, screen, ri, seqs[ri]) {
			n, known := primary[id]
			if !known || byName[n] == nil {
				n = bestName(byName)
				primary[id] = n
			}
			if cells[id] == nil {
				cells[id] = map[evalName]*evalCell{}
			}
			cell := cells[id][n]
			if cell == nil {
				cell = &evalCell{id: id, metric: n.metric, filter: n.filter}
				cells[id][n] = cell
				out = append(out, cell)
			}
			cell.values = append(cell.values, *byName[n])
		}
	}
	sortCells(out)
	return out
}

// evalsOf gathers the scores of one release.
func evalsOf(c *columns.Columns, runs []int, screen *screen, release int,
	seq sequence) map[evalID]map[evalName]*evalValue {
	all := map[evalID]map[evalName]*evalValue{}
	for _, run := range runs {
		h := &c.Runs[run]
		if screen.excludes(h) {
			continue
		}
		rows := c.ScoresOf(run)
		for i := range rows {
			s := &rows[i]
			id, n := evalID{systemOf(h), s.Task, schema.FileOf(s.Filter), seq}, evalName{s.Metric, s.Filter}
			if all[id] == nil {
				all[id] = map[evalName]*evalValue{}
			}
			if all[id][n] == nil {
				all[id][n] = &evalValue{release: release}
			}
			v := all[id][n]
			v.scores, v.runs = append(v.scores, s), append(v.runs, h.ID)
		}
	}
	return all
}

// bestName returns the name that papers report, among several.
func bestName(of map[evalName]*evalValue) evalName {
	return slices.MinFunc(slices.Collect(maps.Keys(of)), func(a, b evalName) int {
		return cmp.Or(cmp.Compare(evalRank(a.metric, a.filter), evalRank(b.metric, b.filter)), cmp.Compare(a.metric,
			b.metric), cmp.Compare(a.filter, b.filter))
	})
}

func sortCells(out []*evalCell) {
	slices.SortFunc(out, func(x, y *evalCell) int {
		a, b := x.id, y.id
		return cmp.Or(
			schema.NaturalCompare(a.system.Model, b.system.Model), schema.NaturalCompare(a.system.Device, b.system.Device),
			schema.NaturalCompare(a.system.Impl, b.system.Impl), schema.NaturalCompare(a.task, b.task),
			schema.NaturalCompare(a.seq.channel, b.seq.channel), schema.NaturalCompare(a.seq.line, b.seq.line),
			schema.NaturalCompare(x.metric, y.metric), schema.NaturalCompare(x.filter, y.filter))
	})
}

// evalRank prefers the metric and filter that papers report.
func evalRank(metric, filter string) int {
	metrics := []string{"exact_match", "acc", "accuracy", "pass@1", "prompt_level_strict_acc", "acc_norm", "score",
		"f1"}
	filters := []string{"strict-match", "none", "", "custom-extract", "flexible-extract"}
	own, apart := schema.SplitFilter(filter)
	m, f := slices.Index(metrics, strings.ToLower(metric)), slices.Index(filters, own)
	if m < 0 {
		m = len(metrics)
	}
	if f < 0 {
		f = len(filters)
	}
	if apart != "" {
		f += len(filters) + 1
	}
	return m*20 + f
}

// byError is the difference of two scores by their stated standard errors, in shares of 1 where both are shares: one
// file may write percent and the other a fraction. why says what is missing.
func byError(before, now *schema.Score, shares bool) (d proportion.Difference, why string) {
	var v, e [2]float64
	scale := [2]float64{1, 1}
	if shares {
		scale[0], scale[1], _ = scalesOf(before, now)
	}
	for i, s := range []*schema.Score{before, now} {
		var has, stated bool
		if v[i], has = s.Value.Get(); !has {
			return d, "one of them has no value"
		}
		if e[i], stated = s.Stderr.Get(); !stated {
			return d, "neither questions nor errors are stated"
		}
		v[i], e[i] = v[i]/scale[i], e[i]/scale[i]
	}
	if e[0]+e[1] <= 0 {
		return d, "neither questions nor errors are stated"
	}
	return proportion.Normal(v[0], e[0], v[1], e[1]), ""
}

// itemsOf is of how many right or wrong answers a share has the error that its file states. That is the number of items
// for an eval whose answers are right or wrong; a mean of graded answers has less noise, and one of related questions
// more. Without a stated error it is the number of items.
func itemsOf(s *schema.Score, p float64) float64 {
	n := float64(s.N)
	e, has := s.Stderr.Get()
	e /= scaleOf(s)
	if !has || !(e > 0) || n < 2 || p <= 0 || p >= 1 {
		return n
	}
	rounding := .02 + 1e-4/e // of an error that is stated with four digits
	for _, d := range []float64{n, n - 1} {
		if math.Abs(e/math.Sqrt(p*(1-p)/d)-1) <= rounding {
			return n
		}
	}
	return itemsBehind(p, e)
}

// spread returns the standard error of a share from its items: Wilson's interval where the plain formula gives zero,
// reduced by the finite population correction of a limited run (the first n of N).
func spread(s *schema.Score, p float64) (se float64, ok bool) {
	if s.N <= 0 {
		e, has := s.Stderr.Get()
		if has && e > 0 {
			return e / scaleOf(s), true
		}
		return 0, false
	}
	lo, hi := proportion.Wilson(p, itemsOf(s, p))
	se = (hi - lo) / (2 * 1.959963984540054)
	if s.Total > s.N {
		se *= math.Sqrt(1 - float64(s.N)/float64(s.Total))
	}
	return se, true
}

// passing applies the false discovery procedure to the evals of a release, each direction by itself, and sets their q.
func passing(tests []evalTest) []bool {
	passed := make([]bool, len(tests))
	family := 0
	for i := range tests {
		tests[i].q = 1
		if tests[i].ok {
			family++
		}
	}
	for _, dir := range []float64{1, -1} {
		var at []int
		var p []float64
		for i := range tests {
			if tests[i].ok && tests[i].worse*dir > 0 {
				at, p = append(at, i), append(p, tests[i].p)
			}
		}
		q, limit := regression.BenjaminiHochberg(p, family, regression.FDR)
		for k, i := range at {
			tests[i].q, passed[i] = q[k], p[k] <= limit
		}
	}
	return passed
}
