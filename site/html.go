package site

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

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
	buffers sync.Pool
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

// What the templates see: layout.html, section.html, blocks/*.html; table.html has a [tableView].
type (
	layoutView struct {
		frame
		Page          render.Page
		Site, Version string
		Theme         string // fingerprint of the owner's colours, or ""
		Logo          *logoView
		Items, More   []menuItem // of the menu
		Single        *inlined   // of a page that is one file; else nil
	}
	sectionView struct {
		frame
		Section render.Section
	}
	blockView struct {
		frame
		Block render.Block
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
		"table": p.table, "shard": shardID, "sign": sign,
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
	const most = 6
	n := min(most, len(p.items))
	v.Items, v.More = p.items[:n], p.items[n:]
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
	src, err := fs.ReadFile(templates.Docs(), string(name)+".md")
	if err != nil {
		return "", fmt.Errorf("documentation %s: %w", name, err)
	}
	html, err := markdown.HTML(string(src))
	if err != nil {
		return "", fmt.Errorf("documentation %s: %w", name, err)
	}
	return html, nil
}

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
