package main

import (
	"fmt"
	"io"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets"
	"github.com/ttreport/ttreport/targets/regression"
)

// levels are the steps that were accepted in the history of the judged series, and what creeps.
type levels struct {
	steps  []targets.Step
	drifts []targets.Drift
}

func levelsOf(j *targets.Judgement, release int, model, device string) *levels {
	steps, drifts := j.Levels(release, model, device)
	return &levels{steps, drifts}
}

func (l *levels) title() string {
	return fmt.Sprintf("%s and %s in the history of what was judged", plural(len(l.steps), "step"), plural(len(l.drifts), "drift"))
}

// lines tell one level each.
func (l *levels) lines() []string {
	var out []string
	of := func(s *targets.Series) string {
		return fmt.Sprintf("%s on %s  %s  %s", orUnknown(s.Model), orUnknown(s.Device), words.Workload(s.Key), s.Metric)
	}
	for _, s := range l.steps {
		out = append(out, fmt.Sprintf("%s  %s: %s, %s", s.At, of(s.Series), words.Signed(s.Series.Metric, s.Effect), how(s)))
	}
	for _, d := range l.drifts {
		out = append(out, fmt.Sprintf("drift  %s: %s a release over %d releases, p = %.2g", of(d.Series), words.Signed(d.Series.Metric, d.Effect), d.N, d.P))
	}
	return out
}

// how says who decided a step.
func how(s targets.Step) string {
	if s.Decision != nil {
		return words.DecisionNote(*s.Decision)
	}
	switch s.Source {
	case regression.ByGate:
		return "confirmed by an independent run"
	case regression.BySearch:
		return fmt.Sprintf("found by permutation, p = %.2g", s.P)
	}
	return "by decision"
}

func (l *levels) writeTerm(w io.Writer) {
	fmt.Fprintf(w, "\nLEVELS: %s\n", l.title())
	for _, line := range l.lines() {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// section is the same as a part of a page.
func (l *levels) section() render.Section {
	t := &render.Table{Caption: capital(l.title()), Cols: []render.Col{{Head: "Since"}, {Head: "Model"}, {Head: "Device"}, {Head: "Workload"}, {Head: "Metric"}, {Head: "Change"}, {Head: "Found"}}}
	row := func(since string, s *targets.Series, change, how string) {
		var cells []render.Cell
		for _, text := range []string{since, orUnknown(s.Model), orUnknown(s.Device), words.Workload(s.Key), s.Metric, change, how} {
			cells = append(cells, render.Cell{Text: text})
		}
		t.Rows = append(t.Rows, render.Row{Cells: cells})
	}
	for _, s := range l.steps {
		row(s.At, s.Series, words.Signed(s.Series.Metric, s.Effect), how(s))
	}
	for _, d := range l.drifts {
		row("drift", d.Series, words.Signed(d.Series.Metric, d.Effect)+" a release", fmt.Sprintf("over %d releases, p = %.2g", d.N, d.P))
	}
	return render.Section{ID: "levels", Title: "Levels", Blocks: []render.Block{{Table: t}}}
}

type (
	levelsJSON struct {
		Steps  []stepJSON  `json:"steps"`
		Drifts []driftJSON `json:"drifts"`
	}
	seriesJSON struct {
		Model  string  `json:"model"`
		Device string  `json:"device"`
		Impl   string  `json:"impl,omitempty"`
		Key    keyJSON `json:"key"`
		Metric string  `json:"metric"`
		Stat   string  `json:"stat"`
	}
	stepJSON struct {
		seriesJSON
		At       string        `json:"at"`
		Found    string        `json:"found"`
		Effect   float64       `json:"effect"` // relative, positive is worse
		P        *float64      `json:"p"`
		Source   string        `json:"source"` // gate, search or person
		Decision *decisionJSON `json:"decision,omitempty"`
	}
	driftJSON struct {
		seriesJSON
		Effect float64 `json:"effect"` // a release
		P      float64 `json:"p"`
		N      int     `json:"n"`
	}
)

func seriesOf(s *targets.Series) seriesJSON {
	return seriesJSON{s.Model, s.Device, s.Impl, keyOf(s.Key), s.Metric, s.Stat}
}

func keyOf(k schema.Key) keyJSON {
	return keyJSON{k.Task, k.Tool, k.ISL, k.OSL, k.Concurrency, k.Rate, k.Dataset, k.Dims}
}

func (l *levels) json() *levelsJSON {
	out := &levelsJSON{Steps: []stepJSON{}, Drifts: []driftJSON{}}
	for _, s := range l.steps {
		source := map[regression.Source]string{regression.ByGate: "gate", regression.BySearch: "search", regression.ByPerson: "person"}[s.Source]
		out.Steps = append(out.Steps, stepJSON{seriesOf(s.Series), s.At, s.Found, s.Effect, finite(s.P), source, decisionOf(s.Decision)})
	}
	for _, d := range l.drifts {
		out.Drifts = append(out.Drifts, driftJSON{seriesOf(d.Series), d.Effect, d.P, d.N})
	}
	return out
}
