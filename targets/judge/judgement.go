package judge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/library"
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
	byCell  [][]int32
	cellOf  []int32           // by observation
	byKey   map[int32][]int32 // series by workload
	evals   *evalJudgement
	// changePoints are those of a series, in the order in which they were found.
	changePoints map[int32][]regression.ChangePoint

	// By release, made once where somebody asks:
	systems []func() map[schema.System][]int // its runs, without those that are excluded
	paired  []func() pairedRows              // of what it measured in turns
	changes []func() *changesSeen
	prefix  func() [][]byte // digests of the runs up to each release
}

// onDemand makes for each of so many releases what somebody asks for, once.
func onDemand[V any](releases int, of func(release int) V) []func() V {
	list := make([]func() V, releases)
	for i := range list {
		list[i] = sync.OnceValue(func() V { return of(i) })
	}
	return list
}

// New judges a history.
func New(ctx context.Context, c *columns.Columns, releases []Release, policy *decision.Policy) (*Judgement, error) {
	policy = policy.For(c.Runs)
	screen := &screen{policy, duplicates(c)}
	g := gather(c, releases, screen)
	table, series := g.seal()
	mark(policy, series, releases)
	j := &Judgement{
		Columns: c, Releases: releases, Series: series, policy: policy, screen: screen, table: table,
		classes: g.classes, bad: g.bad, zeros: g.zeros, roles: g.roles,
	}
	j.rules = regression.DefaultRules()
	j.rules.Blocks = g.classes.Block
	var err error
	if j.rows, err = regression.Judge(ctx, table, j.rules); err != nil {
		return nil, err
	}
	j.byCell, j.cellOf = table.Order()
	j.byKey, j.changePoints = map[int32][]int32{}, map[int32][]regression.ChangePoint{}
	for _, l := range j.rows.ChangePoints {
		j.changePoints[l.Cell] = append(j.changePoints[l.Cell], l)
	}
	for i := range series {
		series[i].rows = j.rows
		j.byKey[series[i].KeyIndex] = append(j.byKey[series[i].KeyIndex], int32(i))
	}
	n := len(releases)
	j.systems, j.paired, j.changes = onDemand(n, j.runsBySystem), onDemand(n, j.pair), onDemand(n, j.seen)
	j.prefix = sync.OnceValue(j.prefixes)
	j.evals, err = judgeEvals(ctx, c, releases, screen)
	return j, err
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
	levels := []schema.DecisionKind{schema.Pin, schema.Accept, schema.Dismiss}
	for _, d := range p.Decisions {
		at := Named(releases, d.Release)
		if at < 0 || !slices.Contains(levels, d.Kind) || !p.Holds(d) || d.Select.Verdict+d.Select.Change+d.Select.Lint != "" {
			continue
		}
		for i := range series {
			s := &series[i]
			v := s.verdict(d.Release)
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
			if j.Releases[i].Serves() && seqs[i] == seqs[release] && !yield(i) {
				return
			}
		}
	}
}

// Newest returns the newest release of the sequence that a release is compared within; itself if there is none later.
func (j *Judgement) Newest(release int) int {
	seqs := sequences(j.Releases)
	for i := len(j.Releases) - 1; i > release; i-- {
		if j.Releases[i].Serves() && seqs[i] == seqs[release] {
			return i
		}
	}
	return release
}

// Fit returns the noise of a release's history.
func (j *Judgement) Fit(release int) regression.Fit { return j.rows.Fits[release] }

// runsBySystem lists the runs of a release by system, without those that are excluded.
func (j *Judgement) runsBySystem(release int) map[schema.System][]int {
	out := map[schema.System][]int{}
	for _, run := range j.Counted(release) {
		id := j.Columns.Runs[run].System()
		out[id] = append(out[id], run)
	}
	return out
}

// runsOf lists the runs of a model and device in a release, including excluded ones.
func (j *Judgement) runsOf(release int, of schema.Pair) []int {
	var runs []int
	for _, run := range j.Releases[release].Runs {
		if j.Columns.Runs[run].Pair() == of {
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
		of := func(p columns.PointRow) bool { return p.Key == key }
		if i := slices.IndexFunc(j.Columns.Points[h.FirstPoint:h.PointsEnd], of); i >= 0 {
			if run, point = at, i+1; !last {
				break
			}
		}
	}
	return run, point
}

// Summary is a short form of the verdict on a series in one release, for tables of all series, which have no room for
// a sentence.
type Summary struct {
	Release    int
	Outcome    schema.Outcome
	Evidence   schema.Evidence
	Large      bool // inconclusive, and beyond what matters
	Value      float64
	Effect     float64           // relative, positive is worse; NaN without a baseline
	Conditions map[string]string // that change what the number means
	Class      int32             // of series with the same Conditions
	Rank       int               // in the order of severity; ties by Weight, larger first
	Weight     float64

	// The calculation: Effect follows from Value and Ref, its 95 % interval from SE and Df on the log scale.
	Ref       float64 // the baseline; NaN without one, and where a measurement in turns decides
	SE, Df    float64 // 0 without a test
	Releases  int     // behind the baseline
	N         int     // measurements behind Value
	Rechecked bool    // Value is of the last run that has it, which saw a change again
}

// Quantiles are those of Student's t, kept by degrees of freedom. Not for several goroutines at once.
type Quantiles = regression.Quantiles

// Summary returns the short verdict on a series in a release, or for release < 0 in the newest release that has it.
func (j *Judgement) Summary(s *Series, release int) (Summary, bool) {
	obs := j.table.Cells[s.cell].End - 1
	if release >= 0 {
		obs = s.find(release)
	}
	if obs < j.table.Cells[s.cell].First {
		return Summary{}, false
	}
	row, o := &j.rows.Rows[obs], &j.table.Obs[obs]
	value, n := s.value(obs)
	g := Summary{
		Release: int(o.Release), Outcome: row.Word, Evidence: row.Evidence, Large: row.Large(),
		Value: value, Effect: math.NaN(), Conditions: j.classes.list[o.Cond], Class: o.Cond,
		Ref: math.NaN(), N: n, Rechecked: row.Why == schema.WhyRecheck,
	}
	v := schema.Verdict{
		Outcome: g.Outcome, Evidence: g.Evidence, Large: g.Large, Effect: schema.Missing("no baseline"),
	}
	if row.N > 0 && !math.IsNaN(row.D) {
		g.Effect = relative(s.way, row.D)
		v.Effect = schema.Num(g.Effect)
		g.Ref, g.Releases = math.Exp(s.way*(j.reported(obs)-row.D)), int(row.N)
		g.SE, g.Df = float64(row.SE), float64(row.Df)
	}
	if x, now, ok := j.turned(obs); ok { // the paired difference decides, as it does the verdict
		g.Outcome, g.Evidence, g.Effect = now.outcome, now.evidence, relative(s.way, x.Mean)
		g.Large = now.why == schema.WhyTurnsOpen && math.Abs(x.Mean) >= j.table.Cells[s.cell].Delta
		g.Ref, g.SE = math.NaN(), 0
		v.Outcome, v.Evidence, v.Large, v.Effect = g.Outcome, g.Evidence, g.Large, schema.Num(g.Effect)
	}
	g.Rank, g.Weight = rankOf(&v), weightOf(&v)
	return g, true
}

// Number names a number of a release.
type Number struct {
	System                 schema.System
	Key, Metric, Stat, Def string
}

// ByLaterRuns lists the numbers of a release that are those of its later runs: a recheck decided about a suspicion, and
// the first run, which was suspected for being extreme, does not count.
func (j *Judgement) ByLaterRuns(release int) map[Number]bool {
	out := map[Number]bool{}
	for _, i := range j.byCell[release] {
		if s := &j.Series[j.cellOf[i]]; later(&j.rows.Rows[i]) {
			out[Number{s.System(), s.Key.String(), s.Metric, s.Stat, s.Def}] = true
		}
	}
	return out
}

// Calculation is everything behind a verdict against history; see [Judgement.Explain].
type Calculation = regression.Calculation

// Source says how a change point was found.
type Source = regression.Source

// Sources of change points.
const (
	ByGate   = regression.ByGate   // an independent run confirmed it
	ByPerson = regression.ByPerson // a pin
)

// Sensitivity is the smallest regression of one number alone that a release would have found four times in five. Evals
// are not part of it.
type Sensitivity = regression.Sensitivity

// Sight counts, by model and device, the series of a release that have a history, and those of them that would show a
// regression of twice what matters neither by themselves nor with the others of their model, device and metric.
func (j *Judgement) Sight(release int) (blind, all map[schema.Pair]int) {
	blind, all = map[schema.Pair]int{}, map[schema.Pair]int{}
	s := j.rows.Fits[release].Shown
	seen := map[int32]bool{}
	for _, i := range j.byCell[release] {
		cell := j.cellOf[i]
		system := j.table.Cells[cell].System
		if seen[system] {
			continue
		}
		seen[system] = true
		p := j.Series[cell].Pair()
		blind[p], all[p] = blind[p]+s.Blind[system], all[p]+s.Tested[system]
	}
	return blind, all
}

// noise is the variance between runs of the same workload, on the log scale, and where it comes from.
type noise struct {
	regression.Noise
	from schema.IntervalFrom
}

// noiseOf is the noise of a number, or the typical one of its device and metric.
func (j *Judgement) noiseOf(obs int32) noise {
	if own := j.rows.Rows[obs].Noise(); own.Known() {
		return noise{own, schema.FromOwn}
	}
	fit := &j.rows.Fits[j.table.Obs[obs].Release]
	return noise{fit.Typical(j.table.Cells[j.cellOf[obs]].Stratum), schema.FromTypical}
}

// noise looks up a target's series in the judgement of history. Speed per user is 1000 / mean TPOT, so its noise is
// TPOT's; a percentile has noise of its own, not that of the mean.
func (g *grading) noise(t schema.Target, at slot) noise {
	metric := t.Metric
	if metric == "tps_user" {
		metric = "tpot"
	}
	if _, err := strconv.ParseFloat(strings.TrimPrefix(t.Stat, "p"), 64); err == nil { // p99
		return g.ownNoise(t, at)
	}
	of, obs := schema.System{Model: g.pair.Model, Device: g.pair.Device, Impl: at.impl}, int32(-1)
	for _, i := range g.j.byKey[at.key] {
		if s := &g.j.Series[i]; obs < 0 && s.System() == of && s.Metric == metric && !s.Tail() {
			obs = s.find(g.release)
		}
	}
	if obs < 0 {
		return noise{Noise: regression.UnknownNoise()}
	}
	o := &g.j.table.Obs[obs]
	floor := float64(o.SE) * float64(o.SE)
	known := g.j.noiseOf(obs)
	known.Variance = math.Max(known.Variance, floor) // NaN stays NaN
	return known
}

// ownNoise returns the variance of a statistic over earlier releases, for a statistic without a series: at least
// three releases, at most the last twenty.
func (g *grading) ownNoise(t schema.Target, at slot) noise {
	const least, most = 3, 20
	var logs []float64
	for r := range g.j.Earlier(g.release) {
		if len(logs) == most {
			break
		}
		if x, ok := g.earlier(r, t, at); ok {
			logs = append(logs, math.Log(x))
		}
	}
	if len(logs) < least {
		return noise{Noise: regression.UnknownNoise()}
	}
	return noise{regression.NoiseBetween(logs), schema.FromOwn}
}

// earlier returns the first value of a statistic in a release.
func (g *grading) earlier(release int, t schema.Target, at slot) (float64, bool) {
	for _, run := range g.j.runsOf(release, g.pair) {
		h := &g.c.Runs[run]
		if h.System().Impl != at.impl || g.j.screen.excludes(h) {
			continue
		}
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &g.c.Points[i]
			if p.Key != at.key || p.StatusWord() == schema.StatusInvalid {
				continue
			}
			if x, ok := Measured(g.c, p, t.Metric, t.Stat).Get(); ok && x > 0 {
				return x, true
			}
		}
	}
	return 0, false
}

// halfWidth returns the half width of the 95 % interval of a release's value on the log scale, its degrees of
// freedom, and where its noise comes from. Repeats within one release do not average out noise between releases, so
// it counts in full.
func halfWidth(logs []float64, known noise) (half, df float64, from schema.IntervalFrom) {
	n := len(logs)
	if known.Known() {
		return known.Margin(.975), known.Df, known.from
	}
	if n < 3 {
		return 0, 0, schema.FromNothing
	}
	repeats := regression.NoiseBetween(logs)
	repeats.Variance /= float64(n) // of their mean
	return repeats.Margin(.975), repeats.Df, schema.FromRepeats
}

// Digest covers everything that the verdicts of a release against history are made from: the runs up to it in their
// order, which with the rules say all that it could know, and what later releases saw of its changes. It does not cover
// the program or decisions.
func (j *Judgement) Digest(release int) string {
	h := sha256.New()
	h.Write(j.prefix()[release])
	for at, i := range j.byCell[release] {
		if f := j.rows.Rows[i].Follow; f != 0 {
			fmt.Fprintln(h, at, f > 0, j.Releases[max(f, -f)-1].Name)
		}
	}
	for at := range j.evals.rows[release] {
		fmt.Fprintln(h, at, j.evals.rows[release][at].Follow)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// prefixes are the digests of the runs up to each release.
func (j *Judgement) prefixes() (out [][]byte) {
	h := sha256.New()
	content := map[string]string{} // a run may have taken turns with one that is listed later
	for i := range j.Columns.Runs {
		content[j.Columns.Runs[i].ID] = j.Columns.Runs[i].SHA256
	}
	for i := range j.Releases {
		r := &j.Releases[i]
		fmt.Fprintf(h, "%s\x00%v\x00%s\x00%s\x00%s\n", r.Name, r.Label, r.Line, r.Channel, r.Date)
		for _, run := range r.Runs {
			head := &j.Columns.Runs[run]
			fmt.Fprintf(h, "%s\x00%s\x00%v\n", head.ID, head.SHA256, j.screen.excludes(head))
			if with := head.Interleaved.With; with != "" {
				fmt.Fprintf(h, "%s\x00%s\n", with, content[with])
			}
		}
		out = append(out, h.Sum(nil))
	}
	return out
}

// View narrows what is judged. The zero value leaves everything.
type View struct {
	Run      string // id: its release is judged by this run alone
	Release  string // name of the release that is judged; "" for the newest
	Baseline string // name of the newest release that may serve as a baseline
	// Newest makes Release the newest of all, whatever its files are dated: it is about to follow them.
	Newest bool
}

// UnknownRelease is returned for a release that does not exist.
type UnknownRelease struct {
	Name   string
	Newest []string // releases that exist, the newest first; eight at most
}

func (e *UnknownRelease) Error() string { return fmt.Sprintf("unknown release %q", e.Name) }

// NewUnknownRelease names the releases that exist instead.
func NewUnknownRelease(name string, list []Release) *UnknownRelease {
	e := &UnknownRelease{Name: name}
	for i := len(list) - 1; i >= 0 && len(e.Newest) < 8; i-- {
		e.Newest = append(e.Newest, list[i].Name)
	}
	return e
}

// Narrow leaves out the runs and releases that a view leaves out. The list is changed. The error is an
// [UnknownRelease] for a baseline that does not exist; a run that does not exist narrows nothing.
func Narrow(c *columns.Columns, list []Release, v View) ([]Release, error) {
	judged := v.Release
	if at := WithRun(c, list, v.Run); at >= 0 {
		judged = list[at].Name
		list[at].Runs = slices.DeleteFunc(slices.Clone(list[at].Runs), func(i int) bool { return c.Runs[i].ID != v.Run })
	}
	if at := Named(list, v.Release); v.Newest && at >= 0 {
		list = append(slices.Delete(slices.Clone(list), at, at+1), list[at])
	}
	if v.Baseline == "" {
		return list, nil
	}
	last := Named(list, v.Baseline)
	if last < 0 {
		return nil, NewUnknownRelease(v.Baseline, list)
	}
	if judged == "" {
		judged = list[len(list)-1].Name
	}
	var out []Release
	for i, r := range list {
		if i <= last || r.Name == judged {
			out = append(out, r)
		}
	}
	return out, nil
}

// Named is the index of a release; -1 for none.
func Named(list []Release, name string) int {
	return slices.IndexFunc(list, func(r Release) bool { return r.Name == name })
}

// WithRun is the index of the release that has a run; -1 for none.
func WithRun(c *columns.Columns, list []Release, id string) int {
	return slices.IndexFunc(list, func(r Release) bool {
		return slices.ContainsFunc(r.Runs, func(i int) bool { return c.Runs[i].ID == id })
	})
}

// NewestWith is the index of the newest release that measured a model on a device; "" for any; -1 for none.
func NewestWith(c *columns.Columns, list []Release, model, device string) int {
	has := func(r *Release) bool {
		return slices.ContainsFunc(r.Runs, func(i int) bool { return c.Runs[i].Pair().Selected(model, device) })
	}
	for at := len(list) - 1; at >= 0; at-- {
		if has(&list[at]) {
			return Arrived(list, at, has)
		}
	}
	return -1
}

// TargetEntry is the targets of a model on a device, and [Contradiction] what they rule out among themselves: for
// writers, which need not know where targets are read.
type (
	TargetEntry   = library.Entry
	Contradiction = library.Contradiction
)

// Contradictions looks for contradictions among the targets of one model on one device.
func Contradictions(e TargetEntry) []Contradiction { return library.LintEntry(e) }

// mismatch returns why a run of a release and the one that it names are no pair that speaks for the release; nil where
// nothing that is stated says so. found is whether there is a run with.
func (j *Judgement) mismatch(release, run, with int, found bool) *schema.Mismatch {
	h := &j.Columns.Runs[run]
	if !found {
		return &schema.Mismatch{Kind: schema.MismatchPartner, B: h.Interleaved.With}
	}
	b := &j.Columns.Runs[with]
	if !b.Interleaved.IsBaseline() || b.Interleaved.With != h.ID {
		return &schema.Mismatch{Kind: schema.MismatchPartner, A: b.Interleaved.With, B: h.Interleaved.With}
	}
	if b.Pair() != h.Pair() || b.Impl != h.Impl {
		return &schema.Mismatch{Kind: schema.MismatchPlace, Fact: "system", A: name(b.System()), B: name(h.System())}
	}
	if why := schema.Mismatched(b.TurnSide(), h.TurnSide()); why != nil {
		return why
	}
	if why := j.otherLoad(b, h); why != nil {
		return why
	}
	if before := Named(j.Releases, b.Release); before >= 0 {
		if why := j.otherBuild(before, b); why != nil {
			return why
		}
	}
	return j.otherBuild(release, h)
}

func name(of schema.System) string {
	return strings.TrimSpace(cmp.Or(of.Model, "an unknown model") + " on " + cmp.Or(of.Device, "an unknown device") + " " +
		of.Impl)
}

// otherBuild compares the run of a pair with the runs of the release that it names, on the same system, which are no
// part of a pair.
func (j *Judgement) otherBuild(release int, pair *columns.RunHead) *schema.Mismatch {
	var others []schema.Build
	for _, run := range j.Releases[release].Runs {
		if h := &j.Columns.Runs[run]; h.Interleaved.IsZero() && h.System() == pair.System() && !j.screen.excludes(h) {
			others = append(others, h.TurnSide().Build)
		}
	}
	return schema.OtherBuild(pair.TurnSide().Build, j.Releases[release].Name, others)
}

// otherLoad returns a condition that two runs of a pair state differently for the same workload. One client measures
// both.
func (j *Judgement) otherLoad(a, b *columns.RunHead) *schema.Mismatch {
	conditions := map[int32]columns.Conditions{}
	for i := a.FirstPoint; i < a.PointsEnd; i++ {
		p := &j.Columns.Points[i]
		conditions[p.Key] = j.Columns.Conds[p.Cond]
	}
	for i := b.FirstPoint; i < b.PointsEnd; i++ {
		p := &j.Columns.Points[i]
		was, both := conditions[p.Key]
		if !both {
			continue
		}
		is := j.Columns.Conds[p.Cond]
		for _, fact := range slices.Sorted(maps.Keys(is)) {
			if v := was[fact]; (Blocking(fact) || fact == columns.ToolVersion) && v != "" && v != is[fact] {
				return &schema.Mismatch{Kind: schema.MismatchLoad, Fact: fact, A: v, B: is[fact]}
			}
		}
	}
	return nil
}
