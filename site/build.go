package site

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/chart/echarts"
	"github.com/ttreport/ttreport/render/markdown"
	"github.com/ttreport/ttreport/render/tabular"
	"github.com/ttreport/ttreport/static"
)

// Options are what a build needs beside the report.
type Options struct {
	Dir string // output folder
	// Record is a file outside of Dir that keeps what the parts of the site were made of, in a folder that nobody else
	// can write to; "": everything is made anew.
	Record string
	// Run reads the document of the run at an index of the report's columns. Several goroutines call it at once.
	Run func(index int) (schema.Run, *schema.Problem)
	// Stamp stands for the program and its configuration: parts of the site that an earlier build made with the same
	// stamp of the same data are left as they are. "": everything is made anew.
	Stamp string
	// Theme is what the owner changed of the appearance.
	Theme Theme
	// BaseURL is where the site will be published, for the feed and the page of addresses that are not there; "" when
	// nobody knows.
	BaseURL string
	// Progress is called with the number of files so far; may be nil.
	Progress func(done int)
}

// Result says what a build did.
type Result struct {
	Files, Removed int
	Changed        []string         // files that were written: new or with other content than before
	Problems       []schema.Problem // of runs whose document could not be read
}

// Build writes the site. When it fails, or ctx ends, nothing of what was there has changed.
func Build(ctx context.Context, r *render.Report, opt Options) (Result, error) {
	pub, err := openPublisher(opt.Dir, opt.Record)
	if err != nil {
		return Result{}, err
	}
	defer pub.close()
	p, err := newPages(r, opt.Theme)
	if err != nil {
		return Result{}, err
	}
	b := &builder{ctx: ctx, report: r, opt: opt, pub: pub, pages: p}
	if r.Public {
		hosts := hostsOf(r)
		b.redaction, b.hosts = redaction(opt.BaseURL, hosts), strings.Join(hosts, " ")
	}
	if err := b.all(); err != nil {
		return Result{Problems: b.problems}, err // nothing was changed
	}
	if err := pub.finish(); err != nil {
		return b.result(), err
	}
	return b.result(), nil
}

// A step is a part of the site whose files take their places before those of the next: details before lists, data
// before pages. So a build that is killed meanwhile leaves no dead link.
type step int

const (
	stepAssets step = iota
	stepRuns
	stepReleases
	stepPairs
	stepOthers
)

// all makes everything. Nothing waits for the runs, whose documents are read meanwhile.
func (b *builder) all() error {
	if err := b.assets(); err != nil {
		return err
	}
	var group errgroup.Group
	group.Go(b.runs)
	group.Go(func() error {
		b.digests = make([]string, len(b.report.Releases))
		for _, step := range []func() error{b.digest, b.releases, b.pairs, b.others} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

type builder struct {
	ctx      context.Context
	digests  []string // of the findings of each release
	report   *render.Report
	opt      Options
	pub      *publisher
	pages    *pages
	mu       sync.Mutex
	problems []schema.Problem
	making   sync.Mutex // of a release
	packing  sync.Pool  // of gzip writers, each of which takes 800 kB

	// redaction is of a public site, and hosts are the names that it removes: every part is made of them too.
	redaction rewriting
	hosts     string
}

func (b *builder) result() Result {
	return Result{Files: len(b.pub.now), Changed: b.pub.written, Removed: b.pub.removed, Problems: b.problems}
}

// view is a view as the site shows it: a public site leaves out what is private.
func view[T any](b *builder, v T) T {
	if !b.report.Public {
		return v
	}
	return rewritten(v, b.redaction)
}

// part collects the files of a unit.
type part struct {
	b     *builder
	step  step
	mu    sync.Mutex // of files
	files []string
}

func (p *part) put(path render.Address, data []byte) error {
	if err := p.b.ctx.Err(); err != nil {
		return err
	}
	if !strings.HasPrefix(string(path), "assets/") && !strings.HasSuffix(string(path), ".gz") {
		data = plaintext.PrintableBytes(data)
	}
	p.mu.Lock()
	p.files = append(p.files, string(path))
	p.mu.Unlock()
	if err := p.b.pub.put(p.step, string(path), data); err != nil {
		return err
	}
	if p.b.opt.Progress != nil {
		p.b.opt.Progress(p.b.pub.files())
	}
	return nil
}

func (p *part) markdown(path render.Address, page render.Page) error {
	return p.put(path, markdown.Report(view(p.b, page), ""))
}

// csvFile writes rows of package tabular.
func csvFile[T any](p *part, path render.Address, rows []T) error {
	data, err := tabular.CSV(view(p.b, rows))
	if err != nil {
		return err
	}
	return p.data(path, data)
}

// data writes a file of data, compressed where its name says so.
func (p *part) data(path render.Address, data []byte) error {
	var err error
	if strings.HasSuffix(string(path), ".gz") {
		if data, err = p.b.compressed(plaintext.PrintableBytes(data)); err != nil {
			return err
		}
	}
	return p.put(path, data)
}

// shard writes a script that hands data to the page's own script under an id: a call, since pages opened from disk can
// load no other kind of data.
func (p *part) shard(path render.Address, id string, data any) error {
	name, err := json.Marshal(id)
	if err != nil {
		return fmt.Errorf("data of %s: %w", id, err)
	}
	text, err := json.Marshal(data) // escapes <, > and &
	if err != nil {
		return fmt.Errorf("data of %s: %w", id, err)
	}
	return p.put(path, fmt.Appendf(nil, "ttreport.shard(%s,%s);\n", name, text))
}

// unit makes a part of the site, unless the last build made it of the same. made is "" for what is always made; facts
// are kept with the unit and may be nil.
func (b *builder) unit(
	step step, name, made string, make func(*part) error, facts func() any,
) (kept json.RawMessage, err error) {
	if u, ok := b.pub.keep(name, made); ok {
		return u.Facts, nil
	}
	p := &part{b: b, step: step}
	if err := make(p); err != nil {
		return nil, err
	}
	var known json.RawMessage
	if facts != nil {
		if known, err = json.Marshal(facts()); err != nil {
			return nil, fmt.Errorf("facts of %s: %w", name, err)
		}
	}
	if made != "" {
		b.pub.units.made(name, made, p.files, known)
	}
	return nil, nil
}

// each does something n times, on all processors, until one fails.
func each(n int, do func(i int) error) error {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	var failed atomic.Bool
	for i := range n {
		if failed.Load() {
			break
		}
		g.Go(func() error {
			err := do(i)
			if err != nil {
				failed.Store(true)
			}
			return err
		})
	}
	return g.Wait()
}

func (b *builder) assets() error {
	_, err := b.unit(stepAssets, "assets", "", func(p *part) error {
		for name, data := range map[string][]byte{"theme.css": b.opt.Theme.css, b.opt.Theme.file: b.opt.Theme.logo} {
			if data == nil {
				continue
			}
			if err := p.put(render.Address("assets/"+name), data); err != nil {
				return err
			}
		}
		return fs.WalkDir(static.Files(), ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := fs.ReadFile(static.Files(), name)
			if err != nil {
				return fmt.Errorf("asset %s: %w", name, err)
			}
			if strings.HasSuffix(name, ".js") && !strings.HasSuffix(name, ".min.js") {
				data = withoutComments(data)
			}
			return p.put(render.Address("assets/"+name), data)
		})
	}, nil)
	return err
}

// withoutComments leaves out the lines of a script of ours that are comments: a tenth of what a browser loads.
func withoutComments(script []byte) []byte {
	lines := bytes.SplitAfter(script, []byte("\n"))
	return bytes.Join(slices.DeleteFunc(lines, func(l []byte) bool {
		return bytes.HasPrefix(bytes.TrimSpace(l), []byte("//"))
	}), nil)
}

// digest takes the digests: releases and pairs are made of them.
func (b *builder) digest() error {
	if b.opt.Stamp == "" {
		return nil // nothing is kept, and nobody asks
	}
	return each(len(b.digests), func(i int) error {
		b.digests[i] = b.report.Digest(i)
		return nil
	})
}

func (b *builder) pairs() error {
	r := b.report
	// By newest release: a report keeps the findings of the last few only.
	pairs := slices.Clone(r.Pairs)
	notes := fmt.Sprintf("%+v", r.Notes) // they are shown at the steps of a history, and few write them often
	slices.SortStableFunc(pairs, func(x, y render.Pair) int { return x.Newest - y.Newest })
	return each(len(pairs), func(i int) error {
		pair := pairs[i]
		later := r.Releases[r.Gate.Newest(pair.Newest)].Name // that did not measure it
		made := b.made("pair", pair.Model, pair.Device, pair.ID, b.digests[pair.Newest], later, notes)
		_, err := b.unit(stepPairs, unitName("pair", pair.Model, pair.Device), made, func(p *part) error {
			return p.page(r.PairPage(pair))
		}, nil)
		return err
	})
}

// Charts are what the script needs for the figures of a page, by id.
func Charts(page render.Page) map[string]echarts.Chart {
	out := map[string]echarts.Chart{}
	for _, s := range page.Sections {
		for _, b := range s.Blocks {
			maps.Copy(out, echarts.Of(b))
		}
	}
	return out
}

// others are the pages about everything.
func (b *builder) others() error {
	r := b.report
	_, err := b.unit(stepOthers, "all", "", func(p *part) error {
		if err := p.shard(render.ExploreShardPath, "explore", view(b, r.Explore())); err != nil {
			return err
		}
		if err := p.shard(render.SearchShardPath, "search", view(b, r.Search())); err != nil {
			return err
		}
		data, err := json.MarshalIndent(view(b, index(r)), "", " ")
		if err != nil {
			return fmt.Errorf("data/index.json: %w", err)
		}
		if err := p.put("data/index.json", append(data, '\n')); err != nil {
			return err
		}
		if err := b.published(p); err != nil {
			return err
		}
		pages := []render.Page{
			r.ChangesPage(), r.CoveragePage(), r.ProblemsPage(), r.AboutPage(),
			r.ExplorePage(), r.ComparePage(), r.EvalsPage(), r.TargetsPage(),
			r.NotesPage(),
		}
		pages = append(pages, r.ReleasesPages()...)
		for _, m := range r.ModelNames() {
			pages = append(pages, r.ModelPage(m))
		}
		for _, t := range r.Topics {
			pages = append(pages, r.TopicPage(t))
		}
		for _, script := range r.Scripts() {
			pages = append(pages, r.ScriptPage(script))
		}
		for _, page := range append(pages, r.Landing()) {
			if err := p.page(page); err != nil {
				return err
			}
		}
		return p.put(".nojekyll", nil)
	}, nil)
	return err
}
