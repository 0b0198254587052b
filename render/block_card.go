package render

import (
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Card is what stands behind the decision on a release: the one or two findings that decide it as pictures, what it is
// based on, and the ways out as commands with what they cost.
type Card struct {
	Whiskers []Whisker // at most three, worst first
	Caption  string    // of the whiskers
	Facts    []CardFact
	Ways     []Way
}

// Whisker is a change with its interval. Effects are relative; positive is worse.
type Whisker struct {
	ID, Name, Change string // of the verdict; what changed; by how much, as text
	Of               string // model and device, where the whiskers of a card are of several
	Href             Address
	Effect           float64
	Low, High        float64 // 95 %
	Limit            float64 // least change that matters
	Outcome          schema.Outcome
	Evidence         schema.Evidence
}

// CardFact is one thing that a decision is based on.
type CardFact struct {
	Name, Text string
	Href       Address
}

// Way is a way out of a decision.
type Way struct{ What, Cmd, Cost string }

// measureAgain is what a command does that settles a suspected regression.
const measureAgain = "Measure again"

// Again are the commands that would settle suspected regressions; nil without any.
func (c Card) Again() []string {
	var out []string
	for _, w := range c.Ways {
		if w.What == measureAgain {
			out = append(out, w.Cmd)
		}
	}
	return out
}

// Kind implements Block.
func (Card) Kind() string { return "card" }

// Plain implements Block.
func (c Card) Plain() []Block {
	facts := &Table{Caption: "Basis", Layout: KeyValue, Cols: []Col{{Head: "What"}, {Head: "Of this decision"}}}
	for _, w := range c.Whiskers {
		facts.row(Cell{Text: w.Name, Sub: w.Of, Head: true}, text(w.text()))
	}
	for _, f := range c.Facts {
		facts.row(Cell{Text: f.Name, Head: true}, Cell{Text: f.Text, Href: f.Href})
	}
	out := []Block{facts}
	for _, w := range c.Ways {
		out = append(out, Prose{strings.TrimSuffix(w.What+": "+w.Cost, ": ") + "."}, Commands{w.Cmd})
	}
	return out
}

// text is a whisker in words.
func (w Whisker) text() string { return strings.TrimSpace(w.Change + " " + string(w.Evidence)) }
