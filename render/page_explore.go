package render

import "github.com/ttreport/ttreport/render/words"

// ExplorePage finds series: by model, device, metric, verdict and text.
func (r *Report) ExplorePage() Page {
	return r.widgetPage(
		"explore", "Explore", "Find any number.",
		"Each series and each score with its value in the newest release that has it, worst first. "+
			"The address of this page keeps what you choose.",
		Widget{Tool: "explore", Data: ExploreShardPath},
	)
}

// ComparePage compares two releases, devices or tools.
func (r *Report) ComparePage() Page {
	w := Widget{Tool: "compare"}
	for i := range r.Releases {
		name := r.Releases[i].Name
		w.Releases = append(w.Releases, ReleaseRef{name, ReleaseShardPath(name)})
	}
	w.A, w.B = r.beside()
	return r.widgetPage(
		"compare", "Compare", "What differs between two releases, models, devices or tools?",
		"What both sides choose differently is compared; everything else must be the same. "+
			"A later release has its verdicts beside the change, with their intervals; elsewhere one number a side does "+
			"not show its noise, and ttreport compare with repeats does.",
		w,
	)
}

// beside are the releases that are compared at first: the newest that has an earlier one with a model and device in
// common, and that one.
func (r *Report) beside() (a, b string) {
	newest := r.Newest()
	if newest < 0 {
		return "", ""
	}
	b, found := r.Releases[newest].Name, -1
	for _, p := range r.Pairs {
		for _, at := range r.measuredIn(p.Model, p.Device) {
			if has := r.runs[p.Pair]; at < newest && len(has[newest]) > 0 && at > found {
				found = at
			}
		}
	}
	if found >= 0 {
		return r.Releases[found].Name, b
	}
	for _, p := range r.Pairs { // the newest has no such one: any that was measured twice
		if list := r.measuredIn(p.Model, p.Device); len(list) > 1 && list[len(list)-1] > found {
			found = list[len(list)-1]
			a, b = r.Releases[list[len(list)-2]].Name, r.Releases[found].Name
		}
	}
	return a, b
}

// nothingToFind says why there is no series and no score, and what would change that; an Empty without text where there
// is one.
func (r *Report) nothingToFind() Empty {
	if len(r.Gate.Series) > 0 || len(r.Columns.Scores) > 0 {
		return Empty{}
	}
	unnamed := 0
	for i := range r.Columns.Runs {
		if h := &r.Columns.Runs[i]; h.Device == "" || h.Model.Name == "" {
			unnamed += h.PointsEnd - h.FirstPoint
		}
	}
	if unnamed == 0 {
		return Empty{What: "No number has a place here", Why: "No point has a model, a device, lengths and a value.",
			Cmd: "ttreport inspect PATH"}
	}
	return Empty{
		What: "Nothing states which device " + words.Plural(unnamed, "point") + " were measured on",
		Why:  "So no two of them are known to be of one system, and none is compared. Read them again with the device.",
		Cmd:  "ttreport build --device NAME PATH",
	}
}

// widgetPage is a page whose content needs script; without script it lists the pages that need none.
func (r *Report) widgetPage(name, title, lead, para string, w Widget) Page {
	blocks := []Block{w}
	if e := r.nothingToFind(); e.What != "" {
		blocks = []Block{e}
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
				Blocks: []Block{r.pairList()},
			},
		},
	}
}
