package site

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/chart"
	"github.com/ttreport/ttreport/render/chart/svg"
	"github.com/ttreport/ttreport/render/markdown"
	"github.com/ttreport/ttreport/render/words"
)

// sectionPainter writes the sections of a page. It is Go for the reason that tables are: thousands of pages of runs are made of them.
type sectionPainter struct {
	b          strings.Builder
	root, path string // before every address; of the page
}

// paintSections writes all sections of a page whose addresses begin with root.
func paintSections(root, path string, sections []render.Section) (template.HTML, error) {
	p := &sectionPainter{root: root, path: path}
	p.b.Grow(1 << 15)
	for i := range sections {
		if err := p.section(&sections[i]); err != nil {
			return "", err
		}
	}
	return template.HTML(p.b.String()), nil // every text went through esc, markdown is goldmark's safe mode
}

func (p *sectionPainter) add(parts ...string) {
	for _, s := range parts {
		p.b.WriteString(s)
	}
}

func (p *sectionPainter) section(s *render.Section) error {
	p.add("<section")
	if s.ID != "" {
		p.add(` id="`, esc(s.ID), `"`)
	}
	p.add(">\n")
	if s.Title != "" {
		p.add("<header><h2>", esc(s.Title), "</h2>")
		if s.Intro != "" {
			p.add("<p>", esc(s.Intro), "</p>")
		}
		if s.End != nil {
			p.add(`<span class="end"><a href="`, esc(p.root+s.End.Href), `">`, esc(s.End.Text), "</a></span>")
		}
		p.add("</header>\n")
	}
	for i := range s.Blocks {
		if err := p.block(&s.Blocks[i]); err != nil {
			return err
		}
	}
	p.add("</section>\n")
	return nil
}

func (p *sectionPainter) block(b *render.Block) error {
	switch {
	case b.Table != nil:
		paintTable(&p.b, p.root, b.Table)
	case b.Chart != nil:
		p.chart(b.Chart)
	case len(b.Curves) > 0:
		p.curves(b.Curves)
	case len(b.Panels) > 0:
		p.panels(b.Panels)
	case b.Details != nil:
		p.add("<details><summary>", esc(b.Details.Caption), "</summary>")
		paintTable(&p.b, p.root, b.Details)
		p.add("</details>")
	case len(b.Counts) > 0:
		p.counts(b.Counts)
	case len(b.Links) > 0:
		p.add(`<ul class="links">`)
		for _, l := range b.Links {
			p.add(`<li><a href="`, esc(p.root+l.Href), `">`, esc(l.Text), "</a></li>")
		}
		p.add("</ul>")
	case b.Empty != nil:
		p.add(`<div class="empty"><b>`, esc(b.Empty.What), "</b>", esc(b.Empty.Why))
		if b.Empty.Cmd != "" {
			p.add("<br><code>", esc(b.Empty.Cmd), "</code>")
		}
		p.add("</div>")
	case b.Widget != nil:
		p.widget(b.Widget)
	}
	for _, text := range b.Prose {
		p.add(`<p class="more">`, esc(text), "</p>")
	}
	for _, c := range b.Cmd {
		p.add(`<pre tabindex="0">`, esc(c), "</pre>")
	}
	p.add("\n")
	return p.prose(b)
}

// prose writes what is markdown: notes, and pages of the documentation.
func (p *sectionPainter) prose(b *render.Block) error {
	for _, n := range b.Notes {
		html, err := markdown.HTML(n.Source)
		if err != nil {
			return err
		}
		p.add(`<div class="prose">`, string(html), "</div>\n")
	}
	if b.Topic == "" {
		return nil
	}
	html, err := topic(b.Topic)
	if err != nil {
		return err
	}
	p.add(`<div class="prose">`, string(html), "</div>\n")
	return nil
}

func (p *sectionPainter) chart(c *chart.Chart) {
	p.add(`<figure class="chart"`)
	if p.root != alone {
		p.add(` data-chart="`, esc(c.ID), `" data-root="`, esc(p.root), `" data-id="`, esc(shardID(p.path)), `" data-shard="charts.js" data-echarts="`, esc(p.root), `assets/echarts.min.js"`)
	}
	p.add(">\n<div>", string(svg.Chart(rooted(*c, p.root))), "</div>\n", `<figcaption class="vh">`, esc(c.Title()), "</figcaption>\n</figure>")
}

func (p *sectionPainter) curves(list []chart.Curve) {
	p.add(`<div class="curves">`)
	for _, c := range list {
		p.add(`<figure tabindex="0">`, string(svg.Curve(c)), "<figcaption>", esc(c.Title), ": ", esc(c.Key), "</figcaption></figure>")
	}
	p.add("</div>")
}

func (p *sectionPainter) panels(list []chart.Panel) {
	p.add(`<div class="panels">`)
	for _, c := range list {
		p.add("<figure><figcaption>", esc(c.Title), " <small>", esc(c.Sub), `</small> <span class="v `, esc(string(c.Outcome)), " ", esc(string(c.Evidence)), `">`, esc(string(c.Outcome)))
		if c.Evidence != "" {
			p.add(" <small>", esc(string(c.Evidence)), "</small>")
		}
		p.add("</span> ")
		if c.Change != "" {
			p.add("<b>", esc(c.Change), "</b>")
		}
		c.Points = rootedPoints(c.Points, p.root)
		p.add("</figcaption>", string(svg.Panel(c)))
		for _, s := range c.Steps {
			if s.Note != "" {
				p.add(`<p class="note">Note on <a href="`, esc(p.root+s.Href), `">`, esc(s.Note), "</a></p>")
			}
		}
		p.add("</figure>")
	}
	p.add("</div>")
}

func (p *sectionPainter) counts(list []render.Ledger) {
	p.add(`<dl class="counts">`)
	for _, l := range list {
		p.add("<dt>", esc(l.Name), " <small>", esc(l.Note), "</small></dt><dd><ul>")
		for _, c := range l.Items {
			zero := ""
			if c.N == 0 {
				zero = ` class="zero"`
			}
			p.add("<li", zero, "><b>", words.Count(c.N), `</b> <span class="v `, esc(string(c.Outcome)), " ", esc(string(c.Evidence)), `">`, esc(strings.TrimSpace(string(c.Outcome)+" "+string(c.Evidence))), "</span></li>")
		}
		p.add("</ul></dd>")
	}
	p.add("</dl>")
}

func (p *sectionPainter) widget(w *render.Widget) {
	fmt.Fprintf(&p.b, `<div class="widget" data-widget="%s" data-root="%s" data-shard="%s" data-a="%s" data-b="%s">`, esc(w.Kind), esc(p.root), esc(w.Data), esc(w.A), esc(w.B))
	for _, r := range w.Releases {
		p.add(`<span hidden data-release="`, esc(r[0]), `" data-shard="`, esc(r[1]), `"></span>`)
	}
	p.add(`<p class="more">This page is made in the browser and needs script.</p></div>`)
}
