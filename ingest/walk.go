package ingest

import (
	"errors"
	"fmt"
	"io/fs"
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
)

// Root is where a walk starts. Name prefixes every path shown. Only, when set, is the single file wanted. Own are
// folders that are not entered, since what lies in them was made of results: history, sites, caches.
type Root struct {
	FS    fs.FS
	Name  string
	Only  string
	Above []Above
	Own   []fs.FileInfo
	// Tables are mappings of the user's own for files that no tool's format describes.
	Tables []table.Table
}

// Above is a folder above a root with a manifest, which applies to everything below. Below is the root's path within
// it.
type Above struct {
	Root  Root
	Below string
}

// OSRoot makes a root from a path of the operating system: a folder, or one file. It includes the files that describe
// it: the manifests of the folders above, and for a file its sidecar and runtime specs.
func OSRoot(name string) (Root, error) {
	name = path.Clean(name)
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return Root{}, err
	case info.IsDir():
		return newRoot(name, "", "")
	case !info.Mode().IsRegular():
		return Root{}, fmt.Errorf("%s is neither a file nor a folder", name)
	}
	top, rel := path.Dir(name), path.Base(name)
	dir, below := top, rel
	for range levelsUp {
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
	return newRoot(top, rel, name)
}

// newRoot opens a folder, which reading does not leave. named is the path of the file that the user asked for: that it
// is a link to somewhere else is the user's decision.
func newRoot(dir, only, named string) (Root, error) {
	folder, err := rootfs.Open(dir)
	if err != nil {
		return Root{}, err
	}
	if only != "" {
		folder.Trust(only, named)
	}
	return Root{FS: folder, Name: dir, Only: only, Above: above(dir)}, nil
}

// levelsUp is how many folders above a root are searched for a manifest.
const levelsUp = 6

// above finds the manifests of the folders above a folder, nearest first, within its repository if it is in one.
func above(name string) []Above {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil // the current folder was deleted; files below it can still be read
	}
	var out []Above
	below := ""
	for range levelsUp {
		if _, err := os.Stat(filepath.Join(abs, ".git")); err == nil || filepath.Dir(abs) == abs {
			break
		}
		below = path.Join(filepath.Base(abs), below)
		abs, name = filepath.Dir(abs), path.Join(name, "..")
		if _, err := os.Lstat(filepath.Join(abs, manifest.FileName)); err != nil {
			continue
		}
		if folder, err := rootfs.Open(name); err == nil {
			out = append(out, Above{Root{FS: folder, Name: name, Only: manifest.FileName}, below})
		}
	}
	return out
}

// specFolder is the folder of a workflow_logs tree with its runtime specs.
const specFolder = "runtime_model_specs"

// onlyFile lists the single file to read and those that describe it.
func onlyFile(root *Root) []found {
	names := []string{root.Only, root.Only + manifest.SidecarSuffix}
	for dir := path.Dir(root.Only); ; dir = path.Dir(dir) {
		names = append(names, path.Join(dir, manifest.FileName), path.Join(dir, manifest.JournalName))
		if specs, err := fs.Glob(root.FS, path.Join(dir, specFolder, "*.json")); err == nil {
			names = append(names, specs...)
		}
		if dir == "." {
			break
		}
	}
	names = append(names, companions(root)...)
	out := []found{at(root, root.Only)}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names[1:]))) {
		if name == root.Only {
			continue
		}
		if info, err := fs.Stat(root.FS, name); err == nil && info.Mode().IsRegular() {
			out = append(out, at(root, name))
		}
	}
	return out
}

// companions lists the files that a tool wrote beside the one that is wanted and that are one measurement with it: read
// without them it would be another one.
func companions(root *Root) []string {
	dir, base := path.Split(root.Only)
	var patterns []string
	switch {
	case strings.HasPrefix(base, "profile_export"): // AIPerf's summary, records and table
		patterns = []string{"profile_export*.json", "profile_export*.jsonl", "profile_export*.csv"}
	case lmeval.Stamp(base) != "": // lm-evaluation-harness names its results as it is told, or results_…
		patterns = []string{"*_" + lmeval.Stamp(base) + ".json", "samples_*_" + lmeval.Stamp(base) + ".jsonl"}
	case strings.HasSuffix(base, "_lifecycle_metrics.json"): // stages of inference-perf, and their summary
		patterns = []string{"*_lifecycle_metrics.json"}
	case base == "benchmark_summary.json", base == "benchmark_percentile.json", base == "benchmark_args.json":
		patterns = []string{"benchmark_*.json"} // of evalscope
	case strings.HasSuffix(base, ".pytorch.json"):
		patterns = []string{strings.TrimSuffix(base, ".pytorch.json") + ".json"}
	}
	var out []string
	for _, pattern := range patterns {
		if found, err := fs.Glob(root.FS, dir+pattern); err == nil { // a folder's name may hold what a pattern means
			out = append(out, found...)
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

// skipped names folders that never hold results of their own.
const skipped = " node_modules __pycache__ _site "

// walk lists the files of a root in lexical order. Links to folders are followed unless they lead back to a parent
// folder; hidden folders are skipped.
func walk(root *Root) ([]found, []schema.Problem) { return (&walker{root: root}).walk() }

func (w *walker) walk() ([]found, []schema.Problem) {
	root := w.root
	var files []found
	for i := range root.Above {
		files = append(files, at(&root.Above[i].Root, manifest.FileName))
	}
	if root.Only != "" {
		return append(files, onlyFile(root)...), nil
	}
	w.files = files
	if info, err := fs.Stat(root.FS, "."); err != nil {
		w.problem(".", err)
	} else {
		w.dir(".", []fs.FileInfo{info})
	}
	return w.files, w.problems
}

// withResults names hidden folders that a tool leaves results in: tt-inference-server runs AIPerf in its environments.
func withResults(base string) bool {
	return base == ".workflow_venvs" || strings.HasPrefix(base, ".venv_benchmarks_")
}

type walker struct {
	root     *Root
	files    []found
	problems []schema.Problem
	linked   []fs.FileInfo // folders that links lead to
	infos    bool          // keep what listing a folder tells of its files
}

func (w *walker) problem(rel string, err error) {
	w.problems = append(w.problems, unreadable(at(w.root, rel), err))
}

// unreadable is the problem of a file or folder that cannot be read, or must not be.
func unreadable(f found, err error) schema.Problem {
	p := schema.Problem{
		Severity: schema.SevError, Path: f.shown(), Code: "unreadable", Found: reason(err),
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

// reason returns an error without the path that its problem shows already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

func (w *walker) dir(rel string, above []fs.FileInfo) {
	entries, err := fs.ReadDir(w.root.FS, rel)
	if err != nil {
		w.problem(rel, err)
		return
	}
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		switch mode := e.Type(); {
		case strings.HasPrefix(e.Name(), durable.Temporary): // a result that a kill left before it had its name
		case mode.IsRegular():
			w.file(name, e)
		case mode.IsDir():
			w.enter(name, above)
		case mode&fs.ModeSymlink != 0:
			w.link(name, above)
		default:
			w.problem(name, rootfs.ErrNotRegular)
		}
	}
}

// file adds a regular file. One that is gone by now is missed by whoever reads it.
func (w *walker) file(name string, e fs.DirEntry) {
	f := at(w.root, name)
	if w.infos {
		if info, err := e.Info(); err == nil {
			f.info = info
		}
	}
	w.files = append(w.files, f)
}

func (w *walker) enter(name string, above []fs.FileInfo) {
	base := path.Base(name)
	if strings.HasPrefix(base, ".") && !withResults(base) || strings.Contains(skipped, " "+base+" ") {
		return
	}
	info, err := fs.Stat(w.root.FS, name)
	if err != nil {
		w.problem(name, err)
		return
	}
	if slices.ContainsFunc(w.root.Own, func(own fs.FileInfo) bool { return os.SameFile(own, info) }) {
		return
	}
	for _, up := range above {
		if os.SameFile(up, info) {
			w.problems = append(w.problems, schema.Problem{
				Severity: schema.SevNote, Path: at(w.root, name).shown(), Code: "directory-loop",
				Found: "a folder that contains itself by way of a link", Used: "the folder once", Hint: "nothing to do",
			})
			return
		}
	}
	w.dir(name, append(above[:len(above):len(above)], info))
}

func (w *walker) link(name string, above []fs.FileInfo) {
	info, err := fs.Stat(w.root.FS, name)
	switch {
	case err != nil:
		w.problem(name, err)
	case info.Mode().IsRegular():
		w.files = append(w.files, at(w.root, name))
	case info.IsDir():
		for _, before := range w.linked {
			if os.SameFile(before, info) {
				return // further links to a folder are skipped
			}
		}
		w.linked = append(w.linked, info)
		w.enter(name, above)
	default:
		w.problem(name, rootfs.ErrNotRegular)
	}
}
