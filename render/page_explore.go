package render

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// ExplorePage finds series: by model, device, metric, verdict and text.
func (r *Report) ExplorePage() Page {
	return r.widgetPage(Widget{Tool: "explore", Data: ExploreShardPath, Releases: r.releaseRefs()}, "Explore",
		"Find any number.", "Every series and every score, with its value in the newest release that has it, worst first. "+
			"A regression of an earlier release that is still there has its size since then. "+
			"Choose a release to see its own numbers. The text may hold bounds, such as value>100 or change<-5. "+
			"The address of this page keeps what you choose.")
}

// ComparePage compares two releases, devices or tools.
func (r *Report) ComparePage() Page {
	w := Widget{Tool: "compare", Releases: r.releaseRefs()}
	w.A, w.B, w.At = r.beside()
	lead, para := "Compare two releases, models, devices, configurations or tools.", "Where B is the later release, its "+
		"verdicts are shown. "
	if !r.Graded() {
		lead, para = "Compare two models, devices, configurations or tools.", ""
	}
	p := r.widgetPage(w, "Compare", lead, "A and B are compared in what you choose differently; everything else must "+
		"be the same. "+para+"Any other difference of two values is no verdict: ttreport compare weighs repeats and noise.")
	p.Scripts = []string{"series.js", "plane.js", "overlay.js", "compare.js"}
	return p
}

// releaseRefs are all releases with the addresses of their numbers, oldest first; of a build what it measured.
func (r *Report) releaseRefs() []ReleaseRef {
	const most = 2
	var out []ReleaseRef
	for i := range r.Releases {
		name := r.Releases[i].Name
		ref := ReleaseRef{Name: name, Shard: ReleaseShardPath(name)}
		if !r.Graded() && !r.Releases[i].Label {
			var names []string
			for _, p := range r.Gate.Pairs(i) {
				if p.Device != "" {
					names = append(names, words.OnDevice(p.Model, p.Device))
				} else {
					names = append(names, words.OrUnknown(p.Model))
				}
			}
			ref.Of = words.Few(names, most) + ", " + name
		}
		out = append(out, ref)
	}
	return out
}

// exploring is Explore with what some choices leave: pairs of a filter and a value.
func exploring(text string, choices ...string) *Link {
	return &Link{text, chosen("explore/index.html", choices...)}
}

// chosen is a page with what is chosen on it: pairs of a name and a value, as site.js reads them.
func chosen(page Address, choices ...string) Address {
	var set []string
	for i := 0; i+1 < len(choices); i += 2 {
		if choices[i+1] != "" {
			set = append(set, choices[i]+"="+strings.ReplaceAll(url.QueryEscape(choices[i+1]), "+", "%20"))
		}
	}
	return Address(strings.TrimSuffix(string(page)+"#"+strings.Join(set, "&"), "#"))
}

// inExplore are the numbers of a model and device in a release; of all for no pair.
func (r *Report) inExplore(release int, pair schema.Pair) *Link {
	name := r.Releases[release].Name
	choices := []string{"release", name}
	if pair != (schema.Pair{}) {
		choices = append(choices, "model", words.OrUnknown(pair.Model), "device", words.Device(pair.Device))
	}
	return exploring("All of "+name+" in Explore", choices...)
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
		Why: them + ". Read the files again with the " + what + ", if all are of one; ttreport identify PATH shows what " +
			"their names suggest.",
		Cmd: "ttreport build " + flags + "PATH",
	}
}

// widgetPage is a page whose content needs script; without script it lists the pages that need none.
func (r *Report) widgetPage(w Widget, title, lead, para string) Page {
	p := r.page(Address(w.Tool+"/index.html"), w.Tool, title, lead)
	p.Lead, p.Scripts = Lead{Text: lead, Paras: []string{para}}, []string{"series.js", w.Tool + ".js"}
	if e := r.nothingToFind(); e.What != "" {
		p.add(section(w.Tool, "", "", e))
	} else {
		p.add(section(w.Tool, "", "", w))
	}
	return p
}

// SearchEntry is something that people look for by its name.
type SearchEntry struct {
	Kind string  `json:"k"` // model, model on device, release, build, help
	Name string  `json:"n"`
	Page Address `json:"p"`
	// Of a model on a device: its workloads and tasks, the table of Explore that has them, the metrics of its series, and
	// where these are.
	Loads   []string `json:"w,omitempty"`
	Explore Address  `json:"x,omitempty"`
	Metrics []string `json:"m,omitempty"`
	Series  Address  `json:"s,omitempty"`
}

// Search lists models, models on devices, releases, newest first, and the documentation.
func (r *Report) Search() []SearchEntry {
	out := []SearchEntry{}
	for _, m := range r.ModelNames() {
		out = append(out, SearchEntry{Kind: "model", Name: words.OrUnknown(m), Page: ModelPath(m)})
	}
	for _, p := range r.shown {
		// workloads by lengths and load, "1024/128/32", evals by task, and metrics
		var loads, metrics groups[string, string]
		add := func(to *groups[string, string], name string) {
			if name != "" {
				x, _ := to.of(name)
				*x = name
			}
		}
		for _, s := range r.series[p.Pair] {
			load, _, _ := strings.Cut(words.Workload(s.Key), " ")
			add(&loads, load)
			add(&metrics, words.Metric(s.Metric, s.Stat))
		}
		for _, s := range r.scoresOf(r.runsOfPair(p)...) {
			task, _, _ := strings.Cut(s.Task, " ")
			add(&loads, task)
		}
		out = append(out, SearchEntry{"model on device", words.OnDevice(p.Model, p.Device), PairPath(p.Model, p.Device),
			loads.list, exploring("", "model", words.OrUnknown(p.Model), "device", words.Device(p.Device)).Href,
			metrics.list, chosen(seriesPage, "of", pairSegment(p.Model, p.Device))})
	}
	for i := len(r.Releases) - 1; i >= 0; i-- {
		kind := "release"
		if !r.Releases[i].Label {
			kind = "build"
		}
		out = append(out, SearchEntry{Kind: kind, Name: r.Releases[i].Name, Page: ReleasePath(r.Releases[i].Name)})
	}
	for _, name := range r.Topics {
		out = append(out, SearchEntry{Kind: "help", Name: r.topicTitle(name), Page: topicPath(name)})
	}
	return out
}

// topicTitle is the heading of a page of the documentation.
func (r *Report) topicTitle(name string) string { return cmp.Or(r.Titles[name], words.Capital(name)) }
