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

// panelSection draws the worst series of a model and device over its releases.
func (r *Report) panelSection(pair Pair) Section {
	const most = 12
	s := Section{ID: "panels", Title: "History by workload, worst first",
		Intro: "Raw values, never flipped. Grey: where one new value was expected 95 times in 100. Dotted: a new level. " +
			"Dashed: a target. The scale never shows less than twice the change that matters to either side."}
	var panels Panels
	targets := required(r.Gate.PairTargets(pair.Newest, pair.Pair))
	tools := map[string]bool{}
	for _, s := range r.series[pair.Pair] {
		tools[s.Key.Tool] = true
	}
	list := r.drawable(pair)
	for _, x := range list[:min(most, len(list))] {
		p := r.panel(pair, x.series, x.verdict, targets)
		if len(tools) > 1 {
			p.Title += " " + x.verdict.Key.Tool
		}
		panels = append(panels, p)
	}
	if len(list) > len(panels) {
		s.Intro += fmt.Sprintf(" %s series are drawn.", words.Of(len(panels), len(list)))
	}
	if len(panels) > 0 {
		s.Blocks = []Block{panels}
	}
	return s
}

// drawn is a series with its newest verdict.
type drawn struct {
	series  *judge.Series
	verdict schema.Verdict
	rank    int
}

// drawable are the series of a model and device that have a history: those that changed now, then those whose level
// changed once, then those of which nothing is known but noise; each in the order of verdicts.
func (r *Report) drawable(pair Pair) []drawn {
	var list []drawn
	for _, v := range r.Gate.PairHistory(pair.Newest, pair.Pair) {
		s := r.seriesOf(v)
		if s == nil || v.Key.IsEval() || v.Metric == "" || r.measuredOften(s, pair) < 2 {
			continue // one value has no history
		}
		x := drawn{s, v, 2}
		switch v.Outcome {
		case schema.Regressed, schema.Improved, schema.Recovered:
			x.rank = 0
		default:
			if len(r.Gate.Frame(s, pair.Newest).Steps) > 0 {
				x.rank = 1
			}
		}
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b drawn) int { return a.rank - b.rank })
	return list
}

func (r *Report) panel(pair Pair, s *judge.Series, v schema.Verdict, targets []schema.Verdict) Panel {
	p := Panel{
		Title: strings.TrimSpace(words.Workload(s.Key)) + " " + words.Metric(s.Metric, s.Stat),
		Sub:   direction(s.Metric), Outcome: v.Outcome, Evidence: v.Evidence, Effect: r.Gate.Policy.Effect(s.Metric),
	}
	if e, ok := v.Effect.Get(); ok {
		p.Change = words.Signed(s.Metric, e)
	}
	releases := r.with[pair.Pair]
	p.Releases = r.namesOf(releases)
	for _, ri := range releases {
		x := r.point(s, ri)
		if x.OK {
			p.Last = words.Number(x.Value)
		}
		p.Points = append(p.Points, x)
	}
	// Where several runs measured it in the newest release, the value is that of the run which the verdict is about.
	newest := &p.Points[len(p.Points)-1]
	if now, ok := v.Value.Get(); ok && newest.OK {
		newest.Value, newest.Text, p.Last = now, words.Quantity(now, s.Unit), words.Number(now)
	}
	r.frame(&p, s, pair.Newest, releases)
	for _, t := range targets {
		ref, ok := t.Ref.Get()
		covers := t.Metric == s.Metric && t.Key.Workload() == s.Key.Workload()
		if ok && covers && t.Outcome != schema.Unattainable {
			p.Limit = &Limit{ref, t.Level + " " + words.Number(ref)}
		}
	}
	p.Summary = fmt.Sprintf(
		"%s over %s: %s in %s, %s.", p.Title, words.Plural(len(p.Releases), "release"),
		words.Quantity(lastValue(p.Points), s.Unit), r.Releases[pair.Newest].Name,
		words.OutcomeText(v.Outcome, v.Evidence),
	)
	return p
}

// frame adds where a new value was expected, and where levels began.
func (r *Report) frame(p *Panel, s *judge.Series, newest int, releases []int) {
	place := map[int]int{}
	for i, ri := range releases {
		place[ri] = i
	}
	f := r.Gate.Frame(s, newest)
	if !math.IsNaN(f.Low) {
		p.Expected = &Expected{f.Low, f.High, place[f.From]}
	}
	for _, step := range f.Steps {
		at, ok := place[step.Release]
		if !ok {
			continue
		}
		label := words.Signed(s.Metric, step.Effect)
		if step.Release == newest && p.Change != "" {
			label = p.Change
		}
		note, href := r.noteOn(r.Releases[step.Release].Name)
		var level Address
		if step.Decided {
			level = ChangesPath + "#" + Address(levelAnchor(r.Releases[step.Release].Name, s.Pair(), step.Effect > 0))
		}
		p.Steps = append(p.Steps, Step{At: at, Label: label, Note: note, Href: href, Level: level})
	}
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

// measuredOften counts the releases of a model and device that have a value of a series, up to two.
func (r *Report) measuredOften(s *judge.Series, pair Pair) int {
	n := 0
	for _, release := range r.with[pair.Pair] {
		if _, ok := r.Gate.Value(s, release); ok {
			if n++; n == 2 {
				break
			}
		}
	}
	return n
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

// lastValue is the newest value of a line; NaN for an empty one.
func lastValue(points []Point) float64 {
	for i := len(points) - 1; i >= 0; i-- {
		if points[i].OK {
			return points[i].Value
		}
	}
	return math.NaN()
}
