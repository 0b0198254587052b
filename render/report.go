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
	Columns  *columns.Columns
	Releases []targets.Release
	Series   []targets.Series
	Notes    []Note
	Problems []schema.Problem // of this build: files that could not be read, documents that are damaged
	Version  string
	Topics   []string // pages of the documentation, by name
	Licences []Licence
}

// Licence is an embedded part and its licence.
type Licence struct{ Name, Version, Licence, File string }

// Report is an index over the input; its methods build pages.
type Report struct {
	Input
	Pairs    []Pair
	pairOf   map[[2]string]int
	release  map[int]int                            // run -> release
	verdicts map[[2]string]map[int][]schema.Verdict // by pair and release, against targets
	changes  map[int][]schema.Verdict               // by release, against history
	series   map[[2]string][]*targets.Series        // by pair
	runs     map[[2]string]map[int][]int            // by pair and release
}

// Pair is a model on a device: what people sign.
type Pair struct {
	Model, Device string
	ID            string // model id, when one is stated
	Newest        int    // newest release that has it
}

// New indexes the input and judges every run against its targets.
func New(in Input) *Report {
	r := &Report{Input: in, pairOf: map[[2]string]int{}, release: map[int]int{}, verdicts: map[[2]string]map[int][]schema.Verdict{},
		changes: map[int][]schema.Verdict{}, series: map[[2]string][]*targets.Series{}, runs: map[[2]string]map[int][]int{}}
	for ri := range in.Releases {
		for _, run := range in.Releases[ri].Runs {
			h := &in.Columns.Runs[run]
			id := [2]string{h.Model.Name, h.Device}
			if _, ok := r.pairOf[id]; !ok {
				r.pairOf[id] = 0
				r.Pairs = append(r.Pairs, Pair{Model: h.Model.Name, Device: h.Device})
				r.runs[id], r.verdicts[id] = map[int][]int{}, map[int][]schema.Verdict{}
			}
			r.release[run] = ri
			r.runs[id][ri] = append(r.runs[id][ri], run)
		}
		r.changes[ri] = targets.Changes(in.Series, in.Releases, ri)
	}
	for i := range in.Series {
		id := [2]string{in.Series[i].Model, in.Series[i].Device}
		r.series[id] = append(r.series[id], &in.Series[i])
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
			r.verdicts[id][ri] = targets.Judge(in.Columns, runs)
			p.Newest = max(p.Newest, ri)
			for _, run := range runs {
				if m := in.Columns.Runs[run].Model.ID; m != "" {
					p.ID = m
				}
			}
		}
	}
	return r
}

// newest is the index of the release that a reader wants first: the newest one with a label, else the newest build; -1
// when nothing was measured.
func (r *Report) newest() int {
	for i := len(r.Releases) - 1; i >= 0; i-- {
		if r.Releases[i].Label {
			return i
		}
	}
	return len(r.Releases) - 1
}

// targetVerdicts are those of all pairs of a release.
func (r *Report) targetVerdicts(release int) []schema.Verdict {
	var out []schema.Verdict
	for _, p := range r.Pairs {
		out = append(out, r.pairVerdicts(p, release)...)
	}
	return out
}

// pairVerdicts are the verdicts against targets of a pair in a release.
func (r *Report) pairVerdicts(p Pair, release int) []schema.Verdict {
	return r.verdicts[[2]string{p.Model, p.Device}][release]
}

// pairChanges are the history rows of a pair in a release.
func (r *Report) pairChanges(p Pair, release int) []schema.Verdict {
	var out []schema.Verdict
	for _, v := range r.changes[release] {
		if v.Model == p.Model && v.Device == p.Device {
			out = append(out, v)
		}
	}
	return out
}

func (r *Report) seriesOf(v schema.Verdict) *targets.Series {
	for _, s := range r.series[[2]string{v.Model, v.Device}] {
		if s.Metric == v.Metric && s.Stat == v.Stat && s.Key.String() == v.Key.String() {
			return s
		}
	}
	return nil
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
	return append(r.targetVerdicts(release), r.changes[release]...)
}
