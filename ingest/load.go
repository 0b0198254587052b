package ingest

import (
	"context"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/vllm"
	"golang.org/x/sync/errgroup"
)

// Options are what a caller states in addition to the files.
type Options struct {
	Patterns []manifest.Pattern // with which identity is read from paths
	Flags    schema.Facts       // identity that nothing else states
	// FactsFrom is as of a manifest above all that is read; see [manifest.Manifest.FactsFrom].
	FactsFrom map[string]map[string]string
	Limits    decode.Limits // zero: DefaultLimits
	// Without are files, by their path, that an earlier load found to be no results: they are not read again.
	Without map[string]bool
}

// File describes how one file was read.
type File struct {
	Path     string           `json:"path"`
	SHA256   string           `json:"sha256"`
	Format   string           `json:"format"` // of a reader, "sidecar", "manifest", "journal", "archive" …
	Detail   string           `json:"detail"`
	Points   int              `json:"points"`
	Scores   int              `json:"scores"`
	Run      string           `json:"run,omitempty"`     // id of the run it belongs to
	Copies   int              `json:"copies,omitempty"`  // points of it that another file has too; they are counted there
	PartOf   string           `json:"part_of,omitempty"` // the file whose results this one repeats or is part of
	Problems []schema.Problem `json:"-"`
	Facts    []byte           `json:"-"` // content of a small JSON file that may state facts of its folder
}

// Set is the result of a load.
type Set struct {
	Files    []File // in path order
	Runs     []schema.Run
	Grouping map[string]string // by run id: why these files are one run, in one line
	Problems []schema.Problem  // of files, of grouping, of the walk; in path order
}

// Load reads everything below the roots. The only error is the context's: whatever is wrong with a file is a problem
// in the set.
//
// Stages, each with its input and output:
//
//	walk             roots   → found files, each once
//	readAll          files   → sources: what each file states about each run; a file without results has one too
//	quietLogs        sources → the same, without notes on logs that lie beside results
//	nameMappings     sources → the same, with the names of the files that each proposed mapping is of
//	joinParts        sources → the same, with records and items in the summary that they belong to
//	dropLogs         sources → the same, without logs that sidecars name
//	recall           sources → the results in history that they may have something in common with
//	identify         sources → results: the sources with numbers, and who was measured
//	useless          results → errors of patterns that match none of them, or state nothing new
//	tellContradictions  results → a note for each fact and folder that two sources state differently
//	replace          results → the same, with what history says more of their bytes; from here on those of history, too
//	dropCopies       results → the same, with each measurement once
//	separateRows     results → the same, rows of one table told apart by the columns in which they differ
//	label            results → the same, workloads of unknown lengths told apart by names
//	join             results → without those of history, but for the runs that they may be part of
//	groupRuns        results → runs, and the run of each source
//	tellOfUnread     sources → errors of runs: files beside their results that could not be read
//	tellOfCopies     results → warnings of runs: copies of another release's files that were left out of them
//	list             sources → files and problems
func Load(ctx context.Context, roots []Root, opt Options) (Set, error) {
	set, _, err := load(ctx, roots, opt, nil)
	return set, err
}

// load is [Load] with what history holds, if remember is not nil. Of the grouping it returns the documents and the
// memory.
func load(ctx context.Context, roots []Root, opt Options, remember func([]*source) *memory) (Set, *grouping, error) {
	if opt.Limits == (decode.Limits{}) {
		opt.Limits = decode.DefaultLimits()
	}
	files, problems := walk(roots, false)
	files = slices.DeleteFunc(files, func(f found) bool { return opt.Without[f.shown()] })
	sources, err := readAll(ctx, files, opt)
	if err != nil {
		return Set{}, nil, err
	}
	quietLogs(sources)
	nameMappings(sources)
	joinParts(sources)
	side := indexSideFiles(sources)
	side.dropLogs(sources)
	m := &memory{}
	if remember != nil {
		m = remember(sources)
	}
	var results []*result
	uses := patternUses{}
	for _, src := range sources {
		if ctx.Err() != nil { // tens of thousands take seconds, and nothing is stored yet
			return Set{}, nil, ctx.Err()
		}
		if src.counts() {
			results = append(results, identify(src, &side, opt, uses, m))
		}
	}
	problems = append(problems, uses.useless(opt.Patterns, &side, results)...)
	problems = append(problems, tellContradictions(results)...)
	m.replace(results)
	var all []*result
	for _, d := range m.docs {
		all = append(all, d.results...)
	}
	results = append(all, results...)
	dropCopies(results)
	separateRows(results)
	shared := sharedTexts{}
	for _, r := range results {
		if r.doc == nil {
			r.label()
			shared.share(r.reading.Points)
		}
	}
	isStored := func(r *result) bool { return r.doc != nil }
	joining := m.join(results)
	results = slices.DeleteFunc(results, isStored)
	if ctx.Err() != nil {
		return Set{}, nil, ctx.Err()
	}
	groups := groupRuns(append(slices.Clone(results), joining...))
	groups.tellOfUnread(sources)
	groups.tellOfCopies(results)
	set := Set{Runs: groups.runs, Grouping: groups.reasons, Problems: append(problems, groups.problems...)}
	set.list(sources, groups.runOf)
	return set, &grouping{docs: groups.docs, memory: m}, nil
}

// readAll opens, recognises and reads every file, in parallel. Decoded trees are dropped as soon as they are read.
func readAll(ctx context.Context, files []found, opt Options) ([]*source, error) {
	read := make([][]*source, len(files))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			read[i] = readFile(ctx, f, opt.Limits)
			return nil
		})
	}
	_ = group.Wait() // errors of a file are problems of its source
	return slices.Concat(read...), ctx.Err()
}

// list makes the entries of files and sorts them and the problems by path.
func (s *Set) list(sources []*source, runOf map[*source]string) {
	s.Files = make([]File, 0, len(sources))
	for _, src := range sources {
		r, n := &src.reading, src.measured()
		s.Problems = append(s.Problems, r.Problems...)
		if last := len(s.Files) - 1; last >= 0 && s.Files[last].Path == src.shown() { // of another run in the same file
			f := &s.Files[last]
			f.Points, f.Scores, f.Copies = f.Points+n.points, f.Scores+n.scores, f.Copies+src.copies
			f.Problems = append(f.Problems, r.Problems...)
			continue
		}
		s.Files = append(s.Files, File{
			Path: src.shown(), SHA256: src.file.SHA256, Format: r.Format, Detail: r.Detail, Points: n.points,
			Scores: n.scores, Run: runOf[src], Copies: src.copies, PartOf: r.PartOf, Problems: r.Problems,
			Facts: src.factsText(),
		})
	}
	slices.SortStableFunc(s.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.SortStableFunc(s.Problems, func(a, b schema.Problem) int { return strings.Compare(a.Path, b.Path) })
}

// source is what one file states about one run. A file without results has a source without points and scores;
// a file with results of several runs has several sources.
type source struct {
	found
	file     *content     // the same for all sources of a file
	open     *decode.File // while the file is read
	role     fileRole
	reading  schema.Reading
	commands *vllm.CommandsFile // of a .commands file: what it states about the result
	given    numbers            // what a run has taken over
	copies   int                // points that another source has too
}

// content is what remains known of a file when it was read. A tree has tens of thousands.
type content struct {
	SHA256  string // of the bytes on disk
	Content string // hash of the unpacked content
	Data    []byte // of a file with one of our names, or with facts, which is read when all files are known
}

// stem is the name of the file without its extensions of compression and form.
func (s *source) stem() string { return decode.Stem(s.shown()) }

// closed lets go of the file that sources were read from.
func closed(f *decode.File, sources []*source) []*source {
	kept := &content{SHA256: f.SHA256, Content: f.Content}
	if sources[0].role != "" || maySayFacts(f, sources) {
		kept.Data = f.Data
	}
	for _, s := range sources {
		s.file, s.open = kept, nil
	}
	return sources
}

// numbers counts results.
type numbers struct{ points, scores int }

// measured counts the results of the source, whether or not a run has taken them over.
func (s *source) measured() numbers {
	return numbers{len(s.reading.Points) + s.given.points, len(s.reading.Scores) + s.given.scores}
}

// fileRole is the role of a file with one of our names; "" for any other file.
type fileRole string

const (
	roleSidecar  fileRole = "sidecar"
	roleManifest fileRole = "manifest"
	roleJournal  fileRole = "journal"
)

// roleOf returns the role by the file's name.
func roleOf(rel string) fileRole {
	switch base := path.Base(rel); {
	case strings.HasSuffix(base, manifest.SidecarSuffix):
		return roleSidecar
	case base == manifest.FileName:
		return roleManifest
	case base == manifest.JournalName:
		return roleJournal
	}
	return ""
}

// counts reports whether the source has numbers.
func (s *source) counts() bool { return len(s.reading.Points)+len(s.reading.Scores) > 0 }

// report adds problems of the source.
func (s *source) report(problems ...schema.Problem) {
	for _, p := range problems {
		cleanProblem(&p)
		s.reading.Problems = append(s.reading.Problems, p)
	}
}

// drop removes the numbers of the source, because another file has them, and the problems about them.
func (s *source) drop(partOf string) {
	s.reading.Points, s.reading.Scores, s.reading.PartOf = nil, nil, partOf
	s.reading.Problems = slices.DeleteFunc(s.reading.Problems, func(p schema.Problem) bool {
		return p.Code == "partly-failed" || p.Code == "all-failed"
	})
}
