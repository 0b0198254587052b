package ingest

import (
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/ttis"
	"github.com/ttreport/ttreport/ingest/vllm"
)

// beside indexes what stands near results: sidecars by the result they describe, manifests by folder, runtime specs by
// the folder of their tree.
type beside struct {
	sidecars  map[string]manifest.Sidecar
	manifests map[string]manifest.Manifest
	journals  map[string]*item // by run folder
	specs     []*item
	reports   []*item          // data of reports, which say who was measured where no runtime spec does
	commands  map[string]*item // .commands files by the stem of the result they describe
}

func indexBeside(items []*item) beside {
	b := beside{sidecars: map[string]manifest.Sidecar{}, manifests: map[string]manifest.Manifest{}, journals: map[string]*item{}, commands: map[string]*item{}}
	for _, it := range items {
		switch {
		case it.isRole == "sidecar" && it.file.SHA256 != "":
			s, problem := manifest.ReadSidecar(it.shown(), it.file.Data)
			if problem != nil {
				it.reading.Problems = append(it.reading.Problems, *problem)
				break
			}
			b.sidecars[strings.TrimSuffix(it.shown(), manifest.SidecarSuffix)] = s
			it.reading.Detail = "of " + s.Result
		case it.isRole == "manifest" && it.file.SHA256 != "":
			m, problem := manifest.Read(it.shown(), it.file.Data)
			if problem != nil {
				it.reading.Problems = append(it.reading.Problems, *problem)
				break
			}
			b.manifests[path.Dir(it.shown())] = m
			it.reading.Detail = "speaks for " + path.Dir(it.shown())
		case it.isRole == "journal" && it.file.SHA256 != "":
			b.journals[path.Dir(it.shown())] = it
		case it.reading.Format == ttis.Spec:
			b.specs = append(b.specs, it)
		case it.reading.Format == ttis.ReportData:
			b.reports = append(b.reports, it)
		case it.beside != nil:
			b.commands[strings.TrimSuffix(it.shown(), vllm.CommandsSuffix)] = it
		}
	}
	return b
}

// speaker is a manifest that speaks for a file: its folder, and the file's path within it.
type speaker struct {
	manifest.Manifest
	dir, rel string
}

// manifestsFor returns the manifests at or above a file, the nearest first.
func (b beside) manifestsFor(it *item) []speaker {
	var out []speaker
	shown := it.shown()
	for dir := path.Dir(shown); ; dir = path.Dir(dir) {
		if m, ok := b.manifests[dir]; ok {
			out = append(out, speaker{m, dir, strings.TrimPrefix(shown, dir+"/")})
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	for _, a := range it.root.Above {
		known := slices.ContainsFunc(out, func(s speaker) bool { return s.dir == a.Root.Name })
		if m, ok := b.manifests[a.Root.Name]; ok && !known {
			out = append(out, speaker{m, a.Root.Name, path.Join(a.Below, it.rel)})
		}
	}
	return out
}

// specFor returns the newest runtime spec of the same tree and model id that is not younger than the result, or the oldest
// when all are younger; a tree with one spec needs no model id. Both times are the host's local ones.
func (b beside) specFor(it *item, modelID string) *item {
	var best, oldest *item
	inTree, start := 0, it.reading.Facts.Start
	for _, s := range b.specs {
		tree := path.Dir(path.Dir(s.shown()))
		if tree != "." && !strings.HasPrefix(it.shown(), tree+"/") {
			continue
		}
		inTree++
		id := strings.Trim(string(s.reading.Extra["ttis_model_id"]), `"`)
		if modelID != "" && id != modelID {
			continue
		}
		if oldest == nil || s.reading.Facts.Start.Before(oldest.reading.Facts.Start) {
			oldest = s
		}
		if !start.IsZero() && s.reading.Facts.Start.After(start) {
			continue
		}
		if best == nil || s.reading.Facts.Start.After(best.reading.Facts.Start) {
			best = s
		}
	}
	switch {
	case modelID == "" && inTree != 1:
		return nil
	case best == nil:
		return oldest
	}
	return best
}

// reportFor returns the report of the tree that a result lies in, when there is one alone and it is of the same model.
func (b beside) reportFor(it *item) *item {
	var own *item
	for _, r := range b.reports {
		if !strings.HasPrefix(it.shown(), reportTree(r.shown())+"/") || it == r {
			continue
		}
		model := r.reading.Facts.Model
		if known := it.facts.Model.ID; own != nil || known != "" && model.ID != "" && path.Base(known) != path.Base(model.ID) {
			return nil
		}
		own = r
	}
	return own
}
