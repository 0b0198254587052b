package site

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/chart"
	"github.com/ttreport/ttreport/render/markdown"
	"github.com/ttreport/ttreport/static"
	"github.com/ttreport/ttreport/templates"
)

// painter turns page data into HTML.
type painter struct {
	t       *template.Template
	site    string
	version string
	css, js string
	look    Look
}

// view is what the layout sees.
type view struct {
	render.Page
	Root, Site, Version, CSS, JS string
	ScriptPrint                  string // of the page's script
	Body                         template.HTML
	Navigation                   template.HTML
	Logo                         template.HTML
	Look                         string   // fingerprint of the owner's colours, or ""
	Single                       *inlined // of a page that stands alone; else nil
}

func newPainter(r *render.Report, look Look) (*painter, error) {
	p := &painter{site: r.Title, version: r.Version, look: look}
	var err error
	if p.css, err = static.Fingerprint("site.css"); err != nil {
		return nil, err
	}
	if p.js, err = static.Fingerprint("site.js"); err != nil {
		return nil, err
	}
	p.t, err = template.ParseFS(templates.HTML(), "layout.html")
	if err != nil {
		return nil, fmt.Errorf("page templates: %w", err)
	}
	return p, nil
}

// page paints a page whose links are relative to where it lies.
func (p *painter) page(page render.Page) ([]byte, error) {
	return p.pageFrom(page, strings.Repeat("../", strings.Count(page.Path, "/")))
}

// pageFrom paints a page with root before every address.
func (p *painter) pageFrom(page render.Page, root string) ([]byte, error) {
	v := view{Page: page, Root: root, Site: p.site, Version: p.version, CSS: p.css, JS: p.js, Navigation: navigation(root, page.Nav), Logo: p.look.mark(root, false)}
	if p.look.css != nil {
		v.Look = static.Print(p.look.css)
	}
	if page.Script != "" {
		var err error
		if v.ScriptPrint, err = static.Fingerprint(page.Script); err != nil {
			return nil, err
		}
	}
	return p.execute(v)
}

// navigation lists the parts of the site. It is written here because a loop in a template was half the cost of a run's layout.
func navigation(root, current string) template.HTML {
	var b strings.Builder
	for _, item := range [][3]string{{"overview", "Overview", "index.html"}, {"releases", "Releases", "index.html#releases"}, {"models", "Models", "index.html#models"},
		{"evals", "Evals", "evals/index.html"}, {"targets", "Targets", "targets/index.html"}, {"explore", "Explore", "explore/index.html"}, {"compare", "Compare", "compare/index.html"},
		{"notes", "Notes", "notes/index.html"}, {"problems", "Problems", "problems/index.html"}, {"about", "About", "about/index.html"}} {
		b.WriteString(`<li><a href="` + esc(root+item[2]) + `"`)
		if item[0] == current {
			b.WriteString(` aria-current="page"`)
		}
		b.WriteString(">" + item[1] + "</a></li>")
	}
	return template.HTML(b.String())
}

func (p *painter) execute(v view) ([]byte, error) {
	var err error
	if v.Body, err = paintSections(v.Root, v.Path, v.Sections); err != nil {
		return nil, fmt.Errorf("page %s: %w", v.Path, err)
	}
	var b bytes.Buffer
	b.Grow(len(v.Body) + 8<<10)
	if err := p.t.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("page %s: %w", v.Path, err)
	}
	return b.Bytes(), nil
}

// topic renders a page of the documentation.
func topic(name string) (template.HTML, error) {
	src, err := fs.ReadFile(templates.Docs(), name+".md")
	if err != nil {
		return "", fmt.Errorf("documentation %s: %w", name, err)
	}
	return markdown.HTML(string(src))
}

// shardID names a page's chart data.
func shardID(page string) string { return path.Dir(page) }

// rooted makes a chart's links relative to its page.
func rooted(c chart.Chart, root string) chart.Chart {
	lines := make([]chart.Line, len(c.Lines))
	for i, l := range c.Lines {
		l.Points = rootedPoints(l.Points, root)
		lines[i] = l
	}
	c.Lines = lines
	return c
}

func rootedPoints(points []chart.Point, root string) []chart.Point {
	points = slices.Clone(points)
	for i := range points {
		if points[i].Href != "" {
			points[i].Href = root + points[i].Href
		}
	}
	return points
}
