package site

import (
	"encoding/json"
	"fmt"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/tabular"
)

func (b *builder) releases() error {
	r := b.report
	return each(len(r.Releases), func(i int) error {
		name, after := r.Releases[i].Name, ""
		if i+1 < len(r.Releases) {
			after = r.Releases[i+1].Name // its page links to it
		}
		facts := func() any { return r.Results(i) }
		kept, err := b.unit(
			stepReleases, "release "+name,
			b.made("release", name, after, b.digests[i], fmt.Sprintf("%+v", r.NotesOf(name))),
			func(p *part) error { return b.release(p, i) },
			facts,
		)
		if err != nil || kept == nil {
			return err
		}
		var d render.Results
		if err := json.Unmarshal(kept, &d); err != nil {
			return fmt.Errorf("facts of %s in the site's record: %w", name, err)
		}
		r.Know(i, d)
		return nil
	})
}

// release makes the data, the reports and the page of a release. One is made at a time, its parts beside each other:
// the verdicts of a release are the largest thing that a build holds. Judging the next meanwhile took 25 MB more
// of 300, and no less time.
func (b *builder) release(p *part, i int) error {
	b.making.Lock()
	defer b.making.Unlock()
	r := b.report
	r.Gate.Findings(i)         // all parts need them
	if i+1 < len(r.Releases) { // the pages of models and devices need those of the last
		defer r.Gate.Forget(i)
	}
	parts := []func() error{
		func() error { return b.releaseSeries(p, i) },
		func() error { return b.releaseVerdicts(p, i) },
		func() error { return b.releaseReports(p, i) },
		func() error { return p.page(r.ReleasePage(i)) },
	}
	return each(len(parts), func(k int) error { return parts[k]() })
}

// releaseSeries writes the numbers of a release as Compare and the drawer read them, and its scores.
func (b *builder) releaseSeries(p *part, i int) error {
	r := b.report
	name := r.Releases[i].Name
	if err := p.shard(render.ReleaseShardPath(name), "release "+name, view(b, r.ReleaseSeries(i))); err != nil {
		return err
	}
	return csvFile(p, r.DataPath(i, "scores"), tabular.Scores(r, i))
}

// releaseVerdicts writes what was found of a release, and the page that lays it beside the one before.
func (b *builder) releaseVerdicts(p *part, i int) error {
	r := b.report
	if err := csvFile(p, r.DataPath(i, "verdicts"), tabular.Verdicts(r, i)); err != nil {
		return err
	}
	if page := r.AgainstPage(i); page.Path != "" {
		return p.page(page)
	}
	return nil
}

// releaseReports writes the points of a release, and its reports.
func (b *builder) releaseReports(p *part, i int) error {
	r := b.report
	name := r.Releases[i].Name
	points, err := view(b, tabular.Points(r, i)).CSV()
	if err != nil {
		return err
	}
	if err := p.data(r.DataPath(i, "points"), points); err != nil {
		return err
	}
	if err := p.markdown(render.ReleaseReportPath(name), r.ReleaseReport(i, r.Review(i, "", ""))); err != nil {
		return err
	}
	if !r.HasReport(i) {
		return nil
	}
	for _, pair := range r.PairsOf(i) {
		if err := p.markdown(render.ReportPath(name, pair.Model, pair.Device), r.PairReport(i, pair)); err != nil {
			return err
		}
	}
	return nil
}
