package render

import (
	"cmp"

	"github.com/ttreport/ttreport/render/words"
)

// SearchEntry is something that people look for by its name.
type SearchEntry struct {
	Kind string  `json:"k"` // model, model on device, release, build, help
	Name string  `json:"n"`
	Page Address `json:"p"`
}

// Search lists models, models on devices, releases, newest first, and the documentation.
func (r *Report) Search() []SearchEntry {
	out := []SearchEntry{}
	for _, m := range r.ModelNames() {
		out = append(out, SearchEntry{"model", words.OrUnknown(m), ModelPath(m)})
	}
	pairs, _ := r.listed()
	for _, p := range pairs {
		out = append(out, SearchEntry{"model on device", words.OnDevice(p.Model, p.Device), PairPath(p.Model, p.Device)})
	}
	for i := len(r.Releases) - 1; i >= 0; i-- {
		kind := "release"
		if !r.Releases[i].Label {
			kind = "build"
		}
		out = append(out, SearchEntry{kind, r.Releases[i].Name, ReleasePath(r.Releases[i].Name)})
	}
	for _, name := range r.Topics {
		out = append(out, SearchEntry{"help", r.topicTitle(name), topicPath(name)})
	}
	return out
}

// topicTitle is the heading of a page of the documentation.
func (r *Report) topicTitle(name string) string { return cmp.Or(r.Titles[name], words.Capital(name)) }
