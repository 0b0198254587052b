package site

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ttreport/ttreport/render"
)

// runsBytes is about how many bytes of pages of runs a script may hold, a tenth of that when packed: what a reader
// waits for who opens one of them. A release with more has several.
const runsBytes = 1_500_000

// runIndex says in which script the details of a run are, Files by number, Runs by the name in the address, and in
// which one its numbers are judged.
type runIndex struct {
	Files    []render.Address    `json:"files"`
	Of       []int               `json:"of"` // the release of each file
	Releases []render.ReleaseRef `json:"releases"`
	Runs     map[string]int      `json:"runs"`
}

// runs makes the details of all runs, some scripts a release, and the index of them. A file a run was six thousand
// files in a history of 50 releases, and most of the time of a build.
func (b *builder) runs() error {
	r := b.report
	parts := make([][]int, len(r.Releases)) // how many runs each script of a release has
	for i := range r.Releases {             // beside the other steps, which take as long
		var err error
		if parts[i], err = b.runsOf(i); err != nil {
			return err
		}
	}
	index := runIndex{
		Files: []render.Address{}, Of: []int{}, Releases: []render.ReleaseRef{}, Runs: map[string]int{},
	}
	for i, rel := range r.Releases {
		index.Releases = append(index.Releases, render.ReleaseRef{Name: rel.Name, Shard: render.ReleaseShardPath(rel.Name)})
		left := rel.Runs
		for part, n := range parts[i] {
			for _, run := range left[:n] {
				name := render.RunName(r.Columns.Runs[run].ID)
				if _, taken := index.Runs[name]; taken {
					return fmt.Errorf("two pages are %s: names of runs that give one address; rename one",
						render.RunPath(r.Columns.Runs[run].ID))
				}
				index.Runs[name] = len(index.Files)
			}
			left, index.Files = left[n:], append(index.Files, render.RunShardPath(rel.Name, part))
			index.Of = append(index.Of, i)
		}
	}
	p := &part{b: b, step: stepRuns}
	if err := p.shard(render.RunIndexPath, "runs", index); err != nil {
		return err
	}
	return p.page(r.RunsPage())
}

// runsOf makes the details of the runs of a release, and returns how many each of its scripts has.
func (b *builder) runsOf(release int) (parts []int, err error) {
	rel := b.report.Releases[release]
	of := []string{"runs", rel.Name}
	for _, run := range rel.Runs {
		of = append(of, b.report.Columns.Runs[run].ID, b.report.Columns.Runs[run].SHA256)
	}
	kept, err := b.unit(stepRuns, "runs "+rel.Name, b.made(of...), func(p *part) (any, error) {
		parts, err = b.writeRuns(p, release)
		return parts, err
	})
	if err == nil && kept != nil {
		if err = json.Unmarshal(kept, &parts); err != nil {
			err = fmt.Errorf("facts of runs of %s in the site's record: %w", rel.Name, err)
		}
	}
	return parts, err
}

// writeRuns writes the scripts of a release: each holds the pages of some runs, as text.
func (b *builder) writeRuns(p *part, release int) (parts []int, err error) {
	rel := b.report.Releases[release]
	var pages bytes.Buffer
	n := 0
	flush := func() error {
		path := render.RunShardPath(rel.Name, len(parts))
		parts = append(parts, n)
		err := p.shard(path, string(path), pages.Bytes())
		n = 0
		pages.Reset()
		return err
	}
	for _, run := range rel.Runs {
		h := &b.report.Columns.Runs[run]
		n++
		doc, problem := b.opt.Run(run)
		var page render.Page
		if problem == nil {
			page = b.report.RunPage(&doc, h.ID)
		} else {
			b.mu.Lock()
			b.problems = append(b.problems, *problem)
			b.mu.Unlock()
			p.lacks = true
			page = b.report.LostRunPage(h.ID, *problem)
		}
		if err := b.pages.run(&pages, view(b, page), render.RunName(h.ID)); err != nil {
			return nil, err
		}
		if pages.Len() > runsBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if n > 0 || len(parts) == 0 {
		err = flush()
	}
	return parts, err
}
