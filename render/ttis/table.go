package ttis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ttreport/ttreport/ingest/schema"
)

// notMeasured is the word of a benchmark's cell without a number; notAvailable is that of all other tables.
const (
	notMeasured  = "n/a"
	notAvailable = "N/A"
)

// rounded is a number to a count of decimal places, as v0.17 stores and prints it: 4.52 and not 4.520, 21.0 and not 21.
func rounded(n schema.Number, places int) schema.Number {
	v, ok := n.Get()
	if !ok {
		return n
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'f', places, 64), 64)
	return schema.Num(v)
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
	v, ok := n.Get()
	if !ok {
		return notAvailable
	}
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return strconv.FormatFloat(v, 'f', -1, 64)
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

// object is a JSON object whose members stay in order: readers of these files know them by it.
type object []member

type member struct {
	key   string
	value any
}

func (o *object) add(key string, value any) { *o = append(*o, member{key, value}) }

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		key, err := encode(m.key)
		value, err2 := encode(m.value)
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%s:%s", key, value)
	}
	return append(b, '}'), nil
}

// encode leaves <, > and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// document is a value as a file: four spaces for each level.
func document(v any) ([]byte, error) {
	text, err := encode(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, text, "", "    ")
	return b.Bytes(), err
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
	var out []object
	for _, r := range g.rows {
		var one object
		for i, h := range g.heads {
			one.add(h, r[i])
		}
		out = append(out, one)
	}
	return out
}

// clean keeps texts in their cells.
func (g *grid) clean() {
	for _, r := range g.rows {
		for i, s := range r {
			r[i] = strings.TrimSpace(strings.NewReplacer("|", `\|`, "\n", " ").Replace(s))
		}
	}
}

var isNumber = regexp.MustCompile(`^-?\d+(\.\d+)?$`)

// aligned writes the table as v0.17 does: heads centred, columns of numbers aligned at their points.
func (g *grid) aligned() string {
	g.clean()
	width := make([]int, len(g.heads))
	numeric := make([]bool, len(g.heads))
	for c := range g.heads {
		numeric[c] = g.alignPoints(c)
		width[c] = columns(g.heads[c])
		for _, r := range g.rows {
			width[c] = max(width[c], columns(r[c]))
		}
	}
	var b strings.Builder
	for c, h := range g.heads {
		left := (width[c] - columns(h)) / 2
		b.WriteString("| " + strings.Repeat(" ", left) + h + strings.Repeat(" ", width[c]-columns(h)-left) + " ")
	}
	b.WriteString("|\n")
	for c := range g.heads {
		b.WriteString("|" + strings.Repeat("-", width[c]+2))
	}
	b.WriteString("|")
	for _, r := range g.rows {
		b.WriteString("\n")
		for c, s := range r {
			pad := strings.Repeat(" ", width[c]-columns(s))
			if numeric[c] {
				s, pad = pad, s
			}
			b.WriteString("| " + s + pad + " ")
		}
		b.WriteString("|")
	}
	return b.String()
}

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

// left writes the table as v0.19 does: all columns to the left.
func (g *grid) left() string {
	g.clean()
	var b strings.Builder
	width := make([]int, len(g.heads))
	lines := append([][]string{g.heads}, g.rows...)
	for _, r := range lines {
		for c, s := range r {
			width[c] = max(width[c], columns(s))
		}
	}
	for n, r := range lines {
		if n > 0 {
			b.WriteByte('\n')
		}
		for c, s := range r {
			b.WriteString("| " + s + strings.Repeat(" ", width[c]-columns(s)) + " ")
		}
		b.WriteString("|")
		if n == 0 {
			b.WriteByte('\n')
			for c := range r {
				b.WriteString("|:" + strings.Repeat("-", width[c]+1))
			}
			b.WriteString("|")
		}
	}
	return b.String()
}

// withoutColumns drops columns, of the first and those after it, that hold nothing but a word.
func (g *grid) withoutColumns(word string, first int) {
	for c := len(g.heads) - 1; c >= first; c-- {
		if slices.ContainsFunc(g.rows, func(r []string) bool { return r[c] != word }) {
			continue
		}
		g.heads = slices.Delete(g.heads, c, c+1)
		for i, r := range g.rows {
			g.rows[i] = slices.Delete(r, c, c+1)
		}
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
