package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// Section writes a section: its title in capitals, and its tables.
func Section(w io.Writer, s *render.Section) {
	fmt.Fprintf(w, "\n%s\n", strings.ToUpper(s.Title))
	for _, b := range s.Blocks {
		if t, ok := b.(*render.Table); ok {
			Table(w, t)
		}
	}
}

// Table writes an aligned table: numbers to the right, texts to the left, units below the heads.
func Table(w io.Writer, t *render.Table) {
	heads, units := make([]string, len(t.Cols)), make([]string, len(t.Cols))
	for i, c := range t.Cols {
		heads[i], units[i] = c.Head, c.Unit
	}
	lines := [][]string{heads}
	if strings.Join(units, "") != "" {
		lines = append(lines, units)
	}
	for _, r := range t.Rows {
		line := make([]string, len(t.Cols))
		for i := range min(len(r.Cells), len(line)) {
			line[i] = cellText(r.Cells[i])
		}
		lines = append(lines, line)
	}
	width := make([]int, len(t.Cols))
	for _, line := range lines {
		for i, s := range line {
			width[i] = max(width[i], utf8.RuneCountInString(s))
		}
	}
	for _, line := range lines {
		var b strings.Builder
		for i, s := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(s))
			if t.Cols[i].Num {
				s, pad = pad, s
			}
			b.WriteString("  " + s + pad)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	if t.More != "" {
		fmt.Fprintf(w, "  %s of %s rows; %s\n", words.Count(len(t.Rows)), words.Count(t.Total), t.More)
	}
}

// cellText is a value with its sign and addition.
func cellText(c render.Cell) string {
	s := c.Text
	if c.Outcome != "" {
		s = strings.TrimSpace(words.Sign(c.Outcome, c.Evidence) + " " + s)
	}
	if c.Sub != "" {
		s += " · " + c.Sub
	}
	return strings.TrimPrefix(s, " · ")
}
