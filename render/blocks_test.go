package render

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func quantilesOf(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i + 1)
	}
	return out
}

// Every block that pages draw has a template and a sample, and every template a block.
func TestBlockSamples(t *testing.T) {
	files, err := filepath.Glob("../templates/html/blocks/*.html")
	if err != nil || len(files) < 11 {
		t.Fatalf("only %d templates: %v", len(files), err)
	}
	var kinds, samples []string
	for _, name := range files {
		kinds = append(kinds, strings.TrimSuffix(filepath.Base(name), ".html"))
	}
	for _, b := range BlockSamples() {
		samples = append(samples, Kind(b))
	}
	if slices.Sort(samples); !slices.Equal(kinds, samples) {
		t.Errorf("templates of %q, samples of %q", kinds, samples)
	}
}

// A page that people open to decide shows a limited number of values: the longest tables are cut first, a matrix
// last, and ten rows always stay.
func TestShorten(t *testing.T) {
	table := func(layout Layout, rows, cols int) *Table {
		t := &Table{Layout: layout, Cols: make([]Col, cols)}
		for range rows {
			t.row(make([]Cell, cols)...)
		}
		return t.cut("elsewhere")
	}
	long, short, matrix := table(List, 50, 9), table(List, 12, 4), table(Matrix, 30, 6)
	p := Page{Sections: []Section{{Blocks: []Block{long, Prose{"x"}}}, {Blocks: []Block{short, matrix}}}}
	p.shorten()
	if total := long.values() + short.values() + matrix.values(); total > values {
		t.Errorf("%d values are left", total)
	}
	if len(matrix.Rows) != 30 || len(short.Rows) != 12 || len(long.Rows) >= 30 || long.Total != 50 ||
		long.More != "elsewhere" {
		t.Errorf("rows left: matrix %d, short %d, long %d of %d (%s)", len(matrix.Rows), len(short.Rows), len(long.Rows),
			long.Total, long.More)
	}
	wide := table(List, 50, 90)
	p = Page{Sections: []Section{{Blocks: []Block{wide}}}}
	if p.shorten(); len(wide.Rows) != 10 {
		t.Errorf("%d rows of a wide table are left", len(wide.Rows))
	}
}
