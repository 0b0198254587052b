package gate

import (
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// heads returns the runs of a model and device in a release, oldest first.
func (g *Gate) heads(release int, of schema.Pair) []*columns.RunHead {
	var out []*columns.RunHead
	for _, run := range g.Releases[release].Runs {
		if h := &g.Columns.Runs[run]; of == (schema.Pair{Model: h.Model.Name, Device: h.Device}) {
			out = append(out, h)
		}
	}
	return out
}

// knownIssues lists the failures that the owner of a model accepts, as the files beside its results state them.
func (g *Gate) knownIssues(release int, of schema.Pair) []schema.KnownIssue {
	var out []schema.KnownIssue
	for _, h := range g.heads(release, of) {
		out = append(out, h.Acceptance.KnownIssues...)
	}
	return out
}

// excusedBy returns the waiver of a verdict against a target that a known issue covers, or nil.
func excusedBy(issues []schema.KnownIssue, v *schema.Verdict) *schema.Decision {
	if kind := KindOf(v); kind == "" || kind == NoCase {
		return nil
	}
	i := slices.IndexFunc(issues, func(k schema.KnownIssue) bool { return k.Covers(v) })
	if i < 0 {
		return nil
	}
	id := "known_issues"
	if task := issues[i].Task; task != "" {
		id += " " + task
	}
	return &schema.Decision{ID: id, Kind: schema.Waive, Reason: issues[i].Reason, Owner: issues[i].Source}
}

// rejected lists models and devices that a report beside the results rejects, and of which no target is missed here:
// then the report knows of a failure that left no number.
func (g *Gate) rejected(release int) []lint.Lint {
	var out []lint.Lint
	for _, of := range g.Pairs(release) {
		heads := g.heads(release, of)
		i := slices.IndexFunc(heads, func(h *columns.RunHead) bool { return h.Acceptance.Result == schema.Rejected })
		if i < 0 || slices.ContainsFunc(g.Targets(release, of), isMiss) {
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

// isMiss reports a required target that is missed or without a number, whether or not a decision excuses it.
func isMiss(v schema.Verdict) bool {
	kind := KindOf(&v)
	return kind == FailTarget || kind == FailMissing
}

// Category is what the required targets of a category came to.
type Category struct {
	Name                         schema.Category
	Met, Missed, Missing, Waived int
	Inconclusive                 int
}

// Categories counts required targets by category, in the order of a release report.
func Categories(targets []schema.Verdict) []Category {
	out := []Category{{Name: schema.Benchmarks}, {Name: schema.Evals}, {Name: schema.Conformance}}
	for i := range targets {
		v := &targets[i]
		at := slices.IndexFunc(out, func(c Category) bool { return c.Name == schema.CategoryOf(v) })
		if c := &out[at]; v.Required {
			c.count(v)
		}
	}
	return slices.DeleteFunc(out, func(c Category) bool { return c == Category{Name: c.Name} })
}

func (c *Category) count(v *schema.Verdict) {
	switch {
	case v.Outcome == schema.Pass:
		c.Met++
	case v.Decision.Excuses():
		c.Waived++
	case v.Outcome == schema.Fail:
		c.Missed++
	case v.Outcome == schema.NotMeasured:
		c.Missing++
	case v.Outcome == schema.Inconclusive:
		c.Inconclusive++
	}
}
