package site

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// made is the hash of what a part of the site is made of, beside the program and its configuration; "" when nobody
// knows those.
func (b *builder) made(of ...string) string {
	if b.opt.Stamp == "" {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q%q%q%q", b.opt.Stamp, b.report.Title, b.hosts, of))
	return hex.EncodeToString(sum[:])
}

// unitName names a part of the site.
func unitName(kind string, of ...string) string { return fmt.Sprintf("%s %q", kind, of) }

// The JSON of data/index.json, schema ttreport/site-index/v1: what a script needs to find the rest. Names are a
// contract; fields may be added. Addresses are relative to the site's root.
type (
	indexJSON struct {
		Schema   string         `json:"schema"`
		Title    string         `json:"title"`
		Version  string         `json:"version"`
		Newest   string         `json:"newest,omitempty"` // release that the landing page is about
		Releases []indexRelease `json:"releases"`         // oldest first
		Pairs    []indexPair    `json:"pairs"`
	}
	indexRelease struct {
		Name     string          `json:"name"`
		Released bool            `json:"released"` // false: a build that nobody released
		Line     string          `json:"line,omitempty"`
		Channel  string          `json:"channel"`
		Date     string          `json:"date,omitempty"` // RFC 3339, UTC
		Decision string          `json:"decision"`
		Detail   string          `json:"detail"`
		Exit     int             `json:"exit"` // of ttreport check
		Runs     []string        `json:"runs"`
		Page     render.Address  `json:"page"`
		Report   render.Address  `json:"report_md"`
		Points   render.Address  `json:"points_csv"`
		Scores   render.Address  `json:"scores_csv"`
		Verdicts render.Address  `json:"verdicts_csv"`
		Pairs    []indexDecision `json:"pairs"`
	}
	indexDecision struct {
		Model    string `json:"model"`
		Device   string `json:"device"`
		Decision string `json:"decision"`
	}
	indexPair struct {
		Model  string         `json:"model"`
		Device string         `json:"device"`
		Newest string         `json:"newest"`
		Page   render.Address `json:"page"`
	}
)

// index is data/index.json.
func index(r *render.Report) indexJSON {
	out := indexJSON{
		Schema:   "ttreport/site-index/v1",
		Title:    r.Title,
		Version:  r.Version,
		Releases: []indexRelease{},
		Pairs:    []indexPair{},
	}
	if at := r.Newest(); at >= 0 {
		out.Newest = r.Releases[at].Name
	}
	for i, rel := range r.Releases {
		d := r.Results(i)
		x := indexRelease{
			Name:     rel.Name,
			Released: rel.Label,
			Line:     rel.Line,
			Channel:  rel.Channel,
			Decision: string(d.Whole.Word),
			Detail:   words.Decide(d.Whole).Detail,
			Exit:     d.Whole.Exit,
			Page:     render.ReleasePath(rel.Name),
			Report: render.ReleaseReportPath(
				rel.Name,
			),
			Points:   r.DataPath(i, "points"),
			Scores:   r.DataPath(i, "scores"),
			Verdicts: r.DataPath(i, "verdicts"),
			Pairs:    []indexDecision{},
		}
		if !rel.Date.IsZero() {
			x.Date = rel.Date.UTC().Format(time.RFC3339)
		}
		for _, run := range rel.Runs {
			x.Runs = append(x.Runs, r.Columns.Runs[run].ID)
		}
		for _, p := range d.Pairs {
			x.Pairs = append(x.Pairs, indexDecision{p.Model, p.Device, string(p.Result.Word)})
		}
		out.Releases = append(out.Releases, x)
	}
	for _, p := range r.Pairs {
		out.Pairs = append(
			out.Pairs,
			indexPair{p.Model, p.Device, r.Releases[p.Newest].Name, render.PairPath(p.Model, p.Device)},
		)
	}
	return out
}
