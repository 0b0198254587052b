package gate

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// Review has what is needed to sign off a release, or one model and device in it.
type Review struct {
	Release  string
	Label    string // of the release, "" for a build without one
	Baseline string // newest release of its baseline; "" when there is none
	Result   Result
	Pairs    []PairResult
	Findings
	Fit    Fit
	Starts []Start // releases that can be started again
	// Unmeasured are models and devices that have targets and no run, where the whole of a release is reviewed and the
	// targets in force are known: nothing grades them, whatever the decision is.
	Unmeasured []schema.Pair `json:",omitempty"`
}

// Review reviews a release; an empty model or device selects all. What the newest release leaves out is counted,
// because the decision says nothing of it. The result is read only: that of a whole release is made once for all.
func (g *Gate) Review(release int, model, device string) Review {
	found := g.of(release)
	if model != "" || device != "" {
		return g.review(found, model, device)
	}
	found.review.Do(func() { found.whole = g.review(found, "", "") })
	return found.whole
}

func (g *Gate) review(found *found, model, device string) Review {
	of := func(p schema.Pair) bool { return p.Selected(model, device) }
	f, release := found.findings, found.release
	r := Review{Release: g.Releases[release].Name, Label: g.Label(release), Fit: g.Fit(release),
		Starts: g.Starts()}
	if b := g.Before(release); b >= 0 {
		r.Baseline = g.Releases[b].Name
	}
	if r.Targets, r.History = f.Targets, f.History; model != "" || device != "" {
		pick := func(list []schema.Verdict) (out []schema.Verdict) {
			for i := range list {
				if of(list[i].Pair()) {
					out = append(out, list[i])
				}
			}
			return out
		}
		r.Targets, r.History = pick(f.Targets), pick(f.History)
	}
	r.Fit.Single = r.Fit.Cells == 0 && slices.ContainsFunc(r.History, func(v schema.Verdict) bool {
		return decidedBy(&v, schema.WhyOneEach)
	})
	r.Fit.Turns = turnedOf(r.History)
	r.Changes = slices.DeleteFunc(slices.Clone(f.Changes), func(c judge.Change) bool { return !c.Selected(model, device) })
	for _, l := range f.Lints {
		if l.Pair() == (schema.Pair{}) || of(l.Pair()) {
			r.Lints = append(r.Lints, l)
		}
	}
	for _, p := range g.Results(release).Pairs {
		if of(p.Pair) {
			r.Pairs = append(r.Pairs, p)
		}
	}
	r.Fit.Wider = len(r.Pairs) < len(g.Results(release).Pairs)
	if r.Result = found.result; model != "" || device != "" {
		r.Result = Decide(r.Findings, g.FailsOn(release))
	}
	r.Result.Newer, r.Result.Late, r.Result.Runs = g.outside(release, of)
	return r
}

// Require counts models and devices that were never measured and must meet targets as missing in a release, which is no
// clean pass then. It is no FAIL: one file has the targets of all models, and a release is measured model by model. A
// pull request or a night answers for what it measured.
func (r *Review) Require(never []schema.Pair, channel string) {
	if len(never) == 0 || channel != schema.ChannelRelease {
		return
	}
	counts := slices.Clone(r.Result.Counts)
	at := slices.IndexFunc(counts, func(c Tally) bool { return c.Kind == FailMissing })
	if at < 0 {
		at, counts = len(counts), append(counts, Tally{Kind: FailMissing})
	}
	counts[at].N, counts[at].Cells = counts[at].N+len(never), counts[at].Cells+len(never)
	if r.Result.Counts = counts; r.Result.Word == Pass {
		r.Result.Word = PassWithWarnings
	}
}

// Label is the label of a release, "" for a build without one.
func (g *Gate) Label(release int) string {
	if runs := g.Releases[release].Runs; len(runs) > 0 {
		return g.Columns.Runs[runs[0]].Release
	}
	return ""
}

// Verdict finds a verdict by its id, or the first one of a change by that of the change, in the newest release that has
// it; ok is false for none.
func (g *Gate) Verdict(id string) (v schema.Verdict, release int, ok bool) {
	for release = len(g.Releases) - 1; release >= 0; release-- {
		f := g.Findings(release)
		for _, v := range slices.Concat(f.Targets, f.History) {
			if v.ID == id || v.Change == id && id != "" {
				return v, release, true
			}
		}
	}
	return schema.Verdict{}, 0, false
}

// NeedsAttention are the verdicts that need a person: what fails or is noted first, then what improved; what is met,
// unchanged or within the noise is a count, unless the gate fails on inconclusive findings. Of informational targets
// that are missed a few are listed, of numbers that are worse than the one earlier value that there is, and of scores
// that cannot be told where most of them cannot: they decide nothing, and there may be hundreds.
func (r *Review) NeedsAttention() (history, targets []schema.Verdict) {
	return r.historyOfNote(), r.targetsOfNote()
}

// few is how many of what decides nothing are listed.
const few = 10

func (r *Review) historyOfNote() (list []schema.Verdict) {
	singles, scores := 0, few // as many as are listed
	if mostScoresOpen(r.History) {
		scores = 0
	}
	always := []schema.Outcome{
		schema.Regressed, schema.NotMeasured, schema.Excluded, schema.Improved, schema.Recovered, schema.NotComparable,
	}
	fails := func(c Tally) bool { return c.Kind == FailInconclusive && c.Fails }
	inconclusive := slices.ContainsFunc(r.Result.Counts, fails)
	for _, v := range r.History {
		switch {
		case slices.Contains(always, v.Outcome), v.Decision != nil: // readers need the reason of a pinned level
		case singles < few && r.single(&v):
			singles++
		case scores < few && v.Outcome == schema.Inconclusive && v.Key.IsEval():
			scores++
		case v.Outcome == schema.BelowLimit && worse(&v), v.Large && (inconclusive || !insignificant(&v)):
		default:
			continue
		}
		list = append(list, v)
	}
	return list
}

// single reports whether a number is far worse than the one value that there is to compare it with.
func (r *Review) single(v *schema.Verdict) bool {
	return (r.Fit.Single || decidedBy(v, schema.WhyTurnsOpen)) && v.Large && worse(v)
}

func (r *Review) targetsOfNote() (list []schema.Verdict) {
	missed := 0
	for i := range r.Targets {
		if r.Targets[i].Outcome == schema.Fail && !r.Targets[i].Required {
			missed++
		}
	}
	for _, v := range r.Targets {
		open := v.Outcome == schema.Fail || v.Outcome == schema.NotMeasured || v.Outcome == schema.Inconclusive
		listed := v.Required || v.Outcome == schema.Fail && missed <= few
		if listed && open || v.Outcome == schema.Unattainable || schema.ReasonIs[schema.Planned](v.Reason) ||
			v.Decision != nil && v.Outcome != schema.NoTarget {
			list = append(list, v)
		}
	}
	return list
}

// mostScoresOpen reports whether of most scores that are compared nobody can say whether they changed.
func mostScoresOpen(list []schema.Verdict) bool {
	open, compared := 0, 0
	for i := range list {
		v := &list[i]
		if _, ok := v.Effect.Get(); !ok || !v.Key.IsEval() {
			continue
		}
		compared++
		if v.Outcome == schema.Inconclusive {
			open++
		}
	}
	return 2*open > compared
}

// Fit describes the noise of the release's history and how well its predictions held.
type Fit struct {
	Cells            int
	Wider            bool     // it is of the whole release, of which a part is reviewed: that is compared as one family
	Single           bool     // the baseline has one release everywhere
	Turns            []Turned `json:",omitempty"`
	Noise            float64  // typical standard deviation between releases, relative; 0 when unknown
	Tested, Exceeded int      // forward predictions at 2 %, and how many failed
	Shown            judge.Sensitivity
}

// Turned counts the numbers that were measured in turns with a baseline.
type Turned struct {
	Baseline        string
	Blocks, Numbers int // blocks: the most of any number
}

// turnedOf counts what was measured in turns, in the order of findings.
func turnedOf(history []schema.Verdict) (out []Turned) {
	for i := range history {
		c, ok := history[i].Reason.(schema.Change)
		if !ok || c.Turns == nil {
			continue
		}
		at := slices.IndexFunc(out, func(t Turned) bool { return t.Baseline == c.Turns.Baseline })
		if at < 0 {
			at, out = len(out), append(out, Turned{Baseline: c.Turns.Baseline})
		}
		out[at].Numbers++
		out[at].Blocks = max(out[at].Blocks, c.Turns.Blocks)
	}
	return out
}

// TooFew is how well predictions held where there are too few of them to say.
const TooFew = "too few"

// Calibrated returns how well predictions held: passes, fails or [TooFew].
func (f Fit) Calibrated() string {
	const enough = 200
	switch {
	case f.Tested < enough:
		return TooFew
	case float64(f.Exceeded) > .04*float64(f.Tested):
		return "fails"
	}
	return "passes"
}

// Fit describes the noise of a release's history.
func (g *Gate) Fit(release int) Fit {
	f := g.Judgement.Fit(release)
	out := Fit{Cells: f.Cells, Tested: f.Tested, Exceeded: f.Exceeded, Shown: f.Shown}
	if f.Sd > 0 { // NaN where nothing is known
		out.Noise = f.Sd
	}
	return out
}

// cache keeps the findings of releases.
type cache struct {
	mu      sync.Mutex
	recent  []*found // of the releases that were requested last
	results map[int]Results
	once    sync.Once
	starts  []Start
}

// found are the findings of one release, made once.
type found struct {
	once     sync.Once
	release  int
	findings Findings
	result   Result                                  // of the whole release
	history  func() map[schema.Pair][]schema.Verdict // where somebody asks
	targets  func() map[schema.Pair][]schema.Verdict
	review   sync.Once // of whole
	whole    Review
}

// Results are the decisions on a release and on each model and device in it, in a form that can be stored.
type Results struct {
	Whole Result
	Pairs []PairResult
}

// PairResult is the decision on one model and device.
type PairResult struct {
	schema.Pair
	Result Result
}

// Findings returns all findings of a release. Only the last few releases are kept in memory: the verdicts of a whole
// history would take too much. It is safe for concurrent use; the result is read only.
func (g *Gate) Findings(release int) Findings { return g.of(release).findings }

// PairHistory returns the verdicts of a model and device in a release against history.
func (g *Gate) PairHistory(release int, p schema.Pair) []schema.Verdict {
	return g.of(release).history()[p]
}

// PairTargets returns the verdicts of a model and device in a release against targets.
func (g *Gate) PairTargets(release int, p schema.Pair) []schema.Verdict {
	return g.of(release).targets()[p]
}

// Forget lets go of the findings of a release, which are large, where they are not needed for a while.
func (g *Gate) Forget(release int) {
	g.cache.mu.Lock()
	defer g.cache.mu.Unlock()
	g.cache.recent = slices.DeleteFunc(slices.Clone(g.cache.recent), func(f *found) bool { return f.release == release })
}

func (g *Gate) of(release int) *found {
	const most = 2
	g.cache.mu.Lock()
	recent := g.cache.recent
	i := slices.IndexFunc(recent, func(f *found) bool { return f.release == release })
	if i < 0 {
		recent = append(recent[max(0, len(recent)+1-most):len(recent):len(recent)], &found{release: release})
		i = len(recent) - 1
		g.cache.recent = recent
	}
	f := recent[i]
	g.cache.mu.Unlock()
	f.once.Do(func() { g.find(f) })
	return f
}

// find fills in the findings of a release.
func (g *Gate) find(f *found) {
	f.findings.Changes = g.Changes(f.release) // the verdicts on history name them
	var history sync.WaitGroup
	history.Go(func() { f.findings.History = g.History(f.release) })
	pairs := g.Pairs(f.release)
	lists := make([][]schema.Verdict, len(pairs))
	for i, p := range pairs {
		lists[i] = g.Targets(f.release, p)
	}
	f.findings.Targets = slices.Concat(lists...)
	f.findings.Lints = g.Lints(f.release)
	f.findings.Blind, f.findings.Seen = g.Sight(f.release)
	history.Wait()
	f.history, f.targets = byPair(f.findings.History), byPair(f.findings.Targets)
	whole, of := DecidePairs(f.findings, g.FailsOn(f.release))
	f.result = whole
	out := Results{Whole: whole}
	for _, p := range pairs {
		r, ok := of[p]
		if !ok {
			r = Decide(Findings{}, g.FailsOn(f.release))
		}
		out.Pairs = append(out.Pairs, PairResult{p, r})
	}
	out.Pairs = append(out.Pairs, g.absent(f.findings.History, pairs)...)
	g.Know(f.release, out)
}

// absent are the models and devices that earlier releases measured and this one did not.
func (g *Gate) absent(history []schema.Verdict, measured []schema.Pair) []PairResult {
	var out []PairResult
	seen := map[schema.Pair]bool{}
	for i := range history {
		v := &history[i]
		whole := schema.ReasonIs[schema.NotRemeasured](v.Reason) && v.OfSystem()
		if !whole || seen[v.Pair()] || slices.Contains(measured, v.Pair()) {
			continue
		}
		seen[v.Pair()] = true
		r := Result{Word: NotMeasured, Last: v.Baseline}
		if kind := KindOf(v); g.FailOn[kind] && !v.Decision.Excuses() {
			r.Exit = 1
		}
		out = append(out, PairResult{v.Pair(), r})
	}
	return out
}

// Pairs lists the models and devices that a release measured, in natural order.
func (g *Gate) Pairs(release int) []schema.Pair {
	seen := map[schema.Pair]bool{}
	for _, run := range g.Releases[release].Runs {
		h := &g.Columns.Runs[run]
		seen[h.Pair()] = true
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b schema.Pair) int {
		return cmp.Or(schema.NaturalCompare(a.Model, b.Model), schema.NaturalCompare(a.Device, b.Device),
			cmp.Compare(a.Model, b.Model), cmp.Compare(a.Device, b.Device))
	})
}

// Results returns the decisions on a release.
func (g *Gate) Results(release int) Results {
	g.cache.mu.Lock()
	_, ok := g.cache.results[release]
	g.cache.mu.Unlock()
	if !ok {
		g.of(release)
	}
	g.cache.mu.Lock()
	defer g.cache.mu.Unlock()
	return g.cache.results[release]
}

// Know takes the decisions on a release from an earlier gate over the same data, so that they need not be computed
// again.
func (g *Gate) Know(release int, r Results) {
	g.cache.mu.Lock()
	defer g.cache.mu.Unlock()
	if g.cache.results == nil {
		g.cache.results = map[int]Results{}
	}
	g.cache.results[release] = r
}

// PairResult is the decision on a model and device in a release.
func (g *Gate) PairResult(release int, p schema.Pair) Result {
	pairs := g.Results(release).Pairs
	if i := slices.IndexFunc(pairs, func(x PairResult) bool { return x.Pair == p }); i >= 0 {
		return pairs[i].Result
	}
	return Decide(Findings{}, g.FailOn)
}

// byPair are verdicts by model and device, where somebody asks for them: pages of old releases do not.
func byPair(list []schema.Verdict) func() map[schema.Pair][]schema.Verdict {
	return sync.OnceValue(func() map[schema.Pair][]schema.Verdict {
		room, out := map[schema.Pair]int{}, map[schema.Pair][]schema.Verdict{}
		for i := range list {
			room[list[i].Pair()]++
		}
		for i := range list { // verdicts are large
			p := list[i].Pair()
			if out[p] == nil {
				out[p] = make([]schema.Verdict, 0, room[p])
			}
			out[p] = append(out[p], list[i])
		}
		return out
	})
}

// Coverage is what a release measured of what was planned, required, or measured by a release before it.
type Coverage struct {
	Measured int // points with a number
	Gaps     []Gap
}

// Gap is a point without a number.
type Gap struct {
	schema.System
	Key      schema.Key
	Again    bool   // not measured again, which is not missing: nobody required or tried it
	Last     string // newest release that has a number of it; "" where it was planned or required and never measured
	Releases int    // in a row without it, this one included
	Reason   schema.Reason
}

// Oldest is the gap that has been open for the most releases; nil without gaps.
func (c *Coverage) Oldest() *Gap {
	var out *Gap
	for i := range c.Gaps {
		if g := &c.Gaps[i]; out == nil || g.Releases > out.Releases {
			out = g
		}
	}
	return out
}

// Coverage lists the gaps of what a review is about: what is missing, then what was not measured again. A workload is
// one gap, also where a plan or a target asks for what the release before measured. Where a whole system was left out,
// its gaps are its points in the last release that has them.
func (g *Gate) Coverage(r *Review) (c Coverage) {
	measured, listed := map[finding]bool{}, map[finding]bool{}
	for i := range r.History {
		if _, ok := r.History[i].Value.Get(); ok {
			v := &r.History[i] // a point, whatever it is a part of
			measured[finding{system: v.System(), key: v.Key.String()}] = true
		}
	}
	c.Measured = len(measured)
	add := func(v *schema.Verdict, k schema.Key, last string, releases int) {
		f := finding{system: v.System(), key: k.String()}
		if measured[f] || listed[f] {
			return
		}
		listed[f] = true
		if asked := c.asked(v.Pair(), k); asked != nil && last != "" {
			asked.System, asked.Key, asked.Last, asked.Releases = v.System(), k, last, releases
			return
		}
		kind := KindOf(v)
		c.Gaps = append(c.Gaps,
			Gap{v.System(), k, kind == FailNotRemeasured || kind == FailAbsent, last, releases, v.Reason})
	}
	g.eachGap(r, add)
	return c
}

// eachGap calls do with each verdict on what has no number, its key, the newest release that has one, and how many
// releases lack it.
func (g *Gate) eachGap(r *Review, do func(v *schema.Verdict, k schema.Key, last string, releases int)) {
	for i := range r.Targets {
		v := &r.Targets[i]
		if v.Outcome == schema.NotMeasured && (v.Required || schema.ReasonIs[schema.Planned](v.Reason)) {
			do(v, v.Key, "", 1)
		}
	}
	for i := range r.History {
		v := &r.History[i]
		switch reason := v.Reason.(type) {
		case schema.NotRemeasured:
			for _, k := range g.points(v) {
				do(v, k, v.Baseline, reason.Releases)
			}
		case schema.NoNumber:
			if v.Outcome == schema.NotMeasured && reason.Other == "" {
				do(v, v.Key, v.Baseline, 1)
			}
		}
	}
}

// asked is the gap that a target or a plan leaves at a workload, where no earlier release is known of it yet. Neither
// states an implementation, and a target may leave the tool open.
func (c *Coverage) asked(p schema.Pair, k schema.Key) *Gap {
	for i := range c.Gaps {
		x := &c.Gaps[i]
		same := schema.Target{Key: x.Key}.Matches(k) || k.IsEval() && x.Key.IsEval() && k.Dataset == x.Key.Dataset
		if x.Last == "" && !x.Again && x.Model == p.Model && x.Device == p.Device && same {
			return x
		}
	}
	return nil
}

// points are those that a verdict on what was not measured again is about: one, or all of a system in the last release
// that has it.
func (g *Gate) points(v *schema.Verdict) []schema.Key {
	if !v.OfSystem() {
		return []schema.Key{v.Key}
	}
	at := judge.Named(g.Releases, v.Baseline)
	var out []schema.Key
	last := ""
	for i := range g.Series {
		s := &g.Series[i]
		if s.System() != v.System() || s.Tail() {
			continue
		}
		if _, ok := s.At(at); ok && s.Key.String() != last {
			last = s.Key.String()
			out = append(out, s.Key)
		}
	}
	if len(out) == 0 {
		return []schema.Key{v.Key}
	}
	return slices.CompactFunc(out, func(a, b schema.Key) bool { return a.String() == b.String() })
}

// Loadable reports whether a load client can make the point again.
func (g *Gap) Loadable() bool { return loadable(g.Key) }

// Decisive are the verdicts that the decision on a release follows from, worst first: those of the most serious kind
// that fails it, or of a release that passes, those that it was noted for as regressed.
func (r *Review) Decisive() (kind Kind, list []schema.Verdict) {
	for _, c := range r.Result.Counts {
		regressed := c.Kind == FailConfirmed || c.Kind == FailRunWide || c.Kind == FailSuspected
		if !c.Fails && (r.Result.Word == Fail || !regressed) {
			continue
		}
		for _, all := range [][]schema.Verdict{r.History, r.Targets} {
			for i := range all {
				if v := &all[i]; KindOf(v) == c.Kind && !v.Decision.Excuses() {
					list = append(list, *v)
				}
			}
		}
		effect := func(v schema.Verdict) float64 { e, _ := v.Effect.Get(); return e }
		slices.SortStableFunc(list, func(a, b schema.Verdict) int { return cmp.Compare(effect(b), effect(a)) })
		return c.Kind, list
	}
	return "", nil
}

// Outside counts runs that are newer than a release that is judged and not part of it.
type Outside struct {
	Runs int
	// Of is the channel or, in channels that serve as baselines, the release of the runs; "" for runs without either.
	Of      string
	Channel bool
	Undated bool `json:",omitempty"` // nothing says that they began later
}

// Newer are the runs that the newest release of the baselines leaves out; none of another release.
func (g *Gate) Newer(release int) []Outside {
	newer, _, _ := g.outside(release, func(schema.Pair) bool { return true })
	return newer
}

// outside counts what the newest release of the baselines leaves out: runs that began after its last one and belong to
// another channel, to no release or to an earlier release; and those of its own runs that began a day or more after the
// first. Results that were moved out of sight, or under a name that was judged before, are counted here.
func (g *Gate) outside(release int, of func(schema.Pair) bool) (newer []Outside, late, runs int) {
	own := &g.Releases[release]
	serves := func(r judge.Release) bool { return r.Label && judge.IsBaseline(r.Channel) }
	if !judge.IsBaseline(own.Channel) || slices.ContainsFunc(g.Releases[release+1:], serves) {
		return nil, 0, 0
	}
	var starts []time.Time
	for _, i := range own.Runs {
		starts = append(starts, g.Columns.Runs[i].Start)
	}
	starts = slices.DeleteFunc(starts, time.Time.IsZero)
	slices.SortFunc(starts, time.Time.Compare)
	var last time.Time
	for _, at := range starts {
		if last = at; at.Sub(starts[0]) >= 24*time.Hour {
			late++
		}
	}
	if own.Date.After(last) { // as its release is listed, or where none of its runs states a time
		last = own.Date
	}
	count := map[Outside]int{}
	for ri := range g.Releases {
		for _, i := range g.Releases[ri].Runs {
			h := &g.Columns.Runs[i]
			if ri == release || !isNewer(h, last, ri > release) || !of(h.Pair()) {
				continue
			}
			at := placeOf(h)
			at.Undated = h.Start.IsZero()
			count[at]++
		}
	}
	for o, n := range count {
		o.Runs = n
		newer = append(newer, o)
	}
	slices.SortFunc(newer, func(a, b Outside) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Of, b.Of))
	})
	return newer, late, len(own.Runs)
}

// isNewer reports whether a run began after a time; where one of them is not known, the order of releases decides.
func isNewer(h *columns.RunHead, last time.Time, isAfter bool) bool {
	if h.Start.IsZero() || last.IsZero() {
		return isAfter
	}
	return h.Start.After(last)
}

// placeOf is where a run outside of a release belongs.
func placeOf(h *columns.RunHead) Outside {
	switch channel := judge.ChannelOf(h); {
	case judge.IsBaseline(channel) && h.Release != "":
		return Outside{Of: h.Release}
	case h.Release == "" && h.Channel == "":
		return Outside{}
	default:
		return Outside{Of: channel, Channel: true}
	}
}

// heads returns the runs of a model and device in a release, oldest first.
func (g *Gate) heads(release int, of schema.Pair) []*columns.RunHead {
	var out []*columns.RunHead
	for _, run := range g.Releases[release].Runs {
		if h := &g.Columns.Runs[run]; of == h.Pair() {
			out = append(out, h)
		}
	}
	return out
}

// excusedBy returns the waiver of a verdict against a target that an issue covers which the owner of the model accepts,
// as the files beside its results state it, or nil.
func excusedBy(heads []*columns.RunHead, v *schema.Verdict) *schema.Decision {
	if kind := KindOf(v); kind == "" || kind == NoCase {
		return nil
	}
	for _, h := range heads {
		for _, k := range h.Acceptance.KnownIssues {
			if k.Covers(v) {
				id := strings.TrimSuffix("known_issues "+k.Task, " ")
				return &schema.Decision{ID: id, Kind: schema.Waive, Reason: k.Reason, Owner: k.Source}
			}
		}
	}
	return nil
}

// rejected lists models and devices that a report beside the results rejects, and of which no required target
// fails here: then the report knows of a failure that is none here.
func (g *Gate) rejected(release int) []lint.Lint {
	var out []lint.Lint
	for _, of := range g.Pairs(release) {
		heads := g.heads(release, of)
		i := slices.IndexFunc(heads, func(h *columns.RunHead) bool { return h.Acceptance.Result == schema.Rejected })
		missed := func(v schema.Verdict) bool { kind := KindOf(&v); return kind == FailTarget || kind == FailMissing }
		if i < 0 || slices.ContainsFunc(g.Targets(release, of), missed) {
			continue
		}
		a := &heads[i].Acceptance
		d := lint.ReportRejects{Report: a.Source, More: len(a.Blockers) - 1}
		if len(a.Blockers) > 0 {
			d.Blocker, d.Message = a.Blockers[0].Name, a.Blockers[0].Message
		}
		out = append(out, lint.New(g.Releases[release].Name, "", d).Of(heads[i]))
	}
	return out
}

// Changes are those that a release sees, with the decisions of people: one that is accepted is not open.
func (g *Gate) Changes(release int) []judge.Change {
	list := slices.Clone(g.Judgement.Changes(release))
	if len(g.Policy.Decisions) == 0 {
		return list
	}
	for i := range list {
		c := &list[i]
		c.Decision = g.accepted(c, release)
		if c.Decision != nil && (c.State == judge.StateOpen || c.State == judge.StateRecovered) {
			c.State = judge.StateAccepted
		}
	}
	return list
}

// accepted is the decision that excuses a change: one that names it, or those on most of its numbers; nil for none. A
// number is accepted where a level of it is, since the change, or where its verdict is excused in the release that
// found the change: of two numbers one may be waived there, and the other accepted a release later.
func (g *Gate) accepted(c *judge.Change, release int) *schema.Decision {
	named := g.decisionThat(func(d *decision.Decision) bool {
		return d.Select.Change == c.ID && (d.Kind == schema.Waive || d.Kind == schema.Accept)
	})
	if named.Excuses() {
		return named
	}
	found := release
	if at := judge.Named(g.Releases, c.Found); at >= 0 {
		found = at
	}
	n, last := 0, (*schema.Decision)(nil)
	for i, s := range c.Numbers {
		d := g.LevelDecision(c, i, release)
		if d == nil {
			if v, ok := g.HistoryOf(found, s); ok && v.Decision.Excuses() {
				d = v.Decision
			}
		}
		if d != nil {
			n, last = n+1, d
		}
	}
	if 2*n <= len(c.Numbers) {
		return nil
	}
	return last
}

// OpenChanges are the regressions of earlier releases that nobody accepted, those of most numbers first.
func (r *Review) OpenChanges() []judge.Change {
	list := slices.DeleteFunc(slices.Clone(r.Changes), func(c judge.Change) bool { return !Open(&c) })
	slices.SortStableFunc(list, func(a, b judge.Change) int { return cmp.Compare(len(b.Numbers), len(a.Numbers)) })
	return list
}
