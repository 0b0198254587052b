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
)

//go:embed v17.tmpl v20.tmpl
var templateFiles embed.FS

// templates has every document of both generations.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"json": encoded, "messages": messages, "join": strings.Join, "sign": sign,
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
	text, err := encoded(v)
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

// encoded is a value as JSON, with <, > and & as they are.
func encoded(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimRight(b.String(), "\n"), err
}

// object is a JSON object whose members stay in order: readers of these files know them by it.
type object []member

type member struct {
	key   string
	value any
}

func (o *object) add(key string, value any) { *o = append(*o, member{key, value}) }

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var members []string
	for _, m := range o {
		value, err := encoded(m.value)
		if err != nil {
			return nil, err
		}
		key, _ := encoded(m.key) // a text always encodes
		members = append(members, key+":"+value)
	}
	return []byte("{" + strings.Join(members, ",") + "}"), nil
}

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
