package render

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/chart"
	"github.com/ttreport/ttreport/render/words"
)

// Page is one page: a verdict as a sentence, then sections. Addresses in it are relative to the site's root.
type Page struct {
	Path        string // "models/sim-8b/simulated/index.html"
	Title       string
	Description string
	Nav         string // which entry of the navigation is current
	Crumbs      []Link
	Eyebrow     string
	Measured    string // when the newest run was, RFC 3339: the age is told by the reader's clock
	Lead        Lead
	Script      string // of the page beside the site's own, or ""
	Simulated   string // why the page is marked as not measured, or ""
	Sections    []Section
}

// Link is a text with an address.
type Link struct{ Text, Href string }

// Lead is the answer to the page's question.
type Lead struct {
	Tone  words.Tone
	Mark  schema.Outcome // its sign is shown before the headline
	Word  string
	Text  string
	Paras []string
	Cmd   string // the command that would change the answer
}

// Section is a heading and what stands below it.
type Section struct {
	ID, Title, Intro string
	End              *Link
	Blocks           []Block
}

// Block is one thing in a section; exactly one field is set.
type Block struct {
	Table   *Table
	Chart   *chart.Chart
	Curves  []chart.Curve
	Panels  []chart.Panel
	Details *Table // folded
	Counts  []Ledger
	Prose   []string
	Notes   []Note
	Cmd     []string
	Links   []Link
	Empty   *Empty
	Topic   string // a page of the documentation, rendered in place
	Widget  *Widget
}

// Empty says that there is nothing, why, and what to do.
type Empty struct{ What, Why, Cmd string }

// Ledger is a row of counts by verdict.
type Ledger struct {
	Name, Note string
	Items      []Count
}

// Count is how often a verdict was given.
type Count struct {
	N        int
	Outcome  schema.Outcome
	Evidence schema.Evidence
}

// Note is prose that a person wrote about a release.
type Note struct {
	Release string
	Title   string
	Source  string // markdown
}

// Table is rows of cells.
type Table struct {
	Caption string
	Titled  bool // the caption is shown; else the heading above says enough and it is for screen readers
	Class   string
	Vital   bool // shortened after all others where a page is too long
	Cols    []Col
	Rows    []Row
	Total   int    // rows that exist; more than len(Rows) when the table is cut
	More    string // what to do about the rows that are not shown
	rest    string // what More would say
}

// Col heads a column.
type Col struct {
	Head, Unit string
	Num        bool
	Sort       bool
	Narrow     string // class on narrow screens: half or third
}

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
	Href     string
	Outcome  schema.Outcome // a verdict: shown with its sign
	Evidence schema.Evidence
	Head     bool // the row's identity
	Strong   bool
	Mono     bool
	Wide     bool // a sentence
	Tag      string
	Marks    []Mark // signs with counts, below
	Tint     bool   // it keeps a release from shipping
	Sort     *float64
	Spark    *chart.Spark
	Strip    *chart.Strip
	Missing  string // why there is no value
}

// Mark is a verdict's sign with how often it was given.
type Mark struct {
	Outcome  schema.Outcome
	Evidence schema.Evidence
	N        int // 0: the word alone
	Says     string
}

// maxRows is how many rows a table on a page has.
const maxRows = 50

// cut shortens a table to what a page holds; counts elsewhere are of all rows.
func (t *Table) cut(more string) *Table {
	t.rest = more
	return t.keep(maxRows)
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

// fit shortens the longest tables of a page until it has about as many elements as a phone lays out at once: a page that people open to
// decide something must be there when they look. Ten rows always stay.
func (p *Page) fit() {
	const most, chrome, fewest = 1400, 90, 10
	var tables []*Table
	total := chrome
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			if b.Table != nil {
				tables = append(tables, b.Table)
				total += b.Table.elements()
			}
			for _, l := range b.Counts {
				total += 4 + 3*len(l.Items)
			}
		}
	}
	for total > most {
		var longest *Table
		for _, t := range tables {
			if len(t.Rows) > fewest && t.rest != "" && (longest == nil || longest.Vital && !t.Vital || longest.Vital == t.Vital && t.elements() > longest.elements()) {
				longest = t
			}
		}
		if longest == nil {
			return
		}
		total -= longest.elements()
		total += longest.keep(max(fewest, len(longest.Rows)-5)).elements()
	}
}

// elements is about how many elements a table is made of.
func (t *Table) elements() int {
	n := 6 + 2*len(t.Cols)
	for i := range t.Rows {
		n++
		for k := range t.Rows[i].Cells {
			n += t.Rows[i].Cells[k].elements()
		}
	}
	return n
}

func (c *Cell) elements() int {
	n := 1 + len(c.Marks)
	for _, has := range []bool{c.Href != "" || c.Outcome != "", c.Evidence != "", c.Sub != "", c.Tag != "", c.Strong, c.Mono} {
		if has {
			n++
		}
	}
	if c.Spark != nil {
		n += 2 + len(c.Spark.Segments)
	}
	return n
}

// number is a cell with a value or the reason for its absence.
func number(n schema.Number) Cell {
	if v, ok := n.Get(); ok {
		return Cell{Text: words.Number(v), Sort: &v}
	}
	return Cell{Text: words.Absent, Missing: n.Why()}
}

func text(s string) Cell { return Cell{Text: s} }
