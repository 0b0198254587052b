package svg

import (
	"github.com/ttreport/ttreport/ingest/schema"

	"fmt"
	"html/template"
	"strings"

	"github.com/ttreport/ttreport/render/chart"
)

// Curve draws output against speed or wait.
func Curve(c chart.Curve) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="%s">`, c.W, c.H, esc(c.Summary))
	p := c.Plot
	ticks(&b, p, c.X.Ticks, c.Y.Ticks)
	title := c.XTitle
	if c.X.Log {
		title += ", logarithmic"
	}
	fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="middle">%s</text><text class="t-ink" x="2" y="10">↑ %s</text>`, (p.X0+p.X1)/2, p.Y1+34, esc(title), esc(c.YTitle))
	for i, l := range c.Limits {
		y := p.Y0 - 6 + 13*float64(i%3)
		switch l.Off {
		case 0:
			fmt.Fprintf(&b, `<path class="tgt" d="M%g %gV%g"/><text class="t-ink halo" x="%g" y="%g" text-anchor="%s">%s</text>`, l.Pos, p.Y0, p.Y1, l.Pos+side(l.Pos, p, 4), y, anchor(l.Pos, p), esc(l.Label))
		case 1:
			fmt.Fprintf(&b, `<text class="t-mute halo" x="%g" y="%g" text-anchor="end">%s →</text>`, p.X1, y, esc(l.Label))
		default:
			fmt.Fprintf(&b, `<text class="t-mute halo" x="%g" y="%g">← %s</text>`, p.X0, y, esc(l.Label))
		}
	}
	for _, l := range c.Lines {
		curveLine(&b, p, l)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // every text went through esc
}

// side puts a label to the side of a line where there is room.
func side(x float64, p chart.Rect, by float64) float64 {
	if x > (p.X0+p.X1)/2 {
		return -by
	}
	return by
}

func anchor(x float64, p chart.Rect) string {
	if x > (p.X0+p.X1)/2 {
		return "end"
	}
	return "start"
}

func curveLine(b *strings.Builder, p chart.Rect, l chart.CurveLine) {
	fmt.Fprintf(b, `<g class="cv-%s"><path class="cv" d="%s"/>`, esc(l.Class), path(len(l.Points), func(i int) (float64, float64) { return l.Points[i].X, l.Points[i].Y }))
	for _, x := range l.Points {
		if l.Class == "old" {
			continue
		}
		class := "hol"
		if x.Front {
			class = "dot"
		}
		fmt.Fprintf(b, `<g><title>%s</title><circle class="%s" cx="%g" cy="%g" r="3.8"/></g>`, esc(fmt.Sprintf("%s at concurrency %s: %s", l.Name, x.Label, x.Text)), class, x.X, x.Y)
		if l.Class == "now" {
			fmt.Fprintf(b, `<text class="halo" x="%g" y="%g" text-anchor="%s">%s</text>`, x.X+side(x.X, p, 7), x.Y-6, anchor(x.X, p), esc(x.Label))
		}
	}
	b.WriteString("</g>")
}

// Panel draws the history of one series, small.
func Panel(p chart.Panel) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="group" aria-label="%s">`, p.W, p.H, esc(p.Summary))
	right := p.W - 12
	if p.Band != nil {
		fmt.Fprintf(&b, `<path class="band" d="M%g %gH%gV%gH%gz"/>`, p.Band.X0, p.Band.Y0, p.Band.X1, p.Band.Y1, p.Band.X0)
	}
	for _, l := range p.Limits {
		fmt.Fprintf(&b, `<path class="tgt" d="M%g %gH%g"/><text class="halo" x="%g" y="%g">%s</text>`, p.PlotX, l.Pos, right, p.PlotX+2, l.Pos-3, esc(l.Label))
	}
	fmt.Fprintf(&b, `<path class="axis" d="M%g %gH%g"/>`, p.PlotX, p.Axis, right)
	for _, t := range []chart.Tick{p.High, p.Low} {
		if t.Label != "" {
			fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="end">%s</text>`, p.PlotX-4, t.Pos+4, esc(t.Label))
		}
	}
	for i, t := range p.X {
		fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="%s">%s</text>`, t.Pos, p.Axis+14, []string{"start", "end"}[i], esc(t.Label))
	}
	for _, s := range p.Steps {
		at := "start"
		if s.X > p.W-60 {
			at = "end"
		}
		fmt.Fprintf(&b, `<path class="step" d="M%g 8V%g"/><text class="halo" x="%g" y="14" text-anchor="%s">%s</text>`, s.X, p.Axis, s.X+map[string]float64{"start": 3, "end": -3}[at], at, esc(s.Label))
	}
	var end *chart.Point
	for _, seg := range segments(p.Points) {
		if len(seg) > 1 {
			fmt.Fprintf(&b, `<path class="ln" d="%s"/>`, path(len(seg), func(i int) (float64, float64) { return seg[i].X, seg[i].Y }))
		}
		for i := range seg {
			end = &seg[i]
			fmt.Fprintf(&b, `<circle class="dot" cx="%g" cy="%g" r="1.6"/>`, seg[i].X, seg[i].Y)
		}
	}
	for _, x := range p.Points {
		if !x.OK {
			fmt.Fprintf(&b, `<path class="gap" d="M%g %gh5v5h-5z"/>`, x.X-2.5, p.Axis-2.5)
		}
	}
	if end != nil {
		class := "hol"
		if p.Evidence == schema.Confirmed || p.Outcome == schema.Unchanged {
			class = "dot"
		}
		fmt.Fprintf(&b, `<a class="pt %s" href="%s"><title>%s</title><circle class="%s" cx="%g" cy="%g" r="4"/></a><text class="t-ink halo" x="%g" y="%g" text-anchor="end">%s</text>`, esc(string(p.Outcome)), esc(end.Href), esc(end.Text+end.Note), class, end.X, end.Y, end.X+8, labelY(end.Y), esc(p.Last))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // every text went through esc
}

// labelY keeps the newest value's label off its mark and inside of the picture.
func labelY(y float64) float64 {
	if y < 30 {
		return y + 18
	}
	return y - 9
}

// Strip draws a distribution.
func Strip(s *chart.Strip) template.HTML {
	const middle = chart.StripH / 2
	return template.HTML(fmt.Sprintf(`<svg class="is-ink" width="%g" height="%g" viewBox="0 0 %g %g" role="img" aria-label="%s"><path class="ln" d="M%g %gH%g"/><path class="box" d="M%g 4H%gV14H%gz"/><path class="med" d="M%g 2V16"/><circle class="dot" cx="%g" cy="%g" r="1.8"/></svg>`,
		chart.StripW, chart.StripH, chart.StripW, chart.StripH, esc(s.Label), s.Low, middle, s.High, s.Q1, s.Q3, s.Q1, s.Median, s.Max, middle)) // every text went through esc
}
