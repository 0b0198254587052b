package gate

import (
	"slices"
	"sync"

	"github.com/ttreport/ttreport/ingest/schema"
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

	coverage func() Coverage // made once
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
		r.Targets, r.History = pick(f.Targets, ofPairs(found.targets, of)), pick(f.History, ofPairs(found.history, of))
	}
	r.Fit.Single = r.Fit.Cells == 0 && slices.ContainsFunc(r.History, func(v schema.Verdict) bool {
		c, ok := v.Reason.(schema.Change)
		return ok && c.Why == schema.WhyOneEach
	})
	r.Fit.Turns = turnedOf(r.History)
	r.Shifts = slices.DeleteFunc(slices.Clone(f.Shifts), func(s judge.Shift) bool {
		return device != "" && !schema.SameDevice(s.Device, device)
	})
	for _, l := range f.Lints {
		if l, concerned := l.Only(of); concerned {
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
	r.coverage = sync.OnceValue(func() Coverage { return g.cover(&r) })
	return r
}

// ofPairs are the places of the verdicts of some models and devices, in their order.
func ofPairs(places map[schema.Pair][]int32, of func(schema.Pair) bool) []int32 {
	var out []int32
	for p, list := range places {
		if of(p) {
			out = append(out, list...)
		}
	}
	slices.Sort(out)
	return out
}

// Label is the label of a release, "" for a build without one.
func (g *Gate) Label(release int) string {
	if runs := g.Releases[release].Runs; len(runs) > 0 {
		return g.Columns.Runs[runs[0]].Release
	}
	return ""
}

// Verdict finds a verdict by its id, in the newest release that has it; ok is false for none.
func (g *Gate) Verdict(id string) (v schema.Verdict, release int, ok bool) {
	for release = len(g.Releases) - 1; release >= 0; release-- {
		f := g.Findings(release)
		for _, v := range slices.Concat(f.Targets, f.History) {
			if v.ID == id {
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
	const few = 10
	singles, scores := 0, few
	if mostScoresOpen(r.History) {
		scores = 0
	}
	fails := func(c Tally) bool { return c.Kind == FailInconclusive && c.Fails }
	inconclusive := slices.ContainsFunc(r.Result.Counts, fails)
	for _, v := range r.History {
		switch v.Outcome {
		case schema.Regressed, schema.NotMeasured, schema.Excluded, schema.Improved, schema.Recovered,
			schema.NotComparable:
			history = append(history, v)
		default:
			// readers need the reason of a pinned or dismissed level
			below := v.Outcome == schema.BelowLimit && worse(&v)
			single := (r.Fit.Single || turnsOpen(&v)) && v.Large && worse(&v) && singles < few
			if single {
				singles++
			}
			score := v.Outcome == schema.Inconclusive && v.Key.IsEval() && scores < few
			if score {
				scores++
			}
			if below || single || score || v.Large && (inconclusive || !insignificant(&v)) || v.Decision != nil {
				history = append(history, v)
			}
		}
	}
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
			targets = append(targets, v)
		}
	}
	return history, targets
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

// Calibration describes how well predictions held.
type Calibration string

// How well predictions held.
const (
	CalibrationPasses  Calibration = "passes"
	CalibrationFails   Calibration = "fails"
	CalibrationUnknown Calibration = "too few"
)

// Calibrated returns how well predictions held.
func (f Fit) Calibrated() Calibration {
	const enough = 200
	switch {
	case f.Tested < enough:
		return CalibrationUnknown
	case float64(f.Exceeded) > .04*float64(f.Tested):
		return CalibrationFails
	}
	return CalibrationPasses
}

// Fit describes the noise of a release's history.
func (g *Gate) Fit(release int) Fit {
	f := g.Judgement.Fit(release)
	out := Fit{Cells: f.Cells, Tested: f.Tested, Exceeded: f.Exceeded, Shown: g.Sensitivity(release)}
	if f.Sd > 0 { // NaN where nothing is known
		out.Noise = f.Sd
	}
	return out
}
