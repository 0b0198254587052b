package judge

import (
	"context"
	"iter"
	"sync"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/regression"
)

// Judgement is everything that is judged: each number against its history and against the targets in force. All
// releases are computed at once; verdicts are made release by release, on demand.
type Judgement struct {
	Columns  *columns.Columns
	Releases []Release
	Series   []Series

	policy  *decision.Policy
	screen  *screen
	table   *regression.Table
	rules   regression.Rules
	rows    *regression.Judgement
	classes *classes
	bad     []badValue
	zeros   []badValue
	roles   []role // of statistics
	repeats bool   // some run repeated a point
	byCell  [][]int32
	cellOf  []int32           // by observation
	byKey   map[int32][]int32 // series by workload
	strata  []stratum
	evals   *evalJudgement

	mu           sync.Mutex
	systems      map[int]map[schema.System][]int // runs by release, filled on demand
	paired       map[int]pairedRows              // of what a release measured in turns, filled on demand
	starts       map[int][]started               // what a release shows of starts of servers, filled on demand
	prefix       [][]byte                        // digests of the runs up to each release
	changePoints map[int32][]regression.ChangePoint
	quantiles    regression.Quantiles // of frames
	searches     map[searchOf]*search
}

// New judges a history.
func New(ctx context.Context, c *columns.Columns, releases []Release, policy *decision.Policy) (*Judgement, error) {
	return NewOn(ctx, c, releases, policy, nil)
}

// Keeping is how far an earlier judgement went, and how far this one does.
type Keeping = regression.Keeping

// NewOn is [New], and goes on from what an earlier judgement of a shorter history kept, where that holds; what it gives
// is the same. nil keeps nothing.
func NewOn(
	ctx context.Context, c *columns.Columns, releases []Release, policy *decision.Policy, k *Keeping,
) (*Judgement, error) {
	policy = policy.For(c.Runs)
	screen := &screen{policy, duplicates(c)}
	g := gather(c, releases, screen)
	table, series := g.seal()
	mark(policy, series, releases)
	j := &Judgement{
		Columns: c, Releases: releases, Series: series, policy: policy, screen: screen, table: table,
		classes: g.classes, bad: g.bad, zeros: g.zeros, roles: g.roles, repeats: g.repeats,
	}
	j.rules = regression.DefaultRules()
	j.rules.Blocks = g.classes.Block
	j.rules.Seed = func(cell int) uint64 { return seedOf(&series[cell]) }
	var err error
	if j.rows, err = regression.JudgeOn(ctx, table, j.rules, k); err != nil {
		return nil, err
	}
	for i := range series {
		series[i].rows = j.rows
	}
	j.index()
	j.evals = judgeEvals(c, releases, screen)
	return j, nil
}

// index lists observations by release and names the strata.
func (j *Judgement) index() {
	j.cellOf = make([]int32, len(j.table.Obs))
	j.byCell = make([][]int32, len(j.Releases))
	j.strata = make([]stratum, j.table.Strata)
	j.byKey = map[int32][]int32{}
	for i := range j.Series {
		j.byKey[j.Series[i].KeyIndex] = append(j.byKey[j.Series[i].KeyIndex], int32(i))
	}
	seqs := sequences(j.Releases)
	for c := range j.table.Cells {
		cell := &j.table.Cells[c]
		for i := cell.First; i < cell.End; i++ {
			j.cellOf[i] = int32(c)
			at := j.table.Obs[i].Release
			j.byCell[at] = append(j.byCell[at], i)
		}
		s := &j.Series[c]
		j.strata[cell.Stratum] = stratum{s.Device, s.Metric, seqs[j.table.Obs[cell.First].Release], s.Tail()}
	}
}

// screen decides which runs and points count: none that a person excluded, and no run twice.
type screen struct {
	*decision.Policy
	duplicates map[*columns.RunHead]Duplicate
}

// excludes reports whether a whole run is excluded.
func (s *screen) excludes(h *columns.RunHead) bool {
	_, twice := s.duplicates[h]
	return twice || s.ExcludesRun(h) != nil
}

// mark sets pins, acceptances and dismissals of people on the observations that they cover.
func mark(p *decision.Policy, series []Series, releases []Release) {
	byName := map[string]int{}
	for i, r := range releases {
		byName[r.Name] = i
	}
	for _, d := range p.Decisions {
		at, ok := byName[d.Release]
		level := d.Kind == schema.Pin || d.Kind == schema.Accept || d.Kind == schema.Dismiss
		if !ok || !level || !p.Holds(d) || d.Select.Verdict != "" || d.Select.Lint != "" {
			continue
		}
		for i := range series {
			s := &series[i]
			v := schema.Verdict{Release: d.Release, Model: s.Model, Device: s.Device, Key: s.Key, Metric: s.Metric}
			if obs := s.find(at); obs >= 0 && d.Covers(&v) {
				o := &s.table.Obs[obs]
				o.Pin = o.Pin || d.Kind == schema.Pin
				o.Accept = o.Accept || d.Kind == schema.Accept
				o.Dismiss = o.Dismiss || d.Kind == schema.Dismiss
			}
		}
	}
}

// Counted returns the runs of a release that are not excluded.
func (j *Judgement) Counted(release int) []int {
	var runs []int
	for _, run := range j.Releases[release].Runs {
		if !j.screen.excludes(&j.Columns.Runs[run]) {
			runs = append(runs, run)
		}
	}
	return runs
}

// Before returns the release whose history a release continues: the newest earlier one of its sequence; -1 when there
// is none.
func (j *Judgement) Before(release int) int {
	for i := range j.Earlier(release) {
		return i
	}
	return -1
}

// Earlier are the releases that a release may be compared with, the newest first: earlier ones of its sequence.
func (j *Judgement) Earlier(release int) iter.Seq[int] {
	return func(yield func(int) bool) {
		seqs := sequences(j.Releases)
		for i := release - 1; i >= 0; i-- {
			if IsBaseline(j.Releases[i].Channel) && seqs[i] == seqs[release] && !yield(i) {
				return
			}
		}
	}
}

// Newest returns the newest release of the sequence that a release is compared within; itself if there is none later.
func (j *Judgement) Newest(release int) int {
	seqs := sequences(j.Releases)
	for i := len(j.Releases) - 1; i > release; i-- {
		if IsBaseline(j.Releases[i].Channel) && seqs[i] == seqs[release] {
			return i
		}
	}
	return release
}

// Fit returns the noise of a release's history.
func (j *Judgement) Fit(release int) regression.Fit { return j.rows.Fits[release] }

// systemRuns lists the runs of a release by system, without those that are excluded.
func (j *Judgement) systemRuns(release int) map[schema.System][]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	if known, ok := j.systems[release]; ok {
		return known
	}
	out := map[schema.System][]int{}
	for _, run := range j.Counted(release) {
		id := systemOf(&j.Columns.Runs[run])
		out[id] = append(out[id], run)
	}
	if j.systems == nil {
		j.systems = map[int]map[schema.System][]int{}
	}
	j.systems[release] = out
	return out
}

func systemOf(h *columns.RunHead) schema.System {
	return schema.System{Model: h.Model.Name, Device: h.Device, Impl: h.Impl}
}

func pairOf(h *columns.RunHead) schema.Pair {
	return schema.Pair{Model: h.Model.Name, Device: h.Device}
}

// runsOf lists the runs of a model and device in a release, including excluded ones.
func (j *Judgement) runsOf(release int, of schema.Pair) []int {
	var runs []int
	for _, run := range j.Releases[release].Runs {
		if pairOf(&j.Columns.Runs[run]) == of {
			runs = append(runs, run)
		}
	}
	return runs
}

// runWith returns the id of the first or last run in a list that has a workload; "" without one.
func (j *Judgement) runWith(runs []int, key int32, last bool) string {
	if run, _ := j.pointWith(runs, key, last); run >= 0 {
		return j.Columns.Runs[run].ID
	}
	return ""
}

// pointWith returns the first or last run in a list that has a workload, and which of its points has it, from 1; -1
// without one.
func (j *Judgement) pointWith(runs []int, key int32, last bool) (run, point int) {
	run = -1
	for _, at := range runs {
		h := &j.Columns.Runs[at]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			if j.Columns.Points[i].Key == key {
				run, point = at, i-h.FirstPoint+1
				break
			}
		}
		if run >= 0 && !last {
			break
		}
	}
	return run, point
}
