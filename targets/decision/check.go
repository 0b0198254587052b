package decision

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/glob"
)

// Kinds lists the kinds of decisions.
func Kinds() []schema.DecisionKind {
	return []schema.DecisionKind{
		schema.Pin, schema.Dismiss, schema.Accept, schema.Waive, schema.Invalidate, schema.Supersede,
	}
}

// kindList names the kinds of decisions, for messages.
func kindList() string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// Check reports what is wrong with the decisions of a configuration. lints are the ids of checks that exist.
func (p *Policy) Check(lints []string) error {
	if len(p.Decisions) > mostDecisions {
		return fmt.Errorf("%d decisions; at most %d are read: one with globs can cover many", len(p.Decisions), mostDecisions)
	}
	seen := map[string]bool{}
	for i := range p.Decisions {
		d := &p.Decisions[i]
		at := fmt.Sprintf("decisions[%d]", i)
		if d.ID != "" {
			at += " " + d.ID
		}
		if seen[d.ID] {
			return fmt.Errorf("%s: the id is used twice", at)
		}
		seen[d.ID] = true
		if err := cmp.Or(d.checkGlobs(), d.check(lints)); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	return nil
}

// mostDecisions bounds the decisions of a configuration: each is tried with every verdict.
const mostDecisions = 500

// checkGlobs refuses patterns that match nothing because they are malformed, or take long.
func (d *Decision) checkGlobs() error {
	s := d.Select
	for _, pattern := range []string{
		d.Release, s.Lint, s.Run, s.Model, s.Device, s.Workload, s.Tool, s.Metric, s.Task, s.Level,
	} {
		if err := glob.Check(pattern); err != nil {
			return err
		}
	}
	return nil
}

// check reports the first rule that a decision breaks.
func (d *Decision) check(lints []string) error {
	s, isLint := d.Select, d.Select.Lint != ""
	exists := func(id string) bool { return Match(s.Lint, id) }
	_, badDate := time.Parse(time.DateOnly, cmp.Or(d.Expires, time.DateOnly))
	is := func(kinds ...schema.DecisionKind) bool { return slices.Contains(kinds, d.Kind) }
	for _, rule := range []struct {
		broken bool
		says   string
	}{
		{d.ID == "", "an id is needed, so that pages can name it"},
		{!is(Kinds()...), fmt.Sprintf("kind %q is none of %s", d.Kind, kindList())},
		{strings.TrimSpace(d.Reason) == "", "a reason is needed; it is shown wherever the decision is"},
		{badDate != nil, fmt.Sprintf("expires %q is not of the form 2027-01-31", d.Expires)},
		{
			is(schema.Waive, schema.Accept) && strings.TrimSpace(d.Owner) == "",
			"an owner is needed for what is waived or accepted",
		},
		{is(schema.Waive) && d.Expires == "", "a waiver needs an expiry date (expires: 2027-01-31)"},
		{
			is(schema.Supersede) && (s.Run == "" || d.By == ""),
			"supersede needs select.run and by, the run that replaces it",
		},
		{is(schema.Supersede) && s.Run == d.By, "a run cannot replace itself"},
		{is(schema.Invalidate) && s.Run+d.Release == "", "invalidate needs select.run or a release"},
		{
			is(schema.Invalidate) && s.Metric+s.Task+s.Verdict+s.Change+s.Lint+s.Level != "",
			"invalidate excludes runs and points: run, model, device, workload and tool select them",
		},
		{
			is(schema.Pin, schema.Dismiss, schema.Accept) && d.Release+s.Verdict+s.Change == "",
			string(d.Kind) + " needs the release at which the level starts",
		},
		{s == (Select{}) && !is(schema.Invalidate), "select must say what it covers"},
		{
			isLint && s.Verdict+s.Change+s.Tool+s.Metric+s.Level != "",
			"a lint is selected by lint, run, model, device, workload or task: it has no metric, tool, level or verdict",
		},
		{isLint && !is(schema.Waive), "a lint can be waived, and nothing else"},
		{
			isLint && !slices.ContainsFunc(lints, exists),
			fmt.Sprintf("no lint is called %q; there are %s", s.Lint, strings.Join(lints, ", ")),
		},
	} {
		if rule.broken {
			return errors.New(rule.says)
		}
	}
	return nil
}
