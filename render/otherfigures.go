package render

import (
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// mostForOthers is how many workloads a model on a device may have for every number of them to be drawn: a few dozen
// figures of a large sweep would hide those that decide, and are most of a site.
const mostForOthers = 8

// otherSection has a figure for each number that is shown and not judged: percentiles, rates, build times, memory. A
// section without blocks where there is nothing to draw.
func (r *Report) otherSection(pair Pair) Section {
	s := Section{ID: "others", Title: "Other numbers over releases", Fold: "charts",
		Intro: "What is measured and not judged: one chart a number, one line a workload."}
	releases := r.measuredIn(pair.Model, pair.Device)
	by := make([]map[int32][]*columns.PointRow, len(releases)) // by workload
	var points []*columns.PointRow
	for i, ri := range releases {
		by[i] = map[int32][]*columns.PointRow{}
		for _, p := range r.points(r.runs[pair.Pair][ri]) {
			by[i][p.Key] = append(by[i][p.Key], p)
			points = append(points, p)
		}
	}
	keys := r.keysOf(r.points(r.runs[pair.Pair][pair.Newest]))
	if len(releases) < 2 || len(keys) > mostForOthers {
		return s
	}
	judged := r.drawnAsJudged(pair)
	for _, f := range r.Fields(points) {
		if judged[f.Metric] == f.Stat {
			continue
		}
		fig, left := r.otherFigure(f, keys, releases, by)
		if len(fig.Series) == 0 {
			continue
		}
		if left > 0 {
			s.Blocks = append(s.Blocks, Prose{fmt.Sprintf("%s: %s workloads are drawn; data/ has all, by release.",
				fig.Metric, words.Of(len(fig.Series), len(fig.Series)+left))})
		}
		s.Blocks = append(s.Blocks, fig)
	}
	return s
}

// keysOf are the workloads of points, in their order.
func (r *Report) keysOf(points []*columns.PointRow) []int32 {
	var out []int32
	seen := map[int32]bool{}
	for _, p := range points {
		if !seen[p.Key] {
			seen[p.Key] = true
			out = append(out, p.Key)
		}
	}
	return out
}

// drawnAsJudged is the statistic that the figure of each judged metric shows, by metric.
func (r *Report) drawnAsJudged(pair Pair) map[string]string {
	out := map[string]string{}
	for _, metric := range judge.JudgedMetrics(r.Columns) {
		if list, stat := r.seriesOfMetric(pair, metric, nil); len(list) > 0 {
			out[metric] = stat
		}
	}
	return out
}

// otherFigure draws a field of workloads over releases: those with two values at least. left counts those for which
// there is no room.
func (r *Report) otherFigure(
	f Field, keys []int32, releases []int, by []map[int32][]*columns.PointRow,
) (fig Figure, left int) {
	info, _ := schema.MetricByName(f.Metric)
	fig = Figure{
		ID: "chart-" + schema.Slug(f.Metric+" "+f.Stat), Unit: info.Unit, Better: info.Better.String(),
		Metric: words.Metric(f.Metric, f.Stat), Releases: r.namesOf(releases),
	}
	for _, key := range keys {
		k := r.Columns.Keys[key]
		line, n := FigureSeries{Name: k.Workload()}, 0
		for i := range releases {
			p := r.meanOf(by[i][key], f)
			if p.OK {
				n++
				p.Text, p.Note = words.Quantity(p.Value, info.Unit), " in "+fig.Releases[i]+p.Note
			}
			line.Points = append(line.Points, p)
		}
		switch {
		case n < 2:
		case len(fig.Series) < linesDrawn:
			fig.Series = append(fig.Series, line)
		default:
			left++
		}
	}
	return fig, left
}

// meanOf is the mean of a field over the measurements of one workload in one release.
func (r *Report) meanOf(points []*columns.PointRow, f Field) Point {
	sum, n, run := 0., 0, 0
	for _, p := range points {
		if v, ok := r.Shown(p, f.Metric, f.Stat).Get(); ok {
			sum, n, run = sum+v, n+1, int(p.Run)
		}
	}
	if n == 0 {
		return Point{}
	}
	out := Point{OK: true, Value: sum / float64(n), Href: RunPath(r.Columns.Runs[run].ID)}
	if n > 1 {
		out.Note = fmt.Sprintf(", mean of %d measurements", n)
	}
	return out
}
