package parity

import (
	"cmp"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ttreport/ttreport/ingest/schema"
)

// column is a place of a value of a row in the documents of one generation: the key in data and CSV files, the head in
// tables for people, how many decimal places are written (all is every digit), and which value of [row] it is.
type column struct {
	key, head string
	places    int
	from      string
}

const all = -1

// columnsText has the columns of every document of both generations.
//
//go:embed columns.txt
var columnsText string

// columnLists reads columns.txt, whose first lines state its form, into lists by name.
var columnLists = sync.OnceValue(func() map[string][]column {
	out := map[string][]column{}
	var name string
	for line := range strings.Lines(columnsText) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "[") {
			name = strings.Trim(line, "[]")
			continue
		}
		if other, isOther := strings.CutPrefix(line, "+ "); isOther {
			other, names, some := strings.Cut(other, ":")
			list := out[other]
			if some { // those that are named by key, or else by value, in the order of the names
				list = nil
				for name := range strings.FieldsSeq(names) {
					is := func(c column) bool { return c.key == name || c.from == name }
					list = append(list, out[other][slices.IndexFunc(out[other], is)])
				}
			}
			out[name] = append(out[name], list...)
			continue
		}
		cells := strings.Split(line+"|||", "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		c := column{cells[0], cells[1], all, cmp.Or(cells[3], cells[0])}
		if n, err := strconv.Atoi(cells[2]); err == nil {
			c.places = n
		}
		out[name] = append(out[name], c)
	}
	return out
})

// listed are the columns of the first list that is there.
func listed(names ...string) []column {
	for _, name := range names {
		if list := columnLists()[name]; list != nil {
			return list
		}
	}
	return nil
}

// mediaKind is a task of models that write no text, with its name and titles in both generations.
type mediaKind struct{ task, backend, title17, title20 string }

// columns are the list of the task for a document: csv, table, summary (v0.17) or data (v0.19).
func (k *mediaKind) columns(document string) []column { return listed(k.task + " " + document) }

// mediaKinds are in the order of the sections of v0.17.
func mediaKinds() []mediaKind {
	return []mediaKind{
		{"image", "image", "vLLM Image", "Image"}, {"asr", "audio", "vLLM Audio", "Audio"},
		{"tts", "text_to_speech", "vLLM Text-to-Speech", "Text-to-Speech"},
		{"embedding", "embedding", "vLLM Embedding", "Embedding"}, {"cnn", "cnn", "CNN", "CNN"},
		{"video", "video", "vLLM Video", "Video"},
	}
}

// A cell writes a value of a row with a count of places.
type cell func(v any, places int) string

// cell17 is a value in a table or a CSV of v0.17: 4.52 and not 4.520, 21.0 and not 21.
func cell17(v any, places int) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case schema.Number:
		if places == all {
			return fixed(v, all, notMeasured)
		}
		return plain(rounded(v, places), notMeasured)
	}
	return notMeasured
}

// cell20 is a value in a table of stress tests since v0.19.
func cell20(v any, places int) string {
	n, ok := v.(schema.Number)
	switch {
	case !ok:
		return v.(string)
	case fewer(n):
		return n.Why()
	case places == all:
		return significant(n)
	}
	return significant(rounded(n, places))
}

// shown is a text, or a number with a fixed count of places; where there is none, why a percentile is missing.
func shown(v any, places int) string {
	if s, ok := v.(string); ok {
		return s
	}
	n, _ := v.(schema.Number)
	if fewer(n) {
		return n.Why()
	}
	return fixed(n, places, notAvailable)
}

// fewer reports a percentile that is not shown because few requests are behind it.
func fewer(n schema.Number) bool {
	return strings.HasPrefix(n.Why(), "n = ") && len(n.Why()) > len("n = ")
}

// digits is a value in a CSV with all its digits.
func digits(v any, _ int) string {
	if n, ok := v.(schema.Number); ok {
		return fixed(n, all, "")
	}
	return v.(string)
}

// tableOf has the rows in columns, under their heads.
func tableOf(list []*row, columns []column, write cell) *grid {
	heads := slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.head == "" })
	g := dataOf(list, heads, write)
	for i, c := range heads {
		g.heads[i] = c.head
	}
	return g
}

// dataOf has the rows in columns, under their keys, as a CSV has them.
func dataOf(list []*row, columns []column, write cell) *grid {
	g := &grid{rows: make([][]string, len(list))}
	for _, c := range columns {
		g.heads = append(g.heads, c.key)
		for i, r := range list {
			g.rows[i] = append(g.rows[i], write(r.values[c.from], c.places))
		}
	}
	return g
}

// objectOf has the values of a row by key, rounded; missing is what stands for a number that there is not.
func objectOf(r *row, list []column, missing any) (out object) {
	for _, c := range list {
		switch v := r.values[c.from].(type) {
		case schema.Number:
			if c.places != all {
				v = rounded(v, c.places)
			}
			n := value(v)
			if n == nil {
				n = missing
			}
			out.Add(c.key, n)
		case nil: // not stated
		default:
			out.Add(c.key, v)
		}
	}
	return out
}
