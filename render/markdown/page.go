package markdown

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/render"
)

// Page writes a page. site is the address of the built site, before every link; "" leaves links out. Blocks that are no
// text are written as what they can say in text: see [render.Block].
func Page(page render.Page, site string) []byte {
	var b bytes.Buffer
	w := writer{&b, site}
	fmt.Fprintf(&b, "# %s\n\n", escape(page.Title))
	if page.Simulated != "" {
		fmt.Fprintf(&b, "> **simulated** — %s\n\n", escape(page.Simulated))
	}
	w.lead(&page.Lead)
	for _, s := range page.Sections {
		if s.Title != "" {
			fmt.Fprintf(&b, "\n## %s\n\n", escape(s.Title))
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

// Compare writes a comparison as one table with its notes.
func Compare(c *render.Comparison) []byte {
	var b bytes.Buffer
	w := writer{b: &b}
	w.table(c.Table())
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

func (w writer) lead(l *render.Lead) {
	switch {
	case l.Word != "":
		fmt.Fprintf(w.b, "**%s:** %s\n", escape(l.Word), escape(l.Text))
	case l.Text != "":
		fmt.Fprintf(w.b, "%s\n", escape(l.Text))
	}
	for _, p := range l.Paras {
		fmt.Fprintf(w.b, "\n%s\n", escape(p))
	}
	if l.Cmd != "" {
		fmt.Fprint(w.b, "\nWhat would settle it:\n\n")
		w.commands(strings.Split(l.Cmd, "\n"))
	}
}

func (w writer) block(b render.Block) {
	switch b := b.(type) {
	case *render.Table:
		w.table(b)
	case render.Prose:
		for i, s := range b {
			if i > 0 {
				w.b.WriteByte('\n')
			}
			fmt.Fprintf(w.b, "%s\n", escape(s))
		}
	case render.Commands:
		w.commands(b)
	case render.Links:
		for _, l := range b {
			fmt.Fprintf(w.b, "- %s\n", w.link(escape(l.Text), l.Href))
		}
	case render.Notes:
		for i, n := range b { // people's own markdown, as a quotation
			if i > 0 {
				w.b.WriteByte('\n')
			}
			for line := range strings.Lines(strings.TrimSpace(n.Source)) {
				fmt.Fprintf(w.b, "%s\n", strings.TrimSpace("> "+line))
			}
		}
	default:
		for i, p := range b.Plain() {
			if i > 0 {
				w.b.WriteByte('\n')
			}
			w.block(p)
		}
	}
}

func (w writer) commands(list []string) {
	for _, c := range list {
		fmt.Fprintf(w.b, "    %s\n", strings.ReplaceAll(c, "\n", " "))
	}
}

// link is a text with its address; without a site, the text.
func (w writer) link(text string, href render.Address) string {
	if w.site == "" || href == "" || text == "" {
		return text
	}
	return "[" + text + "](" + strings.TrimSuffix(w.site, "/") + "/" + strings.TrimSuffix(string(href), "index.html") + ")"
}

// escape escapes what markdown would read as markup or a table would read as a border, and keeps everything on one
// line.
func escape(s string) string {
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
