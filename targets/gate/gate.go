package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// Gate is a judged history with the decisions of people about it.
type Gate struct {
	*judge.Judgement
	Policy *decision.Policy
	Listed []judge.Configured // releases as ttreport.yaml lists them
	Lost   []schema.Problem   // documents of the history that could not be read and count in no decision
	FailOn FailOn             // nil: [DefaultFailOn] of the channel of each release

	cache cache
}

// New judges a history under a policy; nil decides nothing. The gate fails on [DefaultFailOn] until FailOn is
// set.
func New(ctx context.Context, c *columns.Columns, releases []judge.Release, p *decision.Policy) (*Gate, error) {
	return NewOn(ctx, c, releases, p, nil)
}

// NewOn is [New], and goes on from what an earlier judgement kept: see [judge.NewOn].
func NewOn(
	ctx context.Context, c *columns.Columns, releases []judge.Release, p *decision.Policy, k *judge.Keeping,
) (*Gate, error) {
	p = p.For(c.Runs)
	j, err := judge.NewOn(ctx, c, releases, p, k)
	if err != nil {
		return nil, err
	}
	return &Gate{Judgement: j, Policy: p}, nil
}

// FailsOn is what fails a release.
func (g *Gate) FailsOn(release int) FailOn {
	if g.FailOn != nil {
		return g.FailOn
	}
	return DefaultFailOn(g.Releases[release].Channel)
}

// History returns the verdicts of a release against history, worst first, with decisions.
func (g *Gate) History(release int) []schema.Verdict { return g.decided(g.Judgement.History(release)) }

// HistoryOf returns the verdict on a series in a release against history, with decisions: see
// [judge.Judgement.HistoryOf].
func (g *Gate) HistoryOf(release int, s *judge.Series) (schema.Verdict, bool) {
	v, ok := g.Judgement.HistoryOf(release, s)
	if !ok {
		return v, false
	}
	return g.decided([]schema.Verdict{v})[0], true
}

// Targets returns the verdicts of a model and device in a release against targets, with decisions.
func (g *Gate) Targets(release int, of schema.Pair) []schema.Verdict {
	list := g.decided(g.Judgement.Targets(release, of))
	issues := g.knownIssues(release, of)
	for i := range list {
		if v := &list[i]; v.Decision == nil {
			v.Decision = excusedBy(issues, v)
		}
	}
	return list
}

// decided attaches decisions; excluded verdicts have theirs already.
func (g *Gate) decided(list []schema.Verdict) []schema.Verdict {
	if len(g.Policy.Decisions) == 0 {
		return list
	}
	for i := range list {
		if list[i].Decision == nil {
			list[i].Decision = g.about(&list[i])
		}
	}
	return list
}

// about finds the decision that covers a verdict: one that excuses it, else one that did and has expired, else the
// pin or dismissal at its release, whose reason readers need to understand the level. A verdict that cannot fail
// needs no excuse: a number that met its target was not waived.
func (g *Gate) about(v *schema.Verdict) *schema.Decision {
	var expired *schema.Decision
	kind := KindOf(v)
	for i := range g.Policy.Decisions {
		d := &g.Policy.Decisions[i]
		excuses := (d.Kind == schema.Waive || d.Kind == schema.Accept) && d.Select.Lint == ""
		if !excuses || kind == "" || kind == NoCase || !d.Covers(v) {
			continue
		}
		if g.Policy.Holds(*d) {
			return g.Policy.Shown(*d)
		}
		expired = g.Policy.Shown(*d)
	}
	if expired != nil || v.Against != schema.AgainstHistory {
		return expired
	}
	return g.Policy.Level(v, schema.Pin, schema.Dismiss)
}

// aboutLint finds the waiver of a lint.
func (g *Gate) aboutLint(l *lint.Lint) *schema.Decision {
	var expired *schema.Decision
	for i := range g.Policy.Decisions {
		d := &g.Policy.Decisions[i]
		if d.Kind != schema.Waive || d.Select.Lint == "" || !covers(d, l) {
			continue
		}
		if g.Policy.Holds(*d) {
			return g.Policy.Shown(*d)
		}
		expired = g.Policy.Shown(*d)
	}
	return expired
}

// covers reports whether a decision selects a lint. A lint of several cases belongs to no single workload or task.
func covers(d *decision.Decision, l *lint.Lint) bool {
	s, match := d.Select, decision.Match
	single := s.Workload != "" || s.Task != ""
	if single && (l.Count > 1 || !match(s.Workload, l.Subject) || !match(s.Task, l.Subject)) {
		return false
	}
	return match(s.Lint, string(l.ID)) && match(d.Release, l.Release) && match(s.Run, l.Run) &&
		match(s.Model, l.Model) && decision.MatchDevice(s.Device, l.Device)
}

// Digest covers everything that the pages of a release are made from, except the program and the configuration: two
// gates with the same digest of a release decide the same.
func (g *Gate) Digest(release int) string {
	h := sha256.New()
	fmt.Fprintln(h, g.Judgement.Digest(release))
	for _, d := range g.Policy.Decisions {
		fmt.Fprintf(h, "%+v %v\n", d, g.Policy.Holds(d))
	}
	if len(g.Policy.Decisions)+len(g.Listed) > 0 { // they are checked against the names of all releases
		for i := range g.Releases {
			fmt.Fprintf(h, "%s\n", g.Releases[i].Name)
		}
	}
	for _, p := range g.Lost {
		fmt.Fprintf(h, "%s %s\n", p.Path, p.Found)
	}
	fmt.Fprintln(h, len(g.future(release)), len(g.channels(release)), g.disordered(release))
	return hex.EncodeToString(h.Sum(nil))
}
