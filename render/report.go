package render

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/glob"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// Input is everything a report is made of.
type Input struct {
	Title     string
	Gate      *gate.Gate
	Notes     []Note
	Problems  []schema.Problem // of this build: files that could not be read, documents that are damaged
	Version   string
	Topics    []string          // pages of the documentation, by name
	Titles    map[string]string // their headings
	Licences  []Licence
	Mode      Mode // the question of the front page
	Prices    Prices
	Chips     map[string]int // accelerators of a device, where runs do not state them
	Reference string         // model that others' scores are compared with, or ""
	Models    Listing        // how models stand in lists
	Devices   Listing
	Planned   []schema.Pair // with targets and no run
	Commits   CommitLinks
	// Ingest is the command that stores what is judged; "" for what is stored. What is not stored cannot be accepted,
	// searched or completed.
	Ingest string
	Public bool // leave out commands and foreign fields, and of paths all but the last name
}

// Listing orders and hides names in lists. What is hidden keeps its page and its part in every
// decision: hiding excuses nothing.
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
		return pattern == name || glob.Match(pattern, name)
	})
}

// listed are the models on devices that lists show, in their order, and how many are hidden.
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
type Licence struct {
	Name, Version, Licence string
	File                   Address
}

// Report is an index over the input; its methods build pages.
type Report struct {
	Input
	Columns   *columns.Columns
	Releases  []judge.Release
	Pairs     []Pair
	series    map[schema.Pair][]*judge.Series
	named     map[uint64]int32              // series by the hash of their names
	seed      maphash.Seed                  // of these
	runs      map[schema.Pair]map[int][]int // by release
	with      map[schema.Pair][]int         // releases, oldest first
	has       []int                         // models on devices, by release
	naming    sync.Once                     // of named
	numbering sync.Once                     // of byID
	byID      map[string]int                // runs
	laying    sync.Mutex                    // of against
	against   map[int]func() *compare.Against
}

// Pair is a model on a device: what a release is decided for.
type Pair struct {
	schema.Pair
	ID     string // model id, when one is stated
	Newest int    // newest release that has it
}

// New indexes what was judged.
func New(in Input) *Report {
	r := &Report{
		Input: in, Columns: in.Gate.Columns, Releases: in.Gate.Releases,
		series: map[schema.Pair][]*judge.Series{}, runs: map[schema.Pair]map[int][]int{}, with: map[schema.Pair][]int{},
		has: make([]int, len(in.Gate.Releases)), against: map[int]func() *compare.Against{},
	}
	for ri := range r.Releases {
		for _, run := range r.Releases[ri].Runs {
			h := &r.Columns.Runs[run]
			id := schema.Pair{Model: h.Model.Name, Device: h.Device}
			if r.runs[id] == nil {
				r.Pairs = append(r.Pairs, Pair{Pair: id})
				r.runs[id] = map[int][]int{}
			}
			if len(r.runs[id][ri]) == 0 {
				r.has[ri]++
				r.with[id] = append(r.with[id], ri)
			}
			r.runs[id][ri] = append(r.runs[id][ri], run)
		}
	}
	for i := range in.Gate.Series {
		s := &in.Gate.Series[i]
		if s.Tail() {
			continue
		}
		id := schema.Pair{Model: s.Model, Device: s.Device}
		r.series[id] = append(r.series[id], s)
	}
	slices.SortFunc(r.Pairs, r.comparePairs)
	for i := range r.Pairs {
		p := &r.Pairs[i]
		released := false
		for _, ri := range r.with[p.Pair] {
			if is := judge.IsBaseline(r.Releases[ri].Channel); is || !released {
				p.Newest, released = ri, is
			}
			for _, run := range r.runs[p.Pair][ri] {
				p.ID = cmp.Or(r.Columns.Runs[run].Model.ID, p.ID)
			}
		}
	}
	return r
}

// comparePairs is the order of lists: listed models and devices first, then by name.
func (r *Report) comparePairs(a, b Pair) int {
	return cmp.Or(cmp.Compare(r.Models.place(a.Model), r.Models.place(b.Model)), schema.NaturalCompare(a.Model, b.Model),
		cmp.Compare(r.Devices.place(a.Device), r.Devices.place(b.Device)), schema.NaturalCompare(a.Device, b.Device))
}

// measuredIn are the releases that have a run of a model and device, oldest first.
func (r *Report) measuredIn(model, device string) []int {
	return r.with[schema.Pair{Model: model, Device: device}]
}

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

// PairResult is the decision on a model and device in a release.
func (r *Report) PairResult(p Pair, release int) gate.Result {
	return r.Gate.PairResult(release, p.Pair)
}

// RunsOf are the runs of a model and device in a release, oldest first.
func (r *Report) RunsOf(release int, p Pair) []int { return r.runs[p.Pair][release] }

// Results are what a release and each model and device in it came to, in a form that can be kept.
type Results = gate.Results

// Results returns what a release came to.
func (r *Report) Results(release int) Results { return r.Gate.Results(release) }

// Know takes what a release came to from an earlier report of the same, so that it need not be found again.
func (r *Report) Know(release int, x Results) { r.Gate.Know(release, x) }

// Review is a release, or a model and device in it, as somebody who signs it needs it; empty selects all.
func (r *Report) Review(release int, model, device string) gate.Review {
	return r.Gate.Review(release, model, device)
}

// Digest covers what the pages of a release follow from, beside the program and the configuration.
func (r *Report) Digest(release int) string { return r.Gate.Digest(release) }

// Result is the decision on a release.
func (r *Report) Result(release int) gate.Result { return r.Gate.Results(release).Whole }

// Newest is the index of the release that a reader wants first: the newest one with a label of a channel that serves
// as baseline, else the newest build of one, else the newest; -1 when nothing was measured. A build of a branch is
// judged by check and never takes the place of what is released.
func (r *Report) Newest() int {
	wanted := []func(*judge.Release) bool{
		func(x *judge.Release) bool { return x.Label && judge.IsBaseline(x.Channel) },
		func(x *judge.Release) bool { return judge.IsBaseline(x.Channel) },
		func(x *judge.Release) bool { return x.Label },
	}
	for _, is := range wanted {
		for i := len(r.Releases) - 1; i >= 0; i-- {
			if is(&r.Releases[i]) {
				return i
			}
		}
	}
	return len(r.Releases) - 1
}

// pairVerdicts are the verdicts against targets of a model and device in a release.
func (r *Report) pairVerdicts(p Pair, release int) []schema.Verdict {
	return r.Gate.PairTargets(release, p.Pair)
}

// pairChanges are the history rows of a model and device in a release.
func (r *Report) pairChanges(p Pair, release int) []schema.Verdict {
	return r.Gate.PairHistory(release, p.Pair)
}

// seriesName is what a verdict has in common with its series.
type seriesName struct{ model, device, impl, metric, stat, def, key string }

func (r *Report) seriesOf(v schema.Verdict) *judge.Series {
	r.naming.Do(func() {
		r.named, r.seed = make(map[uint64]int32, len(r.Gate.Series)), maphash.MakeSeed()
		for i := range r.Gate.Series {
			if hash, s := r.find(r.nameOfSeries(&r.Gate.Series[i])); s == nil {
				r.named[hash] = int32(i)
			}
		}
	})
	_, s := r.find(seriesName{v.Model, v.Device, v.Impl, v.Metric, v.Stat, v.Def, v.Key.String()})
	return s
}

// find returns the first series of a name, nil for none, and the hash under which it is or would be. A name that has
// the hash of another takes the next one. Maps of names were a tenth of the memory of a large history.
func (r *Report) find(name seriesName) (hash uint64, s *judge.Series) {
	for hash = maphash.Comparable(r.seed, name); ; hash++ {
		i, ok := r.named[hash]
		if !ok {
			return hash, nil
		}
		if s = &r.Gate.Series[i]; r.nameOfSeries(s) == name {
			return hash, s
		}
	}
}

func (r *Report) nameOfSeries(s *judge.Series) seriesName {
	return seriesName{s.Model, s.Device, s.Impl, s.Metric, s.Stat, s.Def, r.Columns.KeyName(s.KeyIndex)}
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
	return "Part of what is shown here was made by the embedded simulator and is marked so; " +
		"it was not measured on a device."
}
