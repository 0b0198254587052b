package markdown_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/markdown"
)

// A report fits where it is pasted, whatever was measured, and counts what it leaves out. Short tables stay whole.
func TestReportFits(t *testing.T) {
	long, short := &render.Table{Cols: []render.Col{{Head: "Name"}}}, &render.Table{Cols: []render.Col{{Head: "Name"}}}
	for i := range 3000 {
		long.Rows = append(long.Rows, render.Row{Cells: []render.Cell{{Text: fmt.Sprintf("workload %d %s", i,
			strings.Repeat("x", 40))}}})
	}
	short.Rows = long.Rows[:10:10]
	page := render.Page{Title: "v1", Sections: []render.Section{
		{Title: "A", Blocks: []render.Block{long}}, {Title: "B", Blocks: []render.Block{short}},
	}}
	whole := utf8.RuneCount(markdown.Page(page, ""))
	text := string(markdown.Report(page, ""))
	if n := utf8.RuneCountInString(text); whole < 2*markdown.MostCharacters || n > markdown.MostCharacters || n < 20_000 {
		t.Errorf("%d of %d characters", n, whole)
	}
	if !strings.Contains(text, " of 3,000 rows") || strings.Count(text, "workload 9 ") != 2 {
		t.Errorf("it does not count what it leaves out: %.300s", text[len(text)-300:])
	}
}
