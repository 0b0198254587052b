package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/chart"
	"github.com/ttreport/ttreport/render/markdown"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/static"
	"github.com/ttreport/ttreport/templates"
)

// pages turns views into HTML by the templates of package templates. Its methods may be called at once by several
// goroutines.
type pages struct {
	t       *template.Template
	site    string
	version string
	css, js string // fingerprints of assets
	drawer  []scriptView
	search  scriptView
	theme   Theme
	items   []menuItem
	menus   sync.Map // menu of a root and a current entry: HTML
	stamps  stamps
}

// frame is what every template knows of the page that it is part of.
type frame struct {
	Root   string // before every address
	Path   render.Address
	Alone  bool // the page is one file, and loads nothing
	Linked bool // addresses lead somewhere
}

// At is an address as a link has it.
func (f frame) At(a render.Address) string {
	if a.External() {
		return string(a)
	}
	return f.Root + string(a)
}

// What the templates see: layout.html, section.html, blocks/*.html, table.html, and the canvas of a chart.
type (
	layoutView struct {
		frame
		Page          render.Page
		Site, Version string
		CSS, JS       string // fingerprints
		Scripts       []scriptView
		Drawer        []scriptView // that a number needs which is opened
		Search        *scriptView  // loaded when somebody searches
		Theme         string       // fingerprint of the owner's colours, or ""
		Logo          *logoView
		Navigation    template.HTML
		Charts        template.JS // what the script needs for the figures, as JSON, or ""
		Single        *inlined    // of a page that is one file; else nil
	}
	scriptView  struct{ Name, Fingerprint string }
	sectionView struct {
		frame
		Section render.Section
	}
	blockView struct {
		frame
		Block render.Block
	}
	tableView struct {
		Table           *render.Table
		Full            *render.Link // with the address as a link has it
		Stacked, Linked bool
		Rows            template.HTML
	}
	chartView struct {
		frame
		ID, Label, Page string
	}
	panelView struct {
		Panel render.Panel
		At    chart.Panel
		Href  string
	}
)

func newPages(r *render.Report, theme Theme) (*pages, error) {
	p := &pages{site: r.Title, version: r.Version, theme: theme, items: menuItems(r.Graded())}
	var err error
	if p.css, err = static.Fingerprint("site.css"); err != nil {
		return nil, err
	}
	if p.js, err = static.Fingerprint("site.js"); err != nil {
		return nil, err
	}
	for _, name := range []string{"run.js", "drawer.js"} { // loaded when a number is opened
		print, err := static.Fingerprint(name)
		if err != nil {
			return nil, err
		}
		p.drawer = append(p.drawer, scriptView{name, print})
	}
	if p.search.Fingerprint, err = static.Fingerprint(searchScript); err != nil {
		return nil, err
	}
	p.search.Name = searchScript
	p.t = template.New("").Funcs(template.FuncMap{
		"section": p.section, "draw": p.draw, "table": p.table, "chart": newChartView, "panel": p.panel,
		"whiskers": p.whiskers, "shard": shardID,
		"markdown": markdown.HTML, "topic": topic, "count": words.Count,
	})
	files := templates.HTML()
	err = fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		_, err = p.t.New(strings.TrimSuffix(name, ".html")).Parse(string(text))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("page templates: %w", err)
	}
	return p, nil
}

// page makes a page whose links are relative to where it lies.
func (p *pages) page(page render.Page) ([]byte, error) {
	return p.pageFrom(page, strings.Repeat("../", strings.Count(string(page.Path), "/")))
}

// pageFrom makes a page with root before every address.
func (p *pages) pageFrom(page render.Page, root string) ([]byte, error) {
	v := layoutView{
		frame: frame{Root: root, Path: page.Path, Linked: true}, Page: page, CSS: p.css, JS: p.js, Drawer: p.drawer,
		Search: &p.search,
	}
	v.Logo = p.theme.shown(root)
	if p.theme.css != nil {
		v.Theme = static.Print(p.theme.css)
	}
	var err error
	if v.Navigation, err = p.navigation(root, page.Nav); err != nil {
		return nil, err
	}
	if charts := Charts(page); len(charts) > 0 { // in the page: a file of their own for each page took most time to write
		data, err := json.Marshal(charts) // escapes <, > and &
		if err != nil {
			return nil, fmt.Errorf("charts of %s: %w", page.Path, err)
		}
		v.Charts = template.JS(data)
	}
	for _, name := range page.Scripts {
		print, err := static.Fingerprint(name)
		if err != nil {
			return nil, err
		}
		v.Scripts = append(v.Scripts, scriptView{name, print})
	}
	return p.layout(v)
}

func (p *pages) layout(v layoutView) ([]byte, error) {
	v.Site, v.Version = p.site, p.version
	var b bytes.Buffer
	b.Grow(1 << 15)
	if err := p.t.ExecuteTemplate(&b, "layout", v); err != nil {
		return nil, fmt.Errorf("page %s: %w", v.Page.Path, err)
	}
	return b.Bytes(), nil
}

// execute makes a part of a page; what the templates return is safe to stand in another.
func (p *pages) execute(name string, data any) (template.HTML, error) {
	var b strings.Builder
	if err := p.t.ExecuteTemplate(&b, name, data); err != nil {
		return "", err
	}
	return template.HTML(strings.TrimSuffix(b.String(), "\n")), nil
}

// menu is what the navigation of a page depends on: a few dozen in a site of thousands of pages.
type menu struct{ Root, Current string }

// menuItem is an entry of the navigation.
type menuItem struct {
	Name, Text string
	Href       render.Address
}

// menuItems are the entries of a site; where nothing is graded, those that lead to decisions are left out.
func menuItems(graded bool) []menuItem {
	all := []menuItem{
		{"overview", "Overview", "index.html"}, {"releases", "Releases", render.ReleasesPath},
		{"models", "Models", "index.html#models"},
		{"changes", "Changes", render.ChangesPath}, {"coverage", "Coverage", render.CoveragePath},
		{"evals", "Evals", "evals/index.html"},
		{"targets", "Targets", "targets/index.html"}, {"explore", "Explore", "explore/index.html"},
		{"compare", "Compare", "compare/index.html"}, {"notes", "Notes", "notes/index.html"},
		{"problems", "Problems", "problems/index.html"}, {"about", "About", "about/index.html"},
	}
	if graded {
		return all
	}
	return slices.DeleteFunc(all, func(m menuItem) bool {
		return slices.Contains([]string{"releases", "changes", "coverage", "targets"}, m.Name)
	})
}

func (p *pages) navigation(root, current string) (template.HTML, error) {
	m := menu{root, current}
	if html, ok := p.menus.Load(m); ok {
		return html.(template.HTML), nil
	}
	html, err := p.execute("navigation", struct {
		menu
		Items []menuItem
	}{m, p.items})
	if err == nil {
		p.menus.Store(m, html)
	}
	return html, err
}

// section, draw, chart, panel and topic are functions of the templates.
func (p *pages) section(v layoutView, s render.Section) (template.HTML, error) {
	return p.execute("section", sectionView{v.frame, s})
}

// draw makes a block by the template of its kind.
func (p *pages) draw(v sectionView, b render.Block) (template.HTML, error) {
	return p.execute("blocks/"+b.Kind(), blockView{v.frame, b})
}

func newChartView(v blockView, id, label string) chartView {
	return chartView{frame: v.frame, ID: id, Label: label, Page: shardID(v.Path)}
}

func (p *pages) panel(v blockView, in render.Panel) (template.HTML, error) {
	x := panelView{Panel: in, At: chart.NewPanel(in)}
	if last := x.At.Last; last != nil && last.Href != "" {
		x.Href = v.At(last.Href)
	}
	return p.execute("pictures/panel", x)
}

func (p *pages) whiskers(_ blockView, c render.Card) (template.HTML, error) {
	return p.execute("pictures/whiskers", chart.NewWhiskers(c.Whiskers))
}

// topic is a page of the documentation.
func topic(name render.Topic) (template.HTML, error) {
	src, err := fs.ReadFile(templates.Docs(), string(name)+".md")
	if err != nil {
		return "", fmt.Errorf("documentation %s: %w", name, err)
	}
	return markdown.HTML(string(src))
}

// searchScript finds pages by name.
const searchScript = "search.js"

// planesFile holds the numbers of a page's planes, beside the page.
const planesFile = "planes.js"

// shardID names a page's data.
func shardID(page render.Address) string { return path.Dir(string(page)) }
