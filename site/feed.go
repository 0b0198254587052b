package site

import (
	"encoding/xml"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// published writes what needs to know where the site will be: the page of addresses that are not there, which a host
// shows at any depth, and the feed.
func (b *builder) published(p *part) error {
	root := ""
	if u, err := url.Parse(b.opt.BaseURL); err == nil && u.Path != "" {
		root = strings.TrimSuffix(u.Path, "/") + "/"
	}
	html, err := b.pages.pageFrom(b.report.NotFoundPage(), root)
	if err != nil {
		return err
	}
	if err := p.put("404.html", html); err != nil || b.opt.BaseURL == "" {
		return err
	}
	xml, err := feed(b.report, b.opt.BaseURL)
	if err != nil {
		return err
	}
	return p.put("feed.xml", xml)
}

// Atom, RFC 4287.
type (
	atomFeed struct {
		XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		Title   string      `xml:"title"`
		ID      string      `xml:"id"`
		Updated string      `xml:"updated"`
		Author  atomAuthor  `xml:"author"`
		Links   []atomLink  `xml:"link"`
		Entries []atomEntry `xml:"entry"`
	}
	atomAuthor struct {
		Name string `xml:"name"`
	}
	atomLink struct {
		Rel  string `xml:"rel,attr,omitempty"`
		Href string `xml:"href,attr"`
	}
	atomEntry struct {
		Title   string   `xml:"title"`
		ID      string   `xml:"id"`
		Updated string   `xml:"updated"`
		Link    atomLink `xml:"link"`
		Summary string   `xml:"summary"`
	}
)

// feed is feed.xml: the newest fifty releases, each with its decision. An entry is new when its release is; when a
// decision turns, its title does.
func feed(r *render.Report, base string) ([]byte, error) {
	base = strings.TrimSuffix(base, "/") + "/"
	const most = 50
	out := atomFeed{
		Title:   r.Title,
		ID:      base,
		Updated: time.Unix(0, 0).UTC().Format(time.RFC3339),
		Author:  atomAuthor{r.Title},
		Links:   []atomLink{{"self", base + "feed.xml"}, {"", base}},
	}
	for i := len(r.Releases) - 1; i >= 0 && len(out.Entries) < most; i-- {
		rel := r.Releases[i]
		if !rel.Label {
			continue
		}
		d := words.Decide(r.Result(i))
		at := base + strings.TrimSuffix(string(render.ReleasePath(rel.Name)), "index.html")
		when := out.Updated // of one without a date: that of what is newer
		if !rel.Date.IsZero() {
			when = rel.Date.UTC().Format(time.RFC3339)
			out.Updated = max(out.Updated, when)
		}
		out.Entries = append(out.Entries, atomEntry{rel.Name + ": " + d.Word, at, when, atomLink{"", at}, d.Detail})
	}
	data, err := xml.MarshalIndent(out, "", " ")
	if err != nil {
		return nil, fmt.Errorf("feed.xml: %w", err)
	}
	return append(append([]byte(xml.Header), data...), '\n'), nil
}
