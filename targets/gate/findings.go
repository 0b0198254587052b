package gate

import (
	"cmp"
	"slices"
	"sync"

	"github.com/ttreport/ttreport/ingest/schema"
)

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
	result   Result                  // of the whole release
	history  map[schema.Pair][]int32 // indexes into History
	targets  map[schema.Pair][]int32
	review   sync.Once // of whole
	whole    Review
}

// Results are the decisions on a release and on each model and device in it, in a form that can be stored.
type Results struct {
	Whole Result
	Pairs []PairResult
	Basis Basis // of all numbers with history
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
	f := g.of(release)
	return pick(f.findings.History, f.history[p])
}

// PairTargets returns the verdicts of a model and device in a release against targets.
func (g *Gate) PairTargets(release int, p schema.Pair) []schema.Verdict {
	f := g.of(release)
	return pick(f.findings.Targets, f.targets[p])
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
	var history sync.WaitGroup
	history.Go(func() { f.findings.History = g.History(f.release) })
	pairs := g.Pairs(f.release)
	lists := make([][]schema.Verdict, len(pairs))
	for i, p := range pairs {
		lists[i] = g.Targets(f.release, p)
	}
	f.findings.Targets = slices.Concat(lists...)
	f.findings.Shifts, f.findings.Lints = g.Shifts(f.release), g.Lints(f.release)
	history.Wait()
	f.history, f.targets = byPair(f.findings.History), byPair(f.findings.Targets)
	whole, of := DecidePairs(f.findings, g.FailsOn(f.release))
	f.result = whole
	out := Results{Whole: whole, Basis: basisOf(f.findings.History)}
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
	var out []schema.Pair
	seen := map[schema.Pair]bool{}
	for _, run := range g.Releases[release].Runs {
		h := &g.Columns.Runs[run]
		if p := (schema.Pair{Model: h.Model.Name, Device: h.Device}); !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	slices.SortFunc(out, comparePairs)
	return out
}

// comparePairs orders models and devices by name.
func comparePairs(a, b schema.Pair) int {
	return cmp.Or(schema.NaturalCompare(a.Model, b.Model), schema.NaturalCompare(a.Device, b.Device))
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
	for _, r := range g.Results(release).Pairs {
		if r.Pair == p {
			return r.Result
		}
	}
	return Decide(Findings{}, g.FailOn)
}

func byPair(list []schema.Verdict) map[schema.Pair][]int32 {
	out := map[schema.Pair][]int32{}
	for i := range list {
		out[list[i].Pair()] = append(out[list[i].Pair()], int32(i))
	}
	return out
}

func pick(list []schema.Verdict, at []int32) []schema.Verdict {
	if len(at) == 0 {
		return nil
	}
	out := make([]schema.Verdict, len(at))
	for i, k := range at {
		out[i] = list[k]
	}
	return out
}
