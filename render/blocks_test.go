package render

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

func number64(v float64) schema.Number { return schema.Num(v) }

func (p sweepPoint) of() schema.Number { return p.speed }

func quantilesOf(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i + 1)
	}
	return out
}

// blockTypes are the types of this package that implement Block, read from its source.
func blockTypes(t *testing.T) map[string]bool {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.Name == "Plain" {
				typ := fn.Recv.List[0].Type
				if star, ok := typ.(*ast.StarExpr); ok {
					typ = star.X
				}
				out[typ.(*ast.Ident).Name] = true
			}
		}
	}
	return out
}

// The examples that the outputs are tested with have every type of block, and each is elementary or becomes elementary.
func TestBlockSamples(t *testing.T) {
	types := blockTypes(t)
	if len(types) < 11 {
		t.Fatalf("only %d types of blocks found", len(types))
	}
	for _, b := range BlockSamples() {
		delete(types, strings.TrimPrefix(strings.TrimPrefix(reflect.TypeOf(b).String(), "*"), "render."))
		if _, err := os.Stat("../templates/html/blocks/" + Kind(b) + ".html"); err != nil {
			t.Errorf("%T has no template: %v", b, err)
		}
		for _, p := range b.Plain() {
			if p.Plain() != nil {
				t.Errorf("%T becomes %T, which is not elementary", b, p)
			}
		}
	}
	for name := range types {
		t.Errorf("BlockSamples has no %s: no output is tested with it", name)
	}
}

// A concurrency is worth choosing when no other gives at least as much in both ways; which way is better depends on the
// axis.
func TestFront(t *testing.T) {
	points := []CurvePoint{
		{Value: 30, Output: 30}, {Value: 28, Output: 200}, {Value: 20, Output: 180}, {Value: 15, Output: 400},
		{Value: 15, Output: 400},
	}
	for right, want := range map[bool]string{true: "[true true false true true]", false: "[false false false true true]"} {
		c := Curve{Right: right, Lines: []CurveLine{{Points: append([]CurvePoint(nil), points...)}}}
		c.front()
		var got []bool
		for _, p := range c.Lines[0].Points {
			got = append(got, p.Front)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("right is better %v: %v, want %s", right, got, want)
		}
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
