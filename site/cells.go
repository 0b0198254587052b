package site

import (
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/chart"
)

// Tables are most of every page: a site has millions of cells, and html/template takes some ten microseconds for one.
// So cell.html and row.html are executed once for each kind of cell and row, with marks in place of the texts. What
// comes out is cut at the marks and stamped for every cell of that kind. Two other ways were rejected: rows written
// by Go, since markup then is out of a web developer's reach, and text/template, which does not know where escaping
// is needed.

// A slot is a place in a template for a value.
type slot int

const (
	slotText slot = iota
	slotSub
	slotTag
	slotMissing
	slotSort
	slotHref
	slotPicture
	slotGroup
	slotAnchor
	slotCells
	slots
)

// mark stands in a template for a value that will be escaped as text. In any context but text and a quoted attribute,
// html/template writes it differently, and newStamp refuses it.
func (s slot) mark() string { return "<=ttslot" + strconv.Itoa(int(s)) + ">" }

// raw stands for a value that is ready: HTML, or an address.
func (s slot) raw() string { return "ttslot" + strconv.Itoa(int(s)) + "." }

// values are the texts of a cell or row, by slot; a slot that is empty in one is empty in all of its kind.
type values [slots]string

// stamp is the output of a template, cut at the places of its values.
type stamp struct {
	pieces []string // one more than places
	places []slot
}

func newStamp(html string) (stamp, error) {
	var s stamp
	for {
		at, length, which := len(html), 0, slots
		for i := range slots {
			for _, m := range []string{template.HTMLEscapeString(i.mark()), i.raw()} {
				if k := strings.Index(html, m); k >= 0 && k < at {
					at, length, which = k, len(m), i
				}
			}
		}
		if strings.Contains(html[:at], "ttslot") {
			return stamp{}, fmt.Errorf("a value may only be text or a quoted attribute: %s", html)
		}
		s.pieces = append(s.pieces, html[:at])
		if which == slots {
			return s, nil
		}
		s.places = append(s.places, which)
		html = html[at+length:]
	}
}

// write writes the stamp with the values of one cell.
func (s *stamp) write(b *strings.Builder, v *values) {
	for i, place := range s.places {
		b.WriteString(s.pieces[i])
		switch place {
		case slotPicture, slotCells:
			b.WriteString(v[place])
		default:
			escape(b, v[place])
		}
	}
	b.WriteString(s.pieces[len(s.pieces)-1])
}

// escape writes a text for HTML; most have nothing to escape.
func escape(b *strings.Builder, s string) {
	if strings.ContainsAny(s, "&<>\"'\x00") {
		s = template.HTMLEscapeString(s)
	}
	b.WriteString(s)
}

// stamps are those that were made, by kind of cell and of row.
type stamps struct{ cells, rows sync.Map }

// cellKind is everything about a cell but its texts.
type cellKind struct {
	layout render.Layout
	col    render.Col
	cellForm
}

// cellForm is what a cell's kind depends on beside its table and column.
type cellForm struct {
	outcome  schema.Outcome
	evidence schema.Evidence
	has      uint16 // bits
}

// formOf is the form of a cell.
func formOf(c *render.Cell, v *values) cellForm {
	f := cellForm{outcome: c.Outcome, evidence: c.Evidence}
	for i, is := range [...]bool{
		c.Head, c.Strong, c.Code, c.Sentence, c.Decisive, v[slotText] != "", v[slotSub] != "", v[slotTag] != "",
		v[slotMissing] != "", v[slotSort] != "", v[slotHref] != "", v[slotPicture] != "",
	} {
		if is {
			f.has |= 1 << i
		}
	}
	return f
}

// rowKind is everything about a row but its texts.
type rowKind struct {
	stacked, group, anchor bool
	columns                int
}

// cellView and rowView are what cell.html and row.html see.
type (
	cellView struct {
		Cell       render.Cell
		Col        render.Col
		Layout     render.Layout
		Stacked    bool
		Href, Sort string
		Picture    template.HTML
	}
	rowView struct {
		Group, Anchor string
		Columns       int
		Stacked       bool
		Cells         template.HTML
	}
)

// tableCells makes the cells of one table. Most cells of a column are of one kind: recent has the stamps of each
// column.
type tableCells struct {
	*pages
	table   *render.Table
	stacked bool
	at      func(render.Address) string
	recent  [][]recentStamp
}

type recentStamp struct {
	form  cellForm
	stamp *stamp
}

// table makes a table.
func (p *pages) table(f interface{ At(render.Address) string }, t *render.Table) (template.HTML, error) {
	v := tableView{Table: t, Stacked: t.Layout == render.List || t.Layout == render.KeyValue, Linked: linked(t)}
	if t.Full != nil {
		v.Full = &render.Link{Text: t.Full.Text, Href: render.Address(f.At(t.Full.Href))}
	}
	tc := tableCells{p, t, v.Stacked, f.At, make([][]recentStamp, len(t.Cols))}
	var rows, cells strings.Builder
	rows.Grow(len(t.Rows) * len(t.Cols) * 40)
	for i := range t.Rows {
		r := &t.Rows[i]
		cells.Reset()
		for k := range min(len(r.Cells), len(t.Cols)) {
			if err := tc.cell(&cells, k, &r.Cells[k]); err != nil {
				return "", err
			}
		}
		if err := p.row(&rows, r, v.Stacked, len(t.Cols), cells.String()); err != nil {
			return "", err
		}
	}
	v.Rows = template.HTML(rows.String())
	return p.execute("table", v)
}

func (t *tableCells) cell(b *strings.Builder, col int, c *render.Cell) error {
	v := values{slotText: c.Text, slotSub: t.table.Cols[col].Below(c), slotTag: c.Tag, slotMissing: c.Missing}
	var picture template.HTML
	var err error
	switch {
	case c.Spark != nil:
		picture, err = t.execute("pictures/spark", chart.NewSpark(c.Spark))
	case c.Strip != nil:
		picture, err = t.execute("pictures/strip", chart.NewStrip(c.Strip))
	case c.Bullet != nil:
		picture, err = t.execute("pictures/bullet", chart.NewBullet(c.Bullet))
	case c.Bar != nil:
		picture, err = t.execute("pictures/bar", chart.NewBar(c.Bar))
	case c.Whisker != nil:
		picture, err = t.execute("pictures/interval", chart.NewInterval(c.Whisker))
	}
	if err != nil {
		return err
	}
	v[slotPicture] = string(picture)
	if c.Href != "" {
		v[slotHref] = t.at(c.Href)
	}
	if c.Sort != nil && t.table.Cols[col].Sort {
		v[slotSort] = strconv.FormatFloat(*c.Sort, 'g', sortDigits, 64)
	}
	if len(c.Marks) > 0 { // a list: not worth a kind
		html, err := t.execute("cell", t.view(col, c, &v))
		b.WriteString(tidy(string(html)))
		return err
	}
	s, err := t.stamp(col, c, &v)
	if err != nil {
		return err
	}
	s.write(b, &v)
	return nil
}

// sortDigits are those that tell values apart which a table can show.
const sortDigits = 9

// view is what cell.html sees.
func (t *tableCells) view(col int, c *render.Cell, v *values) cellView {
	of := *c
	of.Sub = v[slotSub]
	return cellView{
		Cell: of, Col: t.table.Cols[col], Layout: t.table.Layout, Stacked: t.stacked, Href: v[slotHref],
		Sort: v[slotSort], Picture: template.HTML(v[slotPicture]),
	}
}

// stamp is the stamp of a cell's kind.
func (t *tableCells) stamp(col int, c *render.Cell, v *values) (*stamp, error) {
	form := formOf(c, v)
	for i := range t.recent[col] {
		if r := &t.recent[col][i]; r.form == form {
			return r.stamp, nil
		}
	}
	kind := cellKind{t.table.Layout, t.table.Cols[col], form}
	found, ok := t.stamps.cells.Load(kind)
	if !ok {
		var err error
		if found, err = t.newStamp("cell", example(t.view(col, c, v)), &t.stamps.cells, kind); err != nil {
			return nil, err
		}
	}
	s := found.(*stamp)
	t.recent[col] = append(t.recent[col], recentStamp{form, s})
	return s, nil
}

// example is a cell with marks in place of its texts.
func example(v cellView) cellView {
	for place, field := range map[slot]*string{
		slotText: &v.Cell.Text, slotSub: &v.Cell.Sub, slotTag: &v.Cell.Tag, slotMissing: &v.Cell.Missing, slotSort: &v.Sort,
	} {
		if *field != "" {
			*field = place.mark()
		}
	}
	if v.Href != "" {
		v.Href = slotHref.raw()
	}
	if v.Picture != "" {
		v.Picture = template.HTML(slotPicture.raw())
	}
	return v
}

func (p *pages) row(b *strings.Builder, r *render.Row, stacked bool, columns int, cells string) error {
	kind := rowKind{stacked, r.Group != "", r.Anchor != "", columns}
	s, ok := p.stamps.rows.Load(kind)
	if !ok {
		v := rowView{Columns: columns, Stacked: stacked, Cells: template.HTML(slotCells.raw())}
		if kind.group {
			v.Group = slotGroup.mark()
		}
		if kind.anchor {
			v.Anchor = slotAnchor.mark()
		}
		var err error
		if s, err = p.newStamp("row", v, &p.stamps.rows, kind); err != nil {
			return err
		}
	}
	s.(*stamp).write(b, &values{slotGroup: r.Group, slotAnchor: r.Anchor, slotCells: cells})
	return nil
}

// newStamp makes and keeps a stamp.
func (p *pages) newStamp(name string, example any, of *sync.Map, kind any) (*stamp, error) {
	html, err := p.execute(name, example)
	if err != nil {
		return nil, err
	}
	s, err := newStamp(tidy(string(html)))
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	of.Store(kind, &s)
	return &s, nil
}

var classRE = regexp.MustCompile(` class="([^"]*)"`)

// tidy takes out spaces between classes, and class attributes that are empty: a template can hardly do so itself where
// each class is optional.
func tidy(html string) string {
	return classRE.ReplaceAllStringFunc(html, func(m string) string {
		list := strings.Fields(classRE.FindStringSubmatch(m)[1])
		if len(list) == 0 {
			return ""
		}
		return ` class="` + strings.Join(list, " ") + `"`
	})
}

// linked reports whether a table can be reached by keyboard through its own links.
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
