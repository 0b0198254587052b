package render

import (
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// Page is one page: its answer as a sentence, then sections.
type Page struct {
	Path        Address // "models/sim-8b/simulated/index.html"
	Title       string
	Description string
	Nav         string // which entry of the navigation is current
	Crumbs      []Link
	Prev, Next  *Link // pages of the same kind beside it
	Eyebrow     string
	Measured    string // when the newest run was, RFC 3339: its age is counted by the reader's clock
	Lead        Lead
	Scripts     []string // assets beside the site's own script
	Simulated   string   // why the page is marked as not measured, or ""
	Sections    []Section
}

// Address is where a page or file is, relative to the site's root.
type Address string

// Link is a text with an address.
type Link struct {
	Text string
	Href Address
}

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
	Fold             string // what it holds, where a page shows that only when asked: "charts"
	End              *Link
	Blocks           []Block
}

// add appends the sections that hold something.
func (p *Page) add(list ...Section) {
	for _, s := range list {
		if len(s.Blocks) > 0 {
			p.Sections = append(p.Sections, s)
		}
	}
}

// Block is one thing in a section: a table, a figure, a list of links. A block that is added needs a file here and a
// template, templates/html/blocks/KIND.html. The outputs that are text draw the elementary blocks (*[Table], [Prose],
// [Commands], [Links], [Notes]) and know of the others only what Plain returns.
type Block interface {
	// Kind names the template that draws the block.
	Kind() string
	// Plain is the block as elementary ones; nil for a block that is elementary itself.
	Plain() []Block
}

// values is how many values the tables of a page that people open to decide may show. It must be there when they look:
// with the signs, links and small pictures of its cells, this many make about the 1,500 elements that a phone lays out
// at once.
const values = 450

// Halve halves the rows of the largest table that has more than ten, and reports whether there was one.
func (p *Page) Halve() bool {
	const fewest = 10
	var largest *Table
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			if t, ok := b.(*Table); ok && len(t.Rows) > fewest && (largest == nil || t.values() > largest.values()) {
				largest = t
			}
		}
	}
	if largest == nil {
		return false
	}
	if largest.rest == "" {
		largest.rest = "the site has all"
	}
	largest.keep(max(fewest, len(largest.Rows)/2))
	return true
}

// shorten cuts the longest tables until the page shows no more values than that; ten rows of each stay.
func (p *Page) shorten() {
	const fewest, step = 10, 5
	var tables []*Table
	total := 0
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			if t, ok := b.(*Table); ok {
				tables = append(tables, t)
				total += t.values()
			}
		}
	}
	for total > values {
		var longest *Table
		for _, t := range tables {
			if len(t.Rows) > fewest && (longest == nil || t.before(longest)) {
				longest = t
			}
		}
		if longest == nil {
			return
		}
		total -= longest.values()
		longest.keep(max(fewest, len(longest.Rows)-step))
		total += longest.values()
	}
}

// Card is what stands behind the decision on a release: the one or two findings that decide it as pictures, what it is
// based on, and the ways out as commands with what they cost.
type Card struct {
	Whiskers []Whisker // at most three, worst first
	Caption  string    // of the whiskers
	Facts    []CardFact
	Ways     []Way
}

// Whisker is a change with its interval. Effects are relative; positive is worse.
type Whisker struct {
	ID, Name, Change string // of the verdict; what changed; by how much, as text
	Of               string // model and device, where the whiskers of a card are of several
	Href             Address
	Effect           float64
	Low, High        float64 // 95 %
	Limit            float64 // least change that matters
	Outcome          schema.Outcome
	Evidence         schema.Evidence
}

// CardFact is one thing that a decision is based on.
type CardFact struct {
	Name, Text string
	Href       Address
}

// Way is a way out of a decision.
type Way struct{ What, Cmd, Cost string }

// measureAgain is what a command does that settles a suspected regression.
const measureAgain = "Measure again"

// Again are the commands that would settle suspected regressions; nil without any.
func (c Card) Again() []string {
	var out []string
	for _, w := range c.Ways {
		if w.What == measureAgain {
			out = append(out, w.Cmd)
		}
	}
	return out
}

// Kind implements Block.
func (Card) Kind() string { return "card" }

// Plain implements Block.
func (c Card) Plain() []Block {
	facts := &Table{Caption: "Basis", Layout: KeyValue, Cols: []Col{{Head: "What"}, {Head: "Of this decision"}}}
	for _, w := range c.Whiskers {
		facts.row(Cell{Text: w.Name, Sub: w.Of, Head: true}, text(w.text()))
	}
	for _, f := range c.Facts {
		facts.row(Cell{Text: f.Name, Head: true}, Cell{Text: f.Text, Href: f.Href})
	}
	out := []Block{facts}
	for _, w := range c.Ways {
		out = append(out, Prose{strings.TrimSuffix(w.What+": "+w.Cost, ": ") + "."}, Commands{w.Cmd})
	}
	return out
}

// text is a whisker in words.
func (w Whisker) text() string { return strings.TrimSpace(w.Change + " " + string(w.Evidence)) }

// Counts are how often each verdict was given, a line for each kind of judgement.
type Counts []Ledger

// Ledger is one line of counts.
type Ledger struct {
	Name, Note string
	Grey       bool // nothing depends on it
	Items      []Count
	none       bool // nothing was counted
}

// Count is how often a verdict was given.
type Count struct {
	N        int
	Text     string // where it is not the word of the outcome
	Outcome  schema.Outcome
	Evidence schema.Evidence
}

// Kind implements Block.
func (Counts) Kind() string { return "counts" }

// Plain implements Block.
func (c Counts) Plain() []Block {
	t := &Table{Caption: "Counts", Cols: []Col{{Head: "Of"}, {Head: "Verdict"}, {Head: "Count", Num: true}}}
	for _, l := range c {
		for _, i := range l.Items {
			t.row(
				Cell{Text: l.Name, Head: true}, Cell{Text: i.Text, Outcome: i.Outcome, Evidence: i.Evidence},
				text(words.Count(i.N)),
			)
		}
	}
	return []Block{t}
}

// outcome is a verdict's word and evidence.
type outcome struct {
	schema.Outcome
	schema.Evidence
	own string // [words.OwnWord]
}

// ledger counts some verdicts of a list by word.
func ledger(name, what string, list []schema.Verdict, order []schema.Outcome, of func(*schema.Verdict) bool) Ledger {
	n, all := map[outcome]int{}, 0
	for i := range list {
		if of(&list[i]) {
			n[outcome{list[i].Outcome, list[i].Evidence, words.OwnWord(&list[i])}]++
			all++
		}
	}
	l := Ledger{Name: name, Note: words.Plural(all, what), none: all == 0}
	for i, w := range order {
		given := false
		for _, evidence := range []schema.Evidence{schema.Confirmed, schema.Suspected, ""} {
			for _, own := range []string{"", words.NotMeasuredAgain} {
				if k := n[outcome{w, evidence, own}]; k > 0 {
					l.Items = append(l.Items, Count{k, own, w, evidence})
					given = true
				}
			}
		}
		if !given && i < 1 {
			l.Items = append(l.Items, Count{Outcome: w})
		}
	}
	return l
}

// targetWords and historyWords are the verdicts against targets and against history, by weight.
func targetWords() []schema.Outcome {
	return []schema.Outcome{
		schema.Fail, schema.Inconclusive, schema.NotMeasured, schema.Unattainable, schema.Pass, schema.NoTarget,
	}
}

func historyWords() []schema.Outcome {
	return []schema.Outcome{
		schema.Regressed, schema.NotMeasured, schema.Excluded, schema.Improved, schema.Recovered, schema.BelowLimit,
		schema.Unchanged, schema.Inconclusive, schema.NoBaseline, schema.NotComparable,
	}
}

// counts open a page: required targets apart from the rest, since only they decide.
func (r *Report) counts(at int) Counts {
	f := r.Gate.Findings(at)
	required := func(v *schema.Verdict) bool { return v.Required }
	eval := func(v *schema.Verdict) bool { return v.Key.IsEval() }
	not := func(is func(*schema.Verdict) bool) func(*schema.Verdict) bool {
		return func(v *schema.Verdict) bool { return !is(v) }
	}
	informational := ledger("Informational", "verdict", f.Targets, targetWords(), not(required))
	informational.Grey = true
	all := Counts{
		ledger("Required targets", "verdict", f.Targets, targetWords(), required),
		informational,
		ledger("History", "series", f.History, historyWords(), not(eval)),
		ledger("Evals", "score", f.History, historyWords(), eval),
	}
	return slices.DeleteFunc(all, func(l Ledger) bool { return l.none }) // a count of nothing tells nothing
}

// Prose is paragraphs.
type Prose []string

// Kind implements Block.
func (Prose) Kind() string { return "prose" }

// Plain implements Block: prose is elementary.
func (Prose) Plain() []Block { return nil }

// Commands are commands as a shell takes them.
type Commands []string

// Kind implements Block.
func (Commands) Kind() string { return "commands" }

// Plain implements Block: commands are elementary.
func (Commands) Plain() []Block { return nil }

// Links lead elsewhere in the site.
type Links []Link

// Kind implements Block.
func (Links) Kind() string { return "links" }

// Plain implements Block: links are elementary.
func (Links) Plain() []Block { return nil }

// Note is what a person wrote about a release.
type Note struct {
	Release string
	Title   string
	Source  string // markdown
}

// Notes are what people wrote, newest first.
type Notes []Note

// Kind implements Block.
func (Notes) Kind() string { return "notes" }

// Plain implements Block: notes are elementary.
func (Notes) Plain() []Block { return nil }

// Topic is a page of the documentation, by name, shown in place.
type Topic string

// Kind implements Block.
func (Topic) Kind() string { return "topic" }

// Plain implements Block.
func (t Topic) Plain() []Block {
	return []Block{Prose{"The documentation page " + string(t) + ":"}, Commands{"ttreport help " + string(t)}}
}

// Empty says that there is nothing, why, and what to do.
type Empty struct{ What, Why, Cmd string }

// Kind implements Block.
func (Empty) Kind() string { return "empty" }

// Plain implements Block.
func (e Empty) Plain() []Block {
	out := []Block{Prose{strings.TrimSpace(e.What + ". " + e.Why)}}
	if e.Cmd != "" {
		out = append(out, Commands{e.Cmd})
	}
	return out
}

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

// Widget is a part of a page that a script fills.
type Widget struct {
	Tool     string       // explore or compare
	Data     Address      // of its shard, or ""
	Releases []ReleaseRef // oldest first
	A, B     string       // releases that stand beside each other at first
	At       string       // the address that says what else is chosen at first
}

// ReleaseRef is a release with the address of its numbers.
type ReleaseRef struct {
	Name  string  `json:"name"`
	Shard Address `json:"shard"`
	Of    string  `json:"-"` // what it measured, where nobody gave it a name that says so
}

// Kind implements Block.
func (Widget) Kind() string { return "widget" }

// Plain implements Block.
func (w Widget) Plain() []Block {
	return []Block{Prose{"The " + w.Tool + " page is interactive: open it in the built site."}}
}
