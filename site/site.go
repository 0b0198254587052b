package site

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/markdown"
	"github.com/ttreport/ttreport/render/rows"
	"github.com/ttreport/ttreport/render/words"
	"golang.org/x/sync/errgroup"
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
	err = pub.finish()
	return Result{Files: len(pub.now), Changed: pub.written, Removed: pub.removed, Problems: b.problems}, err
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
		if b.opt.Stamp != "" { // else nothing is kept, and nobody asks
			_ = each(len(b.digests), func(i int) error {
				b.digests[i] = b.report.Gate.Digest(i) + fmt.Sprint(b.report.Gate.Newer(i))
				return nil
			})
		}
		if err := b.releases(); err != nil {
			return err
		}
		if err := b.pairs(); err != nil {
			return err
		}
		return b.others()
	})
	return group.Wait()
}

type builder struct {
	ctx      context.Context
	digests  []string // of the findings of each release, and of what began after it
	report   *render.Report
	opt      Options
	pub      *publisher
	pages    *pages
	mu       sync.Mutex
	problems []schema.Problem
	packing  sync.Pool // of gzip writers, each of which takes 800 kB

	// redaction is of a public site, and hosts are the names that it removes: every part is made of them too.
	redaction rewriting
	hosts     string
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
	lacks bool // something that could not be read: the next build makes it again
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
	return p.b.pub.put(p.step, string(path), data)
}

func (p *part) markdown(path render.Address, page render.Page) error {
	return p.put(path, markdown.Report(view(p.b, page), ""))
}

// csvFile writes rows of package rows.
func csvFile[T any](p *part, path render.Address, list []T) error {
	data, err := rows.CSV(view(p.b, list))
	if err != nil {
		return err
	}
	return p.data(path, data)
}

// data writes a file of data, where its name says so by gzip without a name or a time: same data, same bytes.
func (p *part) data(path render.Address, data []byte) error {
	if !strings.HasSuffix(string(path), ".gz") {
		return p.put(path, data)
	}
	var out bytes.Buffer
	if err := p.pack(&out, data); err != nil {
		return err
	}
	return p.put(path, out.Bytes())
}

// pack writes data by gzip.
func (p *part) pack(to io.Writer, data []byte) error {
	w, ok := p.b.packing.Get().(*gzip.Writer)
	if ok {
		w.Reset(to)
	} else {
		w, _ = gzip.NewWriterLevel(to, gzip.BestSpeed) // fails for other levels
	}
	defer p.b.packing.Put(w)
	if _, err := w.Write(plaintext.PrintableBytes(data)); err != nil {
		return err
	}
	return w.Close()
}

// packedBytes is from what size on data are packed, as text: less is as fast to load, and easier to look at. At eight
// kilobytes the planes and charts of 1,250 pairs take 17 MB and not 42.
const packedBytes = 8_000

// shard writes a script that hands data to the page's own script under an id: a call, since pages opened from disk can
// load no other kind of data. What is large is packed: the files of a site of 10,000 series are a third as large, and
// a host that packs them once more sends as many bytes as before. Data of type []byte are HTML.
func (p *part) shard(path render.Address, id string, data any) error {
	text, ready := data.([]byte)
	if !ready || len(text) <= packedBytes {
		if ready {
			data = string(text)
		}
		var err error
		if text, err = json.Marshal(data); err != nil { // escapes <, > and &
			return fmt.Errorf("data of %s: %w", id, err)
		}
	}
	if len(text) <= packedBytes {
		return p.put(path, fmt.Appendf(nil, "ttreport.shard(%q,%s);\n", id, text))
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "ttreport.packed(%q,\"", id)
	encoder := base64.NewEncoder(base64.StdEncoding, &out)
	if err := cmp.Or(p.pack(encoder, text), encoder.Close()); err != nil {
		return err
	}
	out.WriteString("\");\n")
	return p.put(path, out.Bytes())
}

// unit makes a part of the site, unless the last build made it of the same: then it returns the facts that were kept
// with it, as JSON. made is "" where nothing is kept.
func (b *builder) unit(step step, name, made string, make func(*part) (facts any, err error)) (json.RawMessage, error) {
	if u, ok := b.pub.keep(name, made); ok {
		return u.Facts, nil
	}
	p := &part{b: b, step: step}
	facts, err := make(p)
	if err != nil || made == "" || p.lacks {
		return nil, err
	}
	kept, err := json.Marshal(facts)
	if err != nil {
		return nil, fmt.Errorf("facts of %s: %w", name, err)
	}
	b.pub.remember(name, made, p.files, kept)
	return nil, nil
}

// each does something n times, on all processors, until one fails.
func each(n int, do func(i int) error) error {
	g, ctx := errgroup.WithContext(context.Background())
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			return do(i)
		})
	}
	return g.Wait()
}

// assets writes what all pages load. Scripts of ours lose the lines that are comments, a tenth of what a browser loads.
func (b *builder) assets() error {
	p := &part{b: b, step: stepAssets}
	for name, data := range map[string][]byte{"theme.css": b.opt.Theme.css, b.opt.Theme.file: b.opt.Theme.logo} {
		if data == nil {
			continue
		}
		if err := p.put(render.Address("assets/"+name), data); err != nil {
			return err
		}
	}
	for name, data := range b.pages.assets {
		if strings.HasSuffix(name, ".js") && !strings.HasSuffix(name, ".min.js") {
			lines := slices.DeleteFunc(bytes.SplitAfter(data, []byte("\n")), func(l []byte) bool {
				return bytes.HasPrefix(bytes.TrimSpace(l), []byte("//"))
			})
			data = bytes.Join(lines, nil)
		}
		if err := p.put(render.Address("assets/"+name), data); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) pairs() error {
	r := b.report
	// By newest release: a report keeps the findings of the last few only.
	pairs := slices.Clone(r.Pairs)
	notes := fmt.Sprintf("%+v", r.Notes) // they are shown at the steps of a history, and few write them often
	slices.SortStableFunc(pairs, func(x, y render.Pair) int { return x.Newest - y.Newest })
	runs := map[schema.Pair][]string{} // of all releases: those of branches, too
	for i := range r.Columns.Runs {
		h := &r.Columns.Runs[i]
		runs[h.Pair()] = append(runs[h.Pair()], h.ID, h.SHA256)
	}
	return each(len(pairs), func(i int) error {
		pair := pairs[i]
		later := r.Releases[r.Gate.Newest(pair.Newest)].Name // that did not measure it
		made := b.made("pair", pair.Model, pair.Device, pair.ID, b.digests[pair.Newest], later, notes,
			strings.Join(runs[pair.Pair], " "))
		name := fmt.Sprintf("pair %q", []string{pair.Model, pair.Device})
		_, err := b.unit(stepPairs, name, made, func(p *part) (any, error) {
			of := pair.Pair
			if err := p.shard(render.PairShardPath(of), render.PairShardID(of), view(b, r.Trends(pair))); err != nil {
				return nil, err
			}
			return nil, p.page(r.PairPage(pair))
		})
		return err
	})
}

// others are the pages about everything.
func (b *builder) others() error {
	r, p := b.report, &part{b: b, step: stepOthers}
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
	pages := []func() render.Page{
		r.ChangesPage, r.CoveragePage, r.ProblemsPage, r.AboutPage, r.ExplorePage, r.SeriesPage, r.ComparePage, r.EvalsPage,
		r.TargetsPage, r.NotesPage, r.Landing,
	}
	for _, page := range r.ReleasesPages() {
		pages = append(pages, func() render.Page { return page })
	}
	for _, m := range r.ModelNames() {
		pages = append(pages, func() render.Page { return r.ModelPage(m) })
	}
	for _, script := range r.Scripts() {
		pages = append(pages, func() render.Page { return r.ScriptPage(script) })
	}
	if err := each(len(pages), func(i int) error { return p.page(pages[i]()) }); err != nil {
		return err
	}
	_, err = b.unit(stepOthers, "documentation", b.made("documentation"), func(p *part) (any, error) {
		return nil, each(len(r.Topics), func(i int) error { return p.page(r.TopicPage(r.Topics[i])) })
	})
	return cmp.Or(err, p.put(".nojekyll", nil))
}

// page writes a page, with the data of its planes beside it.
func (p *part) page(page render.Page) error {
	page.Lead.Links = append(page.Lead.Links, p.b.report.NamesIn(&page)...)
	page = view(p.b, page)
	html, err := p.b.pages.page(page, strings.Repeat("../", strings.Count(string(page.Path), "/"))) // from where it lies
	if err != nil {
		return err
	}
	planes := map[string]*render.Plane{} // by their ids
	for _, s := range page.Sections {
		for _, b := range s.Blocks {
			if p, ok := b.(*render.Plane); ok {
				planes[p.ID] = p
			}
		}
	}
	if len(planes) > 0 {
		at := render.Address(path.Join(shardID(page.Path), planesFile))
		if err := p.shard(at, "planes "+shardID(page.Path), planes); err != nil {
			return err
		}
	}
	return p.put(page.Path, html)
}

// made is the hash of what a part of the site is made of, beside the program and its configuration; "" when nobody
// knows those.
func (b *builder) made(of ...string) string {
	if b.opt.Stamp == "" {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q%q%q%q%v", b.opt.Stamp, b.report.Title, b.hosts, of, menuItems(b.report)))
	return hex.EncodeToString(sum[:])
}

// The JSON of data/index.json, schema ttreport/site-index/v1: what a script needs to find the rest. Names are a
// contract; fields may be added. Addresses are relative to the site's root.
type (
	indexJSON struct {
		Schema   string         `json:"schema"`
		Title    string         `json:"title"`
		Version  string         `json:"version"`
		Newest   string         `json:"newest,omitempty"` // release that the landing page is about
		Releases []indexRelease `json:"releases"`         // oldest first
		Pairs    []indexPair    `json:"pairs"`
	}
	indexRelease struct {
		Name     string          `json:"name"`
		Released bool            `json:"released"` // false: a build that nobody released
		Line     string          `json:"line,omitempty"`
		Channel  string          `json:"channel"`
		Date     string          `json:"date,omitempty"` // RFC 3339, UTC
		Decision string          `json:"decision"`
		Detail   string          `json:"detail"`
		Exit     int             `json:"exit"` // of ttreport check
		Runs     []string        `json:"runs"`
		Page     render.Address  `json:"page"`
		Report   render.Address  `json:"report_md"`
		Points   render.Address  `json:"points_csv"`
		Scores   render.Address  `json:"scores_csv"`
		Verdicts render.Address  `json:"verdicts_csv"`
		Pairs    []indexDecision `json:"pairs"`
	}
	indexDecision struct {
		Model    string `json:"model"`
		Device   string `json:"device"`
		Decision string `json:"decision"`
	}
	indexPair struct {
		Model  string         `json:"model"`
		Device string         `json:"device"`
		Newest string         `json:"newest"`
		Page   render.Address `json:"page"`
	}
)

// index is data/index.json.
func index(r *render.Report) indexJSON {
	out := indexJSON{
		Schema: "ttreport/site-index/v1", Title: r.Title, Version: r.Version,
		Releases: []indexRelease{}, Pairs: []indexPair{},
	}
	if at := r.Newest(); at >= 0 {
		out.Newest = r.Releases[at].Name
	}
	for i, rel := range r.Releases {
		d := r.Gate.Results(i)
		x := indexRelease{
			Name: rel.Name, Released: rel.Label, Line: rel.Line, Channel: rel.Channel,
			Decision: string(d.Whole.Word), Detail: words.Decide(d.Whole).Detail, Exit: d.Whole.Exit,
			Page: render.ReleasePath(rel.Name), Report: render.ReleaseReportPath(rel.Name),
			Points: r.DataPath(i, "points"), Scores: r.DataPath(i, "scores"), Verdicts: r.DataPath(i, "verdicts"),
			Pairs: []indexDecision{},
		}
		if !rel.Date.IsZero() {
			x.Date = rel.Date.UTC().Format(time.RFC3339)
		}
		for _, run := range rel.Runs {
			x.Runs = append(x.Runs, r.Columns.Runs[run].ID)
		}
		for _, p := range d.Pairs {
			x.Pairs = append(x.Pairs, indexDecision{p.Model, p.Device, string(p.Result.Word)})
		}
		out.Releases = append(out.Releases, x)
	}
	for _, p := range r.Pairs {
		page := render.PairPath(p.Model, p.Device)
		out.Pairs = append(out.Pairs, indexPair{p.Model, p.Device, r.Releases[p.Newest].Name, page})
	}
	return out
}

// published writes what needs to know where the site will be: the page of addresses that are not there, which a host
// shows at any depth, and the feed.
func (b *builder) published(p *part) error {
	root := ""
	if u, err := url.Parse(b.opt.BaseURL); err == nil && u.Path != "" {
		root = strings.TrimSuffix(u.Path, "/") + "/"
	}
	html, err := b.pages.page(b.report.NotFoundPage(), root)
	if err != nil {
		return err
	}
	if err := p.put("404.html", html); err != nil || b.opt.BaseURL == "" {
		return err
	}
	xml, err := feed(b.report, b.opt.BaseURL)
	if err != nil {
		return err
	}
	return p.put("feed.xml", xml)
}

// Atom, RFC 4287.
type (
	atomFeed struct {
		XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		Title   string      `xml:"title"`
		ID      string      `xml:"id"`
		Updated string      `xml:"updated"`
		Author  atomAuthor  `xml:"author"`
		Links   []atomLink  `xml:"link"`
		Entries []atomEntry `xml:"entry"`
	}
	atomAuthor struct {
		Name string `xml:"name"`
	}
	atomLink struct {
		Rel  string `xml:"rel,attr,omitempty"`
		Href string `xml:"href,attr"`
	}
	atomEntry struct {
		Title   string   `xml:"title"`
		ID      string   `xml:"id"`
		Updated string   `xml:"updated"`
		Link    atomLink `xml:"link"`
		Summary string   `xml:"summary"`
	}
)

// feed is feed.xml: the newest fifty releases, each with its decision. An entry is new when its release is; when a
// decision turns, its title does.
func feed(r *render.Report, base string) ([]byte, error) {
	base = strings.TrimSuffix(base, "/") + "/"
	const most = 50
	out := atomFeed{
		Title:   r.Title,
		ID:      base,
		Updated: time.Unix(0, 0).UTC().Format(time.RFC3339),
		Author:  atomAuthor{r.Title},
		Links:   []atomLink{{"self", base + "feed.xml"}, {"", base}},
	}
	for i := len(r.Releases) - 1; i >= 0 && len(out.Entries) < most; i-- {
		rel := r.Releases[i]
		if !rel.Label {
			continue
		}
		d := words.Decide(r.Gate.Results(i).Whole)
		at := base + strings.TrimSuffix(string(render.ReleasePath(rel.Name)), "index.html")
		when := out.Updated // of one without a date: that of what is newer
		if !rel.Date.IsZero() {
			when = rel.Date.UTC().Format(time.RFC3339)
			out.Updated = max(out.Updated, when)
		}
		out.Entries = append(out.Entries, atomEntry{rel.Name + ": " + d.Word, at, when, atomLink{"", at}, d.Detail})
	}
	data, err := xml.MarshalIndent(out, "", " ")
	if err != nil {
		return nil, fmt.Errorf("feed.xml: %w", err)
	}
	return append(append([]byte(xml.Header), data...), '\n'), nil
}
