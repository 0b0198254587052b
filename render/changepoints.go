package render

import (
	"fmt"

	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// ChangePoints are the change points that were accepted in the history of the judged series, and the drifts.
type ChangePoints struct {
	Points []judge.ChangePoint
	Drifts []judge.Drift
}

// ChangePoints lists them for what a release measured; an empty model or device selects all.
func (r *Report) ChangePoints(release int, model, device string) *ChangePoints {
	points, drifts := r.Gate.ChangePoints(release, model, device)
	return &ChangePoints{points, drifts}
}

// Title counts them.
func (c *ChangePoints) Title() string {
	return fmt.Sprintf("%s and %s in the history of what was judged", words.Plural(len(c.Points), "change point"),
		words.Plural(len(c.Drifts), "drift"))
}

// Lines are one each.
func (c *ChangePoints) Lines() []string {
	var out []string
	of := func(s *judge.Series) string {
		return fmt.Sprintf("%s  %s  %s", words.OnDevice(s.Model, s.Device), words.Workload(s.Key),
			words.Metric(s.Metric, s.Stat))
	}
	for _, s := range c.Points {
		out = append(
			out,
			fmt.Sprintf("%s  %s: %s, %s", s.At, of(s.Series), words.Signed(s.Series.Metric, s.Effect), decidedBy(s)),
		)
	}
	for _, d := range c.Drifts {
		out = append(out, fmt.Sprintf("drift  %s: %s a release over %d releases, p = %.2g", of(d.Series),
			words.Signed(d.Series.Metric, d.Effect), d.N, d.P))
	}
	return out
}

// decidedBy says who decided a change point.
func decidedBy(s judge.ChangePoint) string {
	if s.Decision != nil {
		return words.DecisionNote(*s.Decision)
	}
	switch s.Source {
	case judge.ByGate:
		return "confirmed by an independent run"
	case judge.BySearch:
		return fmt.Sprintf("found by a permutation test, p = %.2g", s.P)
	}
	return "by decision"
}

// Section is the same as a part of a page.
func (c *ChangePoints) Section() Section {
	t := &Table{Caption: words.Capital(c.Title()), Cols: []Col{
		{Head: "Since"}, {Head: "Model"}, {Head: "Device"}, {Head: "Workload"}, {Head: "Metric"}, {Head: "Change"},
		{Head: "Found"},
	}}
	row := func(since string, s *judge.Series, change, how string) {
		t.row(text(since), text(words.OrUnknown(s.Model)), text(words.OrUnknown(s.Device)), text(words.Workload(s.Key)),
			text(words.Metric(s.Metric, s.Stat)), text(change), text(how))
	}
	for _, s := range c.Points {
		row(s.At, s.Series, words.Signed(s.Series.Metric, s.Effect), decidedBy(s))
	}
	for _, d := range c.Drifts {
		row("drift", d.Series, words.Signed(d.Series.Metric, d.Effect)+" a release",
			fmt.Sprintf("over %d releases, p = %.2g", d.N, d.P))
	}
	return Section{ID: "change-points", Title: "Change points", Blocks: []Block{t}}
}
