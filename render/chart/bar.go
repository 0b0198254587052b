package chart

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
)

// Bar is counts of verdicts side by side as a picture of 160 by 12.
type Bar struct {
	Label string
	Parts []BarPart
}

// BarPart is the share of one verdict.
type BarPart struct {
	X, W    float64
	Outcome schema.Outcome
}

// barLeast is the width of the smallest share, in px: one regressed number in ten thousand is seen.
const barLeast = 3

// NewBar places the parts: each is at least barLeast wide, and the widest ones give what that takes.
func NewBar(in *render.Bar) Bar {
	out, all, small := Bar{Label: in.Label}, 0, 0.
	for _, p := range in.Parts {
		all += p.N
	}
	wide := 0
	for _, p := range in.Parts {
		if float64(p.N)/float64(all)*stripW < barLeast {
			small += barLeast
		} else {
			wide += p.N
		}
	}
	x := 0.
	for _, p := range in.Parts {
		w := float64(barLeast)
		if float64(p.N)/float64(all)*stripW >= barLeast {
			w = (stripW - small) * float64(p.N) / float64(wide)
		}
		out.Parts = append(out.Parts, BarPart{round(x), round(w), p.Outcome})
		x += w
	}
	return out
}
