package site

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/chart/echarts"
	"github.com/ttreport/ttreport/render/markdown"
	"github.com/ttreport/ttreport/render/tabular"
	"github.com/ttreport/ttreport/static"
)

// Options are what a build needs beside the report.
type Options struct {
	Dir string // output folder
	// Run reads the document of the run at an index of the report's columns.
	Run func(index int) (schema.Run, *schema.Problem)
	// Progress is called with the number of pages written so far; may be nil.
	Progress func(done int)
}

// Result says what a build did.
type Result struct {
	Files, Written, Removed int
	Problems                []schema.Problem // runs whose document could not be read
}

// Build writes the site. It stops between files when ctx ends; what was written until then is whole.
func Build(ctx context.Context, r *render.Report, opt Options) (Result, error) {
	pub, err := openPublisher(opt.Dir)
	if err != nil {
		return Result{}, err
	}
	p, err := newPainter(r)
	if err != nil {
		return Result{}, err
	}
	b := &builder{ctx: ctx, report: r, opt: opt, pub: pub, painter: p}
	// Data before pages, details before lists: a build that is cut short leaves links that work.
	for _, step := range []func() error{b.assets, b.pairs, b.runs, b.releases, b.data, b.others} {
		if err := step(); err != nil {
			pub.abandon()
			return b.result(), err
		}
	}
	if err := pub.finish(); err != nil {
		return b.result(), err
	}
	return b.result(), nil
}

type builder struct {
	ctx      context.Context
	report   *render.Report
	opt      Options
	pub      *publisher
	painter  *painter
	problems []schema.Problem
}

func (b *builder) result() Result {
	return Result{Files: len(b.pub.now), Written: b.pub.written, Removed: b.pub.removed, Problems: b.problems}
}

func (b *builder) put(path string, data []byte) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	if err := b.pub.put(path, data); err != nil {
		return err
	}
	if b.opt.Progress != nil {
		b.opt.Progress(len(b.pub.now))
	}
	return nil
}

func (b *builder) page(p render.Page) error {
	html, err := b.painter.page(p)
	if err != nil {
		return err
	}
	return b.put(p.Path, html)
}

func (b *builder) assets() error {
	return fs.WalkDir(static.Files(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(static.Files(), name)
		if err != nil {
			return fmt.Errorf("asset %s: %w", name, err)
		}
		return b.put("assets/"+name, data)
	})
}

func (b *builder) pairs() error {
	for _, pair := range b.report.Pairs {
		shard, err := Shard(b.report, pair)
		if err != nil {
			return err
		}
		if err := b.put(render.ShardPath(pair.Model, pair.Device), shard); err != nil {
			return err
		}
		if err := b.page(b.report.PairPage(pair)); err != nil {
			return err
		}
	}
	return nil
}

// Shard is the script with the chart data of a pair: a call, since pages opened from disk can load no other kind.
func Shard(r *render.Report, pair render.Pair) ([]byte, error) {
	charts := map[string]echarts.Shard{}
	for _, c := range r.Charts(pair) {
		s, err := echarts.Option(c)
		if err != nil {
			return nil, err
		}
		charts[c.ID] = s
	}
	id, err := json.Marshal(shardID(render.PairPath(pair.Model, pair.Device)))
	if err != nil {
		return nil, fmt.Errorf("chart data: %w", err)
	}
	data, err := json.Marshal(charts) // escapes <, > and &
	if err != nil {
		return nil, fmt.Errorf("chart data: %w", err)
	}
	return append(append(append(append([]byte("ttreport.shard("), id...), ','), data...), ");\n"...), nil
}

func (b *builder) runs() error {
	for _, rel := range b.report.Releases {
		for _, i := range rel.Runs {
			id := b.report.Columns.Runs[i].ID
			run, problem := b.opt.Run(i)
			if problem != nil {
				b.problems = append(b.problems, *problem)
				continue
			}
			if err := b.page(b.report.RunPage(&run, id)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *builder) releases() error {
	for i, rel := range b.report.Releases {
		for _, pair := range b.report.PairsOf(i) {
			if err := b.put(render.ReportPath(rel.Name, pair.Model, pair.Device), markdown.Pair(b.report, i, pair)); err != nil {
				return err
			}
		}
		if err := b.page(b.report.ReleasePage(i)); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) data() error {
	for _, f := range []struct {
		name string
		make func(*render.Report) ([]byte, error)
	}{{"points", tabular.Points}, {"scores", tabular.Scores}, {"verdicts", tabular.Verdicts}} {
		data, err := f.make(b.report)
		if err != nil {
			return err
		}
		if err := b.put("data/"+f.name+".csv", data); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) others() error {
	pages := []render.Page{b.report.ProblemsPage(), b.report.AboutPage()}
	for _, t := range b.report.Topics {
		pages = append(pages, b.report.TopicPage(t))
	}
	for _, p := range append(pages, b.report.Landing()) {
		if err := b.page(p); err != nil {
			return err
		}
	}
	return b.put(".nojekyll", nil)
}
