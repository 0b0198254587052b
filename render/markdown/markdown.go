// Package markdown writes reports as markdown and turns people's markdown into safe HTML. It is the only importer of
// goldmark.
//
// In flow a [render.Report] and notes; out flow files for a pull request or a ticket, and HTML fragments without raw HTML,
// script or unsafe links, whatever the notes contain.
package markdown

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// HTML converts markdown. Raw HTML is dropped and javascript: and data: links lose their target (goldmark's safe mode);
// tables are aligned by attribute, since the pages allow no style.
func HTML(source string) (template.HTML, error) {
	md := goldmark.New(goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough, extension.Linkify))
	src := []byte(source)
	doc := md.Parser().Parse(text.NewReader(src))
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
	for _, i := range images {
		asLink(i)
	}
	var b bytes.Buffer
	if err == nil {
		err = md.Renderer().Render(&b, src, doc)
	}
	if err != nil {
		return "", fmt.Errorf("converting markdown: %w", err)
	}
	return template.HTML(b.String()), nil // goldmark's safe mode
}

// asLink puts a link in place of an image: no picture lies beside the pages, and they ask nobody for one.
func asLink(i *ast.Image) {
	link := ast.NewLink()
	link.Destination, link.Title = i.Destination, i.Title
	for c := i.FirstChild(); c != nil; c = i.FirstChild() {
		link.AppendChild(link, c)
	}
	i.Parent().ReplaceChild(i.Parent(), i, link)
}

// Pair writes the report of one model on one device in one release: what was measured with which parameters, the results,
// the targets in force. The text is the same for the same input.
func Pair(r *render.Report, release int, pair render.Pair) []byte {
	return Page(r.PairReport(release, pair), "")
}

// Page writes a page. site is the address of the built site, before every link; "" leaves links out.
func Page(page render.Page, site string) []byte {
	var b bytes.Buffer
	w := writer{b: &b, site: site}
	fmt.Fprintf(&b, "# %s\n\n", Text(page.Title))
	if page.Simulated != "" {
		fmt.Fprintf(&b, "> **simulated** — %s\n\n", Text(page.Simulated))
	}
	fmt.Fprintf(&b, "**%s:** %s\n", Text(page.Lead.Word), Text(page.Lead.Text))
	for _, p := range page.Lead.Paras {
		fmt.Fprintf(&b, "\n%s\n", Text(p))
	}
	if page.Lead.Cmd != "" {
		fmt.Fprintf(&b, "\nWhat would change the answer:\n\n    %s\n", strings.ReplaceAll(page.Lead.Cmd, "\n", "\n    "))
	}
	for _, s := range page.Sections {
		fmt.Fprintf(&b, "\n## %s\n\n", Text(s.Title))
		if s.Intro != "" {
			fmt.Fprintf(&b, "%s\n\n", Text(s.Intro))
		}
		for _, block := range s.Blocks {
			switch {
			case block.Table != nil:
				w.table(block.Table)
			case block.Empty != nil:
				fmt.Fprintf(&b, "%s. %s\n", Text(block.Empty.What), Text(block.Empty.Why))
			case len(block.Cmd) > 0:
				for _, c := range block.Cmd {
					fmt.Fprintf(&b, "    %s\n", strings.ReplaceAll(c, "\n", " "))
				}
			}
		}
	}
	return b.Bytes()
}

// Compare writes a comparison as one table with its notes.
func Compare(c *render.Comparison) []byte {
	var b bytes.Buffer
	writer{b: &b}.table(c.Table())
	for _, s := range c.Notes() {
		fmt.Fprintf(&b, "\n%s\n", Text(s))
	}
	return b.Bytes()
}

// writer is where markdown goes and where its links lead.
type writer struct {
	b    *bytes.Buffer
	site string
}

// Table writes an aligned markdown table without links.
func Table(b *bytes.Buffer, t *render.Table) { writer{b: b}.table(t) }

func (w writer) table(t *render.Table) {
	b := w.b
	rows := [][]string{make([]string, len(t.Cols))}
	for i, c := range t.Cols {
		rows[0][i] = c.Head
		if c.Unit != "" {
			rows[0][i] += " (" + c.Unit + ")"
		}
	}
	for _, r := range t.Rows {
		line := make([]string, len(t.Cols))
		for i := range r.Cells {
			if i < len(line) {
				line[i] = w.cell(r.Cells[i])
			}
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
		b.WriteByte('|')
		for i, s := range r {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(s))
			if t.Cols[i].Num {
				fmt.Fprintf(b, " %s%s |", pad, s)
			} else {
				fmt.Fprintf(b, " %s%s |", s, pad)
			}
		}
		b.WriteByte('\n')
		if n == 0 {
			b.WriteByte('|')
			for i := range r {
				rule := strings.Repeat("-", width[i]+1)
				if t.Cols[i].Num {
					b.WriteString(rule + ":|")
				} else {
					b.WriteString(rule + "-|")
				}
			}
			b.WriteByte('\n')
		}
	}
	if t.More != "" {
		fmt.Fprintf(b, "\n%d of %d rows; %s.\n", len(t.Rows), t.Total, Text(t.More))
	}
}

func (w writer) cell(c render.Cell) string {
	s := Text(c.Text)
	if w.site != "" && c.Href != "" && s != "" {
		s = "[" + s + "](" + strings.TrimSuffix(w.site, "/") + "/" + strings.TrimSuffix(c.Href, "index.html") + ")"
	}
	if c.Outcome != "" {
		s = words.Sign(c.Outcome, c.Evidence) + " " + string(c.Outcome)
		if c.Evidence != "" {
			s += " " + string(c.Evidence)
		}
	}
	if c.Sub != "" {
		s += " · " + Text(c.Sub)
	}
	return strings.TrimPrefix(s, " · ")
}

// Text escapes what markdown would read as markup or a table would read as a border, and keeps everything on one line.
func Text(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch c {
		case '\\', '`', '*', '_', '[', ']', '<', '>', '|', '#', '~':
			b.WriteByte('\\')
			b.WriteRune(c)
		case '\n', '\r', '\t':
			b.WriteByte(' ')
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
