// Package markdown writes pages as markdown and turns people's markdown into safe HTML. It is the only importer of
// goldmark.
//
// In go views of package render and notes; out go files for a pull request or a ticket, and HTML fragments without
// raw HTML, script or unsafe links, whatever the notes contain.
package markdown

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Page writes a report. site is the address of the built site, before every link; "" leaves links out. It panics for a
// block that reports do not have: see [render.Block].
func Page(page render.Page, site string) []byte {
	var b bytes.Buffer
	w := writer{&b, site}
	fmt.Fprintf(&b, "# %s\n\n", escape(page.Title))
	if page.Simulated != "" {
		fmt.Fprintf(&b, "> **simulated** — %s\n\n", escape(page.Simulated))
	}
	fmt.Fprintf(&b, "**%s:** %s\n", escape(page.Lead.Word), escape(page.Lead.Text))
	for _, p := range page.Lead.Paras {
		fmt.Fprintf(&b, "\n%s\n", escape(p))
	}
	for _, s := range page.Sections {
		if s.Title != "" {
			fmt.Fprintf(&b, "\n## %s\n\n", escape(s.Title))
		} else {
			b.WriteByte('\n')
		}
		if s.Intro != "" {
			fmt.Fprintf(&b, "%s\n\n", escape(s.Intro))
		}
		for i, block := range s.Blocks {
			if i > 0 {
				b.WriteByte('\n')
			}
			w.block(block)
		}
	}
	return b.Bytes()
}

// MostCharacters is how long a text can be that GitHub takes as a comment or as the description of a pull request, with
// room for what people add.
const MostCharacters = 60_000

// Report writes a page with the longest tables cut until it fits where reports are pasted; each says where the rest is.
func Report(page render.Page, site string) []byte {
	const cell = 5 // characters of one at least: a table that cannot fit is not painted
	for cell*page.Cells() > MostCharacters && page.Halve() {
	}
	for {
		text := Page(page, site)
		if utf8.RuneCount(text) <= MostCharacters || !page.Halve() {
			return text
		}
	}
}

// Compare writes a comparison as one table with its notes.
func Compare(c *render.Comparison) []byte {
	var b bytes.Buffer
	w := writer{b: &b}
	for _, s := range c.Head() {
		fmt.Fprintf(&b, "%s\n\n", escape(s))
	}
	for i, t := range c.Tables() {
		b.WriteString(strings.Repeat("\n", min(i, 1)))
		w.table(t)
	}
	for _, s := range c.Notes() {
		fmt.Fprintf(&b, "\n%s\n", escape(s))
	}
	return b.Bytes()
}

// writer is where markdown goes and where its links lead.
type writer struct {
	b    *bytes.Buffer
	site string
}

func (w writer) block(b render.Block) {
	switch b := b.(type) {
	case *render.Table:
		w.table(b)
	case render.Prose:
		for i, s := range b {
			fmt.Fprintf(w.b, "%s%s\n", strings.Repeat("\n", min(i, 1)), escape(s))
		}
	case render.Commands:
		for _, c := range b {
			fmt.Fprintf(w.b, "    %s\n", plaintext.Printable(strings.ReplaceAll(c, "\n", " ")))
		}
	case render.Empty: // in a report, without a command
		fmt.Fprintf(w.b, "%s. %s\n", escape(b.What), escape(b.Why))
	default:
		panic(fmt.Sprintf("markdown: a report with a %T", b))
	}
}

// link is a text with its address; without a site, the text.
func (w writer) link(text string, href render.Address) string {
	if href.External() && text != "" {
		return "[" + text + "](" + string(href) + ")"
	}
	if w.site == "" || href == "" || text == "" {
		return text
	}
	return "[" + text + "](" + strings.TrimSuffix(w.site, "/") + "/" + strings.TrimSuffix(string(href), "index.html") + ")"
}

// escape escapes what markdown would read as markup or a table would read as a border, keeps everything on one line,
// and breaks what a forge makes links of: addresses, mentions of people, numbers of issues. A name in a result file
// must not notify anybody. Backslashes do not keep a forge from it; an empty comment does.
func escape(s string) string {
	var b strings.Builder
	rest := plaintext.Printable(s)
	for i, c := range rest {
		next := rest[i+utf8.RuneLen(c):]
		switch c {
		case '\\', '`', '*', '_', '[', ']', '<', '>', '|', '~', '&':
			b.WriteByte('\\')
			b.WriteRune(c)
		case '#':
			b.WriteString("\\#")
			breakBefore(&b, next, isDigit)
		case '@':
			b.WriteRune(c)
			breakBefore(&b, next, isWord)
		case ':':
			b.WriteRune(c)
			breakBefore(&b, next, func(c byte) bool { return c == '/' })
		case '.':
			if n := b.Len(); n >= 3 && strings.EqualFold(b.String()[n-3:], "www") {
				b.WriteString(broken)
			}
			b.WriteRune(c)
		case '\n', '\t':
			b.WriteByte(' ')
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// broken is nothing on a page, and the end of a word.
const broken = "<!-- -->"

func breakBefore(b *strings.Builder, next string, of func(byte) bool) {
	if next != "" && of(next[0]) {
		b.WriteString(broken)
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' }

// HTML converts markdown. Raw HTML is dropped and javascript: and data: links lose their target (goldmark's safe mode);
// tables are aligned by attribute, since the pages allow no style. A text that no person wrote is shown as it is.
func HTML(source string) (template.HTML, error) {
	if !written(source) {
		return template.HTML(`<pre tabindex="0">` + template.HTMLEscapeString(source) + "</pre>"), nil
	}
	table := extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))
	md := goldmark.New(goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithExtensions(table, extension.Strikethrough, extension.Linkify))
	src := []byte(source)
	doc := md.Parser().Parse(text.NewReader(src), parser.WithContext(parser.NewContext(parser.WithIDs(ids{}))))
	// The page has its own first heading: those of the text stand below it.
	var images []*ast.Image
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering {
			h.Level = min(h.Level+1, 6)
		}
		if i, ok := n.(*ast.Image); ok && entering {
			images = append(images, i)
		}
		return ast.WalkContinue, nil
	})
	for _, i := range images { // a link in its place: no picture is published with the pages, and they load none
		link := ast.NewLink()
		link.Destination, link.Title = i.Destination, i.Title
		for c := i.FirstChild(); c != nil; c = i.FirstChild() {
			link.AppendChild(link, c)
		}
		i.Parent().ReplaceChild(i.Parent(), i, link)
	}
	var b bytes.Buffer
	if err == nil {
		err = md.Renderer().Render(&b, src, doc)
	}
	if err != nil {
		return "", fmt.Errorf("converting markdown: %w", err)
	}
	// What may be wider than its page scrolls by the keyboard too.
	html := strings.ReplaceAll(b.String(), "<pre>", `<pre tabindex="0">`)
	html = strings.ReplaceAll(html, "<table>", `<div class="tw" tabindex="0" role="group" aria-label="Table"><table>`)
	return template.HTML(strings.ReplaceAll(html, "</table>", "</table></div>")), nil // goldmark's safe mode
}

// table writes an aligned table: numbers to the right, texts to the left.
func (w writer) table(t *render.Table) {
	heads := make([]string, len(t.Cols))
	for i, c := range t.Cols {
		heads[i] = escape(c.Head)
		if c.Unit != "" {
			heads[i] += " (" + escape(c.Unit) + ")"
		}
	}
	rows := [][]string{heads}
	for _, r := range t.Rows {
		line := make([]string, len(t.Cols))
		for i := range min(len(r.Cells), len(line)) {
			line[i] = w.cell(r.Cells[i])
		}
		rows = append(rows, line)
	}
	width := make([]int, len(t.Cols))
	for _, r := range rows {
		for i, s := range r {
			width[i] = max(width[i], utf8.RuneCountInString(s), 3)
		}
	}
	for n, r := range rows {
		w.b.WriteByte('|')
		for i, s := range r {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(s))
			if t.Cols[i].Num {
				s, pad = pad, s
			}
			fmt.Fprintf(w.b, " %s%s |", s, pad)
		}
		w.b.WriteByte('\n')
		if n > 0 {
			continue
		}
		w.b.WriteByte('|') // the line below the heads
		for i, c := range t.Cols {
			end := "-|"
			if c.Num {
				end = ":|"
			}
			w.b.WriteString(strings.Repeat("-", width[i]+1) + end)
		}
		w.b.WriteByte('\n')
	}
	if t.More != "" {
		fmt.Fprintf(w.b, "\n%s of %s rows; %s.\n", words.Count(len(t.Rows)), words.Count(t.Total), escape(t.More))
	}
}

// cell is a value with its sign, link and addition.
func (w writer) cell(c render.Cell) string {
	s := w.link(escape(c.Text), c.Href)
	if c.Outcome != schema.NoOutcome {
		s = strings.TrimSpace(words.Sign(c.Outcome, c.Evidence) + " " + cmp.Or(s, c.Outcome.Words()))
		if c.Evidence != schema.NoEvidence {
			s += " " + c.Evidence.String()
		}
	}
	if c.Sub != "" {
		s += " · " + escape(c.Sub)
	}
	return strings.TrimPrefix(s, " · ")
}

// Bounds of a text that is converted. goldmark takes time that grows with the square of a paragraph's length and of the
// depth of quotations and lists.
const (
	mostText      = 128 << 10 // bytes; the longest release notes of vLLM have 60 kB
	mostParagraph = 16 << 10  // bytes without an empty line
	mostNesting   = 20        // quotations and lists that begin on one line
)

// written reports whether a person may have written a text.
func written(source string) bool {
	if len(source) > mostText {
		return false
	}
	paragraph := 0
	for line := range strings.Lines(source) {
		if paragraph += len(line); strings.TrimSpace(line) == "" {
			paragraph = 0
		}
		if paragraph > mostParagraph || nesting(line) > mostNesting {
			return false
		}
	}
	return true
}

// nesting counts marks of quotations and lists at the beginning of a line. A line of one sign is a rule.
func nesting(line string) int {
	n, kinds := 0, map[rune]bool{}
	for _, c := range line {
		switch {
		case strings.ContainsRune(">-*+.)", c):
			n++
			kinds[c] = true
		case c != ' ' && c != '\t' && !unicode.IsDigit(c):
			return n
		}
	}
	if len(kinds) == 1 && !kinds['>'] && !kinds['.'] && !kinds[')'] && !strings.Contains(strings.TrimSpace(line), " ") {
		return 0
	}
	return n
}

// ids names headings: goldmark's own searches for a free name from the first on, for each of equal headings.
type ids map[string]int

// Generate implements parser.IDs.
func (m ids) Generate(value []byte, _ ast.NodeKind) []byte {
	var b strings.Builder
	for _, c := range strings.ToLower(strings.TrimSpace(string(value))) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_', c == '-':
			b.WriteRune(c)
		case c == ' ':
			b.WriteByte('-')
		}
	}
	name := b.String()
	if name == "" {
		name = "heading"
	}
	if m[name]++; m[name] > 1 {
		name += "-" + strconv.Itoa(m[name]-1)
	}
	return []byte(name)
}

// Put implements parser.IDs.
func (m ids) Put(value []byte) { m[string(value)]++ }
