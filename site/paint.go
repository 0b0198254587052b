package site

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/chart"
	"github.com/ttreport/ttreport/render/chart/svg"
	"github.com/ttreport/ttreport/render/markdown"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/static"
	"github.com/ttreport/ttreport/templates"
)

// painter turns page data into HTML.
type painter struct {
	t       *template.Template
	site    string
	version string
	css, js string
}

// view is what the layout sees.
type view struct {
	render.Page
	Root, Site, Version, CSS, JS string
	Navigation                   []navItem
}

type navItem struct{ Key, Text, Href string }

func newPainter(r *render.Report) (*painter, error) {
	p := &painter{site: r.Title, version: r.Version}
	var err error
	if p.css, err = static.Fingerprint("site.css"); err != nil {
		return nil, err
	}
	if p.js, err = static.Fingerprint("site.js"); err != nil {
		return nil, err
	}
	p.t, err = template.New("layout.html").Funcs(template.FuncMap{
		"in":       func(root, at string, v any) map[string]any { return map[string]any{"Root": root, "Path": at, "V": v} },
		"cell":     paintCell,
		"count":    words.Count,
		"flow":     func(t *render.Table) bool { return strings.Contains(t.Class, "flow") || t.Class == "kv" },
		"linked":   linked,
		"markdown": markdown.HTML,
		"topic":    topic,
		"svg":      func(root string, c *chart.Chart) template.HTML { return svg.Chart(rooted(*c, root)) },
		"shardID":  shardID,
	}).ParseFS(templates.HTML(), "*.html")
	if err != nil {
		return nil, fmt.Errorf("page templates: %w", err)
	}
	return p, nil
}

func (p *painter) page(page render.Page) ([]byte, error) {
	v := view{Page: page, Root: strings.Repeat("../", strings.Count(page.Path, "/")), Site: p.site, Version: p.version, CSS: p.css, JS: p.js,
		Navigation: []navItem{{"overview", "Overview", "index.html"}, {"releases", "Releases", "index.html#releases"}, {"models", "Models", "index.html#models"},
			{"problems", "Problems", "problems/index.html"}, {"about", "About", "about/index.html"}}}
	var b bytes.Buffer
	if err := p.t.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("page %s: %w", page.Path, err)
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
		l.Points = append([]chart.Point(nil), l.Points...)
		for j := range l.Points {
			if l.Points[j].Href != "" {
				l.Points[j].Href = root + l.Points[j].Href
			}
		}
		lines[i] = l
	}
	c.Lines = lines
	return c
}

// linked reports whether a table can be reached by keyboard through its own links; one that cannot gets a tab stop, since
// it may scroll.
func linked(t *render.Table) bool {
	for _, r := range t.Rows {
		for _, c := range r.Cells {
			if c.Href != "" {
				return true
			}
		}
	}
	return false
}

// paintCell writes one cell. It is Go and not a template because tables are most of every page and html/template takes
// thirty times as long; every text goes through the same escaper.
func paintCell(root string, t *render.Table, i int, c render.Cell) template.HTML {
	var b strings.Builder
	flow := strings.Contains(t.Class, "flow") || t.Class == "kv"
	tag, classes := "td", []string(nil)
	if c.Head {
		tag = "th"
	}
	if i < len(t.Cols) && t.Cols[i].Num {
		classes = append(classes, "n")
	}
	if i < len(t.Cols) && t.Cols[i].Narrow != "" {
		classes = append(classes, t.Cols[i].Narrow)
	}
	if c.Wide {
		classes = append(classes, "why")
	}
	if c.Missing != "" {
		classes = append(classes, "absent")
	}
	b.WriteString("<" + tag)
	if c.Head {
		b.WriteString(` scope="row"`)
	}
	if flow {
		b.WriteString(map[bool]string{true: ` role="rowheader"`, false: ` role="cell"`}[c.Head])
	}
	if len(classes) > 0 {
		b.WriteString(` class="` + strings.Join(classes, " ") + `"`)
	}
	if i < len(t.Cols) && !c.Head && flow && (t.Cols[i].Num || t.Cols[i].Narrow != "") {
		b.WriteString(` data-l="` + esc(t.Cols[i].Head) + `"`)
	}
	if c.Sort != nil {
		fmt.Fprintf(&b, ` data-v="%g"`, *c.Sort)
	}
	if c.Missing != "" {
		b.WriteString(` title="` + esc(c.Missing) + `"`)
	}
	b.WriteString(">")
	cellBody(&b, root, c)
	b.WriteString("</" + tag + ">")
	return template.HTML(b.String()) // every text went through esc
}

func cellBody(b *strings.Builder, root string, c render.Cell) {
	if c.Spark != nil {
		b.WriteString(string(svg.Spark(c.Spark)))
		return
	}
	inner := esc(c.Text)
	switch {
	case c.Word != "":
		label := c.Text
		if label == "" {
			label = c.Word
		}
		inner = `<span class="v ` + esc(c.Word) + " " + esc(c.Evidence) + `">` + esc(label)
		if c.Evidence != "" {
			inner += " <small>" + esc(c.Evidence) + "</small>"
		}
		inner += "</span>"
	case c.Mono && c.Text != "":
		inner = `<span class="id">` + inner + "</span>"
	case c.Strong:
		inner = "<b>" + inner + "</b>"
	}
	if c.Href != "" {
		inner = `<a href="` + esc(root+c.Href) + `">` + inner + "</a>"
	}
	b.WriteString(inner)
	if c.Tag != "" {
		b.WriteString(` <small class="tag">` + esc(c.Tag) + "</small>")
	}
	if c.Sub != "" {
		b.WriteString(" <small>" + esc(c.Sub) + "</small>")
	}
}

func esc(s string) string { return template.HTMLEscapeString(s) }
