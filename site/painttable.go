package site

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"html/template"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/chart/svg"
	"github.com/ttreport/ttreport/render/words"
)

// paintTable writes a table. It is Go and not a template because tables are most of every page and html/template takes thirty times
// as long; every text goes through the same escaper. End tags of rows and cells are left out, as HTML allows: they were a sixth of
// the page of a run.
func paintTable(b *strings.Builder, root string, t *render.Table) {
	p := tablePainter{b: b, root: root, t: t, grid: t.Class == "grid", flow: strings.Contains(t.Class, "flow") || t.Class == "kv"}
	p.add(`<div class="tw"`)
	if !linked(t) {
		p.add(` tabindex="0" role="region" aria-label="`, esc(t.Caption), `"`)
	}
	p.add(`><table class="`, esc(t.Class), `"`, p.role("table"), ">\n<caption")
	if !t.Titled {
		p.add(` class="vh"`)
	}
	p.add(">", esc(t.Caption), "</caption>\n<thead", p.role("rowgroup"), "><tr", p.role("row"), ">")
	for i := range t.Cols {
		p.head(&t.Cols[i])
	}
	p.add("</thead>\n<tbody", p.role("rowgroup"), ">\n")
	for i := range t.Rows {
		p.row(&t.Rows[i])
	}
	p.add("</tbody></table></div>\n")
	if t.More != "" {
		p.add(`<p class="more">`, strconv.Itoa(len(t.Rows)), " of ", words.Count(t.Total), " rows; ", esc(t.More), ".</p>")
	}
}

type tablePainter struct {
	b    *strings.Builder
	root string
	t    *render.Table
	grid bool // mostly numbers
	flow bool // rows become paragraphs on narrow screens, and then need their roles said
}

func (p *tablePainter) add(parts ...string) {
	for _, s := range parts {
		p.b.WriteString(s)
	}
}

func (p *tablePainter) role(name string) string {
	if !p.flow {
		return ""
	}
	return ` role="` + name + `"`
}

func (p *tablePainter) head(c *render.Col) {
	p.add(`<th scope="col"`, p.role("columnheader"))
	if c.Num {
		p.add(` class="n"`)
	}
	if c.Sort {
		p.add(" data-sort")
	}
	p.add(">", esc(c.Head))
	if c.Unit != "" {
		p.add(" <small>", esc(c.Unit), "</small>")
	}
}

func (p *tablePainter) row(r *render.Row) {
	if r.Group != "" {
		p.add(`<tr class="group"`)
		if r.Anchor != "" {
			p.add(` id="`, esc(r.Anchor), `"`)
		}
		p.add(`><th colspan="`, strconv.Itoa(len(p.t.Cols)), `" scope="colgroup">`, esc(r.Group), "\n")
		return
	}
	p.add("<tr", p.role("row"), ">")
	for i := range r.Cells {
		var col render.Col
		if i < len(p.t.Cols) {
			col = p.t.Cols[i]
		}
		p.cell(&col, &r.Cells[i])
	}
	p.add("\n")
}

func (p *tablePainter) cell(col *render.Col, c *render.Cell) {
	tag := "td"
	if c.Head {
		tag = "th"
	}
	p.add("<", tag)
	if c.Head {
		p.add(` scope="row"`, p.role("rowheader"))
	} else {
		p.add(p.role("cell"))
	}
	p.classes(col, c)
	if p.flow && !c.Head && (col.Num || col.Narrow != "" || p.t.Class != "kv" && !c.Wide && c.Outcome == "" && c.Text != "" && col.Head != "") {
		p.add(` data-l="`, esc(col.Head), `"`)
	}
	if c.Sort != nil && col.Sort {
		p.add(` data-v="`, strconv.FormatFloat(*c.Sort, 'g', -1, 64), `"`)
	}
	if c.Missing != "" {
		p.add(` title="`, esc(c.Missing), `"`)
	}
	p.add(">")
	p.body(c)
}

func (p *tablePainter) classes(col *render.Col, c *render.Cell) {
	before := " class=\""
	class := func(name string, is bool) {
		if is {
			p.add(before, name)
			before = " "
		}
	}
	class("n", col.Num && (!p.grid || c.Head))
	class("t", !col.Num && p.grid && !c.Head) // in a grid, numbers are the rule
	class(esc(col.Narrow), col.Narrow != "")
	class("why", c.Wide)
	class("absent", c.Missing != "")
	class("tint", c.Tint)
	if before == " " {
		p.add(`"`)
	}
}

func (p *tablePainter) body(c *render.Cell) {
	if c.Spark != nil {
		p.add(string(svg.Spark(c.Spark)))
		return
	}
	if c.Strip != nil {
		p.add(string(svg.Strip(c.Strip)))
		return
	}
	switch {
	case c.Href == "":
		p.inner(c)
	case c.Outcome != "": // one element for both: a page of verdicts has hundreds
		p.verdict(c, `a href="`+esc(p.root+c.Href)+`"`, "a")
	default:
		p.add(`<a href="`, esc(p.root+c.Href), `">`)
		p.inner(c)
		p.add("</a>")
	}
	if c.Tag != "" {
		p.add(` <small class="tag">`, esc(c.Tag), "</small>")
	}
	p.marks(c.Marks)
	if c.Sub != "" {
		p.add(" <small>", esc(c.Sub), "</small>")
	}
}

// marks writes signs with counts and words.
func (p *tablePainter) marks(list []render.Mark) {
	for _, m := range list {
		p.add(` <span class="v `, signClass(m.Outcome, m.Evidence), `">`)
		if m.N > 0 {
			p.add(words.Count(m.N), " ")
		}
		p.add(esc(m.Says), "</span>")
	}
}

func (p *tablePainter) inner(c *render.Cell) {
	switch {
	case c.Outcome != "":
		p.verdict(c, "span", "span")
	case c.Mono && c.Text != "":
		p.add(`<span class="id">`, esc(c.Text), "</span>")
	case c.Strong:
		p.add("<b>", esc(c.Text), "</b>")
	default:
		p.add(esc(c.Text))
	}
}

// verdict writes a word with its sign as one element.
func (p *tablePainter) verdict(c *render.Cell, open, end string) {
	label := c.Text
	if label == "" {
		label = string(c.Outcome)
	}
	p.add("<", open, ` class="v `, signClass(c.Outcome, c.Evidence), `">`, esc(label))
	if c.Evidence != "" {
		p.add(" <small>", esc(string(c.Evidence)), "</small>")
	}
	p.add("</", end, ">")
}

// signClass is the class that draws a verdict's sign.
func signClass(o schema.Outcome, e schema.Evidence) string {
	if e == "" {
		return esc(string(o))
	}
	return esc(string(o)) + " " + esc(string(e))
}

// linked reports whether a table can be reached by keyboard through its own links; one that cannot gets a tab stop, since
// it may scroll.
func linked(t *render.Table) bool {
	for _, r := range t.Rows {
		for i := range r.Cells {
			if r.Cells[i].Href != "" {
				return true
			}
		}
	}
	return false
}

func esc(s string) string { return template.HTMLEscapeString(s) }
