package gate

import (
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge"
)

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
func (g *Gate) Coverage(r *Review) Coverage {
	if r.coverage == nil {
		return g.cover(r)
	}
	return r.coverage()
}

func (g *Gate) cover(r *Review) Coverage {
	var c Coverage
	measured, listed := map[finding]bool{}, map[finding]bool{}
	for i := range r.History {
		if _, ok := r.History[i].Value.Get(); ok {
			measured[findingOf(&r.History[i])] = true
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
		c.Gaps = append(c.Gaps, Gap{v.System(), k, kind == FailNotRemeasured || kind == FailAbsent, last, releases})
	}
	for i := range r.Targets {
		v := &r.Targets[i]
		if v.Outcome == schema.NotMeasured && (v.Required || schema.ReasonIs[schema.Planned](v.Reason)) {
			add(v, v.Key, "", 1)
		}
	}
	for i := range r.History {
		v := &r.History[i]
		switch reason := v.Reason.(type) {
		case schema.NotRemeasured:
			for _, k := range g.points(v) {
				add(v, k, v.Baseline, reason.Releases)
			}
		case schema.NoNumber:
			if v.Outcome == schema.NotMeasured && reason.Other == "" {
				add(v, v.Key, v.Baseline, 1)
			}
		}
	}
	return c
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

// Basis is how the numbers of a release compare with history. Early have one earlier release, which shows no noise, and
// Without none.
type Basis struct{ Compared, Unchanged, BelowLimit, Inconclusive, Regressed, Improved, Early, Without int }

// Basis counts the numbers of a review.
func (r *Review) Basis() Basis { return basisOf(r.History) }

func basisOf(history []schema.Verdict) (b Basis) {
	for i := range history {
		v := &history[i]
		if _, ok := v.Value.Get(); !ok {
			continue
		}
		b.Compared++
		switch v.Outcome {
		case schema.Unchanged:
			b.Unchanged++
		case schema.BelowLimit:
			b.BelowLimit++
		case schema.Inconclusive:
			b.Inconclusive++
		case schema.Regressed:
			b.Regressed++
		case schema.Improved, schema.Recovered:
			b.Improved++
		default:
			b.Compared--
			if oneEach(v) {
				b.Early++
			} else {
				b.Without++
			}
		}
	}
	return b
}

// Decisive are the verdicts that the decision on a release follows from, worst first: those of the most serious kind
// that fails it, or of a release that passes, those that it was noted for as regressed.
func (r *Review) Decisive() (kind Kind, list []schema.Verdict) {
	for _, c := range r.Result.Counts {
		regressed := c.Kind == FailConfirmed || c.Kind == FailRunWide || c.Kind == FailSuspected
		if c.Fails || r.Result.Word != Fail && regressed {
			return c.Kind, r.ofKind(c.Kind)
		}
	}
	return "", nil
}

// ofKind are the verdicts of a kind that no decision excuses, largest effect first.
func (r *Review) ofKind(kind Kind) []schema.Verdict {
	var out []schema.Verdict
	for _, list := range [][]schema.Verdict{r.History, r.Targets} {
		for i := range list {
			if v := &list[i]; KindOf(v) == kind && !v.Decision.Excuses() {
				out = append(out, *v)
			}
		}
	}
	effect := func(v schema.Verdict) float64 { e, _ := v.Effect.Get(); return e }
	slices.SortStableFunc(out, func(a, b schema.Verdict) int {
		switch x, y := effect(a), effect(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return out
}
