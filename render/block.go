package render

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	Links Links // of names in the text and the paragraphs
	Paras []string
	Cmd   string // the command that would change the answer
}

// In are the parts of a text, of which names are links: at each place the longest name that stands there whole.
func (l Links) In(text string) (out []Link) {
	part := func(r rune, size int) bool { return size > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	from := 0
	for at := 0; at < len(text); {
		var best Link
		before, size := utf8.DecodeLastRuneInString(text[:at])
		for _, link := range l {
			rest, ok := strings.CutPrefix(text[at:], link.Text)
			if after, n := utf8.DecodeRuneInString(rest); !ok || part(before, size) || part(after, n) {
				continue
			}
			if len(link.Text) > len(best.Text) {
				best = link
			}
		}
		if best.Text == "" {
			_, n := utf8.DecodeRuneInString(text[at:])
			at += n
			continue
		}
		if from < at {
			out = append(out, Link{Text: text[from:at]})
		}
		out, at = append(out, best), at+len(best.Text)
		from = at
	}
	if from < len(text) {
		out = append(out, Link{Text: text[from:]})
	}
	return out
}

// Section is a heading and what stands below it.
type Section struct {
	ID, Title, Intro string
	Fold             string // what it holds, where a page shows that only when asked: "charts"
	End              *Link
	Blocks           []Block
}

// page is a page below the front page, or below what crumbs name.
func (r *Report) page(path Address, nav, title, about string, crumbs ...Link) Page {
	return Page{
		Path: path, Nav: nav, Title: title, Description: about, Simulated: r.simulated(-1),
		Crumbs: slices.Concat([]Link{{"Overview", "index.html"}}, crumbs, []Link{{title, ""}}),
	}
}

// section has the blocks that show something: tables without rows are left out.
func section(id, title, intro string, blocks ...Block) Section {
	return Section{ID: id, Title: title, Intro: intro, Blocks: slices.DeleteFunc(blocks, func(b Block) bool {
		t, ok := b.(*Table)
		return ok && (t == nil || len(t.Rows) == 0)
	})}
}

// leading is the section with a link at its end.
func (s Section) leading(text string, href Address) Section {
	s.End = &Link{text, href}
	return s
}

// add appends the sections that hold something.
func (p *Page) add(list ...Section) {
	for _, s := range list {
		if len(s.Blocks) > 0 {
			p.Sections = append(p.Sections, s)
		}
	}
}

// tables are those of a page.
func (p *Page) tables() (out []*Table) {
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			if t, ok := b.(*Table); ok {
				out = append(out, t)
			}
		}
	}
	return out
}

// fewest is how many rows of a table stay when a page is shortened.
const fewest = 10

// longest is the table that shows most of those that can be shortened, nil for none; a matrix comes after all others,
// since people sign its cells one by one.
func longest(tables []*Table) (out *Table) {
	for _, t := range tables {
		switch {
		case len(t.Rows) <= fewest:
		case out == nil, t.Layout != Matrix && out.Layout == Matrix,
			(t.Layout == Matrix) == (out.Layout == Matrix) && t.values() > out.values():
			out = t
		}
	}
	return out
}

// Halve halves the rows of the largest table that has more than ten, and reports whether there was one.
func (p *Page) Halve() bool {
	t := longest(p.tables())
	if t == nil {
		return false
	}
	if t.rest == "" {
		t.rest = "the site has all"
	}
	t.keep(max(fewest, len(t.Rows)/2))
	return true
}

// Cells counts the cells of the tables of a page.
func (p *Page) Cells() (n int) {
	for _, t := range p.tables() {
		n += len(t.Rows) * len(t.Cols)
	}
	return n
}

// values is how many values the tables of a page that people open to decide may show. It must be there when they look:
// with the signs, links and small pictures of its cells, this many make about the 1,500 elements that a phone lays out
// at once.
const values = 450

// shorten cuts the longest tables until the page shows no more values than that; ten rows of each stay.
func (p *Page) shorten() {
	const step = 5
	tables, total := p.tables(), 0
	for _, t := range tables {
		total += t.values()
	}
	for total > values {
		t := longest(tables)
		if t == nil {
			return
		}
		total -= t.values()
		t.keep(max(fewest, len(t.Rows)-step))
		total += t.values()
	}
}

// Block is one thing in a section. A block that is added needs a template, templates/html/blocks/KIND.html. Pages that
// are written as text, which are the reports and the gate, have *[Table], [Prose], [Commands] and [Empty] alone.
type Block any

// Kind names the template that draws a block: its type in small letters.
func Kind(b Block) string {
	t := reflect.TypeOf(b)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.ToLower(t.Name())
}

// Prose is paragraphs.
type Prose []string

// Commands are commands as a shell takes them.
type Commands []string

// Links lead elsewhere in the site.
type Links []Link

// Note is what a person wrote about a release.
type Note struct {
	Release string
	Title   string
	Source  string // markdown
}

// Notes are what people wrote, newest first.
type Notes []Note

// Topic is a page of the documentation, by name, shown in place.
type Topic string

// Empty says that there is nothing, why, and what to do.
type Empty struct{ What, Why, Cmd string }

// Card is what stands behind the decision on a release: what it is based on, and the ways out as commands with what
// they cost. The findings that decide it are in the sentence above the card and in the tables below it.
type Card struct {
	Decisive []string // ids of their verdicts, three at most, worst first
	Facts    []CardFact
	Ways     []Way
}

// CardFact is one thing that a decision is based on.
type CardFact struct {
	Name, Text string
	Href       Address
}

// Way is a way out of a decision.
type Way struct {
	What string `json:"what"`
	Cmd  string `json:"command"`
	Cost string `json:"cost"`
}

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

// plain is the card as a table of its facts, and its ways out.
func (c Card) plain() []Block {
	t := &Table{Caption: "Basis", Layout: KeyValue, Cols: []Col{col("What"), col("Of this decision")}}
	for _, f := range c.Facts {
		t.row(head(f.Name, ""), Cell{Text: f.Text, Href: f.Href})
	}
	out := []Block{t}
	for _, w := range c.Ways {
		out = append(out, Prose{strings.TrimSuffix(w.What+": "+w.Cost, ": ") + "."}, Commands{w.Cmd})
	}
	return out
}

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
