package render

import (
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// Panels are small multiples: the history of one series each.
type Panels []Panel

// Panel is the history of one series: raw values in release order, where one new value was expected, and where the
// level changed.
type Panel struct {
	Title, Sub string
	Outcome    schema.Outcome
	Evidence   schema.Evidence
	Change     string
	Summary    string
	Releases   []string
	Points     []Point
	Last       string    // the newest value
	Expected   *Expected // nil when nobody knows
	Steps      []Step
	Limit      *Limit
	Effect     float64 // least relative change that matters
}

// Levels are the newest levels, the newest first: a panel has room for three.
func (p Panel) Levels() []Step {
	const most = 3
	var out []Step
	for _, s := range slices.Backward(p.Steps) {
		if s.Level != "" && len(out) < most {
			out = append(out, s)
		}
	}
	return out
}

// Expected is where one new value was expected 95 times in 100, from a release on.
type Expected struct {
	Low, High float64
	From      int // index of the release
}

// Step is a level that a release began.
type Step struct {
	At    int // index of the release
	Label string
	Note  string // what people wrote about the release, or ""
	Href  Address
	Level Address // the change on the page of changes; "" for one that only the drawing has
}

// Kind implements Block.
func (Panels) Kind() string { return "panels" }

// Plain implements Block.
func (p Panels) Plain() []Block {
	t := &Table{Caption: "History by workload, worst first", Cols: []Col{
		{Head: "Series"}, {Head: "Verdict"}, {Head: "Change"}, {Head: "Newest", Num: true},
		{Head: "Releases", Num: true},
	}}
	for _, x := range p {
		t.row(
			Cell{Text: x.Title, Sub: x.Sub, Head: true}, Cell{Outcome: x.Outcome, Evidence: x.Evidence},
			text(x.Change), text(x.Last), text(words.Count(len(x.Releases))),
		)
	}
	return []Block{t}
}

// Spark is a row's history: its last values in release order.
type Spark struct {
	Label  string
	Values []float64 // NaN where a release has none
}

// Strip is the distribution of a latency over requests, on a scale that it shares with others.
type Strip struct {
	Label     string
	Quantiles []float64 // 33, at i/32
	Low, High float64   // of the scale, above zero
}
