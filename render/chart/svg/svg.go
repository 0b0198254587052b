// Package svg draws a resolved chart or sparkline as SVG text for a page: classes and presentation attributes only, no
// style attribute and no script, so that a strict content security policy allows it.
//
// In flows a chart with geometry; out flows markup whose every text is escaped. It computes no position.
package svg

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/ttreport/ttreport/render/chart"
)

// Spark draws a row's history.
func Spark(s *chart.Spark) template.HTML {
	if s == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="is-ink" width="116" height="30" viewBox="0 0 116 30" role="img" aria-label="%s">`, esc(s.Label))
	for _, seg := range s.Segments {
		if len(seg) == 1 {
			if seg[0] != s.Last {
				fmt.Fprintf(&b, `<circle class="dot" cx="%g" cy="%g" r="1.5"/>`, seg[0].X, seg[0].Y)
			}
			continue
		}
		fmt.Fprintf(&b, `<path class="ln" d="%s"/>`, path(len(seg), func(i int) (float64, float64) { return seg[i].X, seg[i].Y }))
	}
	fmt.Fprintf(&b, `<circle class="dot" cx="%g" cy="%g" r="3"/></svg>`, s.Last.X, s.Last.Y)
	return template.HTML(b.String()) // every text went through esc
}

// ticks draws the values of both axes, with a line across for each of the vertical one.
func ticks(b *strings.Builder, p chart.Rect, x, y []chart.Tick) {
	for i, t := range y {
		class := "grid"
		if i == 0 {
			class = "axis"
		}
		fmt.Fprintf(b, `<path class="%s" d="M%g %gH%g"/><text x="%g" y="%g" text-anchor="end">%s</text>`, class, p.X0, t.Pos, p.X1, p.X0-6, t.Pos+4, esc(t.Label))
	}
	for _, t := range x {
		if t.Label != "" {
			fmt.Fprintf(b, `<text x="%g" y="%g" text-anchor="middle">%s</text>`, t.Pos, p.Y1+16, esc(t.Label))
		}
	}
}

// Chart draws a history chart.
func Chart(c chart.Chart) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="group" aria-label="%s">`, c.W, c.H, esc(c.Summary))
	p := c.Plot
	ticks(&b, p, c.X, c.Y.Ticks)
	for _, l := range c.Limits {
		limit(&b, c, l)
	}
	for _, l := range c.Lines {
		line(&b, c, l)
	}
	fmt.Fprintf(&b, `<text class="t-ink" x="2" y="10">%s</text></svg>`, esc(c.Title()))
	return template.HTML(b.String()) // every text went through esc
}

func limit(b *strings.Builder, c chart.Chart, l chart.Limit) {
	x := c.Plot.X1
	switch l.Off {
	case 0:
		fmt.Fprintf(b, `<path class="tgt" d="M%g %gH%g"/><text class="t-ink halo" x="%g" y="%g" text-anchor="end">%s</text>`, c.Plot.X0, l.Pos, x, x-4, l.LabelY-4, esc(l.Label))
	case 1:
		fmt.Fprintf(b, `<text class="t-mute halo" x="%g" y="%g" text-anchor="end">%s ↑</text>`, x-4, l.LabelY+10, esc(l.Label))
	default:
		fmt.Fprintf(b, `<text class="t-mute halo" x="%g" y="%g" text-anchor="end">%s ↓</text>`, x-4, l.LabelY-5, esc(l.Label))
	}
}

func line(b *strings.Builder, c chart.Chart, l chart.Line) {
	fmt.Fprintf(b, `<g class="line k%d">`, l.Role)
	for _, seg := range segments(l.Points) {
		fmt.Fprintf(b, `<path class="ln series d%d" d="%s"/>`, l.Role, path(len(seg), func(i int) (float64, float64) { return seg[i].X, seg[i].Y }))
	}
	last := chart.Point{}
	for _, p := range l.Points {
		if !p.OK {
			continue
		}
		last = p
		mark := marker(l.Role, p.X, p.Y)
		if p.Href != "" {
			fmt.Fprintf(b, `<a href="%s"><title>%s</title>%s</a>`, esc(p.Href), esc(l.Name+": "+p.Text+p.Note), mark)
		} else {
			fmt.Fprintf(b, `<g><title>%s</title>%s</g>`, esc(l.Name+": "+p.Text+p.Note), mark)
		}
	}
	if last.OK {
		fmt.Fprintf(b, `<text class="name halo" x="%g" y="%g">%s</text>`, c.Plot.X1+8, l.LabelY+4, esc(l.Label))
	}
	b.WriteString(`</g>`)
}

// segments cuts a line where a release has no value.
func segments(points []chart.Point) [][]chart.Point {
	var out [][]chart.Point
	start := -1
	for i, p := range points {
		if p.OK && start < 0 {
			start = i
		}
		if !p.OK && start >= 0 {
			out = append(out, points[start:i])
			start = -1
		}
	}
	if start >= 0 {
		out = append(out, points[start:])
	}
	return out
}

// marker is the shape of a series: circle, square, triangle, diamond, cross.
func marker(role int, x, y float64) string {
	switch role {
	case 2:
		return fmt.Sprintf(`<rect class="dot" x="%g" y="%g" width="7" height="7"/>`, x-3.5, y-3.5)
	case 3:
		return fmt.Sprintf(`<path class="dot" d="M%g %gl4.5 8h-9z"/>`, x, y-4.5)
	case 4:
		return fmt.Sprintf(`<path class="dot" d="M%g %gl4.5 4.5l-4.5 4.5l-4.5 -4.5z"/>`, x, y-4.5)
	case 5:
		return fmt.Sprintf(`<path class="wh" d="M%g %gl7 7m0 -7l-7 7"/>`, x-3.5, y-3.5)
	}
	return fmt.Sprintf(`<circle class="dot" cx="%g" cy="%g" r="3.8"/>`, x, y)
}

func path(n int, at func(int) (x, y float64)) string {
	var b strings.Builder
	for i := range n {
		x, y := at(i)
		op := "L"
		if i == 0 {
			op = "M"
		}
		fmt.Fprintf(&b, "%s%g %g", op, x, y)
	}
	return b.String()
}

func esc(s string) string { return template.HTMLEscapeString(s) }
