package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/lmeval"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/table"
	"github.com/ttreport/ttreport/ingest/ttis"
	"github.com/ttreport/ttreport/ingest/userdir"
	"github.com/ttreport/ttreport/ingest/vllm"
)

// Root is where a walk starts. Name prefixes every path shown. Only, when set, is the single file wanted. Own are
// folders that are not entered, since what lies in them was made of results: history, sites, caches.
type Root struct {
	FS    fs.FS
	Name  string
	Only  string
	Above []Above
	Own   []fs.FileInfo
	Path  string // of its folder on the disk; "" for none
	// Folders are the names of its folders, the first one that of its repository; else its path as the user sees it
	// from the current folder, or its own name alone.
	Folders    string
	Repository bool // the first one is that of a repository
	// Tables are mappings of the user's own for files that no tool's format describes.
	Tables []table.Table
	Tasks  map[string]string // what the user calls tasks of evals, by the names in files
}

// Above is a folder above a root with a manifest, which applies to everything below. Below is the root's path within
// it.
type Above struct {
	Root    Root
	Below   string
	Foreign bool // it belongs to another user, and is not read
}

// OSRoot makes a root from a path of the operating system: a folder, or one file. It includes the files that describe
// it: the manifests of the folders above, and for a file its sidecar and runtime specs.
func OSRoot(name string) (Root, error) {
	name = path.Clean(name)
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return Root{}, err
	case !info.IsDir() && !info.Mode().IsRegular():
		return Root{}, fmt.Errorf("%s is neither a file nor a folder", name)
	}
	top, rel := name, ""
	if !info.IsDir() {
		top, rel = path.Split(name)
		top = path.Clean(top)
		for dir, below, n := top, rel, 0; n < levelsUp; n++ {
			_, noManifest := os.Stat(path.Join(dir, manifest.FileName))
			_, noSpecs := os.Stat(path.Join(dir, specFolder))
			if noManifest == nil || noSpecs == nil {
				top, rel = dir, below
			}
			if dir == "." || dir == "/" {
				break
			}
			dir, below = path.Dir(dir), path.Join(path.Base(dir), below)
		}
	}
	folder, err := rootfs.Open(top)
	if err != nil {
		return Root{}, err
	}
	if rel != "" {
		folder.Trust(rel, name) // that it is a link to somewhere else is the user's decision
	}
	root := Root{FS: folder, Name: top, Only: rel, Above: above(top)}
	root.nameFolders()
	return root, nil
}

// nameFolders finds the names of the folders of a root. A repository is a checkout, or an archive of one, which has no
// .git. A workspace is no such repository: what lies in it may be anybody's.
func (r *Root) nameFolders() {
	abs, err := filepath.Abs(r.Name)
	if err != nil {
		return // the current folder was deleted
	}
	r.Path = filepath.ToSlash(abs)
	has := func(dir string, marks ...string) bool {
		return slices.ContainsFunc(marks, func(mark string) bool {
			_, err := os.Lstat(filepath.Join(dir, mark))
			return err == nil
		})
	}
	for dir := abs; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if has(dir, ".git", ".github", "LICENSE") {
			r.Folders = filepath.ToSlash(strings.TrimPrefix(abs, filepath.Dir(dir)+string(filepath.Separator)))
			r.Repository = true
			return
		}
		if has(filepath.Dir(dir), "ttreport.yaml", "history") {
			break
		}
	}
	r.Folders = filepath.Base(abs)
	if here, err := filepath.Abs("."); err == nil {
		if rel, isBelow := strings.CutPrefix(abs, here+string(filepath.Separator)); isBelow {
			r.Folders = filepath.ToSlash(rel)
		}
	}
}

// levelsUp is how many folders above a root are searched for a manifest.
const levelsUp = 6

// above finds the user's manifests in the folders above a folder, nearest first, within the repository or the workspace
// that it is in, if it is in one.
func above(name string) []Above {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil // the current folder was deleted; files below it can still be read
	}
	results, err := os.Stat(abs)
	if err != nil {
		return nil
	}
	var out []Above
	below := ""
	isOne := func(mark string) bool { // abs is a repository, or a workspace
		_, err := os.Stat(filepath.Join(abs, mark))
		return err == nil
	}
	for range levelsUp {
		if slices.ContainsFunc([]string{".git", "ttreport.yaml", "history"}, isOne) || filepath.Dir(abs) == abs {
			break
		}
		below = path.Join(filepath.Base(abs), below)
		abs, name = filepath.Dir(abs), path.Join(name, "..")
		info, err := os.Lstat(filepath.Join(abs, manifest.FileName))
		if err != nil {
			continue
		}
		if folder, err := rootfs.Open(name); err == nil {
			out = append(out, Above{
				Root{FS: folder, Name: name, Only: manifest.FileName}, below, userdir.Foreign(info, results),
			})
		}
	}
	return out
}

// specFolder is the folder of a workflow_logs tree with its runtime specs.
const specFolder = "runtime_model_specs"

// onlyFile lists the single file to read, those that describe it, and those that its tool wrote beside it and that are
// one measurement with it: read without them it would be another one.
func onlyFile(root *Root) []found {
	names := []string{root.Only + manifest.SidecarSuffix}
	glob := func(patterns ...string) {
		for _, pattern := range patterns {
			if more, err := fs.Glob(root.FS, pattern); err == nil { // a folder's name may hold what a pattern means
				names = append(names, more...)
			}
		}
	}
	for dir := range foldersOf(root.Only) {
		names = append(names, path.Join(dir, manifest.FileName), path.Join(dir, manifest.JournalName))
		glob(path.Join(dir, specFolder, "*.json"))
	}
	dir, base := path.Split(root.Only)
	stamp := lmeval.Stamp(base)
	switch {
	case strings.HasPrefix(base, "profile_export"): // AIPerf's summary, records and table
		glob(dir+"profile_export*.json", dir+"profile_export*.jsonl", dir+"profile_export*.csv")
	case stamp != "": // lm-evaluation-harness names its results as it is told, or results_…
		glob(dir+"*_"+stamp+".json", dir+"samples_*_"+stamp+".jsonl")
	case strings.HasSuffix(base, "_lifecycle_metrics.json"): // stages of inference-perf, and their summary
		glob(dir + "*_lifecycle_metrics.json")
	case base == "benchmark_summary.json", base == "benchmark_percentile.json", base == "benchmark_args.json":
		glob(dir + "benchmark_*.json") // of evalscope
	case strings.HasSuffix(base, ".pytorch.json"):
		glob(strings.TrimSuffix(root.Only, ".pytorch.json") + ".json")
	}
	out := []found{at(root, root.Only)}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if info, err := fs.Stat(root.FS, name); name != root.Only && err == nil && info.Mode().IsRegular() {
			out = append(out, at(root, name))
		}
	}
	return out
}

// found is a file that a walk met.
type found struct {
	root *Root
	rel  string      // within the root
	name string      // as the user would write it
	info fs.FileInfo // what listing its folder told, for [Fingerprint]; else nil
}

// at returns a file of a root.
func at(root *Root, rel string) found {
	if root.Name == "" || root.Name == "." {
		return found{root: root, rel: rel, name: rel}
	}
	return found{root: root, rel: rel, name: root.Name + "/" + rel}
}

// shown returns the path as the user would write it.
func (f found) shown() string { return f.name }

// place is the whole path on the disk: what tools call folders counts, wherever below them somebody stands.
func (f found) place() string {
	if f.root.Path == "" {
		return f.name
	}
	return path.Join(f.root.Path, f.rel)
}

// walk lists the files of all roots, each once, since roots may overlap: of each in lexical order. Links to folders are
// followed unless they lead back to a parent folder; hidden folders are skipped. withInfo keeps what listing a folder
// tells of its files.
func walk(roots []Root, withInfo bool) (files []found, problems []schema.Problem) {
	seen := map[string]bool{}
	for i := range roots {
		root := &roots[i]
		w := walker{root: root, withInfo: withInfo}
		for j := range root.Above {
			a := at(&root.Above[j].Root, manifest.FileName)
			if !root.Above[j].Foreign {
				w.files = append(w.files, a)
				continue
			}
			w.problems = append(w.problems, schema.Problem{
				Severity: schema.SevWarning, Path: a.shown(), Code: "foreign-manifest",
				Found:    "a manifest that belongs to another user, above the folder that is read",
				Expected: "one of yours, or of the owner of the results", Used: "nothing of it",
				Hint: "copy it beside the results if it is about them",
			})
		}
		if root.Only != "" {
			w.files = append(w.files, onlyFile(root)...)
		} else if info, err := fs.Stat(root.FS, "."); err != nil {
			w.problem(".", err)
		} else {
			w.dir(".", []fs.FileInfo{info})
		}
		problems, files = append(problems, w.problems...), append(files, w.files...)
	}
	return slices.DeleteFunc(files, func(f found) bool {
		was := seen[f.name]
		seen[f.name] = true
		return was
	}), problems
}

type walker struct {
	root     *Root
	files    []found
	problems []schema.Problem
	linked   []fs.FileInfo // folders that links lead to
	withInfo bool
}

func (w *walker) problem(rel string, err error) {
	w.problems = append(w.problems, unreadable(at(w.root, rel), err))
}

// unreadable is the problem of a file or folder that cannot be read, or must not be.
func unreadable(f found, err error) schema.Problem {
	found := err.Error()
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		found = pe.Err.Error() // the problem shows the path already
	}
	p := schema.Problem{
		Severity: schema.SevError, Path: f.shown(), Code: schema.CodeUnreadable, Found: found,
		Expected: "a readable file or folder", Hint: "check its permissions, or leave it out",
	}
	switch {
	case errors.Is(err, rootfs.ErrLeadsOut):
		p.Code, p.Expected, p.Used = "leads-out", "files and links within the folder that is read", "nothing of it"
		p.Hint = "put the file itself there, or name what it leads to on the command line"
	case errors.Is(err, rootfs.ErrNotRegular):
		p.Code, p.Severity, p.Used = "not-a-file", schema.SevWarning, "nothing of it"
		p.Expected, p.Hint = "a regular file or a folder", "leave it out"
	}
	return p
}

func (w *walker) dir(rel string, above []fs.FileInfo) {
	entries, err := fs.ReadDir(w.root.FS, rel)
	if err != nil {
		w.problem(rel, err)
		return
	}
	for _, e := range entries {
		name, mode := path.Join(rel, e.Name()), e.Type()
		isLink := mode&fs.ModeSymlink != 0
		if isLink {
			info, err := fs.Stat(w.root.FS, name)
			if err != nil {
				w.problem(name, err)
				continue
			}
			if mode = info.Mode().Type(); mode.IsDir() {
				if isAmong(w.linked, info) {
					continue // further links to a folder are skipped
				}
				w.linked = append(w.linked, info)
			}
		}
		switch {
		case !isLink && strings.HasPrefix(e.Name(), durable.Temporary): // left by a kill before it had its name
		case mode.IsRegular():
			f := at(w.root, name)
			if w.withInfo && !isLink {
				f.info, _ = e.Info() // whoever reads a file that is gone by now misses it
			}
			w.files = append(w.files, f)
		case mode.IsDir():
			w.enter(name, above)
		default:
			w.problem(name, rootfs.ErrNotRegular)
		}
	}
}

func (w *walker) enter(name string, above []fs.FileInfo) {
	base := path.Base(name)
	// Hidden folders that a tool leaves results in: tt-inference-server runs AIPerf in its environments, and repositories
	// on the Hub state scores in one.
	hasResults := base == ".workflow_venvs" || base == ".eval_results" || strings.HasPrefix(base, ".venv_benchmarks_")
	isOther := slices.Contains([]string{"node_modules", "__pycache__", "_site"}, base)
	if isOther || strings.HasPrefix(base, ".") && !hasResults {
		return
	}
	info, err := fs.Stat(w.root.FS, name)
	if err != nil {
		w.problem(name, err)
		return
	}
	if isAmong(w.root.Own, info) {
		return
	}
	if isAmong(above, info) {
		w.problems = append(w.problems, schema.Problem{
			Severity: schema.SevNote, Path: at(w.root, name).shown(), Code: "directory-loop",
			Found: "a folder that contains itself by way of a link", Used: "the folder once", Hint: "nothing to do",
		})
		return
	}
	w.dir(name, append(above[:len(above):len(above)], info))
}

func isAmong(folders []fs.FileInfo, info fs.FileInfo) bool {
	return slices.ContainsFunc(folders, func(f fs.FileInfo) bool { return os.SameFile(f, info) })
}

// sideFiles indexes the files that describe results and are not results themselves.
type sideFiles struct {
	sidecars  map[string]manifest.Sidecar  // by the path of the result
	manifests map[string]manifest.Manifest // by folder
	journals  map[string]*source           // by run folder
	specs     map[string][]*source         // runtime specs, by the folder that they describe
	reports   map[string][]*source         // data of reports, likewise: they state the identity if no spec does
	commands  map[string]*source           // .commands files, by the path of the result without its extension
	facts     map[string]*source           // small JSON files that may state facts of a folder, by their path
}

// indexSideFiles finds them among the sources. Faults of a file become problems of its source.
func indexSideFiles(sources []*source) sideFiles {
	side := sideFiles{
		sidecars: map[string]manifest.Sidecar{}, manifests: map[string]manifest.Manifest{},
		journals: map[string]*source{}, commands: map[string]*source{},
		specs: map[string][]*source{}, reports: map[string][]*source{}, facts: factsFiles(sources),
	}
	for _, src := range sources {
		dir := path.Dir(src.shown())
		isRead := src.file.SHA256 != ""
		var fault *schema.Problem
		switch {
		case src.role == roleSidecar && isRead:
			var s manifest.Sidecar
			if s, fault = manifest.ReadSidecar(src.shown(), src.file.Data); fault == nil {
				side.sidecars[strings.TrimSuffix(src.shown(), manifest.SidecarSuffix)] = s
				src.reading.Detail = "of " + s.Result
			}
		case src.role == roleManifest && isRead:
			var m manifest.Manifest
			if m, fault = manifest.Read(src.shown(), src.file.Data); fault == nil {
				side.manifests[dir] = m
				src.reading.Detail = "for " + dir
			}
		case src.role == roleJournal && isRead:
			side.journals[dir] = src
		case src.reading.Format == ttis.Spec:
			side.specs[path.Dir(dir)] = append(side.specs[path.Dir(dir)], src)
		case src.reading.Format == ttis.ReportData:
			tree := reportTree(src.shown())
			side.reports[tree] = append(side.reports[tree], src)
		case src.commands != nil:
			side.commands[strings.TrimSuffix(src.shown(), vllm.CommandsSuffix)] = src
		}
		if fault != nil {
			src.report(*fault)
		}
	}
	return side
}

// dropLogs leaves out what a tool printed beside its own result, whether or not the numbers agree: a sidecar names the
// log, and both are one measurement.
func (side *sideFiles) dropLogs(sources []*source) {
	of := map[string]string{} // results, by their log
	for result, s := range side.sidecars {
		if log := path.Join(path.Dir(result), s.Log); s.Log != "" && log != result {
			of[log] = result
		}
	}
	for _, src := range sources {
		if result := of[src.shown()]; result != "" && src.counts() {
			src.drop(result)
		}
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
	for dir := range foldersOf(f.shown()) {
		if m, ok := side.manifests[dir]; ok {
			out = append(out, placedManifest{m, dir, strings.TrimPrefix(f.shown(), dir+"/")})
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

// isBelow reports that a file lies in a folder or below it.
func (f found) isBelow(dir string) bool { return dir == "." || strings.HasPrefix(f.shown(), dir+"/") }

// foldersOf are the folders in which a file is, the nearest first.
func foldersOf(file string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir := path.Dir(file); yield(dir) && dir != "." && dir != "/"; {
			dir = path.Dir(dir)
		}
	}
}

// ofFolders returns what an index by folder has for the folders in which a file is, the nearest first.
func ofFolders(file string, index map[string][]*source) (out []*source) {
	for dir := range foldersOf(file) {
		out = append(out, index[dir]...)
	}
	return out
}

// specFor returns the newest runtime spec of the same tree and model id that is not newer than the result, or the
// oldest when all are newer; a tree with one spec needs no model id. Both times are the host's local time.
func (side *sideFiles) specFor(src *source, modelID string) *source {
	specs, start := ofFolders(src.shown(), side.specs), src.reading.Facts.Start
	var best *source
	for _, s := range specs {
		if modelID != "" && strings.Trim(string(s.reading.Extra["ttis_model_id"]), `"`) != modelID {
			continue
		}
		t := s.reading.Facts.Start
		switch {
		case best == nil:
			best = s
		case !start.IsZero() && best.reading.Facts.Start.After(start): // an older one may fit better
			if t.Before(best.reading.Facts.Start) {
				best = s
			}
		case t.After(best.reading.Facts.Start) && (start.IsZero() || !t.After(start)):
			best = s
		}
	}
	if modelID == "" && len(specs) != 1 {
		return nil
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
