package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// panelSection draws the worst series of a model and device over its releases: those that changed now, then those whose
// level changed once, then those of which nothing is known but noise; each in the order of verdicts. One value has no
// history.
func (r *Report) panelSection(pair Pair) Section {
	type drawn struct {
		series  *judge.Series
		verdict schema.Verdict
		rank    int
	}
	var list []drawn
	for _, v := range r.Gate.PairHistory(pair.Newest, pair.Pair) {
		s := r.seriesOf(v)
		if s == nil || v.Key.IsEval() || v.Metric == "" {
			continue
		}
		often := 0
		for _, release := range r.with[pair.Pair] {
			_, ok := r.Gate.Value(s, release)
			often += truth(ok)
		}
		x := drawn{s, v, 2}
		switch {
		case often < 2:
			continue
		case slices.Contains([]schema.Outcome{schema.Regressed, schema.Improved, schema.Recovered}, v.Outcome):
			x.rank = 0
		case len(r.Gate.Frame(s, pair.Newest).Steps) > 0:
			x.rank = 1
		}
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b drawn) int { return a.rank - b.rank })
	tools := map[string]bool{}
	for _, s := range r.series[pair.Pair] {
		tools[s.Key.Tool] = true
	}
	const most = 12
	var panels Panels
	targets := required(r.Gate.PairTargets(pair.Newest, pair.Pair))
	for _, x := range list[:min(most, len(list))] {
		p := r.panel(pair, x.series, x.verdict, targets)
		if len(tools) > 1 {
			p.Title += " " + x.verdict.Key.Tool
		}
		panels = append(panels, p)
	}
	if len(panels) == 0 {
		return Section{}
	}
	s := section("panels", "History by workload, worst first", "Grey: where 95 of 100 new values are expected. Dotted: a "+
		"new level. Dashed: a target. The name of each leads to its chart.", panels).
		leading("all series", chosen(seriesPage, "of", pairSegment(pair.Model, pair.Device)))
	if len(list) > len(panels) {
		s.Intro += fmt.Sprintf(" %s series are drawn.", words.Of(len(panels), len(list)))
	}
	return s
}

// panel draws a series with the verdict on its newest value.
func (r *Report) panel(pair Pair, s *judge.Series, v schema.Verdict, targets []schema.Verdict) Panel {
	p := Panel{
		Title: strings.TrimSpace(words.Workload(s.Key)) + " " + words.Metric(s.Metric, s.Stat),
		Sub:   direction(s.Metric), Series: r.SeriesPath(s),
		Outcome: v.Outcome, Evidence: v.Evidence, Effect: r.Gate.Policy.Effect(s.Metric),
	}
	if e, ok := v.Effect.Get(); ok {
		p.Change = words.Signed(s.Metric, e)
	}
	releases, last := r.with[pair.Pair], math.NaN()
	p.Releases = r.namesOf(releases)
	for i, ri := range releases {
		x := r.point(s, ri)
		// Where several runs measured it in the newest release, the value is that of the run which the verdict is about.
		if now, ok := v.Value.Get(); ok && x.OK && i == len(releases)-1 {
			x.Value, x.Text = now, words.Quantity(now, s.Unit)
		}
		if x.OK {
			p.Last, last = words.Number(x.Value), x.Value
		}
		p.Points = append(p.Points, x)
	}
	r.framed(&p, s, pair.Newest)
	for _, t := range targets {
		ref, ok := t.Ref.Get()
		if ok && t.Metric == s.Metric && t.Key.Workload() == s.Key.Workload() && t.Outcome != schema.Unattainable {
			p.Limit = &Limit{ref, t.Level + " " + words.Number(ref)}
		}
	}
	p.Summary = fmt.Sprintf("%s over %s: %s in %s, %s.", p.Title, words.Plural(len(p.Releases), "release"),
		words.Quantity(last, s.Unit), r.Releases[pair.Newest].Name, words.OutcomeText(v.Outcome, v.Evidence))
	return p
}

// noteOn is the first words of a note on a release and where it stands, both "" when nobody wrote one.
func (r *Report) noteOn(release string) (text string, href Address) {
	notes := r.NotesOf(release)
	if len(notes) == 0 {
		return "", ""
	}
	const most = 80
	for line := range strings.Lines(notes[0].Source) {
		if line = strings.Trim(line, "#*_> \t\r\n"); line != "" {
			return release + ": " + opening(line, most), ReleasePath(release) + "#notes"
		}
	}
	return "", ""
}

// opening is the beginning of a text, at most so many letters and at least half of them: whole words, unless one is
// longer than that.
func opening(s string, most int) string {
	if letters := []rune(s); len(letters) > most {
		s = string(letters[:most])
		if at := strings.LastIndex(s, " "); at >= 0 && 2*len([]rune(s[:at])) >= most {
			s = s[:at]
		}
		s += "…"
	}
	return s
}

// framed adds where a new value was expected, and where levels began.
func (r *Report) framed(p *Panel, s *judge.Series, newest int) {
	releases := r.with[s.Pair()]
	f := r.Gate.Frame(s, newest)
	if !math.IsNaN(f.Low) {
		p.Expected = &Expected{f.Low, f.High, max(0, slices.Index(releases, f.From))}
	}
	for _, step := range f.Steps {
		at := slices.Index(releases, step.Release)
		if at < 0 {
			continue
		}
		name := r.Releases[step.Release].Name
		x := Step{At: at, Label: words.Signed(s.Metric, step.Effect)}
		if step.Release == newest && p.Change != "" {
			x.Label = p.Change
		}
		x.Note, x.Href = r.noteOn(name)
		if step.Change != nil {
			x.Label, x.Level = words.ChangeSize(step.Change), ChangesPath+"#"+Address(changeAnchor(step.Change.ID))
		}
		p.Steps = append(p.Steps, x)
	}
}
