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

	"github.com/ttreport/ttreport/ingest/aiperf"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/evalscope"
	"github.com/ttreport/ttreport/ingest/guidellm"
	"github.com/ttreport/ttreport/ingest/inferenceperf"
	"github.com/ttreport/ttreport/ingest/lmeval"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/table"
	"github.com/ttreport/ttreport/ingest/ttis"
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

// readableInPart reports the formats whose truncated files are read: what comes before the cut is complete in itself.
func readableInPart(format string) bool { return format == lmeval.Format || format == lmeval.LMMs }

// joinParts merges a summary and its parts into one measurement, for tools that write both.
func joinParts(sources []*source) {
	byDir := map[string][]*source{}
	for _, s := range sources {
		dir := path.Dir(s.shown())
		byDir[dir] = append(byDir[dir], s)
	}
	for _, s := range sources {
		near := byDir[path.Dir(s.shown())]
		switch s.reading.Format {
		case aiperf.Records:
			joinRecords(s, near)
		case lmeval.Samples:
			joinSamples(s, near)
		case evalscope.Percentiles, evalscope.Arguments:
			joinLoadTest(s, near)
		}
	}
	dropConsole(sources)
	for _, s := range sources { // after records were joined: a table repeats whatever stands beside it
		near := byDir[path.Dir(s.shown())]
		switch s.reading.Format {
		case aiperf.CSV, aiperf.GenAICSV:
			dropTable(s, near)
		case guidellm.Table:
			dropReportTable(s, near)
		case aiperf.Sweep, aiperf.SweepTable:
			dropAggregate(s, near, sources)
		case inferenceperf.Format:
			dropSummary(s, near)
		}
	}
}

// joinLoadTest puts percentiles and arguments of evalscope into the summary beside them. Alone they are no result.
func joinLoadTest(s *source, near []*source) {
	for _, own := range near {
		if own.reading.Format == evalscope.Format && own.counts() {
			unpack(own.reading.Points)
			unpack(s.reading.Points)
			evalscope.Combine(&own.reading, s.reading)
			s.drop(own.shown())
			return
		}
	}
	s.reading.Points = nil
}

// dropTable drops AIPerf's table where the summary or the records that it repeats stand beside it.
func dropTable(s *source, near []*source) {
	for _, o := range near {
		format := o.reading.Format
		repeated := format == aiperf.Format || format == aiperf.GenAI || format == aiperf.Records && o.counts()
		if repeated && (isDefault(s) && isDefault(o) || aiperfStem(s) == aiperfStem(o)) {
			s.drop(o.shown())
			return
		}
	}
}

// dropAggregate drops AIPerf's aggregate of a sweep where the runs that it is made of are below the same folder, and
// its table where the aggregate is beside it.
func dropAggregate(s *source, near, all []*source) {
	for _, o := range near {
		if s.reading.Format == aiperf.SweepTable && o.reading.Format == aiperf.Sweep && o.stem() == s.stem() {
			s.drop(o.shown())
			return
		}
	}
	sweep := path.Dir(path.Dir(s.shown()))
	for _, o := range all {
		if o.reading.Format == aiperf.Format && (sweep == "." || strings.HasPrefix(o.shown(), sweep+"/")) {
			s.drop(path.Dir(o.shown()))
			return
		}
	}
}

// dropReportTable drops GuideLLM's table where the report of the same name, which has more statistics, is beside it.
func dropReportTable(s *source, near []*source) {
	for _, o := range near {
		if o.reading.Format == guidellm.Format && o.stem() == s.stem() && o.counts() {
			s.drop(o.shown())
			return
		}
	}
}

// dropSummary drops inference-perf's summary of all stages if the stages are in the same folder.
func dropSummary(s *source, near []*source) {
	if !inferenceperf.IsSummary(s.rel) {
		return
	}
	for _, o := range near {
		if o.reading.Format == inferenceperf.Format && !inferenceperf.IsSummary(o.rel) {
			s.drop(path.Dir(o.shown()))
			return
		}
	}
}

// joinRecords merges AIPerf's records into the summary that they belong to: the one of the same name, or the only one
// in the folder. Records next to summaries of other names are a problem.
func joinRecords(s *source, near []*source) {
	var summaries []*source
	var own *source
	for _, o := range near {
		if o.reading.Format == aiperf.Format && o.counts() {
			summaries = append(summaries, o)
			if aiperfStem(o) == s.stem() {
				own = o
			}
		}
	}
	switch {
	case len(summaries) == 0:
		if !slices.ContainsFunc(near, isTable) { // the table is written with the summary
			unpack(s.reading.Points)
			aiperf.Unfinished(&s.reading)
		}
		return
	case own == nil && len(summaries) == 1 && (isDefault(s) || isDefault(summaries[0])):
		own = summaries[0]
	case own == nil:
		s.report(schema.Problem{
			Severity: schema.SevWarning, Path: s.shown(), Code: "records-of-nobody",
			Found: "request records beside summaries of other names", Used: "the summaries alone",
			Hint: "keep each run in a folder of its own",
		})
		s.reading.Points = nil
		return
	}
	unpack(own.reading.Points)
	unpack(s.reading.Points)
	aiperf.Combine(&own.reading, s.reading)
	s.drop(own.shown())
	s.reading.Detail += " of " + path.Base(own.rel)
}

// isTable reports AIPerf's table of a summary.
func isTable(s *source) bool { return s.reading.Format == aiperf.CSV && s.counts() }

// isDefault reports the name that AIPerf gives its files; with a prefix of one's own all files of a run have it.
func isDefault(s *source) bool { return strings.HasPrefix(s.stem(), "profile_export") }

// aiperfStem returns the part of a name that AIPerf's summary, records and table have in common.
func aiperfStem(s *source) string { return strings.TrimSuffix(s.stem(), "_aiperf") }

// joinSamples merges the items of a task into the results that they belong to: those of the same time stamp, or the
// only ones in the folder.
func joinSamples(s *source, near []*source) {
	var results []*source
	stamp := lmeval.Stamp(s.rel)
	for _, o := range near {
		if o.reading.Format == lmeval.Format || o.reading.Format == lmeval.LMMs || o.reading.Format == lmeval.Old {
			if stamp == "" || lmeval.Stamp(o.rel) == stamp || lmeval.Stamp(o.rel) == "" {
				results = append(results, o)
			}
		}
	}
	for _, own := range results {
		if lmeval.Combine(&own.reading, s.reading) {
			s.drop(own.shown())
			s.reading.Detail += " of " + path.Base(own.rel)
			return
		}
	}
	if len(results) > 0 { // its scores are pairs and texts that only the harness can aggregate
		s.drop(results[0].shown())
	}
}

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
