package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"strings"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/static"
)

// inlined is what a page that stands alone carries in itself, and the policy that allows just that.
type inlined struct {
	Policy string
	CSS    template.CSS
	JS     template.JS
}

// alone is the root of a page that stands alone without a site: its links lead nowhere, and become text.
const alone = "https://alone.ttreport.invalid/"

// Single is a page as one file for a mail or a ticket: style and script in it, allowed by their hashes; nothing is loaded. Links lead
// to the site at baseURL, or are text when that is "".
func Single(r *render.Report, page render.Page, baseURL string, look Look) ([]byte, error) {
	p, err := newPainter(r, look)
	if err != nil {
		return nil, err
	}
	css, err := fs.ReadFile(static.Files(), "site.css")
	if err != nil {
		return nil, fmt.Errorf("style: %w", err)
	}
	css = append(css, look.css...)
	js, err := fs.ReadFile(static.Files(), "site.js")
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	hash := func(b []byte) string {
		sum := sha256.Sum256(b)
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	root := alone
	if baseURL != "" {
		root = strings.TrimSuffix(baseURL, "/") + "/"
	}
	html, err := p.execute(view{Page: page, Root: root, Site: p.site, Version: p.version, Logo: look.mark(root, true), Single: &inlined{
		Policy: "default-src 'none'; style-src " + hash(css) + "; script-src " + hash(js) + "; img-src data:; base-uri 'none'; form-action 'none'",
		CSS:    template.CSS(css), JS: template.JS(js)}}) // ours, embedded
	if err != nil {
		return nil, err
	}
	html = unlinked(html)
	if r.Public {
		html = public(page.Path, html, baseURL)
	}
	return html, nil
}

// unlinked turns links that lead nowhere into text. Such a link is written by us: text from data is escaped and can hold none. Links
// hold no links, so the next end tag is theirs; within a drawing a link is a group.
func unlinked(html []byte) []byte {
	var out bytes.Buffer
	drawing := false
	for {
		at := bytes.Index(html, []byte("<a "))
		if at < 0 {
			out.Write(html)
			return out.Bytes()
		}
		if opens, closes := bytes.LastIndex(html[:at], []byte("<svg")), bytes.LastIndex(html[:at], []byte("</svg")); opens != closes {
			drawing = opens > closes
		}
		out.Write(html[:at])
		html = html[at:]
		end, done := bytes.IndexByte(html, '>'), bytes.Index(html, []byte("</a>"))
		if end < 0 || done < end || !bytes.Contains(html[:end], []byte(`href="`+alone)) {
			out.Write(html[:3])
			html = html[3:]
			continue
		}
		tag := map[bool]string{false: "span", true: "g"}[drawing]
		fmt.Fprintf(&out, "<%s>%s</%s>", tag, html[end+1:done], tag)
		html = html[done+len("</a>"):]
	}
}
