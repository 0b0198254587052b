package render

import (
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// Table is rows of cells.
type Table struct {
	Caption  string
	Titled   bool // the caption is shown; else the heading above says enough and it is for screen readers
	Layout   Layout
	Cols     []Col
	Rows     []Row
	Filtered bool   // a reader can filter the rows
	Total    int    // rows that exist; more than len(Rows) when the table is cut
	More     string // where the rows that are not shown are
	Full     *Link  // the whole table, or nil
	rest     string // what More would say
}

// Layout is what a table is for, which decides how it is laid out.
type Layout string

// Layouts of tables.
const (
	List     Layout = "list" // one thing a row, mostly text
	Numbers  Layout = "numbers"
	KeyValue Layout = "key-value" // facts of one thing
	Matrix   Layout = "matrix"    // two dimensions
	Heat     Layout = "heat"      // two dimensions of signs and short numbers, the words for who cannot see them
)

// Col heads a column.
type Col struct {
	Head, Unit string
	Num        bool
	Sort       bool
	Filter     bool // a reader can choose one of its values, where the table is filtered
	Length     Length
	Stats      string // names of the statistics below the values of the column: "median|p99"
	Metric     string // of the numbers of the column, as addresses name it
	Href       Address
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
	Whisker  *Interval // in place of its text
	Span     *RankSpan // above its small text
	Missing  string    // why there is no value
}

// Mark is a verdict's sign with how often it was given.
type Mark struct {
	Outcome  schema.Outcome
	Evidence schema.Evidence
	N        int // 0: the word alone
	Text     string
}

// Spark is a row's history: its last values in release order.
type Spark struct {
	Label  string
	Values []float64 // NaN where a release has none
}

// Strip is the distribution of a latency over requests, on a scale that it shares with others.
type Strip struct {
	Label     string
	Quantiles []float64 // 33, at i/32
	Low, High float64   // of the scale, above zero
}

// Below is what stands below the value of a cell: "median 74.6, p99 86.7, n = 100".
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
		switch {
		case i >= len(values) || values[i] == "":
		case name == "n":
			parts = append(parts, "n = "+values[i])
		default:
			parts = append(parts, name+" "+values[i])
		}
	}
	return strings.Join(parts, ", ")
}

// addColumn adds a column with a cell for each row.
func (t *Table) addColumn(c Col, cell func(row int) Cell) {
	t.Cols = append(t.Cols, c)
	for i := range t.Rows {
		t.Rows[i].Cells = append(t.Rows[i].Cells, cell(i))
	}
}

// Column is a column of a table with the cell that each row has in it; one without a function is left out.
type Column[T any] struct {
	Col
	Cell func(T) Cell
}

// tableOf is a table with a row for each entry of a list.
func tableOf[T any](caption string, layout Layout, list []T, columns []Column[T]) *Table {
	t := &Table{Caption: caption, Layout: layout}
	for _, c := range columns {
		if c.Cell != nil {
			t.Cols = append(t.Cols, c.Col)
		}
	}
	for _, x := range list {
		cells := make([]Cell, 0, len(t.Cols))
		for _, c := range columns {
			if c.Cell != nil {
				cells = append(cells, c.Cell(x))
			}
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	return t
}

// loadUnit says how a workload is written.
const loadUnit = "ISL/OSL/concurrency"

// col heads a column of texts, medium one of short texts, num one of numbers.
func col(head string) Col    { return Col{Head: head} }
func medium(head string) Col { return Col{Head: head, Length: Medium} }
func num(head string) Col    { return Col{Head: head, Num: true, Length: Short} }

// in has a unit, sorted can be sorted by.
func (c Col) in(unit string) Col { c.Unit = unit; return c }
func (c Col) sorted() Col        { c.Sort = true; return c }
func (c Col) filtered() Col      { c.Filter = true; return c }

// rowsShown is how many rows a table on a page has.
const rowsShown = 50

// rowsReported is how many rows are made for a report, which is cut to what fits where reports are pasted.
const rowsReported = 2000

// cut shortens a table to what a page holds, and says where the rest is; counts elsewhere are of all rows.
func (t *Table) cut(rest string) *Table { return t.elsewhere(rest).keep(rowsShown) }

// filtered lets a reader choose among the rows, which are all on the page but for a very long list.
func (t *Table) filtered(rest string) *Table {
	t.Filtered = true
	return t.elsewhere(rest).keep(rowsFiltered)
}

// rowsFiltered is how many rows a table has that a reader chooses from.
const rowsFiltered = 2000

// of says how many rows there are of a table that was made of the first alone: cells of tens of thousands take memory.
func (t *Table) of(total int) *Table {
	t.Total = total
	return t
}

// whole leads from a table that is cut to all of its rows.
func (t *Table) whole(link *Link) *Table {
	t.Full = link
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

// dropColumn leaves a column out.
func (t *Table) dropColumn(i int) {
	t.Cols = slices.Delete(slices.Clone(t.Cols), i, i+1)
	for k := range t.Rows {
		t.Rows[k].Cells = slices.Delete(slices.Clone(t.Rows[k].Cells), i, i+1)
	}
}

// dropEmpty leaves out the columns, but for the first ones, without a text or picture in any row.
func (t *Table) dropEmpty(first int) *Table {
	for i := len(t.Cols) - 1; i >= first; i-- {
		if !slices.ContainsFunc(t.Rows, func(r Row) bool {
			c := &r.Cells[i]
			return strings.TrimSpace(c.Text) != "" || c.Outcome != 0 || c.Spark != nil || c.Strip != nil || len(c.Marks) > 0
		}) {
			t.dropColumn(i)
		}
	}
	return t
}

// row adds a row.
func (t *Table) row(cells ...Cell) { t.Rows = append(t.Rows, Row{Cells: cells}) }

func text(s string) Cell      { return Cell{Text: s} }
func code(s string) Cell      { return Cell{Text: s, Code: true} }
func sentence(s string) Cell  { return Cell{Text: s, Sentence: true} }
func missing(why string) Cell { return Cell{Text: words.Absent, Missing: why} }
func count(n int) Cell        { return text(words.Count(n)) }

// head is the identity of a row with the page that has more.
func head(s string, href Address) Cell { return Cell{Text: s, Head: true, Href: href} }

// pairHead is a model on a device as the identity of a row.
func pairHead(p schema.Pair) Cell {
	return head(words.OnDevice(p.Model, p.Device), PairPath(p.Model, p.Device))
}

// modelHead is the model of the same, for a row with a column of devices.
func modelHead(p schema.Pair) Cell {
	return head(words.OrUnknown(p.Model), PairPath(p.Model, p.Device))
}

// metricCell is a metric with its unit and the way in which it is better.
func metricCell(metric, stat string) Cell {
	c := text(words.Metric(metric, stat))
	if info, known := schema.MetricByName(metric); known {
		c.Sub = strings.Trim(info.Unit+", "+info.Better.String(), ", ")
	}
	return c
}

// number is a cell with a value or the reason for its absence.
func number(n schema.Number) Cell {
	if v, ok := n.Get(); ok {
		return Cell{Text: words.Number(v), Sort: &v}
	}
	return missing(n.Why())
}

// counted is a cell with a whole number.
func counted(n schema.Number) Cell {
	if v, ok := n.Get(); ok && v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return Cell{Text: words.Count(int(v)), Sort: &v}
	}
	return number(n)
}

// stated is a count of which 0 says that nobody stated it.
func stated(n int) Cell {
	if n > 0 {
		return count(n)
	}
	return missing("not stated")
}

// groups are values by key, in the order in which the keys come first.
type groups[K comparable, V any] struct {
	at   map[K]int
	list []V
}

// of is the value of a key, which is a new one where the key is not known yet. It is valid until the next call.
func (g *groups[K, V]) of(key K) (v *V, known bool) {
	at, known := g.at[key]
	if !known {
		if g.at == nil {
			g.at = map[K]int{}
		}
		at = len(g.list)
		g.at[key] = at
		g.list = append(g.list, *new(V))
	}
	return &g.list[at], known
}

// newestFirst are the indexes of a list that is in the order of time, from the last.
func newestFirst[T any](list []T) (out []int) {
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, i)
	}
	return out
}
