package render

import (
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
