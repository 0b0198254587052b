package markdown

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// table writes an aligned table.
func (w writer) table(t *render.Table) {
	heads := make([]string, len(t.Cols))
	for i, c := range t.Cols {
		heads[i] = escape(c.Head)
		if c.Unit != "" {
			heads[i] += " (" + escape(c.Unit) + ")"
		}
	}
	rows := [][]string{heads}
	for _, r := range t.Rows {
		line := make([]string, len(t.Cols))
		if r.Group != "" && len(line) > 0 {
			line[0] = "**" + escape(r.Group) + "**"
		}
		for i := range min(len(r.Cells), len(line)) {
			line[i] = w.cell(t.Cols[i], r.Cells[i])
		}
		rows = append(rows, line)
	}
	width := make([]int, len(t.Cols))
	for _, r := range rows {
		for i, s := range r {
			width[i] = max(width[i], utf8.RuneCountInString(s), 3)
		}
	}
	for n, r := range rows {
		w.row(t.Cols, r, width)
		if n == 0 {
			w.rule(t.Cols, width)
		}
	}
	if t.More != "" {
		fmt.Fprintf(w.b, "\n%s of %s rows; %s.\n", words.Count(len(t.Rows)), words.Count(t.Total), escape(t.More))
	}
}

// row writes the cells of a row: numbers to the right, texts to the left.
func (w writer) row(cols []render.Col, cells []string, width []int) {
	w.b.WriteByte('|')
	for i, s := range cells {
		pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(s))
		if cols[i].Num {
			fmt.Fprintf(w.b, " %s%s |", pad, s)
		} else {
			fmt.Fprintf(w.b, " %s%s |", s, pad)
		}
	}
	w.b.WriteByte('\n')
}

// rule writes the line below the heads.
func (w writer) rule(cols []render.Col, width []int) {
	w.b.WriteByte('|')
	for i, c := range cols {
		w.b.WriteString(strings.Repeat("-", width[i]+1))
		if c.Num {
			w.b.WriteString(":|")
		} else {
			w.b.WriteString("-|")
		}
	}
	w.b.WriteByte('\n')
}

// cell is a value with its sign, link and addition; a picture is its description.
func (w writer) cell(col render.Col, c render.Cell) string {
	switch {
	case c.Spark != nil:
		return escape(c.Spark.Label)
	case c.Strip != nil:
		return escape(c.Strip.Label)
	case c.Bullet != nil:
		return strings.TrimSuffix(escape(c.Bullet.Label)+" · "+escape(c.Sub), " · ")
	case c.Bar != nil:
		return escape(c.Bar.Label)
	}
	s := w.link(escape(c.Text), c.Href)
	if c.Outcome != "" {
		s = strings.TrimSpace(words.Sign(c.Outcome, c.Evidence) + " " + cmp.Or(s, string(c.Outcome)))
		if c.Evidence != "" {
			s += " " + string(c.Evidence)
		}
	}
	if below := col.Below(&c); below != "" {
		s += " · " + escape(below)
	}
	return strings.TrimPrefix(s, " · ")
}
