package markdown

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

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
	return template.HTML(scrollers().Replace(b.String())), nil // goldmark's safe mode
}

// scrollers lets what may be wider than its page scroll by the keyboard too.
func scrollers() *strings.Replacer {
	return strings.NewReplacer("<pre>", `<pre tabindex="0">`, "</table>", "</table></div>",
		"<table>", `<div class="tw" tabindex="0" role="group" aria-label="Table"><table>`)
}

// asLink puts a link in place of an image: no picture is published with the pages, and they load none from elsewhere.
func asLink(i *ast.Image) {
	link := ast.NewLink()
	link.Destination, link.Title = i.Destination, i.Title
	for c := i.FirstChild(); c != nil; c = i.FirstChild() {
		link.AppendChild(link, c)
	}
	i.Parent().ReplaceChild(i.Parent(), i, link)
}
