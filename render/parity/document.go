package parity

import (
	"bytes"
	"embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/rows"
)

//go:embed v17.tmpl v20.tmpl
var templateFiles embed.FS

// templates has every document of both generations.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"json": rows.Encoded, "messages": messages, "join": strings.Join, "sign": sign,
	}).ParseFS(templateFiles, "*.tmpl"))
})

// output collects the files of a layout, and the first error.
type output struct {
	files []File
	err   error
}

func (o *output) add(path string, data []byte, err error) {
	o.files = append(o.files, File{path, data})
	if o.err == nil && err != nil {
		o.err = fmt.Errorf("writing %s: %w", path, err)
	}
}

// fill fills a template.
func (o *output) fill(name string, data any) string {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, name, data); o.err == nil {
		o.err = err
	}
	return b.String()
}

// indented fills a template of JSON, with four spaces for each level.
func (o *output) indented(name string, data any) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(o.fill(name, data)), "", "    "); o.err == nil {
		o.err = err
	}
	return b.String()
}

// json writes a value with four spaces for each level.
func (o *output) json(path string, v any) {
	var b bytes.Buffer
	text, err := rows.Encoded(v)
	if err == nil {
		err = json.Indent(&b, []byte(text+"\n"), "", "    ")
	}
	o.add(path, b.Bytes(), err)
}

// csv writes a table as Python's csv module does.
func (o *output) csv(path string, g *grid) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	err := w.WriteAll(append([][]string{g.heads}, g.rows...))
	o.add(path, b.Bytes(), err)
}

// An object of JSON keeps its members in order: readers of these files know them by it.
type (
	object = rows.Object
	member = rows.Member
)

// value is a number for JSON: null when there is none.
func value(n schema.Number) any {
	if v, ok := n.Get(); ok {
		return v
	}
	return nil
}

// text is a text for JSON: null when there is none.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}
