package site

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/chart"
	"github.com/ttreport/ttreport/render/words"
)

// tableView is what table.html sees.
type tableView struct {
	Table           *render.Table
	Full            *render.Link // with the address as a link has it
	Stacked, Linked bool
	Rows            template.HTML
}

// table makes a table.
func (p *pages) table(f interface{ At(render.Address) string }, t *render.Table) (template.HTML, error) {
	v := tableView{Table: t, Stacked: t.Layout == render.List || t.Layout == render.KeyValue,
		Linked: slices.ContainsFunc(t.Rows, func(r render.Row) bool { // it can be reached by keyboard through its links
			return slices.ContainsFunc(r.Cells, func(c render.Cell) bool { return c.Href != "" })
		})}
	if t.Full != nil {
		v.Full = &render.Link{Text: t.Full.Text, Href: render.Address(f.At(t.Full.Href))}
	}
	if slices.ContainsFunc(t.Cols, func(c render.Col) bool { return c.Href != "" }) {
		shown := *t
		shown.Cols = slices.Clone(t.Cols)
		for i := range shown.Cols {
			if c := &shown.Cols[i]; c.Href != "" {
				c.Href = render.Address(f.At(c.Href))
			}
		}
		v.Table = &shown
	}
	w := tableRows{pages: p, table: t, stacked: v.Stacked, at: f.At}
	w.Grow(len(t.Rows) * len(t.Cols) * 40)
	for i := range t.Rows {
		if err := w.row(&t.Rows[i]); err != nil {
			return "", err
		}
	}
	v.Rows = template.HTML(w.String())
	return p.execute("table", v)
}

// tableRows writes the rows of a table. Cells are most of every page: a site has millions of them, and html/template
// takes some ten microseconds for one. So this markup alone is written by Go. End tags of rows and cells are left out,
// as HTML allows: they would be a sixth of the page of a run.
type tableRows struct {
	strings.Builder
	pages   *pages
	table   *render.Table
	stacked bool // on narrow screens rows become paragraphs, and then their roles must be stated
	several bool // the row has sentences in several columns, which must say which is which there
	at      func(render.Address) string
}

func (w *tableRows) text(s string) {
	if strings.ContainsAny(s, "&<>\"'\x00") { // most have nothing to escape
		s = template.HTMLEscapeString(s)
	}
	w.WriteString(s)
}

// attribute writes an attribute, unless it is empty.
func (w *tableRows) attribute(name, value string) {
	if value != "" {
		w.WriteString(" " + name + `="`)
		w.text(value)
		w.WriteString(`"`)
	}
}

// open begins an element with its role.
func (w *tableRows) open(tag, role string) {
	if w.WriteString("<" + tag); w.stacked {
		w.attribute("role", role)
	}
}

// row writes cells, or a heading of the rows below.
func (w *tableRows) row(r *render.Row) error {
	if r.Group != "" {
		w.WriteString(`<tr class="group"`)
		w.attribute("id", r.Anchor)
		fmt.Fprintf(w, `><th colspan="%d" scope="colgroup">`, len(w.table.Cols))
		w.text(r.Group)
	} else {
		w.open("tr", "row")
		w.attribute("id", r.Anchor)
		w.WriteString(">")
	}
	sentences := 0
	for i := range r.Cells {
		if r.Cells[i].Sentence {
			sentences++
		}
	}
	w.several = sentences > 1
	for i := range min(len(r.Cells), len(w.table.Cols)) {
		if err := w.cell(&w.table.Cols[i], &r.Cells[i]); err != nil {
			return err
		}
	}
	w.WriteString("\n")
	return nil
}

func (w *tableRows) cell(col *render.Col, c *render.Cell) error {
	picture, err := w.pages.picture(c)
	if err != nil {
		return err
	}
	if c.Head {
		w.open(`th scope="row"`, "rowheader")
	} else {
		w.open("td", "cell")
	}
	w.attribute("class", w.classes(col, c))
	if w.labelled(col, c) {
		w.attribute("data-l", col.Head)
	}
	if c.Sort != nil && col.Sort {
		const digits = 9 // that tell values apart which a table can show
		w.attribute("data-v", strconv.FormatFloat(*c.Sort, 'g', digits, 64))
	}
	w.attribute("title", c.Missing)
	w.WriteString(">")
	w.content(c, string(picture))
	w.small("tag", c.Tag)
	for _, m := range c.Marks {
		w.WriteString(` <span class="` + sign(m.Outcome, m.Evidence) + `">`)
		if m.N > 0 {
			w.WriteString(words.Count(m.N) + " ")
		}
		w.text(m.Text)
		w.WriteString("</span>")
	}
	w.small("", col.Below(c))
	return nil
}

// labelled reports a cell that says what it is where its row is a paragraph: a verdict and the only sentence of a row
// need no head.
func (w *tableRows) labelled(col *render.Col, c *render.Cell) bool {
	plain := w.table.Layout != render.KeyValue && (!c.Sentence || w.several) && c.Outcome == 0 && c.Text != ""
	return w.stacked && !c.Head && (col.Num || col.Length != "" || plain)
}

// content writes a picture, a verdict or a text, in a link where there is one.
func (w *tableRows) content(c *render.Cell, picture string) {
	verdict, end := c.Outcome != 0 && picture == "", ""
	switch {
	case c.Href != "":
		w.WriteString("<a")
		w.attribute("href", w.at(c.Href))
		end = "</a>"
	case verdict:
		w.WriteString("<span")
		end = "</span>"
	}
	if verdict {
		w.attribute("class", sign(c.Outcome, c.Evidence))
	}
	if end != "" {
		w.WriteString(">")
	}
	switch {
	case verdict:
		w.text(cmp.Or(c.Text, c.Outcome.Words()))
		w.small("", c.Evidence.String())
	case picture != "":
		w.WriteString(picture)
	case c.Code && c.Text != "":
		w.WriteString(`<span class="id">`)
		w.text(c.Text)
		w.WriteString("</span>")
	case c.Strong:
		w.WriteString("<b>")
		w.text(c.Text)
		w.WriteString("</b>")
	default:
		w.text(c.Text)
	}
	w.WriteString(end)
}

// sign is the class that draws the sign of a verdict.
func sign(is schema.Outcome, seen schema.Evidence) string {
	return strings.TrimSpace("v " + is.String() + " " + seen.String())
}

// small writes what stands small behind a value, unless it is empty.
func (w *tableRows) small(class, s string) {
	if s != "" {
		w.WriteString(" <small")
		w.attribute("class", class)
		w.WriteString(">")
		w.text(s)
		w.WriteString("</small>")
	}
}

// classes are those of a cell. In a table of numbers, numbers are the rule, and texts have a class.
func (w *tableRows) classes(col *render.Col, c *render.Cell) string {
	numbers := w.table.Layout == render.Numbers
	list := make([]string, 0, 4)
	for _, x := range [...]struct {
		is   bool
		name string
	}{
		{col.Num && (!numbers || c.Head), "n"}, {numbers && !col.Num && !c.Head, "t"}, {col.Length != "", string(col.Length)},
		{c.Sentence, "why"}, {c.Missing != "", "absent"}, {c.Decisive, "tint"},
	} {
		if x.is {
			list = append(list, x.name)
		}
	}
	return strings.Join(list, " ")
}

// picture is the small picture of a cell; "" where it has none.
func (p *pages) picture(c *render.Cell) (template.HTML, error) {
	switch {
	case c.Spark != nil:
		return p.execute("pictures/spark", chart.NewSpark(c.Spark))
	case c.Strip != nil:
		return p.execute("pictures/strip", chart.NewStrip(c.Strip))
	case c.Bullet != nil:
		return p.execute("pictures/bullet", chart.NewBullet(c.Bullet))
	case c.Whisker != nil:
		return p.execute("pictures/interval", chart.NewInterval(c.Whisker))
	case c.Span != nil:
		return p.execute("pictures/span", chart.NewSpan(c.Span))
	}
	return "", nil
}
