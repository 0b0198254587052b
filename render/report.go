package render

import (
	"sort"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets"
)

// Input is everything a report is made of.
type Input struct {
	Title    string
	Judged   *targets.Judgement
	Notes    []Note
	Problems []schema.Problem // of this build: files that could not be read, documents that are damaged
	Version  string
	Topics   []string // pages of the documentation, by name
	Licences []Licence
	FailOn   targets.FailOn // nil: the default
}

// Licence is an embedded part and its licence.
type Licence struct{ Name, Version, Licence, File string }

// Report is an index over the input; its methods build pages.
type Report struct {
	Input
	Columns  *columns.Columns
	Releases []targets.Release
	Pairs    []Pair
	pairOf   map[[2]string]int
	series   map[[2]string][]*targets.Series // by pair
	named    map[seriesName]*targets.Series
	runs     map[[2]string]map[int][]int // by pair and release
	decided  map[int]targets.Decided     // by release
	pairs    map[int]map[[2]string]targets.Decided
	recent   *findings // of the release that was asked for last
}

// findings are all that is said of one release.
type findings struct {
	release int
	targets.Findings
	byPair map[[2]string][]schema.Verdict // of History
}

// Pair is a model on a device: what people sign.
type Pair struct {
	Model, Device string
	ID            string // model id, when one is stated
	Newest        int    // newest release that has it
}

// New indexes what was judged.
func New(in Input) *Report {
	if in.FailOn == nil {
		in.FailOn = targets.DefaultFailOn()
	}
	r := &Report{Input: in, Columns: in.Judged.Columns, Releases: in.Judged.Releases, pairOf: map[[2]string]int{}, series: map[[2]string][]*targets.Series{}, runs: map[[2]string]map[int][]int{},
		decided: map[int]targets.Decided{}, pairs: map[int]map[[2]string]targets.Decided{}}
	for ri := range r.Releases {
		for _, run := range r.Releases[ri].Runs {
			h := &r.Columns.Runs[run]
			id := [2]string{h.Model.Name, h.Device}
			if _, ok := r.pairOf[id]; !ok {
				r.pairOf[id] = 0
				r.Pairs = append(r.Pairs, Pair{Model: h.Model.Name, Device: h.Device})
				r.runs[id] = map[int][]int{}
			}
			r.runs[id][ri] = append(r.runs[id][ri], run)
		}
	}
	for i := range in.Judged.Series {
		s := &in.Judged.Series[i]
		id := [2]string{s.Model, s.Device}
		r.series[id] = append(r.series[id], s)
	}
	sort.Slice(r.Pairs, func(i, j int) bool {
		a, b := r.Pairs[i], r.Pairs[j]
		if a.Model != b.Model {
			return targets.NaturalLess(a.Model, b.Model)
		}
		return targets.NaturalLess(a.Device, b.Device)
	})
	for i := range r.Pairs {
		p := &r.Pairs[i]
		id := [2]string{p.Model, p.Device}
		r.pairOf[id] = i
		for ri, runs := range r.runs[id] {
			p.Newest = max(p.Newest, ri)
			for _, run := range runs {
				if m := r.Columns.Runs[run].Model.ID; m != "" {
					p.ID = m
				}
			}
		}
	}
	return r
}

// of returns all that is said of a release. Only the last asked for is kept: a history has more verdicts than memory should hold.
func (r *Report) of(release int) *findings {
	if r.recent != nil && r.recent.release == release {
		return r.recent
	}
	f := &findings{release: release}
	for _, p := range r.PairsOf(release) {
		f.Targets = append(f.Targets, r.Judged.Targets(release, p.Model, p.Device)...)
	}
	f.History, f.Shifts, f.Lints = r.Judged.History(release), r.Judged.Shifts(release), r.Judged.Lints(release)
	f.byPair = map[[2]string][]schema.Verdict{}
	for i := range f.History {
		v := &f.History[i]
		id := [2]string{v.Model, v.Device}
		f.byPair[id] = append(f.byPair[id], *v)
	}
	r.recent = f
	r.decided[release], r.pairs[release] = targets.DecidePairs(f.Findings, r.FailOn)
	return f
}

// Decided is the decision on a release.
func (r *Report) Decided(release int) targets.Decided {
	if _, ok := r.decided[release]; !ok {
		r.of(release)
	}
	return r.decided[release]
}

// PairDecided is the decision on a pair in a release.
func (r *Report) PairDecided(p Pair, release int) targets.Decided {
	if _, ok := r.pairs[release]; !ok {
		r.of(release)
	}
	if d, ok := r.pairs[release][[2]string{p.Model, p.Device}]; ok {
		return d
	}
	return targets.Decide(targets.Findings{}, r.FailOn)
}

// Newest is the index of the release that a reader wants first: the newest one with a label, else the newest build; -1
// when nothing was measured.
func (r *Report) Newest() int {
	newest := -1
	for i := range r.Releases {
		if rel := &r.Releases[i]; rel.Label && (rel.Channel == schema.ChannelRelease || rel.Channel == schema.ChannelMain) {
			newest = i
		}
	}
	if newest >= 0 {
		return newest
	}
	for i := len(r.Releases) - 1; i >= 0; i-- {
		if r.Releases[i].Label {
			return i
		}
	}
	return len(r.Releases) - 1
}

// pairVerdicts are the verdicts against targets of a pair in a release.
func (r *Report) pairVerdicts(p Pair, release int) []schema.Verdict {
	return r.Judged.Targets(release, p.Model, p.Device)
}

// pairChanges are the history rows of a pair in a release.
func (r *Report) pairChanges(p Pair, release int) []schema.Verdict {
	return r.of(release).byPair[[2]string{p.Model, p.Device}]
}

// seriesName is what a verdict has in common with its series.
type seriesName struct{ model, device, impl, metric, stat, def, key string }

func (r *Report) seriesOf(v schema.Verdict) *targets.Series {
	if r.named == nil {
		r.named = make(map[seriesName]*targets.Series, len(r.Judged.Series))
		for i := range r.Judged.Series {
			s := &r.Judged.Series[i]
			name := seriesName{s.Model, s.Device, s.Impl, s.Metric, s.Stat, s.Def, s.Key.String()}
			if r.named[name] == nil {
				r.named[name] = s
			}
		}
	}
	return r.named[seriesName{v.Model, v.Device, v.Impl, v.Metric, v.Stat, v.Def, v.Key.String()}]
}

// simulated says whether everything in a release, or in all of them for release < 0, came from the simulator, or part
// of it; "" when nothing did.
func (r *Report) simulated(release int) string {
	sim, all := 0, 0
	for ri := range r.Releases {
		if release >= 0 && ri != release {
			continue
		}
		for _, run := range r.Releases[ri].Runs {
			all++
			if r.Columns.Runs[run].IsSimulated() {
				sim++
			}
		}
	}
	switch {
	case sim == 0:
		return ""
	case sim == all:
		return "Rehearsal: every number here was made by the embedded simulator. Nothing was measured on a device."
	}
	return "Part of what is shown here was made by the embedded simulator and is marked so; it says nothing about any device."
}

// Verdicts are all verdicts on a release, those against targets first.
func (r *Report) Verdicts(release int) []schema.Verdict {
	f := r.of(release)
	return append(append([]schema.Verdict(nil), f.Targets...), f.History...)
}
