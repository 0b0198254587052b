package render

import (
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// Table is rows of cells.
type Table struct {
	Caption string
	Titled  bool // the caption is shown; else the heading above says enough and it is for screen readers
	Layout  Layout
	Cols    []Col
	Rows    []Row
	Total   int    // rows that exist; more than len(Rows) when the table is cut
	More    string // where the rows that are not shown are
	Full    *Link  // the whole table, or nil
	rest    string // what More would say
}

// Layout is what a table is for, which decides how it is laid out.
type Layout string

// Layouts of tables.
const (
	List     Layout = "list" // one thing a row, mostly text
	Numbers  Layout = "numbers"
	KeyValue Layout = "key-value" // facts of one thing
	Matrix   Layout = "matrix"    // two dimensions
)

// Col heads a column.
type Col struct {
	Head, Unit string
	Num        bool
	Sort       bool
	Length     Length
	Stats      string // names of the statistics below the values of the column: "median|p99"
	Metric     string // of the numbers of the column, as addresses name it
}

// Below is what stands below the value of a cell: "median 74.6, p99 86.7".
func (c Col) Below(v *Cell) string {
	if v.Stats == "" {
		return v.Sub
	}
	var parts []string
	if v.Sub != "" {
		parts = []string{v.Sub}
	}
	values := strings.Split(v.Stats, "|")
	for i, name := range strings.Split(c.Stats, "|") {
		if i < len(values) && values[i] != "" {
			parts = append(parts, statLabel(name, values[i]))
		}
	}
	return strings.Join(parts, ", ")
}

// Length is how much room the values of a column need where a row does not fit on one line.
type Length string

// Lengths of values.
const (
	Long   Length = ""
	Medium Length = "medium" // an interval, a date
	Short  Length = "short"  // a number
)

// Row is one row; Group alone makes it a heading of the rows below.
type Row struct {
	Group  string
	Anchor string
	Cells  []Cell
}

// Cell is one value as shown.
type Cell struct {
	Text     string
	Sub      string // small, below
	Stats    string // small, below, as the column's Stats name them: "74.6|86.7"
	Href     Address
	Outcome  schema.Outcome // a verdict: shown with its sign
	Evidence schema.Evidence
	Head     bool // the row's identity
	Strong   bool
	Code     bool // an identifier
	Sentence bool
	Decisive bool // it keeps a release from shipping
	Tag      string
	Marks    []Mark // signs with counts, below
	Sort     *float64
	Spark    *Spark
	Strip    *Strip
	Bullet   *Bullet
	Bar      *Bar
	Whisker  *Interval // in place of its text
	Missing  string    // why there is no value
}

// Mark is a verdict's sign with how often it was given.
type Mark struct {
	Outcome  schema.Outcome
	Evidence schema.Evidence
	N        int // 0: the word alone
	Text     string
}

// statLabel is a statistic with its name; the count of requests says what it is.
func statLabel(name, value string) string {
	if name == "n" {
		return "n = " + value
	}
	return name + " " + value
}

// Kind implements Block.
func (t *Table) Kind() string { return "table" }

// Plain implements Block: a table is elementary.
func (t *Table) Plain() []Block { return nil }

// rowsShown is how many rows a table on a page has.
const rowsShown = 50

// cut shortens a table to what a page holds, and says where the rest is; counts elsewhere are of all rows.
func (t *Table) cut(rest string) *Table {
	return t.most(rowsShown, rest)
}

// most is [Table.cut] to another number of rows.
func (t *Table) most(rows int, rest string) *Table {
	t.rest = rest
	return t.keep(rows)
}

// in leads from a table that is cut to the whole of it.
func (t *Table) in(whole *Link) *Table {
	t.Full = whole
	return t
}

// elsewhere says where the rows are that a report has no room for.
func (t *Table) elsewhere(rest string) *Table {
	t.rest = rest
	return t
}

// keep leaves at most so many rows.
func (t *Table) keep(most int) *Table {
	t.Total = max(t.Total, len(t.Rows))
	t.Rows = t.Rows[:min(most, len(t.Rows))]
	if t.Total > len(t.Rows) {
		t.More = t.rest
	}
	return t
}

// values is how many a table shows.
func (t *Table) values() int { return len(t.Rows) * len(t.Cols) }

// before says which of two tables is shortened first: the longer one; a matrix after all others, since people sign its
// cells one by one.
func (t *Table) before(o *Table) bool {
	if matrix := t.Layout == Matrix; matrix != (o.Layout == Matrix) {
		return !matrix
	}
	return t.values() > o.values()
}

// dropColumn leaves a column out.
func (t *Table) dropColumn(i int) {
	t.Cols = append(t.Cols[:i:i], t.Cols[i+1:]...)
	for k := range t.Rows {
		t.Rows[k].Cells = append(t.Rows[k].Cells[:i:i], t.Rows[k].Cells[i+1:]...)
	}
}

// dropEmpty leaves out the columns without a text or picture in any row.
func (t *Table) dropEmpty() {
	for i := len(t.Cols) - 1; i > 0; i-- {
		if !slices.ContainsFunc(t.Rows, func(r Row) bool {
			c := &r.Cells[i]
			return strings.TrimSpace(c.Text) != "" || c.Outcome != "" || c.Spark != nil || c.Strip != nil || len(c.Marks) > 0
		}) {
			t.dropColumn(i)
		}
	}
}

// number is a cell with a value or the reason for its absence.
func number(n schema.Number) Cell {
	if v, ok := n.Get(); ok {
		return Cell{Text: words.Number(v), Sort: &v}
	}
	return Cell{Text: words.Absent, Missing: n.Why()}
}

func text(s string) Cell { return Cell{Text: s} }

// row adds a row.
func (t *Table) row(cells ...Cell) { t.Rows = append(t.Rows, Row{Cells: cells}) }
