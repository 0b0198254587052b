package bisection

import (
	"fmt"
	"math"
	"strings"

	"github.com/ttreport/ttreport/render/words"
)

// Result is what a bisection knows.
type Result struct {
	Title  string // what is searched: "TTFT of m on d, ISL 128 OSL 128 concurrency 1"
	Metric string
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

// Mean is the geometric mean of the changes; NaN without one.
func (b *Build) Mean() float64 {
	sum := 0.
	for _, c := range b.Changes {
		sum += math.Log1p(c)
	}
	return math.Expm1(sum / float64(len(b.Changes)))
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

// Markdown is a report for an issue.
func Markdown(r *Result) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Bisection: %s\n\n**%s**\n\n", plain(r.Title), plain(r.Headline()))
	for _, f := range r.Facts() {
		fmt.Fprintf(&b, "%s\n", plain(f))
	}
	b.WriteString("\n| build | change from the good one | measured | bad | first bad | |\n|---|---|---|---|---|---|\n")
	for i := range r.Builds {
		x := &r.Builds[i]
		if len(x.Changes) == 0 && x.Skipped == "" && x.First < .005 {
			continue
		}
		change, bar := "", strings.Repeat("█", int(math.Round(20*x.First)))
		if len(x.Changes) > 0 {
			change = words.Change(x.Mean())
		}
		if x.Skipped != "" {
			change = "skipped: " + plain(x.Skipped)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %.2f | %.3f | %s |\n", plain(r.name(i)), change, len(x.Changes), x.Bad, x.First,
			bar)
	}
	fmt.Fprintf(&b, "\nBuilds that are left out were not measured and are improbable.\n\n    %s\n", r.Command)
	return []byte(b.String())
}

// plain keeps names of builds from being markup.
func plain(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "`", "'", "\n", " ", "\r", " ").Replace(s)
}
