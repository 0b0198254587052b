package targets

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/targets/regression"
)

// Judgement is everything that is judged: each number against its history, against the targets in force, and against the
// fallacies that make numbers worthless. It is computed for all releases at once and told release by release.
type Judgement struct {
	Columns  *columns.Columns
	Releases []Release
	Series   []Series
	Policy   *Policy
	Listed   []Configured     // releases as ttreport.yaml lists them
	Lost     []schema.Problem // documents of the history that could not be read: whatever is decided, is decided without them
	table    *regression.Table
	rules    regression.Rules
	rows     *regression.Judgement
	classes  *classes
	bad      []badValue
	roles    []role    // of statistics
	repeats  bool      // some run repeated a point
	byCell   [][]int32 // observations by release
	cellOf   []int32
	byKey    map[int32][]int32 // series by workload
	strata   []stratum
	evals    *evalJudgement
	mu       sync.Mutex
	systems  map[int]map[[3]string][]int        // runs by release and system, as far as they were asked for
	prefix   [][]byte                           // digests of the runs up to each release
	levels   map[int32][]regression.ChangePoint // by cell
}

// New judges a history.
func New(ctx context.Context, c *columns.Columns, releases []Release, policy *Policy) (*Judgement, error) {
	policy = policy.beside(c)
	table, series, g := gather(c, releases, policy)
	policy.mark(series, releases)
	j := &Judgement{Columns: c, Releases: releases, Series: series, Policy: policy, table: table, classes: g.classes, bad: g.bad, roles: g.roles, repeats: g.repeats}
	j.rules = regression.DefaultRules()
	j.rules.Blocks = g.classes.Block
	j.rules.Seed = func(cell int) uint64 { return seedOf(&series[cell]) }
	var err error
	if j.rows, err = regression.Judge(ctx, table, j.rules); err != nil {
		return nil, err
	}
	j.index()
	j.evals = judgeEvals(c, releases, policy)
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
			j.byCell[j.table.Obs[i].Release] = append(j.byCell[j.table.Obs[i].Release], i)
		}
		s := &j.Series[c]
		j.strata[cell.Stratum] = stratum{s.Device, s.Metric, seqs[j.table.Obs[cell.First].Release]}
	}
}

// words maps the judge's words to the vocabulary.
func wordOf(w regression.Word, large bool) string {
	if large {
		return schema.Watch
	}
	return [...]string{"", schema.Worse, schema.BetterWord, schema.Noisy, schema.Recovered, schema.Same, schema.Insufficient, schema.NotComparable}[w]
}

func evidenceOf(e regression.Evidence) string { return [...]string{"", "probable", "confirmed"}[e] }

// reasonCode names why a row has its word; package words has a sentence for each.
func reasonCode(w regression.Why) string {
	return [...]string{"none", "gate", "recheck", "again", "shift", "against-shift", "against-shift", "not-significant", "not-seen-again", "runs-disagree", "back-again", "equivalent", "wide", "not-worse", "not-better", "two-modes",
		"no-baseline", "one-each", "another-witness", "base-suspect", "conditions"}[w]
}

// Tally counts verdicts of a release against history without making them.
func (j *Judgement) Tally(release int) map[string]int {
	n := map[string]int{}
	for _, i := range j.byCell[release] {
		r := &j.rows.Rows[i]
		w := wordOf(r.Word, r.Large())
		if e := evidenceOf(r.Evidence); e != "" {
			w += " " + e
		}
		n[w]++
	}
	return n
}

// History returns the verdicts of a release against history, one a primary cell, worst first: performance, then evals.
func (j *Judgement) History(release int) []schema.Verdict {
	out := make([]schema.Verdict, 0, len(j.byCell[release])+64)
	t := j.teller(release)
	for _, i := range j.byCell[release] {
		out = append(out, t.verdict(i))
	}
	without := j.unmeasurable(release)
	out = append(append(out, without...), j.gone(release, without)...)
	j.group(release, out)
	out = append(out, j.evals.history(j, release)...)
	for k := range out {
		if out[k].Decision == nil { // what is void has its decision already
			out[k].Decision = j.Policy.about(&out[k])
		}
	}
	return worstFirst(out)
}

// teller tells the rows of one release: what it looks up for one row serves the next.
type teller struct {
	*Judgement
	release int
	runs    map[[3]string][]int // of the release, by system
	t       regression.Quantiles
	wanted  map[float64]float64 // standard errors by degrees of freedom: see [regression.Wanted]
}

func (j *Judgement) teller(release int) *teller {
	return &teller{Judgement: j, release: release, runs: j.systemRuns(release), wanted: map[float64]float64{}}
}

// systemRuns lists the runs of a release by system, without those that are void.
func (j *Judgement) systemRuns(release int) map[[3]string][]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	if known, ok := j.systems[release]; ok {
		return known
	}
	out := map[[3]string][]int{}
	for _, run := range j.Releases[release].Runs {
		if h := &j.Columns.Runs[run]; !j.Policy.void(h) {
			id := [3]string{h.Model.Name, h.Device, h.Impl}
			out[id] = append(out[id], run)
		}
	}
	if j.systems == nil {
		j.systems = map[int]map[[3]string][]int{}
	}
	j.systems[release] = out
	return out
}

// verdict tells one row.
func (j *teller) verdict(obs int32) schema.Verdict {
	row, o := &j.rows.Rows[obs], &j.table.Obs[obs]
	s := &j.Series[j.cellOf[obs]]
	rel := &j.Releases[o.Release]
	v := schema.Verdict{Release: rel.Name, Model: s.Model, Device: s.Device, Impl: s.Impl, Key: s.Key, Metric: s.Metric, Stat: s.Stat, Def: s.Def, Against: schema.AgainstHistory, Word: wordOf(row.Word, row.Large()),
		Evidence: evidenceOf(row.Evidence), N: int(o.K), Reason: schema.Reason{Code: reasonCode(row.Why), Args: map[string]string{}}}
	z := o.Z
	if row.Why == regression.WhyRecheck || row.Why == regression.WhyNotSeenAgain || row.Why == regression.WhyRunsDisagree {
		z, v.N = o.Z2, int(o.K2)
		v.Reason.Args["first"] = num4(math.Exp(sign(s.Metric) * o.Z))
	}
	v.Value = schema.Num(latency.Round(math.Exp(sign(s.Metric)*z), 12))
	v.Run = j.runWith(j.runs[[3]string{s.Model, s.Device, s.Impl}], s.KeyIndex, row.Why == regression.WhyRecheck)
	base := j.baseline(j.cellOf[obs], obs)
	if base >= 0 {
		v.Baseline = j.Releases[j.table.Obs[base].Release].Name
	}
	j.numbers(&v, row, z)
	if row.First >= 0 {
		v.First = j.Releases[row.First].Name
	}
	if f := row.Follow; f != 0 {
		v.Follow = schema.Follow{Release: j.Releases[max(f, -f)-1].Name, Again: f > 0}
	}
	if row.Why == regression.WhyConditions {
		v.Reason.Args["conditions"] = j.classes.Named(j.table.Obs[base].Cond, o.Cond)
	}
	if row.Finding >= 0 && j.rows.Findings[row.Finding].Kind == regression.ShiftFinding {
		v.Reason.Args["shift"] = num4(sign(s.Metric) * relative(sign(s.Metric), j.rows.Findings[row.Finding].D))
		if row.Why == regression.WhyShift {
			v.Cause = "shift:" + j.shiftID(row.Finding)
		}
	}
	if row.Why == regression.WhyFirst && !joins(rel.Channel) && base < 0 {
		v.Reason.Code = "no-base-line"
	}
	if o.Pin && row.Why == regression.WhyFirst {
		v.Reason.Code = "pinned"
	}
	v.ID = schema.VerdictID(v.Release, v.Baseline, s.Model, s.Device, s.Key, s.Metric+"/"+s.Def, s.Stat+s.Impl, schema.AgainstHistory)
	return v
}

// numbers fills in effect, interval, p and q: relative changes of the metric's badness, positive worse.
func (j *teller) numbers(v *schema.Verdict, row *regression.Row, z float64) {
	s := sign(v.Metric)
	v.Reason.Args["releases"] = strconv.Itoa(int(row.N))
	v.Reason.Args["limit"] = num4(100 * j.Policy.Effect(v.Metric))
	if row.N == 0 || math.IsNaN(row.D) {
		v.Ref = schema.Missing("no earlier release has it")
		return
	}
	v.Ref = schema.Num(latency.Round(math.Exp(s*(z-row.D)), 12))
	v.Effect = schema.Num(relative(s, row.D))
	if row.SE > 0 {
		half := j.t.T975(float64(row.Df)) * float64(row.SE)
		v.Interval = &[2]float64{relative(s, row.D-half), relative(s, row.D+half)}
		v.Reason.Args["noise"] = num2(100 * row.Noise().Sd())
		p := float64(row.P)
		if math.IsNaN(p) {
			p = regression.UpperTail(math.Abs(row.D)/float64(row.SE), float64(row.Df))
		}
		v.P = schema.Num(p)
	}
	if v.Word == schema.Noisy {
		j.settle(v, row)
	}
	if q := float64(row.Q); !math.IsNaN(q) {
		v.Q = schema.Num(q)
		v.Reason.Args["q"] = small(q)
	}
}

// settle says what would make a noisy number say something. Without repeats nobody knows what share of the noise they would take
// away: all of it is the hopeful reading, and so it is told. With repeats, --explain does the arithmetic.
func (j *teller) settle(v *schema.Verdict, row *regression.Row) {
	if j.repeats || !(row.SE > 0) || row.N == 0 {
		return
	}
	n, known := float64(row.N), row.Noise()
	want, computed := j.wanted[known.Df]
	if !computed {
		want = regression.Wanted(known.Df)
		j.wanted[known.Df] = want
	}
	repeats, releases := regression.Settle(math.Log1p(j.Policy.Effect(v.Metric)), known.Variance, known.Variance, 0, want, n)
	if repeats > 1 {
		v.Reason.Args["repeats"] = strconv.Itoa(repeats)
	}
	if releases > 0 {
		v.Reason.Args["more"] = strconv.Itoa(releases)
	}
}

// relative turns a log change of badness into the relative change of the number itself, signed so that positive is worse: a rate
// that halves is +50 %, a latency that doubles +100 %. An end of an interval beyond all numbers stays one that JSON can hold.
func relative(sign, d float64) float64 {
	const most = 700 // e to this is near the largest float
	d = max(-most, min(most, d))
	if sign < 0 {
		return -math.Expm1(-d)
	}
	return math.Expm1(d)
}

// baseline is the newest earlier observation that stands in the baseline of an observation, or -1: of a change that was seen
// before, what came before its first sighting.
func (j *Judgement) baseline(cell, obs int32) int32 {
	first := j.rows.Rows[obs].First
	for i := obs - 1; i >= j.table.Cells[cell].First; i-- {
		o := &j.table.Obs[i]
		if joins(j.Releases[o.Release].Channel) && !j.rows.Rows[i].OutOfBaselines() && (first < 0 || o.Release < first) {
			return i
		}
	}
	return -1
}

// Fit is what the noise of a release's history looks like.
func (j *Judgement) Fit(release int) regression.Fit { return j.rows.Fits[release] }

// Value is what a release says of a series.
func (j *Judgement) Value(s *Series, release int) (SeriesValue, bool) {
	if i := s.find(release); i >= 0 {
		return s.value(i), true
	}
	return SeriesValue{}, false
}

// RunOf is the id of the first run behind a value.
func (j *Judgement) RunOf(s *Series, release int) string {
	return j.runWith(j.systemRuns(release)[[3]string{s.Model, s.Device, s.Impl}], s.KeyIndex, false)
}

// runWith is the first or last of some runs that has a workload.
func (j *Judgement) runWith(runs []int, key int32, last bool) string {
	id := ""
	for _, run := range runs {
		h := &j.Columns.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			if j.Columns.Points[i].Key == key {
				id = h.ID
				break
			}
		}
		if id != "" && !last {
			return id
		}
	}
	return id
}

func num2(v float64) string { return fmt.Sprintf("%.2g", v) }

// small writes a probability without pretending to know its tenth digit.
func small(p float64) string {
	if p < .0001 {
		return "under 0.0001"
	}
	return fmt.Sprintf("%.2g", p)
}

func num4(v float64) string { return fmt.Sprintf("%.4g", v) }

// worstFirst is the order of triage: confirmed worse first, by how much; then what is open; then better; then the rest.
// Places are sorted, and each verdict is moved once: it is a kilobyte.
func worstFirst(list []schema.Verdict) []schema.Verdict {
	type place struct {
		at, rank int
		effect   float64
	}
	order := make([]place, len(list))
	for i := range list {
		order[i] = place{i, rankOf(&list[i]), effectOf(&list[i])}
	}
	slices.SortStableFunc(order, func(a, b place) int {
		if c := cmp.Compare(a.rank, b.rank); c != 0 {
			return c
		}
		return cmp.Compare(b.effect, a.effect)
	})
	sorted := make([]schema.Verdict, len(list))
	for i, p := range order {
		sorted[i] = list[p.at]
	}
	return sorted
}

func rankOf(v *schema.Verdict) int {
	switch v.Word {
	case schema.Worse:
		if v.Evidence == "confirmed" {
			return 0
		}
		return 1
	case schema.MissingWord, schema.Invalid:
		return 2
	case schema.Watch:
		return 3
	case schema.BetterWord, schema.Recovered:
		return 4
	case schema.Noisy:
		return 5
	case schema.NotComparable:
		return 6
	case schema.Same:
		return 7
	}
	return 8
}

func effectOf(v *schema.Verdict) float64 {
	e, ok := v.Effect.Get()
	if !ok {
		return math.Inf(-1)
	}
	if v.Word == schema.BetterWord || v.Word == schema.Recovered {
		return -e // the largest improvement first
	}
	return e
}
