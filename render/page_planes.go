package render

import (
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/render/words"
)

// planeScript draws planes.
const planeScript = "plane.js"

// ModelNames are the models that lists show, in their order.
func (r *Report) ModelNames() []string {
	var out []string
	pairs, _ := r.listed()
	for _, p := range pairs {
		if !slices.Contains(out, p.Model) {
			out = append(out, p.Model)
		}
	}
	return out
}

// ModelPage is a model on all its devices: which serves it best, how that scales, and what it scored.
func (r *Report) ModelPage(model string) Page {
	name := words.OrUnknown(model)
	p := Page{
		Path: ModelPath(model), Title: name, Nav: "models",
		Crumbs: []Link{{"Overview", "index.html"}, {"Models", "index.html#models"}, {name, ""}},
	}
	pairs, _ := r.listed()
	pairs = slices.DeleteFunc(pairs, func(x Pair) bool { return x.Model != model })
	simulated := 0
	var runs []int
	for _, x := range pairs {
		runs = append(runs, r.runsOfPair(x)...)
		if x.Device == "simulated" {
			simulated++
		}
	}
	if simulated == len(pairs) {
		p.Simulated = "Simulated: every number here was made by the embedded simulator. Nothing was measured on a device."
	}
	p.Lead = Lead{Text: name + ": " + r.heldIn(runs)}
	if plane := r.plane(model); plane != nil {
		plane.ID = "plane-1"
		p.Scripts = []string{planeScript}
		p.Lead.Text = plane.headline()
		p.add(Section{ID: "curves", Title: "Output against what a user sees", Intro: r.planeIntro(), Blocks: []Block{plane}})
	}
	p.Description = p.Lead.Text
	const tasks = 8
	b := r.boardOf(tasks, func(x Pair) bool { return x.Model == model })
	if t := b.table(); t != nil {
		p.add(Section{ID: "evals", Title: "Evals", Intro: b.about(), End: &Link{"all scores", "evals/index.html"},
			Blocks: []Block{t.cut("the page of evals has all").in(&Link{"All evals", "evals/index.html"})}})
	}
	p.add(Section{ID: "devices", Title: "Devices", Intro: "What was measured on each.",
		Blocks: []Block{r.pairsTable(pairs)}})
	return p
}

// planeIntro says which numbers a plane has.
func (r *Report) planeIntro() string {
	text := "A line is a configuration, a mark a concurrency; "
	if r.graded() {
		return text + "each device with its newest release. The page of a device has its history."
	}
	return text + "of each the newest run."
}

// planeSections are the planes of the models that were measured in most configurations, for the front page.
func (r *Report) planeSections() (out []Section, headline string) {
	const most = 2
	type ranked struct {
		model string
		plane *Plane
	}
	var list []ranked
	for _, m := range r.ModelNames() {
		if p := r.plane(m); p != nil {
			list = append(list, ranked{m, p})
		}
	}
	size := func(p *Plane) (n int) {
		for _, l := range p.Lines {
			n += len(l.Points)
		}
		return n
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return size(b.plane) - size(a.plane) })
	for i, x := range list[:min(most, len(list))] {
		x.plane.ID = fmt.Sprintf("plane-%d", i+1)
		out = append(out, Section{ID: fmt.Sprintf("curves-%d", i+1), Title: x.plane.Model, Intro: r.planeIntro(),
			End: &Link{"all of " + x.plane.Model, ModelPath(x.model)}, Blocks: []Block{x.plane}})
	}
	if len(list) > 0 {
		headline = list[0].plane.headline()
	}
	return out, headline
}
