package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/llamabench"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/targets/judge"
)

func identifyCommand(sh *shell) *cobra.Command {
	var all, write bool
	id := &identity{}
	return command("identify", id.flags(map[string]any{
		"all": &all, "write": &write,
	}), func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fail(exitUsage, "ttreport identify results/", "identify: one folder, file or archive is expected")
		}
		ws, err := openWorkspace(".")
		if err != nil {
			return err
		}
		set, err := load(c.Context(), ws, args, id)
		if err != nil {
			return err
		}
		if len(set.Runs) == 0 {
			return fail(exitInput, "ttreport inspect "+args[0]+" lists what each file is", "identify: nothing was read from %s",
				plaintext.Plural(len(set.Files), "file"))
		}
		is := &identification{set: set}
		is.runs, is.unlike = identified(set)
		if err := is.propose(args[0], id, func(m manifest.Manifest) (ingest.Set, error) {
			more := *id
			more.without = noResults(set.Files)
			more.patterns, more.factsFrom = strings.FieldsFunc(m.Pattern, func(c rune) bool { return c == '\n' }), m.FactsFrom
			return load(c.Context(), ws, args, &more)
		}); err != nil {
			return err
		}
		if is.list(listing{sh.out, commonFolder(set.Files), all}); write {
			return is.write(sh)
		}
		return nil
	})
}

// noResults are the files that say nothing of results, whatever is stated of them.
func noResults(files []ingest.File) map[string]bool {
	out := map[string]bool{}
	for i := range files {
		f := &files[i]
		out[f.Path] = f.Facts == nil && (f.Format == ingest.NotResult || f.Format == ingest.Unknown)
	}
	return out
}

// knownFact is a fact of a run: its field in the provenance, and what to do where nothing states it, "" where it may be
// left out.
type knownFact struct {
	name, field, state string
	of                 func(*schema.Run) string
}

func knownFacts() []knownFact {
	day := func(r *schema.Run) string {
		if r.Start.IsZero() {
			return ""
		}
		return r.Start.Format("2006-01-02")
	}
	return []knownFact{
		{"model", "model.name", "--model NAME, {model} in --pattern, or a column of a table that is mapped as model",
			func(r *schema.Run) string { return r.Model.Name }},
		{"device", "device.name", "--device NAME, or {device} in --pattern",
			func(r *schema.Run) string { return r.Device.Name }},
		{"release", "release", "--release LABEL, or {release} in --pattern; without one nothing is judged",
			func(r *schema.Run) string { return r.Release }},
		{"date", "start", "start: in a manifest, or a day in the name of a folder; without one a run has no place in time",
			day},
		{"implementation", "impl", "", func(r *schema.Run) string { return r.Impl }},
		{"engine", "stack.engine", "",
			func(r *schema.Run) string { return strings.TrimSpace(r.Stack.Engine + " " + r.Stack.Version) }},
	}
}

// statedFact is a fact of one run, and what states it.
type statedFact struct {
	value string
	from  schema.From
}

// identifiedRun is what is known of a run.
type identifiedRun struct {
	build   string                // the release, or the run itself
	facts   map[string]statedFact // by name; none where nothing states it
	files   []string
	results int
	system  schema.System
	series  int             // runs of one are compared over builds
	apart   string          // what tells its series from another of its system
	keys    map[string]bool // of its workloads and tasks
	isTable bool            // of llama-bench, which states the architecture in place of the model
}

// asJudged are the heads of runs as a judgement has them, the build of each, and what only names say of them.
func asJudged(runs []schema.Run) (heads []columns.RunHead, builds []string, unlike []schema.Problem) {
	all := columns.NewBuilder()
	for i := range runs {
		all.Add(&runs[i], "", "")
	}
	cols := all.Seal()
	releases := judge.Releases(cols, nil)
	isOther := func(p schema.Problem) bool { return p.Code != judge.CodeNames }
	unlike = slices.DeleteFunc(judge.Repeats(cols, releases, nil, ""), isOther)
	builds = make([]string, len(runs))
	for i := range releases {
		for _, run := range releases[i].Runs {
			builds[run] = releases[i].Name
		}
	}
	return cols.Runs, builds, unlike
}

// identified says of each run what is known of it, and which builds and series a judgement would make of them.
func identified(set ingest.Set) (out []identifiedRun, unlike []schema.Problem) {
	out = make([]identifiedRun, len(set.Runs))
	heads, builds, unlike := asJudged(set.Runs)
	var first []int // of each series
	for i := range set.Runs {
		r, is := &set.Runs[i], &out[i]
		*is = identifiedRun{
			build: builds[i], system: heads[i].System(),
			results: len(r.Points) + len(r.Scores), facts: map[string]statedFact{}, keys: map[string]bool{},
		}
		is.system.Device = schema.FoldDevice(is.system.Device)
		isOne := func(run int) bool {
			of, other := judge.Apart(&heads[run], &heads[i])
			isSystem := out[run].system == is.system
			if isSystem && of != "" {
				out[run].apart, is.apart = of, other
			}
			return isSystem && of == ""
		}
		at := slices.IndexFunc(first, isOne)
		if at < 0 {
			at, first = len(first), append(first, i)
		}
		is.series = at
		for _, f := range knownFacts() {
			v, origin := f.of(r), r.Provenance[f.field]
			if v == "" {
				continue
			}
			if of, has := r.Provenance["model.id"]; has && f.name == "model" && origin.From == schema.FromDerived {
				origin = of
			}
			if strings.Contains(origin.Where, "{") && origin.From == schema.FromPath {
				origin.From = "pattern"
			}
			is.facts[f.name] = statedFact{v, cmp.Or(origin.From, schema.FromFile)}
		}
		is.measured(r)
	}
	return out, unlike
}

// fromNames is what states a workload of unknown lengths.
const fromNames = "names of files"

// measured says what a run measured, in which files, and what states its workloads.
func (is *identifiedRun) measured(r *schema.Run) {
	files, from := map[string]bool{}, map[string]bool{}
	for i := range r.Points {
		p := &r.Points[i]
		files[p.Source.Path], is.keys[p.Key.String()] = true, true
		is.isTable = is.isTable || p.Source.Format == llamabench.Table
		switch {
		case p.Stated[schema.DimLabel] == string(schema.FromPath):
			from[fromNames] = true
		case len(p.Stated) == 0:
			from[string(schema.FromFile)] = true
		default:
			for _, kind := range p.Stated {
				if strings.HasPrefix(kind, ingest.FromCopy) {
					kind = string(schema.FromFile)
				}
				from[kind] = true
			}
		}
	}
	for i := range r.Scores {
		s := &r.Scores[i]
		key := fmt.Sprint(s.Task, " ", s.Metric, " ", s.Filter, s.Asked())
		files[s.Source.Path], is.keys[key], from[string(schema.FromFile)] = true, true, true
	}
	is.files = slices.Sorted(maps.Keys(files))
	stated := schema.From(strings.Join(slices.Sorted(maps.Keys(from)), ", "))
	is.facts["workload"] = statedFact{plaintext.Plural(len(is.keys), "workload"), stated}
}

// identification is what is known of the runs in some files, and what their names suggest.
type identification struct {
	set      ingest.Set
	runs     []identifiedRun
	named    map[string]*identifiedRun
	unlike   []schema.Problem  // what only names say of them
	doubts   []string          // names that may stand for several, or be of one
	manifest manifest.Manifest // that is proposed
	path     string            // where it would be
	with     []identifiedRun   // what would be known with it; nil where nothing new is proposed
}

// missing counts the runs that lack a fact.
func missing(runs []identifiedRun, fact string) (n int) {
	for i := range runs {
		if runs[i].facts[fact].value == "" {
			n++
		}
	}
	return n
}

// propose makes the manifest of what flags state and of what the names of folders and files suggest, if that says more
// than is known.
func (is *identification) propose(
	root string, id *identity, with func(manifest.Manifest) (ingest.Set, error),
) error {
	opt, _, err := id.input(nil, nil)
	if err != nil {
		return err
	}
	f := opt.Flags
	is.manifest = manifest.Manifest{Facts: schema.Facts{
		Release: f.Release, Channel: f.Channel, Model: f.Model, Impl: f.Impl, Device: f.Device, Stack: f.Stack,
	}}
	if info, err := os.Stat(root); err == nil && !info.IsDir() {
		root = filepath.Dir(root) // a manifest lies beside a file, and beside an archive
	}
	is.path = path.Join(filepath.ToSlash(root), manifest.FileName)
	if is.manifest.Pattern = strings.Join(id.patterns, "\n"); is.manifest.Pattern != "" {
		return nil // who states one knows what the names mean
	}
	more, err := is.withFacts(with)
	if err != nil || more == nil {
		return cmp.Or(err, is.guess(with))
	}
	err = more.guess(with)
	is.manifest, is.doubts, is.with = more.manifest, more.doubts, more.with
	if is.with == nil {
		is.with = more.runs
	}
	return err
}

// withFacts is what is known if a JSON file that folders of results have, as a script of the user's keeps them, is read
// for what is missing or in doubt; nil where no such file states it, or something else than the results do.
func (is *identification) withFacts(with func(manifest.Manifest) (ingest.Set, error)) (*identification, error) {
	var wanted []string
	for fact, of := range map[string]string{
		"model": "model", "device": "device", "engine": "engine", "version": "engine",
	} {
		if missing(is.runs, of) > 0 || fact == "model" && is.twoNames() != "" {
			wanted = append(wanted, fact)
		}
	}
	name, facts := is.factsFile(wanted)
	if len(facts) == 0 {
		return nil, nil
	}
	more := &identification{path: is.path, manifest: is.manifest}
	more.manifest.FactsFrom = map[string]map[string]string{name: facts}
	var err error
	if more.set, err = with(more.manifest); err != nil {
		return nil, err
	}
	more.runs, more.unlike = identified(more.set)
	stated := statedIn(is.runs, "model")
	for i := range more.runs {
		for _, file := range more.runs[i].files {
			if was := stated[file]; was != "" && !manifest.MayBeOneModel(was, more.runs[i].facts["model"].value) {
				return nil, nil
			}
		}
	}
	if is.with = more.runs; is.misleads(more.set) {
		is.with = nil
		return nil, nil
	}
	return more, nil
}

// factsFile is the name of the files that each state most of what is wanted, and where, of those that are about as many
// as the others.
func (is *identification) factsFile(wanted []string) (name string, most map[string]string) {
	have := slices.DeleteFunc(slices.Clone(is.set.Files), func(f ingest.File) bool { return f.Facts == nil })
	files := schema.Alike(have, func(f ingest.File) string { return path.Base(f.Path) })
	slices.SortStableFunc(files, func(a, b []ingest.File) int { return len(b) - len(a) })
	for _, list := range files {
		facts := manifest.ProposeFacts(list[0].Facts, wanted)
		for _, f := range list {
			_, _, _, lacking := manifest.ReadFacts(f.Facts, facts)
			for _, fact := range lacking {
				delete(facts, fact)
			}
		}
		if len(facts) > len(most) && 2*len(list) >= len(files[0]) {
			name, most = path.Base(list[0].Path), facts
		}
	}
	return name, most
}

// twoNames says in which folder results are of two names that may be one model's; "" for nowhere.
func (is *identification) twoNames() (example string) {
	names := map[string]map[string]bool{} // by folder
	for i := range is.runs {
		for _, file := range is.runs[i].files {
			dir := path.Dir(file)
			if names[dir] == nil {
				names[dir] = map[string]bool{}
			}
			names[dir][is.runs[i].facts["model"].value] = true
		}
	}
	n := 0
	for _, dir := range slices.Sorted(maps.Keys(names)) {
		if of := slices.Sorted(maps.Keys(names[dir])); len(of) == 2 && manifest.MayBeOneModel(of[0], of[1]) {
			if n++; n == 1 {
				example = fmt.Sprintf("what lies in %s is of %s and %s, which may be one", dir, of[0], of[1])
			}
		}
	}
	if n > 1 {
		example += fmt.Sprintf(" (and %s like it)", plaintext.Plural(n-1, "folder"))
	}
	return example
}

// guess proposes the first patterns for names of files that say more than is known, and nothing false: for all that is
// wanted, else for all but the model, else for what tells folders apart that would be one series.
func (is *identification) guess(with func(manifest.Manifest) (ingest.Set, error)) error {
	var files []manifest.Named
	is.named = map[string]*identifiedRun{}
	for i := range is.runs {
		for _, file := range is.runs[i].files {
			below := strings.TrimPrefix(file, path.Dir(path.Dir(is.path))+"/") // the folder with the manifest and its own
			files = append(files, manifest.Named{Path: below, Model: is.runs[i].facts["model"].value})
			is.named[below] = &is.runs[i]
		}
	}
	wanted := is.wanted(files)
	other := slices.DeleteFunc(slices.Clone(wanted), func(fact string) bool { return fact == "model" })
	tries := [][]string{is.patterns(files, wanted), is.patterns(files, other)}
	if len(is.unlike) > 0 {
		tries = append(tries, []string{manifest.ProposeConfig(files)})
	}
	var tried []string
	for _, patterns := range tries {
		text := strings.Join(patterns, "\n")
		if text == "" || slices.Contains(tried, text) { // each try reads all files again
			continue
		}
		tried = append(tried, text)
		is.manifest.Pattern = text
		set, err := with(is.manifest)
		if err != nil {
			return err
		}
		isUseless := func(p schema.Problem) bool { return p.Code == ingest.CodePattern && p.Severity == schema.SevError }
		is.with, _ = identified(set)
		if !slices.ContainsFunc(set.Problems, isUseless) && !is.misleads(set) {
			return nil
		}
		is.manifest.Pattern, is.with = "", nil
	}
	return nil
}

// patterns are those that names of files suggest for what is wanted: each of what the files lack that none before it
// matches.
func (is *identification) patterns(files []manifest.Named, wanted []string) (patterns []string) {
	const most = 3
	for len(files) > 0 && len(patterns) < most {
		pattern := manifest.Propose(files, wanted)
		p, err := manifest.NewPattern(pattern)
		isRead := func(f manifest.Named) bool { _, _, _, _, ok := p.Match(f.Path); return ok }
		left := slices.DeleteFunc(slices.Clone(files), isRead)
		if pattern == "" || err != nil || len(left) == len(files) {
			break
		}
		files, patterns = left, append(patterns, pattern)
		wanted = slices.DeleteFunc(slices.Clone(wanted), func(fact string) bool {
			isLacking := func(f manifest.Named) bool { return is.named[f.Path].facts[fact].value == "" }
			return !slices.ContainsFunc(left, isLacking)
		})
	}
	return patterns
}

// said is what runs state of each of their files, and how they call what it measured.
func said(runs []identifiedRun) map[string]bool {
	out := map[string]bool{}
	for i := range runs {
		r := &runs[i]
		for _, file := range r.files {
			out[fmt.Sprint(file, r.system, r.facts["release"].value)] = true
		}
		for key := range r.keys {
			out[key] = true
		}
	}
	return out
}

// results is how many points and scores count.
func results(set ingest.Set) (n int) {
	for i := range set.Runs {
		n += len(set.Runs[i].Points) + len(set.Runs[i].Scores)
	}
	return n
}

// misleads reports that what is proposed says nothing new, that copies count under a name of their own with it, that it
// calls a device otherwise than its files do, or a model: see [identification.misnames].
func (is *identification) misleads(set ingest.Set) bool {
	if results(set) > results(is.set) || maps.Equal(said(is.runs), said(is.with)) {
		return true
	}
	devices := statedIn(is.runs, "device")
	for i := range is.with {
		for _, file := range is.with[i].files {
			if was := devices[file]; was != "" && !schema.SameDevice(was, is.with[i].facts["device"].value) {
				return true
			}
		}
	}
	return strings.Contains(is.manifest.Pattern, "{model}") && is.misnames()
}

// misnames reports that a run is taken for a model, or that one name is given to models that the files tell apart, as a
// folder does of a model that holds its quantisations, or of an owner that holds models.
func (is *identification) misnames() bool {
	stated, of := statedIn(is.runs, "model"), map[string]string{}
	for i := range is.with {
		name := is.with[i].facts["model"].value
		if runName.MatchString(name) || manifest.IsSetup(name) {
			return true
		}
		for _, file := range is.with[i].files {
			was := stated[file]
			if other := of[name]; was != "" && other != "" && !strings.EqualFold(other, was) {
				return true
			}
			of[name] = cmp.Or(was, of[name])
		}
	}
	return false
}

// statedIn is what is known of each file; "" for nothing.
func statedIn(runs []identifiedRun, fact string) map[string]string {
	out := map[string]string{}
	for i := range runs {
		for _, file := range runs[i].files {
			out[file] = runs[i].facts[fact].value
		}
	}
	return out
}

// wanted lists the facts that names of folders and files are searched for, and notes what is doubtful.
func (is *identification) wanted(files []manifest.Named) []string {
	var wanted []string
	for _, fact := range []string{"release", "device", "model"} {
		if missing(is.runs, fact) > 0 {
			wanted = append(wanted, fact)
		}
	}
	isTable := func(r identifiedRun) bool { return r.isTable && r.facts["model"].from == schema.FromFile }
	if doubt := is.doubtedModel(files); doubt != "" {
		is.doubts = append(is.doubts, "model: "+doubt+". {model} in --pattern tells them apart")
		wanted = append(wanted, "model")
	} else if at := slices.IndexFunc(is.runs, isTable); at >= 0 {
		is.doubts = append(is.doubts, fmt.Sprintf("model: %s is an architecture of llama.cpp, which several models share. "+
			"--model NAME, or {model} in --pattern, names the model", is.runs[at].facts["model"].value))
		wanted = append(wanted, "model")
	}
	if doubt := is.twoNames(); doubt != "" {
		is.doubts = append(is.doubts, "model: "+doubt+". --model NAME for a folder of one model, facts_from: in a manifest, "+
			"or ttreport history rename, makes them one")
	}
	for _, s := range spellings(valuesOf(is.runs, "model"), valuesOf(is.runs, "device")) {
		fix := "--" + s.fact + " NAME makes them one"
		if len(valuesOf(is.runs, s.fact)) > 2 { // and all others with them
			fix = fmt.Sprintf("{%[1]s} in --pattern may name it; of what is stored, ttreport history rename --%[1]s '%[2]s' "+
				"--to-%[1]s '%[3]s'", s.fact, s.b, s.a)
		}
		is.doubts = append(is.doubts, fmt.Sprintf("%s: %s and %s may be one. %s", s.fact, s.a, s.b, fix))
	}
	for _, p := range is.unlike {
		fix, _, _ := strings.Cut(p.Hint, "; ") // behind it is this command
		is.doubts = append(is.doubts, "build: "+p.Found+". "+fix)
	}
	isNamed := func(r identifiedRun) bool { return strings.Contains(string(r.facts["workload"].from), fromNames) }
	if slices.ContainsFunc(is.runs, isNamed) { // what a pattern reads is no part of a workload's name
		wanted = append(wanted, "model")
	}
	if len(valuesOf(is.runs, "implementation")) == 0 {
		wanted = append(wanted, "impl")
	}
	return wanted
}

// runName matches what names a run or a workload, and no model: a time, a load, lengths.
var runName = lazyregexp.New(
	`(?i)\d{8}[-_T]?\d{4}|qps|tkns|[io][st]l[-_]?\d|concurrency[-_]?\d|req[-_]?\d|^(?:all[-_])?parts?[-_]?\d*$`)

// doubtedModel says where one name in the files stands for several models by the names of files; "" for nowhere.
func (is *identification) doubtedModel(files []manifest.Named) (example string) {
	pattern, err := manifest.NewPattern(manifest.Propose(files, []string{"model"}))
	if err != nil || pattern.String() == "" {
		return ""
	}
	names := map[string]map[string]bool{} // by what would be one series
	for i := range is.runs {
		of := is.runs[i].facts["model"]
		system := of.value + "\x00" + is.runs[i].system.Impl
		for _, file := range is.runs[i].files {
			if f, _, _, _, ok := pattern.Match(file); ok && of.from == schema.FromFile && manifest.IsModel(f.Model.Name) {
				if names[system] == nil {
					names[system] = map[string]bool{}
				}
				names[system][f.Model.Name] = true
			}
		}
	}
	for _, system := range slices.Sorted(maps.Keys(names)) {
		isRun := slices.ContainsFunc(slices.Collect(maps.Keys(names[system])), runName.MatchString)
		if len(names[system]) > 1 && !isRun {
			name, _, _ := strings.Cut(system, "\x00")
			return fmt.Sprintf("what files call %s is by their names %s", name, some(names[system]))
		}
	}
	return ""
}

// valuesOf are those of a fact.
func valuesOf(runs []identifiedRun, fact string) map[string]bool {
	out := map[string]bool{}
	for i := range runs {
		if v := runs[i].facts[fact].value; v != "" {
			out[v] = true
		}
	}
	return out
}

// some lists the first of some names, cut, and how many there are more.
func some(names map[string]bool) string {
	const most, width = 2, 28
	list := slices.SortedFunc(maps.Keys(names), schema.NaturalCompare)
	more := max(0, len(list)-most)
	for i, s := range list {
		list[i] = plaintext.Middle(s, width)
	}
	out := strings.Join(list[:len(list)-more], ", ")
	if more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

// list writes what is known as tables for a person.
func (is *identification) list(w listing) {
	fmt.Fprintf(w, "%s\n\n", plaintext.Wrap(w.summary(is.set), ""))
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "FACT\tOF RUNS\tFROM\tVALUES")
	for _, f := range append(knownFacts(), knownFact{name: "workload"}) {
		from, n := map[schema.From]int{}, 0
		for i := range is.runs {
			if is := is.runs[i].facts[f.name]; is.from != "" {
				from[is.from]++
				n++
			}
		}
		sources := slices.SortedFunc(maps.Keys(from), func(a, b schema.From) int {
			return cmp.Or(from[b]-from[a], strings.Compare(string(a), string(b)))
		})
		text := make([]string, len(sources))
		for i, s := range sources {
			if text[i] = string(s); len(sources) > 1 {
				text[i] = fmt.Sprintf("%s (%d)", s, from[s])
			}
		}
		values := some(valuesOf(is.runs, f.name))
		if f.name == "workload" {
			keys := map[string]bool{}
			for i := range is.runs {
				maps.Copy(keys, is.runs[i].keys)
			}
			values = plaintext.Plural(len(keys), "workload")
		}
		fmt.Fprintf(tw, "%s\t%d of %d\t%s\t%s\n", f.name, n, len(is.runs), cmp.Or(strings.Join(text, ", "), "-"),
			cmp.Or(values, "-"))
	}
	tw.Flush()
	if w.all {
		is.listRuns(w)
	}
	listSeries(w, is.runs, "Would be one series, compared over builds (a release, or a run without one):")
	is.listMissing(w)
}

// listRuns writes the facts of each run, each with what states it.
func (is *identification) listRuns(w listing) {
	fmt.Fprintln(w, "\nThe facts of each run, and what states them:")
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	defer tw.Flush()
	fmt.Fprint(tw, "RESULTS\t")
	for _, f := range knownFacts() {
		fmt.Fprint(tw, strings.ToUpper(f.name), "\t")
	}
	fmt.Fprintln(tw, "FIRST FILE")
	for i := range is.runs {
		r := &is.runs[i]
		fmt.Fprint(tw, r.results, "\t")
		for _, f := range knownFacts() {
			text := "-"
			if known := r.facts[f.name]; known.value != "" {
				text = fmt.Sprintf("%s (%s)", w.name(known.value), known.from)
			}
			fmt.Fprint(tw, text, "\t")
		}
		fmt.Fprintln(tw, w.name(r.files[0]))
	}
}

// listSeries writes the table of what would be one series.
func listSeries(w listing, runs []identifiedRun, title string) {
	type series struct {
		schema.System
		device        string // as the first of them spells it
		runs, results int
		builds        map[string]bool
		workloads     map[string]map[string]bool // the builds of each
	}
	at := map[int]*series{}
	for i := range runs {
		r := &runs[i]
		s := at[r.series]
		if s == nil {
			s = &series{
				System: r.system, device: r.facts["device"].value, builds: map[string]bool{},
				workloads: map[string]map[string]bool{},
			}
			s.Impl = strings.TrimPrefix(strings.TrimSuffix(s.Impl+", "+r.apart, ", "), ", ")
			at[r.series] = s
		}
		s.runs, s.results = s.runs+1, s.results+r.results
		s.builds[r.build] = true
		for key := range r.keys {
			if s.workloads[key] == nil {
				s.workloads[key] = map[string]bool{}
			}
			s.workloads[key][r.build] = true
		}
	}
	list := slices.SortedFunc(maps.Values(at), func(a, b *series) int {
		return cmp.Or(b.results-a.results, strings.Compare(fmt.Sprint(a.System), fmt.Sprint(b.System)))
	})
	const most = 10
	shown := list
	if !w.all && len(list) > most {
		shown = list[:most]
	}
	fmt.Fprintf(w, "\n%s\n", title)
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "MODEL\tDEVICE\tIMPL\tRUNS\tBUILDS\tRESULTS\tWORKLOADS\tIN SEVERAL BUILDS")
	for _, s := range shown {
		several := 0
		for _, builds := range s.workloads {
			if len(builds) > 1 {
				several++
			}
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\n", w.name(s.Model), w.name(s.device),
			w.short(cmp.Or(s.Impl, "-"), 28), s.runs, len(s.builds), s.results, len(s.workloads), plaintext.Dash(several))
	}
	tw.Flush()
	if more := len(list) - len(shown); more > 0 {
		fmt.Fprintf(w, "… and %d more series; --all lists every one\n", more)
	}
}

// listMissing writes what nothing states, what to state, and the proposal.
func (is *identification) listMissing(w listing) {
	heading := "\nMISSING, and what to state\n"
	say := func(format string, args ...any) {
		fmt.Fprint(w, heading, plaintext.Wrap(fmt.Sprintf(format, args...), "  "), "\n")
		heading = ""
	}
	for _, f := range knownFacts() {
		if n := missing(is.runs, f.name); n > 0 && f.state != "" {
			say("%s of %s: %s", f.name, plaintext.Plural(n, "run"), f.state)
		}
	}
	for _, d := range is.doubts {
		say("%s", d)
	}
	if heading != "" {
		fmt.Fprintln(w, "\nNothing is missing.")
	}
	text, err := is.manifest.Marshal()
	if err != nil || strings.TrimSpace(string(text)) == "{}" {
		return
	}
	what := "A manifest, which --write writes to " + is.path
	if _, err := os.Lstat(filepath.FromSlash(is.path)); err == nil {
		what = "To be added to " + is.path + ", which exists"
	}
	fmt.Fprintf(w, "\n%s:\n\n    %s\n", what, strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n    "))
	if is.with == nil {
		return
	}
	var known []string
	for _, f := range knownFacts() {
		if now := missing(is.with, f.name); f.state != "" && now < len(is.with) && missing(is.runs, f.name) > 0 {
			known = append(known, fmt.Sprintf("%s of %d", f.name, len(is.with)-now))
		}
	}
	title := fmt.Sprintf("With it there would be %s", plaintext.Plural(len(is.with), "run"))
	if len(known) > 0 {
		title += ", with the " + strings.Join(known, ", ") + " known"
	}
	listSeries(w, is.with, title+":")
}

// write writes the manifest where none is.
func (is *identification) write(sh *shell) error {
	text, err := is.manifest.Marshal()
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(text)) == "{}" {
		return fail(exitUsage, "state it with --model, --device, --release or --pattern, and --write keeps it",
			"identify: the names of these files suggest nothing that a manifest could state")
	}
	const fix = "give the folder of the results; an existing manifest is never replaced: add what is shown to it"
	f, err := os.OpenFile(filepath.FromSlash(is.path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fail(exitUsage, fix, "identify: %s exists", is.path)
	}
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fail(exitInput, fix, "identify: %w", err)
	}
	sh.say("wrote %s; ttreport build %s reads it", is.path, path.Dir(is.path))
	return nil
}
