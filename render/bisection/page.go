package bisection

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/ttreport/ttreport/render/words"
)

// Of the picture, in pixels.
const (
	width, height = 900., 320.
	left, right   = 60., 20.
	top, base     = 20., 200. // of the changes; probabilities are below
	bottom        = 290.
)

var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{{.Title}}</title>
<meta name="viewport" content="width=device-width">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left}svg{max-width:100%;height:auto}
code{overflow-wrap:anywhere}</style>
<h1>{{.Title}}</h1><p><strong>{{.Headline}}</strong></p>{{range .Facts}}<p>{{.}}</p>{{end}}
{{.Picture}}
<table><tr><th>build<th>change<th>measured<th>bad<th>first bad</tr>{{range .Rows}}
<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>{{end}}</table><p><code>{{.Command}}</code></p></html>
`))

// Page is a page with a picture: the measured changes by build, and below them the probability of each to be the first
// bad one.
func Page(r *Result) ([]byte, error) {
	var rows [][]string
	for i := range r.Builds {
		x := &r.Builds[i]
		change := x.Skipped
		if len(x.Changes) > 0 {
			change = words.Change(x.Mean())
		}
		rows = append(rows, []string{
			r.name(i), change, fmt.Sprint(len(x.Changes)), fmt.Sprintf("%.2f", x.Bad), fmt.Sprintf("%.3f", x.First),
		})
	}
	var b bytes.Buffer
	err := page.Execute(&b, struct {
		Title, Headline, Command string
		Facts                    []string
		Picture                  template.HTML // made of numbers alone
		Rows                     [][]string
	}{"Bisection: " + r.Title, r.Headline(), r.Command, r.Facts(), template.HTML(picture(r)), rows})
	return b.Bytes(), err
}

// picture is an SVG; names are in the table below it.
func picture(r *Result) string {
	lo, hi := -.01, .01
	for i := range r.Builds {
		for _, c := range r.Builds[i].Changes {
			lo, hi = math.Min(lo, c), math.Max(hi, c)
		}
	}
	lo, hi = math.Max(lo, -.9), math.Min(hi, 2)
	y := func(c float64) float64 { return base - (math.Max(lo, math.Min(hi, c))-lo)/(hi-lo)*(base-top) }
	step := (width - left - right) / float64(len(r.Builds)+1)
	x := func(i int) float64 { return left + step*float64(i+1) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="changes and probabilities by build">`, width, height)
	for _, c := range []float64{lo, 0, hi} {
		fmt.Fprintf(&b, `<line x1="%g" x2="%g" y1="%.1f" y2="%.1f" stroke="#bbb"/>`, left, width-right, y(c), y(c))
		fmt.Fprintf(&b, `<text x="%g" y="%.1f" font-size="12" text-anchor="end">%+.1f %%</text>`, left-6, y(c)+4, 100*c)
	}
	fmt.Fprintf(&b, `<line x1="%g" x2="%g" y1="%g" y2="%g" stroke="#bbb"/>`, left, width-right, bottom, bottom)
	fmt.Fprintf(&b, `<text x="%g" y="%g" font-size="12">probability of being the first bad build</text>`, left, base+16)
	if !r.None {
		fmt.Fprintf(&b, `<rect x="%.1f" y="%g" width="%.1f" height="%g" fill="#fde2e1"/>`, x(r.From)-step/2, top,
			step*float64(r.To-r.From+1), bottom-top)
	}
	for i := range r.Builds {
		for _, c := range r.Builds[i].Changes {
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="4" fill="#2563eb" fill-opacity=".6"/>`, x(i), y(c))
		}
		if p := r.Builds[i].First; p > .002 {
			h := p * (bottom - base - 24)
			fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#b91c1c"/>`, x(i)-step*.35, bottom-h,
				step*.7, h)
		}
		if r.Builds[i].Skipped != "" {
			fmt.Fprintf(&b, `<text x="%.1f" y="%g" font-size="12" text-anchor="middle">×</text>`, x(i), bottom+14)
		}
	}
	b.WriteString(`</svg>`)
	return b.String()
}
