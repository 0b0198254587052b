package site

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"strings"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/static"
)

// inlined is what a page that is one file carries in itself, and the policy that allows just that.
type inlined struct {
	Policy string
	CSS    template.CSS
	JS     template.JS
}

// Single is a page as one file for a mail or a ticket: style and script in it, allowed by their hashes; nothing is
// loaded. Links lead to the site at baseURL, or are text when that is "".
func Single(r *render.Report, page render.Page, baseURL string, theme Theme) ([]byte, error) {
	p, err := newPages(r, theme)
	if err != nil {
		return nil, err
	}
	css, err := fs.ReadFile(static.Files(), "site.css")
	if err != nil {
		return nil, fmt.Errorf("style: %w", err)
	}
	css = append(css, theme.css...)
	js, err := fs.ReadFile(static.Files(), "site.js")
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	f := frame{Path: page.Path, Alone: true}
	if baseURL != "" {
		f.Root, f.Linked = strings.TrimSuffix(baseURL, "/")+"/", true
	} else {
		page = rewritten(page, rewriting{address: func(a render.Address) render.Address {
			if a.External() {
				return a
			}
			return ""
		}})
	}
	if r.Public {
		page = rewritten(page, redaction(baseURL, hostsOf(r)))
	}
	var logo *logoView
	if theme.logo != nil {
		src := "data:" + theme.mime + ";base64," + base64.StdEncoding.EncodeToString(theme.logo)
		logo = &logoView{template.URL(src), theme.w, theme.h}
	}
	return p.layout(layoutView{frame: f, Page: page, Logo: logo, Single: &inlined{
		Policy: "default-src 'none'; style-src " + hash(css) + "; script-src " + hash(js) +
			"; img-src data:; base-uri 'none'; form-action 'none'",
		CSS: template.CSS(css), JS: template.JS(js), // ours, embedded
	}})
}

// hash is a source of a content security policy: this text and no other.
func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
