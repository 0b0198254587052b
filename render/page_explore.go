package render

import (
	"net/url"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// ExplorePage finds series: by model, device, metric, verdict and text.
func (r *Report) ExplorePage() Page {
	w := Widget{Tool: "explore", Data: ExploreShardPath, Releases: r.releaseRefs()}
	return r.widgetPage(
		"explore", "Explore", "Find any number.",
		"Each series and each score with its value in the newest release that has it, worst first. "+
			"A release has a table of its own. Text may hold bounds, such as value>100 or change<-5. "+
			"The address of this page keeps what you choose.",
		w,
	)
}

// ComparePage compares two releases, devices or tools.
func (r *Report) ComparePage() Page {
	w := Widget{Tool: "compare", Releases: r.releaseRefs()}
	w.A, w.B, w.At = r.beside()
	lead, para := "What differs between two releases, models, devices or tools?", "A later release has its verdicts "+
		"beside the change, with their intervals. All else is a difference of two values, which is no verdict: "
	if !r.graded() {
		lead, para = "What differs between two models, devices or tools?", "A difference of two values is no verdict: "
	}
	p := r.widgetPage("compare", "Compare", lead, "What both sides choose differently is compared; everything else must "+
		"be the same. "+para+"ttreport compare with repeats shows the noise.", w)
	p.Scripts = []string{"series.js", "plane.js", "overlay.js", "compare.js"}
	p.add(r.againstLinks())
	return p
}

// releaseRefs are all releases with the addresses of their numbers, oldest first.
func (r *Report) releaseRefs() []ReleaseRef {
	var out []ReleaseRef
	for i := range r.Releases {
		name := r.Releases[i].Name
		ref := ReleaseRef{Name: name, Shard: ReleaseShardPath(name)}
		if !r.graded() && !r.Releases[i].Label {
			ref.Of = r.measuredBy(i) + ", " + name
		}
		out = append(out, ref)
	}
	return out
}

// measuredBy names the models and devices of a build.
func (r *Report) measuredBy(release int) string {
	const most = 2
	var names []string
	for _, p := range r.Gate.Pairs(release) {
		name := words.OrUnknown(p.Model)
		if p.Device != "" {
			name = words.OnDevice(p.Model, p.Device)
		}
		names = append(names, name)
	}
	return words.Few(names, most)
}

// exploring is Explore with what some choices leave: pairs of a filter and a value.
func exploring(text string, choices ...string) *Link {
	to := Address("explore/index.html")
	for i := 0; i+1 < len(choices); i += 2 {
		if choices[i+1] == "" {
			continue
		}
		mark := "&"
		if !strings.Contains(string(to), "#") {
			mark = "#"
		}
		to += Address(mark + choices[i] + "=" + strings.ReplaceAll(url.QueryEscape(choices[i+1]), "+", "%20"))
	}
	return &Link{text, to}
}

// inExplore are the numbers of a model and device in a release; of all for no pair.
func (r *Report) inExplore(release int, pair schema.Pair) *Link {
	name := r.Releases[release].Name
	if pair.Model == "" && pair.Device == "" {
		return exploring("All of "+name+" in Explore", "release", name)
	}
	return exploring("All of "+name+" in Explore", "release", name, "model", words.OrUnknown(pair.Model), "device",
		words.Device(pair.Device))
}

// nothingToFind says why there is no series and no score, and what would change that; an Empty without text where there
// is one.
func (r *Report) nothingToFind() Empty {
	if len(r.Gate.Series) > 0 || len(r.Columns.Scores) > 0 {
		return Empty{}
	}
	unnamed, noModel, noDevice := 0, false, false
	for i := range r.Columns.Runs {
		h := &r.Columns.Runs[i]
		if n := h.PointsEnd - h.FirstPoint; n > 0 && (h.Device == "" || h.Model.Name == "") {
			unnamed += n
			noModel, noDevice = noModel || h.Model.Name == "", noDevice || h.Device == ""
		}
	}
	if unnamed == 0 {
		return Empty{What: "No number has a place here", Why: "No point has a model, a device, lengths and a value.",
			Cmd: "ttreport inspect PATH"}
	}
	return unnamedPoints(unnamed, noModel, noDevice)
}

// unnamedPoints says what is not stated of points, and the command that states it.
func unnamedPoints(n int, noModel, noDevice bool) Empty {
	what, flags := "device", "--device NAME "
	switch {
	case noModel && noDevice:
		what, flags = "model and device", "--model NAME --device NAME "
	case noModel:
		what, flags = "model", "--model NAME "
	}
	of, them := " is of", "It is compared with nothing"
	if n != 1 {
		of, them = " are of", "No two of them are known to be of one system, and none is compared"
	}
	return Empty{
		What: "Nothing states which " + what + " " + words.Plural(n, "point") + of,
		Why:  them + ". Read the files again with the " + what + ".",
		Cmd:  "ttreport build " + flags + "PATH",
	}
}

// widgetPage is a page whose content needs script; without script it lists the pages that need none.
func (r *Report) widgetPage(name, title, lead, para string, w Widget) Page {
	blocks := []Block{w}
	if e := r.nothingToFind(); e.What != "" {
		blocks = []Block{e}
	}
	list := r.pairList()
	if !r.graded() {
		pairs, _ := r.listed()
		list = r.pairsTable(pairs)
	}
	return Page{
		Path: Address(name + "/index.html"), Title: title, Nav: name, Description: lead,
		Crumbs: []Link{{"Overview", "index.html"}, {title, ""}}, Lead: Lead{Text: lead, Paras: []string{para}},
		Simulated: r.simulated(-1), Scripts: []string{"series.js", name + ".js"},
		Sections: []Section{
			{ID: name, Blocks: blocks},
			{
				ID:     "pages",
				Title:  "Pages that need no script",
				Intro:  "The same numbers, by model and device.",
				Blocks: []Block{list},
			},
		},
	}
}
