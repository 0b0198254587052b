package markdown

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest/plaintext"
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
				fmt.Fprintf(w.b, "%s\n", strings.TrimSpace("> "+quoted(line)))
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
		fmt.Fprintf(w.b, "    %s\n", plaintext.Printable(strings.ReplaceAll(c, "\n", " ")))
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

// quoted is a line of somebody's own markdown, without raw HTML and without mentions.
func quoted(line string) string {
	var b strings.Builder
	for i := range len(line) {
		next := line[i+1:]
		if line[i] == '<' && next != "" && (isWord(next[0]) || strings.ContainsRune("/!?", rune(next[0]))) {
			b.WriteString("&lt;")
			continue
		}
		if b.WriteByte(line[i]); line[i] == '@' {
			breakBefore(&b, next, isWord)
		}
	}
	return plaintext.Printable(b.String())
}
