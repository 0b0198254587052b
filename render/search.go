package render

import (
	"cmp"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

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
		var metrics groups[string, string]
		for _, s := range r.series[p.Pair] {
			name := words.Metric(s.Metric, s.Stat)
			m, _ := metrics.of(name)
			*m = name
		}
		out = append(out, SearchEntry{"model on device", words.OnDevice(p.Model, p.Device), PairPath(p.Model, p.Device),
			r.loadsOf(p.Pair), exploring("", "model", words.OrUnknown(p.Model), "device", words.Device(p.Device)).Href,
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

// loadsOf are the workloads of a model on a device by lengths and load, "1024/128/32", and its evals by task.
func (r *Report) loadsOf(p schema.Pair) []string {
	var seen groups[string, string]
	add := func(name string) {
		if name, _, _ = strings.Cut(name, " "); name != "" {
			s, _ := seen.of(name)
			*s = name
		}
	}
	for _, s := range r.series[p] {
		add(words.Workload(s.Key))
	}
	for _, run := range r.runsOfPair(Pair{Pair: p}) {
		for _, s := range r.scoresOf(run) {
			add(s.Task)
		}
	}
	return seen.list
}

// topicTitle is the heading of a page of the documentation.
func (r *Report) topicTitle(name string) string { return cmp.Or(r.Titles[name], words.Capital(name)) }
