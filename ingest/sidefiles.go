package ingest

import (
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/ttis"
	"github.com/ttreport/ttreport/ingest/vllm"
)

// sideFiles indexes the files that describe results and are not results themselves.
type sideFiles struct {
	sidecars  map[string]manifest.Sidecar  // by the path of the result
	manifests map[string]manifest.Manifest // by folder
	journals  map[string]*source           // by run folder
	specs     map[string][]*source         // runtime specs, by the folder that they describe
	reports   map[string][]*source         // data of reports, likewise: they state the identity if no spec does
	commands  map[string]*source           // .commands files, by the path of the result without its extension
}

// indexSideFiles finds them among the sources. Faults of a file become problems of its source.
func indexSideFiles(sources []*source) sideFiles {
	side := sideFiles{
		sidecars: map[string]manifest.Sidecar{}, manifests: map[string]manifest.Manifest{},
		journals: map[string]*source{}, commands: map[string]*source{},
		specs: map[string][]*source{}, reports: map[string][]*source{},
	}
	for _, src := range sources {
		switch {
		case src.role != "" && src.file.SHA256 != "":
			side.addOurs(src)
		case src.reading.Format == ttis.Spec:
			tree := path.Dir(path.Dir(src.shown()))
			side.specs[tree] = append(side.specs[tree], src)
		case src.reading.Format == ttis.ReportData:
			tree := reportTree(src.shown())
			side.reports[tree] = append(side.reports[tree], src)
		case src.commands != nil:
			side.commands[strings.TrimSuffix(src.shown(), vllm.CommandsSuffix)] = src
		}
	}
	return side
}

// addOurs indexes a sidecar, manifest or journal.
func (side *sideFiles) addOurs(src *source) {
	dir := path.Dir(src.shown())
	switch src.role {
	case roleSidecar:
		s, problem := manifest.ReadSidecar(src.shown(), src.file.Data)
		if problem != nil {
			src.report(*problem)
			return
		}
		side.sidecars[strings.TrimSuffix(src.shown(), manifest.SidecarSuffix)] = s
		src.reading.Detail = "of " + s.Result
	case roleManifest:
		m, problem := manifest.Read(src.shown(), src.file.Data)
		if problem != nil {
			src.report(*problem)
			return
		}
		side.manifests[dir] = m
		src.reading.Detail = "for " + dir
	case roleJournal:
		side.journals[dir] = src
	}
}

// placedManifest is a manifest that describes a file, with its folder and the file's path within it.
type placedManifest struct {
	manifest.Manifest
	dir, rel string
}

// manifestsFor returns the manifests in the folder of a file and above, the nearest first.
func (side *sideFiles) manifestsFor(f found) []placedManifest {
	var out []placedManifest
	shown := f.shown()
	for dir := path.Dir(shown); ; dir = path.Dir(dir) {
		if m, ok := side.manifests[dir]; ok {
			out = append(out, placedManifest{m, dir, strings.TrimPrefix(shown, dir+"/")})
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	for _, a := range f.root.Above {
		known := slices.ContainsFunc(out, func(m placedManifest) bool { return m.dir == a.Root.Name })
		if m, ok := side.manifests[a.Root.Name]; ok && !known {
			out = append(out, placedManifest{m, a.Root.Name, path.Join(a.Below, f.rel)})
		}
	}
	return out
}

// ofFolders returns what an index by folder has for the folders in which a file is, the nearest first. There may be
// thousands of folders, and as many files.
func ofFolders(file string, index map[string][]*source) []*source {
	var out []*source
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		out = append(out, index[dir]...)
		if dir == "." || dir == "/" {
			return out
		}
	}
}

// specFor returns the newest runtime spec of the same tree and model id that is not newer than the result, or the
// oldest when all are newer; a tree with one spec needs no model id. Both times are the host's local time.
func (side *sideFiles) specFor(src *source, modelID string) *source {
	var best, oldest *source
	inTree, start := 0, src.reading.Facts.Start
	for _, s := range ofFolders(src.shown(), side.specs) {
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

// reportFor returns the report of a result's tree, if there is exactly one and it is of the same model.
func (side *sideFiles) reportFor(src *source, modelID string) *source {
	var own *source
	for _, r := range ofFolders(src.shown(), side.reports) {
		if src == r {
			continue
		}
		model := r.reading.Facts.Model.ID
		otherModel := modelID != "" && model != "" && path.Base(modelID) != path.Base(model)
		if own != nil || otherModel {
			return nil
		}
		own = r
	}
	return own
}
