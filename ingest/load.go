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
	"github.com/ttreport/ttreport/ingest/lmeval"
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
	journal *item   // of the run folder, when there is one
	more    []*item // further results of the same file that are not of the same run
	runRoot string  // the folder that makes the group, when nothing states an id
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
	joinParts(items)
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
	if r == nil && len(f.Doc.Values) > 1 { // the first value may be foreign and the next one not
		alone := *f
		alone.Doc.Values = f.Doc.Values[1:]
		if m2, r2 := recognise(&alone); r2 != nil {
			m, r = m2, r2
		}
	}
	it.match = m
	if r == nil {
		it.reading = schema.Reading{Format: Unknown, Detail: m.Detail, Problems: append(f.Doc.Problems, unknown(f, m)...)}
	} else {
		it.readValues(f, r)
		it.reading.Problems = append(f.Doc.Problems, it.reading.Problems...)
		if f.Doc.NonFinite > 0 && it.counts() {
			it.reading.Problems = append(it.reading.Problems, schema.Problem{Severity: schema.SevNote, Path: f.Path, Code: "non-finite",
				Found: fmt.Sprintf("%d values written as NaN or Infinity", f.Doc.NonFinite), Used: "no number where one of them stands"})
		}
	}
	f.Data, f.Doc = nil, decode.Doc{}
}

// readValues reads each top-level value of a file by itself, since tools append results of other models and other days to
// one file. Values of one identity and time stay together; others become items of their own. Files of records, a line
// each, are one value in this sense.
func (it *item) readValues(f *decode.File, r *reader) {
	if len(f.Doc.Values) < 2 || it.match.Format == aiperf.Records || it.match.Format == lmeval.Samples {
		it.reading = r.read(f)
		return
	}
	parts := []*item{it}
	for i, v := range f.Doc.Values {
		alone := *f
		alone.Doc = decode.Doc{Values: []decode.Value{v}}
		m, own := recognise(&alone)
		if own == nil {
			p := f.Problem(schema.SevWarning, "foreign-value", v)
			p.Found, p.Expected = fmt.Sprintf("value %d of the file is no result of a known kind", i+1), "appended results"
			it.reading.Problems = append(it.reading.Problems, p)
			continue
		}
		reading := own.read(&alone)
		if i == 0 || it.reading.Format == "" {
			reading.Problems = append(it.reading.Problems, reading.Problems...)
			it.reading = reading
			continue
		}
		home := (*item)(nil)
		for _, p := range parts {
			if sameSource(p.reading, reading) {
				home = p
			}
		}
		if home == nil {
			home = &item{found: it.found, file: it.file, match: m, reading: reading}
			parts = append(parts, home)
			continue
		}
		home.reading.Points = append(home.reading.Points, reading.Points...)
		home.reading.Scores = append(home.reading.Scores, reading.Scores...)
		home.reading.Problems = append(home.reading.Problems, reading.Problems...)
		if reading.Facts.End.After(home.reading.Facts.End) {
			home.reading.Facts.End = reading.Facts.End
		}
	}
	it.reading.Detail += fmt.Sprintf(", %d appended results", len(f.Doc.Values))
	it.more = parts[1:]
}

// sameSource reports whether two readings of one file can be of one run.
func sameSource(a, b schema.Reading) bool {
	gapBetween := b.Facts.Start.Sub(a.Facts.End)
	if a.Facts.End.IsZero() || b.Facts.Start.IsZero() {
		gapBetween = 0
	}
	return a.Format == b.Format && system(a.Facts) == system(b.Facts) && buildName(a.Facts) == buildName(b.Facts) && gapBetween <= gap
}

// withMore lists the further results of files after the files themselves.
func withMore(items []*item) []*item {
	var out []*item
	for _, it := range items {
		out = append(append(out, it), it.more...)
	}
	return out
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

// joinParts puts AIPerf's records into the summary that they belong to, so that one run counts once: the summary of the
// same folder and name, or the only one there. Records beside summaries that are none of theirs are a problem.
func joinParts(items []*item) {
	summaries := map[string][]*item{}
	for _, it := range items {
		if it.reading.Format == aiperf.Format && it.counts() {
			dir := path.Dir(it.shown())
			summaries[dir] = append(summaries[dir], it)
		}
	}
	for _, it := range items {
		near := summaries[path.Dir(it.shown())]
		if it.reading.Format != aiperf.Records || len(near) == 0 {
			continue
		}
		var own *item
		for _, s := range near {
			if strings.TrimSuffix(s.file.Stem(), "_aiperf") == it.file.Stem() {
				own = s
			}
		}
		if own == nil && len(near) == 1 {
			own = near[0]
		}
		if own == nil {
			it.reading.Problems = append(it.reading.Problems, schema.Problem{Severity: schema.SevWarning, Path: it.shown(), Code: "records-of-nobody",
				Found: "request records beside several summaries, none of the same name", Used: "the summaries alone", Hint: "keep each run in a folder of its own"})
			it.reading.Points = nil
			continue
		}
		aiperf.Combine(&own.reading, it.reading)
		it.reading.PartOf, it.reading.Points = own.shown(), nil
		it.reading.Detail += " of " + path.Base(own.rel)
	}
}

// dropDuplicates keeps the first of several files with the same bytes.
func dropDuplicates(items []*item) {
	seen := map[string]*item{}
	for _, it := range items {
		if !it.counts() || it.file.SHA256 == "" {
			continue
		}
		first, dup := seen[it.file.SHA256]
		if !dup || first.file == it.file {
			seen[it.file.SHA256] = it
			continue
		}
		it.reading.Points, it.reading.Scores = nil, nil
		it.reading.PartOf = first.shown()
		p := schema.Problem{Severity: schema.SevNote, Path: it.shown(), Code: "duplicate", Found: "the same bytes as " + first.shown(), Used: "the first, once"}
		if system(first.facts) != system(it.facts) || buildName(first.facts) != buildName(it.facts) {
			p.Severity, p.Expected = schema.SevWarning, "one release and system for one measurement; here the two differ"
			p.Hint = "remove the copy that is wrong"
		}
		it.reading.Problems = append(it.reading.Problems, p)
	}
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
