// Package bisection writes what a bisection found: markdown for an issue, and a page with a picture.
//
// In: a [Result], with the builds in order, what was measured of each and the probability of each to be the first bad
// one. Out: bytes. It must not measure, nor compute probabilities: package targets/regression/bisection does.
package bisection

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/ttreport/ttreport/render/words"
)

// Result is what a bisection knows.
type Result struct {
	Title  string  // what is searched: "TTFT of m on d, ISL 128 OSL 128 concurrency 1"
	Builds []Build // after the good one
	Good   string
	// From and To are the indexes of the answer in Builds, which are one build unless skipped ones lie between; P is its
	// probability, and Decided whether that is enough.
	From, To     int
	P            float64
	None         bool // the ends do not differ
	Decided      bool
	Effect       float64 // relative change of the metric
	Noise        float64 // of one measurement, relative
	Measurements int
	Simulated    bool
	Why          string // it ended undecided
	Command      string
}

// Build is one build.
type Build struct {
	Name, Subject string
	First         float64   // probability of being the first bad one
	Bad           float64   // probability of being bad
	Changes       []float64 // relative changes from the good build, a measurement each
	Skipped       string    // why it was not measured
}

// Headline is the answer in a sentence.
func (r *Result) Headline() string {
	p := fmt.Sprintf("%.3g%s%%", 100*math.Min(r.P, .9999), words.Thin)
	last := r.Builds[len(r.Builds)-1].Name
	out := ""
	switch {
	case r.None && r.Decided:
		return fmt.Sprintf("%s and %s do not differ (probability %s): there is nothing to find.", r.Good, last, p)
	case r.None:
		out = fmt.Sprintf("Whether %s and %s differ is not known yet", r.Good, last)
	case r.From == r.To:
		out = fmt.Sprintf("%s is the first bad build", r.name(r.To))
	default:
		out = fmt.Sprintf("The first bad build is one of %s to %s, between which none could be measured", r.name(r.From),
			r.name(r.To))
	}
	if !r.None {
		out += fmt.Sprintf(" (probability %s; change about %s)", p, words.Change(r.Effect))
	}
	if !r.Decided {
		out = "Not decided: " + r.Why + ". Most probable now: " + out
	}
	return out + "."
}

// name is a build with its subject.
func (r *Result) name(i int) string {
	b := &r.Builds[i]
	if b.Subject == "" {
		return b.Name
	}
	return b.Name + " (" + b.Subject + ")"
}

// Facts are sentences about how it was found.
func (r *Result) Facts() []string {
	measured, skipped := 0, 0
	for i := range r.Builds {
		if len(r.Builds[i].Changes) > 0 {
			measured++
		}
		if r.Builds[i].Skipped != "" {
			skipped++
		}
	}
	const how = "%s of %d of %s, each in turns with %s on one machine; " +
		"noise of a measurement is about %s (one standard deviation)."
	out := []string{fmt.Sprintf(how, words.Plural(r.Measurements, "measurement"), measured,
		words.Plural(len(r.Builds), "build"), r.Good, words.Percent(r.Noise))}
	if skipped > 0 {
		out = append(out, fmt.Sprintf("%s could not be measured.", words.Plural(skipped, "build")))
	}
	if r.Simulated {
		out = append(out, "Simulated: this says nothing about any device.")
	}
	return out
}

// rows are the builds as tables show them: name, change, measurements, and the probabilities of being bad and the first
// bad one.
func (r *Result) rows() (out [][]string) {
	for i := range r.Builds {
		x := &r.Builds[i]
		change := x.Skipped
		if len(x.Changes) > 0 {
			sum := 0.
			for _, c := range x.Changes {
				sum += math.Log1p(c)
			}
			change = words.Change(math.Expm1(sum / float64(len(x.Changes)))) // the geometric mean
		}
		out = append(out, []string{
			r.name(i), change, fmt.Sprint(len(x.Changes)), fmt.Sprintf("%.2f", x.Bad), fmt.Sprintf("%.3f", x.First),
		})
	}
	return out
}

// Markdown is a report for an issue.
func Markdown(r *Result) []byte {
	// plain keeps names of builds from being markup.
	plain := strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "`", "'", "\n", " ", "\r", " ").Replace
	var b strings.Builder
	fmt.Fprintf(&b, "# Bisection: %s\n\n**%s**\n\n", plain(r.Title), plain(r.Headline()))
	for _, f := range r.Facts() {
		fmt.Fprintf(&b, "%s\n", plain(f))
	}
	b.WriteString("\n| build | change from the good one | measured | bad | first bad | |\n|---|---|---|---|---|---|\n")
	for i, row := range r.rows() {
		x := &r.Builds[i]
		if len(x.Changes) == 0 && x.Skipped == "" && x.First < .005 {
			continue
		}
		if x.Skipped != "" {
			row[1] = "skipped: " + plain(x.Skipped)
		}
		row[0] = plain(row[0])
		row = append(row, strings.Repeat("█", int(math.Round(20*x.First))))
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	fmt.Fprintf(&b, "\nBuilds that are left out were not measured and are improbable.\n\n    %s\n", r.Command)
	return []byte(b.String())
}

// Of the picture, in pixels.
const (
	width, height = 900., 320.
	left, right   = 60., 20.
	top, base     = 20., 200. // of the changes; probabilities are below
	bottom        = 290.
)

const page = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{{.Title}}</title>
<meta name="viewport" content="width=device-width">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left}svg{max-width:100%;height:auto}
code{overflow-wrap:anywhere}</style>
<h1>{{.Title}}</h1><p><strong>{{.Headline}}</strong></p>{{range .Facts}}<p>{{.}}</p>{{end}}
{{.Picture}}
<table><tr><th>build<th>change<th>measured<th>bad<th>first bad</tr>{{range .Rows}}
<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>{{end}}</table><p><code>{{.Command}}</code></p></html>
`

// Page is a page with a picture: the measured changes by build, and below them the probability of each to be the first
// bad one.
func Page(r *Result) ([]byte, error) {
	var b bytes.Buffer
	err := template.Must(template.New("page").Parse(page)).Execute(&b, struct {
		Title, Headline, Command string
		Facts                    []string
		Picture                  template.HTML // made of numbers alone
		Rows                     [][]string
	}{"Bisection: " + r.Title, r.Headline(), r.Command, r.Facts(), template.HTML(picture(r)), r.rows()})
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
