// Package bisection writes what a bisection found: markdown for an issue, and a page with a picture.
//
// In: a [Result], with the builds in order, what was measured of each and the probability of each to be the first bad
// one. Out: bytes. It must not measure, nor compute probabilities: package targets/regression/bisection does.
package bisection

import (
	"bytes"
	_ "embed"
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

// pageText is the page, with the picture: the measured changes by build, and below them the probability of each to be
// the first bad one. Names are in the table below it.
//
//go:embed page.html
var pageText string

// Page is a page with a picture.
func Page(r *Result) ([]byte, error) {
	lo, hi := -.01, .01
	for i := range r.Builds {
		for _, c := range r.Builds[i].Changes {
			lo, hi = math.Min(lo, c), math.Max(hi, c)
		}
	}
	lo, hi = math.Max(lo, -.9), math.Min(hi, 2)
	// The picture is 900 wide: builds stand between 60 and 880, changes between 20 and 200, probabilities above 290.
	step := 820 / float64(len(r.Builds)+1)
	pixels := func(v float64) string { return fmt.Sprintf("%.1f", v) }
	page, err := template.New("page").Funcs(template.FuncMap{
		"bar": func(p float64) float64 { return p * 66 }, "less": func(a, b float64) float64 { return a - b },
		"pixels": pixels, "steps": func(n float64) float64 { return step * n },
		"percent": func(c float64) string { return fmt.Sprintf("%+.1f %%", 100*c) },
		"x":       func(i int) float64 { return 60 + step*float64(i+1) },
		"y":       func(c float64) float64 { return 200 - (math.Max(lo, math.Min(hi, c))-lo)/(hi-lo)*180 },
	}).Parse(pageText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = page.Execute(&b, map[string]any{"R": r, "Rows": r.rows(), "Scale": []float64{lo, 0, hi},
		"Answer": float64(r.To - r.From + 1)})
	return b.Bytes(), err
}
