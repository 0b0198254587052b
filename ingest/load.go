package ingest

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"sort"
	"strings"
	"sync"

	"github.com/ttreport/ttreport/ingest/aiperf"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Options are what a caller adds to the files.
type Options struct {
	Patterns []manifest.Pattern // read identity from paths
	Flags    schema.Facts       // identity that nothing else states
	Limits   decode.Limits      // zero: DefaultLimits
	Workers  int                // zero: one per processor
}

// File is what became of one file.
type File struct {
	Path     string
	SHA256   string
	Format   string // of a reader, "sidecar", "manifest", "journal", or "unknown"
	Detail   string
	Points   int
	Scores   int
	Run      string // id of the run it belongs to, or ""
	Problems []schema.Problem
}

// Set is everything that a load found.
type Set struct {
	Files    []File // in path order
	Runs     []schema.Run
	Grouping map[string]string // by run id: one line saying why these files are one run
	Problems []schema.Problem  // of files, of grouping, of the walk; in path order
}

// item is one file on its way through the load.
type item struct {
	found
	file    *decode.File
	match   schema.Match
	reading schema.Reading
	isRole  string // sidecar, manifest or journal, "" for a result
	facts   schema.Facts
	origin  map[string]schema.Origin
	targets []schema.Target
	plan    []schema.Key
	group   string
	journal *item  // of the run folder, when there is one
	runRoot string // the folder that makes the group, when nothing states an id
}

// Load reads everything below the roots. The error is the context's alone: whatever is wrong with a file is a problem
// in the set.
func Load(ctx context.Context, roots []Root, opt Options) (Set, error) {
	if opt.Limits == (decode.Limits{}) {
		opt.Limits = decode.DefaultLimits()
	}
	var set Set
	var items []*item
	for i := range roots {
		files, problems := walk(&roots[i])
		set.Problems = append(set.Problems, problems...)
		for _, f := range files {
			items = append(items, &item{found: f, isRole: role(f.rel)})
		}
	}
	if err := readAll(ctx, items, opt); err != nil {
		return Set{}, err
	}
	set.Problems = append(set.Problems, joinParts(items)...)
	beside := indexBeside(items)
	for _, it := range items {
		if it.counts() {
			identify(it, beside, opt)
		}
	}
	dropDuplicates(items)
	set.Runs, set.Grouping = group(items, &set.Problems)
	set.finish(items)
	return set, nil
}

// counts reports whether a file brought numbers.
func (it *item) counts() bool { return len(it.reading.Points)+len(it.reading.Scores) > 0 }

// role tells what a file is by its name, for the three files whose name is ours.
func role(rel string) string {
	switch base := path.Base(rel); {
	case strings.HasSuffix(base, manifest.SidecarSuffix):
		return "sidecar"
	case base == manifest.FileName:
		return "manifest"
	case base == manifest.JournalName:
		return "journal"
	}
	return ""
}

// readAll opens, recognises and reads every file, in parallel. Decoded trees are dropped as soon as they are read.
func readAll(ctx context.Context, items []*item, opt Options) error {
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	next := make(chan *item)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for it := range next {
				it.read(opt.Limits)
			}
		})
	}
	for _, it := range items {
		if ctx.Err() != nil {
			break
		}
		next <- it
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}

func (it *item) read(lim decode.Limits) {
	f, problem := open(it.found, lim)
	if problem != nil {
		it.reading = schema.Reading{Format: Unknown, Problems: []schema.Problem{*problem}}
		it.file = &decode.File{Path: it.shown()}
		return
	}
	it.file = f
	if it.isRole != "" {
		it.reading.Format = it.isRole
		f.Doc = decode.Doc{}
		return
	}
	m, r := recognise(f)
	it.match = m
	if r == nil {
		it.reading = schema.Reading{Format: Unknown, Detail: m.Detail, Problems: append(f.Doc.Problems, unknown(f, m)...)}
	} else {
		it.reading = r.read(f)
		it.reading.Problems = append(f.Doc.Problems, it.reading.Problems...)
		if f.Doc.NonFinite > 0 && it.counts() {
			it.reading.Problems = append(it.reading.Problems, schema.Problem{Severity: schema.SevNote, Path: f.Path, Code: "non-finite",
				Found: fmt.Sprintf("%d values written as NaN or Infinity", f.Doc.NonFinite), Used: "no number where one of them stands"})
		}
	}
	f.Data, f.Doc = nil, decode.Doc{}
}

// unknown says what a file of no known kind resembles and what it lacks. A file that is not even JSON is a note only:
// folders of results are full of logs.
func unknown(f *decode.File, m schema.Match) []schema.Problem {
	for _, p := range f.Doc.Problems {
		if p.Severity == schema.SevError {
			return nil // that it cannot be parsed was said; a nearest format would be a guess
		}
	}
	p := schema.Problem{Severity: schema.SevWarning, Path: f.Path, Code: "unknown-format", Found: "JSON of no known format", Expected: "a result file",
		Hint: "if it is a result, its format is not read yet; if not, nothing to do"}
	if f.Text || len(f.Doc.Values) == 0 {
		p.Severity, p.Found = schema.SevNote, "a file that is not JSON"
	}
	if m.Detail != "" {
		p.Expected = fmt.Sprintf("%s, the nearest format: it has %s and lacks %s", m.Detail, strings.Join(m.Has, ", "), strings.Join(m.Lacks, ", "))
	}
	return []schema.Problem{p}
}

// joinParts puts AIPerf's records into the summary of the same folder, so that one run counts once.
func joinParts(items []*item) []schema.Problem {
	summaries := map[string]*item{}
	several := map[string]bool{}
	for _, it := range items {
		if it.reading.Format == aiperf.Format && it.counts() {
			dir := path.Dir(it.shown())
			several[dir] = summaries[dir] != nil
			summaries[dir] = it
		}
	}
	for _, it := range items {
		dir := path.Dir(it.shown())
		if s := summaries[dir]; it.reading.Format == aiperf.Records && s != nil && !several[dir] {
			aiperf.Combine(&s.reading, it.reading)
			it.reading.PartOf, it.reading.Points = s.shown(), nil
			it.reading.Detail += " of " + path.Base(s.rel)
		}
	}
	return nil
}

// dropDuplicates keeps the first of several files with the same bytes.
func dropDuplicates(items []*item) {
	seen := map[string]*item{}
	for _, it := range items {
		if !it.counts() || it.file.SHA256 == "" {
			continue
		}
		first, dup := seen[it.file.SHA256]
		if !dup {
			seen[it.file.SHA256] = it
			continue
		}
		it.reading.Points, it.reading.Scores = nil, nil
		it.reading.PartOf = first.shown()
		it.reading.Problems = append(it.reading.Problems, schema.Problem{Severity: schema.SevNote, Path: it.shown(), Code: "duplicate",
			Found: "the same bytes as " + first.shown(), Used: "the first, once"})
	}
}

// finish lists files and problems in path order.
func (s *Set) finish(items []*item) {
	for _, it := range items {
		f := File{Path: it.shown(), Format: it.reading.Format, Detail: it.reading.Detail, Points: len(it.reading.Points),
			Scores: len(it.reading.Scores), Run: it.group, Problems: it.reading.Problems}
		if it.file != nil {
			f.SHA256 = it.file.SHA256
		}
		s.Files = append(s.Files, f)
		s.Problems = append(s.Problems, it.reading.Problems...)
	}
	sort.SliceStable(s.Files, func(i, j int) bool { return s.Files[i].Path < s.Files[j].Path })
	sort.SliceStable(s.Problems, func(i, j int) bool { return s.Problems[i].Path < s.Problems[j].Path })
}
