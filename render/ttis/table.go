package ttis

import (
	"regexp"
	"strings"
	"unicode"
)

// grid is a table of texts.
type grid struct {
	heads []string
	rows  [][]string
}

// row adds the cells of a row.
func (g *grid) row(cells ...string) {
	for i, c := range cells {
		cells[i] = clean(c)
	}
	g.rows = append(g.rows, cells)
}

// clean keeps a text in its cell.
func clean(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\n", " "))
}

var isNumber = regexp.MustCompile(`^-?\d+(\.\d+)?$`)

// aligned writes the table as v0.17 does: heads centred, columns of numbers aligned at their points.
func (g *grid) aligned() string {
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

// withoutColumns drops columns.
func (g *grid) withoutColumns(drop func(col int, cells []string) bool) {
	for c := len(g.heads) - 1; c >= 0; c-- {
		cells := make([]string, len(g.rows))
		for i, r := range g.rows {
			cells[i] = r[c]
		}
		if !drop(c, cells) {
			continue
		}
		g.heads = append(g.heads[:c:c], g.heads[c+1:]...)
		for i, r := range g.rows {
			g.rows[i] = append(r[:c:c], r[c+1:]...)
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
