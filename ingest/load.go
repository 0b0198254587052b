package ingest

import (
	"context"
	"path"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/schema/redact"
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
	Format   string // of a reader, "sidecar", "manifest", "journal", "archive", "not-a-result" or "unknown"
	Detail   string
	Points   int
	Scores   int
	Run      string // id of the run it belongs to, or ""
	PartOf   string // the file whose results this one repeats or details, or ""
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
	sidecar bool   // one stands beside it
	isRole  string // sidecar, manifest or journal, "" for a result
	facts   schema.Facts
	origin  map[string]schema.Origin
	targets []schema.Target
	plan    []schema.Key
	group   string
	beside  *besideResult // what a .commands file says
	journal *item         // of the run folder, when there is one
	more    []*item       // further results of the same file that are not of the same run, or the members of an archive
	runRoot string        // the folder that makes the group, when nothing states an id
}

// Load reads everything below the roots. The error is the context's alone: whatever is wrong with a file is a problem
// in the set.
func Load(ctx context.Context, roots []Root, opt Options) (Set, error) {
	if opt.Limits == (decode.Limits{}) {
		opt.Limits = decode.DefaultLimits()
	}
	var set Set
	var items []*item
	seen := map[string]bool{}
	for i := range roots {
		files, problems := walk(&roots[i])
		set.Problems = append(set.Problems, problems...)
		for _, f := range files {
			if name := f.shown(); !seen[name] { // roots may overlap
				seen[name] = true
				items = append(items, &item{found: f, isRole: role(f.rel)})
			}
		}
	}
	if err := readAll(ctx, items, opt); err != nil {
		return Set{}, err
	}
	items = withMore(items)
	for _, it := range items {
		clean(it.reading.Problems)
	}
	joinParts(items)
	beside := indexBeside(items)
	for _, it := range items {
		if it.counts() {
			identify(it, beside, opt)
		}
	}
	dropReports(items)
	dropDuplicates(items)
	set.Runs, set.Grouping = group(items, &set.Problems)
	set.finish(items)
	return set, nil
}

// clean removes secrets from what problems quote.
func clean(problems []schema.Problem) {
	for i := range problems {
		p := &problems[i]
		p.Found, p.Expected, p.Used = redact.Text(p.Found), redact.Text(p.Expected), redact.Text(p.Used)
	}
}

// counts reports whether a file brought numbers.
func (it *item) counts() bool { return len(it.reading.Points)+len(it.reading.Scores) > 0 }

// drop takes a file's numbers out of the count, since they stand elsewhere, and with them what was said of the requests.
func (it *item) drop(partOf string) {
	it.reading.Points, it.reading.Scores, it.reading.PartOf = nil, nil, partOf
	it.reading.Problems = slices.DeleteFunc(it.reading.Problems, func(p schema.Problem) bool { return p.Code == "partly-failed" || p.Code == "all-failed" })
}

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
				it.open(ctx, opt.Limits)
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

// withMore lists the further results of files after the files themselves.
func withMore(items []*item) []*item {
	var out []*item
	for _, it := range items {
		out = append(append(out, it), withMore(it.more)...)
	}
	return out
}

// finish lists files and problems in path order.
func (s *Set) finish(items []*item) {
	for _, it := range items {
		if n := len(s.Files); n > 0 && s.Files[n-1].Path == it.shown() { // further results of the same file
			f := &s.Files[n-1]
			f.Points, f.Scores, f.Problems = f.Points+len(it.reading.Points), f.Scores+len(it.reading.Scores), append(f.Problems, it.reading.Problems...)
			s.Problems = append(s.Problems, it.reading.Problems...)
			continue
		}
		f := File{Path: it.shown(), Format: it.reading.Format, Detail: it.reading.Detail, Points: len(it.reading.Points),
			Scores: len(it.reading.Scores), Run: it.group, PartOf: it.reading.PartOf, Problems: it.reading.Problems}
		if it.file != nil {
			f.SHA256 = it.file.SHA256
		}
		s.Files = append(s.Files, f)
		s.Problems = append(s.Problems, it.reading.Problems...)
	}
	sort.SliceStable(s.Files, func(i, j int) bool { return s.Files[i].Path < s.Files[j].Path })
	sort.SliceStable(s.Problems, func(i, j int) bool { return s.Problems[i].Path < s.Problems[j].Path })
}
