package render

import (
	"path"
	"slices"
	"sort"
	"sync"
	"time"

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
	Nightly  bool           // the question is whether it got slower, not whether it can ship
	Models   Listing        // how models stand in lists
	Devices  Listing
	Planned  []Pair // model and device of pairs that have targets and no run
	Public   bool   // leave out commands and foreign fields, and of paths all but the last name
}

// Listing orders and hides names in lists. A hidden pair keeps its page and its part in every decision: hiding excuses nothing.
type Listing struct {
	Order []string
	Hide  []string // globs
}

// place is where a name stands: the listed first.
func (l Listing) place(name string) int {
	if i := slices.Index(l.Order, name); i >= 0 {
		return i
	}
	return len(l.Order)
}

func (l Listing) hides(name string) bool {
	return slices.ContainsFunc(l.Hide, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return err == nil && ok || pattern == name
	})
}

// listed are the pairs that lists show, in their order, and how many are hidden.
func (r *Report) listed() (pairs []Pair, hidden int) {
	for _, p := range r.Pairs {
		if r.Models.hides(p.Model) || r.Devices.hides(p.Device) {
			hidden++
			continue
		}
		pairs = append(pairs, p)
	}
	return pairs, hidden
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
	with     map[[2]string][]int         // releases of a pair, oldest first
	mu       sync.Mutex
	decided  map[int]targets.Decided // by release
	pairs    map[int]map[[2]string]targets.Decided
	recent   []*findings // of the releases that were asked for last
	naming   sync.Once   // of named
}

// findings are all that is said of one release.
type findings struct {
	once    sync.Once
	release int
	targets.Findings
	history, promised map[[2]string][]int32 // indexes into History and Targets, by pair
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
	r := &Report{Input: in, Columns: in.Judged.Columns, Releases: in.Judged.Releases, pairOf: map[[2]string]int{}, series: map[[2]string][]*targets.Series{}, runs: map[[2]string]map[int][]int{}, with: map[[2]string][]int{},
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
			if len(r.runs[id][ri]) == 0 {
				r.with[id] = append(r.with[id], ri)
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
		if x, y := r.Models.place(a.Model), r.Models.place(b.Model); x != y {
			return x < y
		}
		if x, y := r.Devices.place(a.Device), r.Devices.place(b.Device); a.Model == b.Model && x != y {
			return x < y
		}
		if a.Model != b.Model {
			return targets.NaturalLess(a.Model, b.Model)
		}
		return targets.NaturalLess(a.Device, b.Device)
	})
	for i := range r.Pairs {
		p := &r.Pairs[i]
		r.pairOf[[2]string{p.Model, p.Device}] = i
		for _, ri := range r.measuredIn(p.Model, p.Device) {
			p.Newest = ri
			for _, run := range r.runs[[2]string{p.Model, p.Device}][ri] {
				if m := r.Columns.Runs[run].Model.ID; m != "" {
					p.ID = m
				}
			}
		}
	}
	return r
}

// measuredIn are the releases that have a run of a pair, oldest first.
func (r *Report) measuredIn(model, device string) []int { return r.with[[2]string{model, device}] }

// namesOf are names for an axis: of a build that nobody released, its day.
func (r *Report) namesOf(releases []int) []string {
	out := make([]string, len(releases))
	for i, ri := range releases {
		out[i] = r.Releases[ri].Name
		if rel := &r.Releases[ri]; !rel.Label && !rel.Date.IsZero() {
			out[i] = rel.Date.UTC().Format(time.DateOnly)
		}
	}
	return out
}

// of returns all that is said of a release. Only the last few asked for are kept: a history has more verdicts than memory should
// hold. Several goroutines may ask at once.
func (r *Report) of(release int) *findings {
	const most = 2
	r.mu.Lock()
	i := slices.IndexFunc(r.recent, func(f *findings) bool { return f.release == release })
	if i < 0 {
		r.recent = append(r.recent[max(0, len(r.recent)+1-most):len(r.recent):len(r.recent)], &findings{release: release})
		i = len(r.recent) - 1
	}
	f := r.recent[i]
	r.mu.Unlock()
	f.once.Do(func() { r.find(f) })
	return f
}

// find fills in what is said of a release.
func (r *Report) find(f *findings) {
	for _, p := range r.PairsOf(f.release) {
		f.Targets = append(f.Targets, r.Judged.Targets(f.release, p.Model, p.Device)...)
	}
	f.History, f.Shifts, f.Lints = r.Judged.History(f.release), r.Judged.Shifts(f.release), r.Judged.Lints(f.release)
	f.history, f.promised = byPair(f.History), byPair(f.Targets)
	whole, pairs := targets.DecidePairs(f.Findings, r.FailOn)
	r.mu.Lock()
	r.decided[f.release], r.pairs[f.release] = whole, pairs
	r.mu.Unlock()
}

func byPair(list []schema.Verdict) map[[2]string][]int32 {
	out := map[[2]string][]int32{}
	for i := range list {
		id := [2]string{list[i].Model, list[i].Device}
		out[id] = append(out[id], int32(i))
	}
	return out
}

func pick(list []schema.Verdict, at []int32) []schema.Verdict {
	out := make([]schema.Verdict, len(at))
	for i, k := range at {
		out[i] = list[k]
	}
	return out
}

// Decided is the decision on a release.
func (r *Report) Decided(release int) targets.Decided {
	whole, _ := r.decisions(release)
	return whole
}

func (r *Report) decisions(release int) (targets.Decided, map[[2]string]targets.Decided) {
	r.mu.Lock()
	_, ok := r.decided[release]
	r.mu.Unlock()
	if !ok {
		r.of(release)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.decided[release], r.pairs[release]
}

// Decisions are what a release and each pair of it came to, in a form that can be kept.
type Decisions struct {
	Whole targets.Decided
	Pairs []GatePair
}

// Decisions returns what a release came to.
func (r *Report) Decisions(release int) Decisions {
	whole, _ := r.decisions(release)
	out := Decisions{Whole: whole}
	for _, p := range r.PairsOf(release) {
		out.Pairs = append(out.Pairs, GatePair{p.Model, p.Device, r.PairDecided(p, release)})
	}
	return out
}

// Know takes what a release came to from an earlier report of the same, so that it need not be found again.
func (r *Report) Know(release int, d Decisions) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.decided[release], r.pairs[release] = d.Whole, map[[2]string]targets.Decided{}
	for _, p := range d.Pairs {
		r.pairs[release][[2]string{p.Model, p.Device}] = p.Decided
	}
}

// PairDecided is the decision on a pair in a release.
func (r *Report) PairDecided(p Pair, release int) targets.Decided {
	_, pairs := r.decisions(release)
	if d, ok := pairs[[2]string{p.Model, p.Device}]; ok {
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
	f := r.of(release)
	return pick(f.Targets, f.promised[[2]string{p.Model, p.Device}])
}

// pairChanges are the history rows of a pair in a release.
func (r *Report) pairChanges(p Pair, release int) []schema.Verdict {
	f := r.of(release)
	return pick(f.History, f.history[[2]string{p.Model, p.Device}])
}

// seriesName is what a verdict has in common with its series.
type seriesName struct{ model, device, impl, metric, stat, def, key string }

func (r *Report) seriesOf(v schema.Verdict) *targets.Series {
	r.naming.Do(func() {
		r.named = make(map[seriesName]*targets.Series, len(r.Judged.Series))
		for i := range r.Judged.Series {
			s := &r.Judged.Series[i]
			name := seriesName{s.Model, s.Device, s.Impl, s.Metric, s.Stat, s.Def, s.Key.String()}
			if r.named[name] == nil {
				r.named[name] = s
			}
		}
	})
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
		return "Simulated: every number here was made by the embedded simulator. Nothing was measured on a device."
	}
	return "Part of what is shown here was made by the embedded simulator and is marked so; it says nothing about any device."
}

// Verdicts are all verdicts on a release: those against targets, and those against history.
func (r *Report) Verdicts(release int) [2][]schema.Verdict {
	f := r.of(release)
	return [2][]schema.Verdict{f.Targets, f.History}
}
