package parity

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
)

// notMeasured is the word of a benchmark's cell without a number; notAvailable is that of all other tables.
const (
	notMeasured  = "n/a"
	notAvailable = "N/A"
)

// rounded is a number to a count of decimal places, as v0.17 stores and prints it: 4.52 and not 4.520, 21.0 and not 21.
func rounded(n schema.Number, places int) schema.Number {
	return of(func(v ...float64) float64 { return round(v[0], places) }, n)
}

func round(v float64, places int) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'f', places, 64), 64)
	return v
}

// plain writes a number with all its digits, and a point.
func plain(n schema.Number, missing string) string {
	s := fixed(n, all, missing)
	if !n.IsZero() && !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// fixed writes a number to a count of decimal places, or with all its digits.
func fixed(n schema.Number, places int, missing string) string {
	v, ok := n.Get()
	if !ok {
		return missing
	}
	return strconv.FormatFloat(v, 'f', places, 64)
}

// significant writes four significant digits, or all before the point: 60000 and not 6e+04.
func significant(n schema.Number) string {
	if v, ok := n.Get(); ok && math.Abs(v) < 1000 {
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fixed(n, 0, notAvailable)
}

// grid is a table of texts.
type grid struct {
	heads []string
	rows  [][]string
}

// row adds the cells of a row.
func (g *grid) row(cells ...string) { g.rows = append(g.rows, cells) }

// objects are the rows by head.
func (g *grid) objects() []object {
	out := make([]object, len(g.rows))
	for i, r := range g.rows {
		for c, h := range g.heads {
			out[i].Add(h, r[c])
		}
	}
	return out
}

// aligned writes the table as v0.17 does: heads centred, columns of numbers aligned at their points.
func (g *grid) aligned() string {
	g.clean()
	numeric := make([]bool, len(g.heads))
	for c := range g.heads {
		numeric[c] = g.alignPoints(c)
	}
	return g.text("-", func(line, column, spaces int) int {
		switch {
		case line == 0:
			return spaces / 2
		case numeric[column]:
			return spaces
		}
		return 0
	})
}

// left writes the table as v0.19 does: all columns to the left, without those that hold nothing.
func (g *grid) left() string {
	for c := len(g.heads) - 1; c >= 0; c-- {
		g.drop(c, notAvailable)
	}
	g.clean()
	return g.text(":", func(int, int, int) int { return 0 })
}

// clean keeps texts in their cells.
func (g *grid) clean() {
	for _, r := range g.rows {
		for i, s := range r {
			r[i] = strings.TrimSpace(strings.NewReplacer("|", `\|`, "\n", " ").Replace(s))
		}
	}
}

// text writes the table; before is how many of the spaces of a cell stand before its text, the head being line 0.
func (g *grid) text(rule string, before func(line, column, spaces int) int) string {
	lines := append([][]string{g.heads}, g.rows...)
	width := make([]int, len(g.heads))
	for _, r := range lines {
		for c, s := range r {
			width[c] = max(width[c], columns(s))
		}
	}
	var out []string
	for n, r := range lines {
		var b, dashes strings.Builder
		for c, s := range r {
			spaces := width[c] - columns(s)
			left := before(n, c, spaces)
			b.WriteString("| " + strings.Repeat(" ", left) + s + strings.Repeat(" ", spaces-left) + " ")
			dashes.WriteString("|" + rule + strings.Repeat("-", width[c]+1))
		}
		out = append(out, b.String()+"|")
		if n == 0 {
			out = append(out, dashes.String()+"|")
		}
	}
	return strings.Join(out, "\n")
}

var isNumber = lazyregexp.New(`^-?\d+(\.\d+)?$`)

// alignPoints pads the numbers of a column so that their points are below each other, and reports whether it holds
// nothing else.
func (g *grid) alignPoints(col int) bool {
	before, after := 0, 0
	for _, r := range g.rows {
		if !isNumber.MatchString(r[col]) {
			return false
		}
		left, right, _ := strings.Cut(r[col], ".")
		before, after = max(before, len(left)), max(after, len(right))
	}
	for _, r := range g.rows {
		left, right, _ := strings.Cut(r[col], ".")
		r[col] = strings.Repeat(" ", before-len(left)) + left
		if after > 0 {
			r[col] += "." + right + strings.Repeat(" ", after-len(right))
		}
	}
	return len(g.rows) > 0
}

// drop leaves a column out that holds nothing but a word.
func (g *grid) drop(c int, word string) {
	if slices.ContainsFunc(g.rows, func(r []string) bool { return r[c] != word }) {
		return
	}
	g.heads = slices.Delete(g.heads, c, c+1)
	for i, r := range g.rows {
		g.rows[i] = slices.Delete(r, c, c+1)
	}
}

// columns is how many columns of a terminal a text takes: signs are two wide.
func columns(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r) && r != '\ufe0f':
		case r >= 0x1f300, r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
			r >= 0xff00 && r <= 0xff60, strings.ContainsRune("✅❌⛔", r):
			n += 2
		default:
			n++
		}
	}
	return n
}

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
