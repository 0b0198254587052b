package site

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/chart"
	"github.com/ttreport/ttreport/render/chart/echarts"
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
	theme   Theme
	items   []menuItem
	assets  map[string][]byte
	menus   sync.Map // menu of a root and a current entry: HTML
	buffers sync.Pool
	stamps  stamps
}

// frame is what every template knows of the page that it is part of.
type frame struct {
	Root   string // before every address
	Path   render.Address
	Alone  bool   // the page is one file, and loads nothing
	Linked bool   // addresses lead somewhere
	Run    string // of a page that run.js shows: its name in the address
}

// At is an address as a link has it.
func (f frame) At(a render.Address) string {
	if a.External() {
		return string(a)
	}
	return f.Root + string(a)
}

// What the templates see: layout.html, section.html, blocks/*.html and table.html.
type (
	layoutView struct {
		frame
		Page          render.Page
		Site, Version string
		Theme         string // fingerprint of the owner's colours, or ""
		Logo          *logoView
		Navigation    template.HTML
		Single        *inlined // of a page that is one file; else nil
	}
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
)

func newPages(r *render.Report, theme Theme) (*pages, error) {
	assets, err := static.Assets()
	if err != nil {
		return nil, err
	}
	prints := map[string]string{} // for addresses that change with the content
	for name, data := range assets {
		prints[name] = static.Print(data)
	}
	p := &pages{site: r.Title, version: r.Version, theme: theme, items: menuItems(r), assets: assets}
	p.t = template.New("").Funcs(template.FuncMap{
		"section": func(v layoutView, s render.Section) (template.HTML, error) {
			return p.execute("section", sectionView{v.frame, s})
		},
		"draw": func(v sectionView, b render.Block) (template.HTML, error) { // by the template of its kind
			return p.execute("blocks/"+render.Kind(b), blockView{v.frame, b})
		},
		"course": func(_ blockView, c render.ChangeCard) (template.HTML, error) {
			return p.execute("pictures/course", chart.NewCourse(c.Course))
		},
		"table": p.table, "shard": shardID,
		"markdown": markdown.HTML, "topic": topic, "count": words.Count, "seriesOption": echarts.Series,
		"fingerprint": func(asset string) string { return prints[asset] },
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

// page makes a page with root before every address.
func (p *pages) page(page render.Page, root string) ([]byte, error) {
	v := layoutView{frame: frame{Root: root, Path: page.Path, Linked: true}, Page: page}
	if t := &p.theme; t.logo != nil {
		v.Logo = &logoView{template.URL(root + "assets/" + t.file + "?v=" + static.Print(t.logo)), t.w, t.h}
	}
	if p.theme.css != nil {
		v.Theme = static.Print(p.theme.css)
	}
	m := menu{root, page.Nav}
	html, ok := p.menus.Load(m)
	if !ok {
		const most = 6
		n := min(most, len(p.items))
		made, err := p.execute("navigation", struct {
			menu
			Items, More []menuItem
		}{m, p.items[:n], p.items[n:]})
		if err != nil {
			return nil, err
		}
		html = made
		p.menus.Store(m, html)
	}
	v.Navigation = html.(template.HTML)
	return p.layout(v)
}

// run writes what run.js puts into the page of runs. Its links are relative to that page.
func (p *pages) run(b *bytes.Buffer, page render.Page, name string) error {
	v := layoutView{frame: frame{Root: "../", Path: page.Path, Linked: true, Run: name}, Page: page}
	if err := p.t.ExecuteTemplate(b, "run", v); err != nil {
		return fmt.Errorf("page %s: %w", page.Path, err)
	}
	return nil
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
	b, ok := p.buffers.Get().(*bytes.Buffer)
	if !ok {
		b = new(bytes.Buffer)
	}
	defer p.buffers.Put(b)
	b.Reset()
	if err := p.t.ExecuteTemplate(b, name, data); err != nil {
		return "", err
	}
	return template.HTML(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// menu is what the navigation of a page depends on: a few dozen in a site of thousands of pages.
type menu struct{ Root, Current string }

// menuItem is an entry of the navigation.
type menuItem struct {
	Name, Text string
	Href       render.Address
}

// menuItems are the entries of a site without those of pages that would be empty; where nothing is graded, those that
// lead to decisions are left out.
func menuItems(r *render.Report) []menuItem {
	all := []menuItem{
		{"overview", "Overview", "index.html"}, {"changes", "Changes", render.ChangesPath},
		{"models", "Models", "index.html#models"}, {"compare", "Compare", "compare/index.html"},
		{"evals", "Evals", "evals/index.html"}, {"explore", "Explore", "explore/index.html"},
		{"releases", "Releases", render.ReleasesPath}, {"targets", "Targets", "targets/index.html"},
		{"coverage", "Coverage", render.CoveragePath}, {"notes", "Notes", "notes/index.html"},
		{"problems", "Problems", render.ProblemsPath}, {"about", "About", "about/index.html"},
	}
	return slices.DeleteFunc(all, func(m menuItem) bool {
		switch m.Name {
		case "evals":
			return len(r.Columns.Scores) == 0
		case "notes":
			return len(r.Notes) == 0
		case "targets":
			return !r.Graded() || len(r.Columns.Targets)+len(r.Planned) == 0
		}
		return !r.Graded() && slices.Contains([]string{"releases", "changes", "coverage"}, m.Name)
	})
}

// topic is a page of the documentation.
func topic(name render.Topic) (template.HTML, error) {
	if page, ok := documentation()[name]; ok {
		return page()
	}
	return "", fmt.Errorf("documentation %s: %w", name, fs.ErrNotExist)
}

// documentation makes each page of it, the same in all sites, once; one that cannot be made fails by itself.
var documentation = sync.OnceValue(func() map[render.Topic]func() (template.HTML, error) {
	names, _ := fs.Glob(templates.Docs(), "*.md") // the pattern is well-formed
	pages := map[render.Topic]func() (template.HTML, error){}
	for _, name := range names {
		pages[render.Topic(strings.TrimSuffix(name, ".md"))] = sync.OnceValues(func() (template.HTML, error) {
			src, err := fs.ReadFile(templates.Docs(), name)
			if err != nil {
				return "", err
			}
			html, err := markdown.HTML(string(src))
			if err != nil {
				err = fmt.Errorf("documentation %s: %w", name, err)
			}
			return html, err
		})
	}
	return pages
})

// planesFile holds the numbers of a page's planes, beside the page.
const planesFile = "planes.js"

// shardID names a page's data.
func shardID(page render.Address) string { return path.Dir(string(page)) }

// rewriting changes what a view says before it is made into a file. A nil function changes nothing.
type rewriting struct {
	text    func(string) string                 // of texts: plain strings, and types that implement texter
	address func(render.Address) render.Address // of links
}

// texter marks named string types that hold text, unlike names such as [schema.Outcome].
type texter interface{ IsText() }

// rewritten is a copy of a view with its texts and addresses changed. It walks by reflection, so that a view which is
// added cannot be forgotten. Unexported fields are copied as they are: views keep no text there.
func rewritten[T any](view T, r rewriting) T {
	v := reflect.ValueOf(&view).Elem()
	v.Set(r.value(v))
	return view
}

func (r rewriting) value(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		return r.str(v)
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		if v.Kind() == reflect.Interface {
			out.Set(r.value(v.Elem()))
			return out
		}
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(r.value(v.Elem()))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(r.value(v.Index(i)))
		}
		return out
	case reflect.Map:
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(r.value(it.Key()), r.value(it.Value()))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(r.value(v.Field(i)))
			}
		}
		return out
	}
	return v
}

// str changes a text or an address.
func (r rewriting) str(v reflect.Value) reflect.Value {
	if v.Type() == reflect.TypeFor[render.Address]() {
		if r.address == nil {
			return v
		}
		return reflect.ValueOf(r.address(render.Address(v.String())))
	}
	_, text := v.Interface().(texter)
	if r.text == nil || !text && v.Type() != reflect.TypeFor[string]() {
		return v
	}
	return reflect.ValueOf(r.text(v.String())).Convert(v.Type())
}

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

// write writes the stamp with the values of a cell or a row; cells writes those of a row.
func (s *stamp) write(b *strings.Builder, v *values, cells func() error) error {
	for i, place := range s.places {
		b.WriteString(s.pieces[i])
		switch place {
		case slotPicture:
			b.WriteString(v[place])
		case slotCells:
			if err := cells(); err != nil {
				return err
			}
		default:
			text := v[place]
			if strings.ContainsAny(text, "&<>\"'\x00") { // most have nothing to escape
				text = template.HTMLEscapeString(text)
			}
			b.WriteString(text)
		}
	}
	b.WriteString(s.pieces[len(s.pieces)-1])
	return nil
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
	tc := tableCells{p, t, v.Stacked, f.At, make([][]recentStamp, len(t.Cols))}
	var rows strings.Builder
	rows.Grow(len(t.Rows) * len(t.Cols) * 40)
	for i := range t.Rows {
		if err := tc.row(&rows, &t.Rows[i]); err != nil {
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
	case c.Whisker != nil:
		picture, err = t.execute("pictures/interval", chart.NewInterval(c.Whisker))
	case c.Span != nil:
		picture, err = t.execute("pictures/span", chart.NewSpan(c.Span))
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
	return s.write(b, &v, nil)
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
	form := cellForm{outcome: c.Outcome, evidence: c.Evidence}
	for i, is := range [...]bool{
		c.Head, c.Strong, c.Code, c.Sentence, c.Decisive, v[slotText] != "", v[slotSub] != "", v[slotTag] != "",
		v[slotMissing] != "", v[slotSort] != "", v[slotHref] != "", v[slotPicture] != "",
	} {
		if is {
			form.has |= 1 << i
		}
	}
	for i := range t.recent[col] {
		if r := &t.recent[col][i]; r.form == form {
			return r.stamp, nil
		}
	}
	kind := cellKind{t.table.Layout, t.table.Cols[col], form}
	found, ok := t.stamps.cells.Load(kind)
	if !ok {
		example := t.view(col, c, v) // with marks in place of its texts
		for place, field := range map[slot]*string{
			slotText: &example.Cell.Text, slotSub: &example.Cell.Sub, slotTag: &example.Cell.Tag,
			slotMissing: &example.Cell.Missing, slotSort: &example.Sort,
		} {
			if *field != "" {
				*field = place.mark()
			}
		}
		if example.Href != "" {
			example.Href = slotHref.raw()
		}
		if example.Picture != "" {
			example.Picture = template.HTML(slotPicture.raw())
		}
		var err error
		if found, err = t.newStamp("cell", example, &t.stamps.cells, kind); err != nil {
			return nil, err
		}
	}
	s := found.(*stamp)
	t.recent[col] = append(t.recent[col], recentStamp{form, s})
	return s, nil
}

func (t *tableCells) row(b *strings.Builder, r *render.Row) error {
	kind := rowKind{t.stacked, r.Group != "", r.Anchor != "", len(t.table.Cols)}
	found, ok := t.stamps.rows.Load(kind)
	if !ok {
		v := rowView{Columns: kind.columns, Stacked: t.stacked, Cells: template.HTML(slotCells.raw())}
		if kind.group {
			v.Group = slotGroup.mark()
		}
		if kind.anchor {
			v.Anchor = slotAnchor.mark()
		}
		var err error
		if found, err = t.newStamp("row", v, &t.stamps.rows, kind); err != nil {
			return err
		}
	}
	v := values{slotGroup: r.Group, slotAnchor: r.Anchor}
	return found.(*stamp).write(b, &v, func() error {
		for k := range min(len(r.Cells), kind.columns) {
			if err := t.cell(b, k, &r.Cells[k]); err != nil {
				return err
			}
		}
		return nil
	})
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

var classRE = lazyregexp.New(` class="([^"]*)"`)

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
