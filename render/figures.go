package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// Figure is the values of one metric over releases, one line a workload. Readers switch lines, zoom in, and open the
// run behind a value.
type Figure struct {
	ID       string // stable, from what it shows
	Metric   string // label: "TTFT mean"
	Unit     string
	Better   string // "lower is better"
	Releases []string
	Series   []FigureSeries
	Limits   []Limit
}

// FigureSeries is one line: a point for each release.
type FigureSeries struct {
	Name   string
	Points []Point
}

// Point is one value; a release without one has OK false and breaks the line.
type Point struct {
	OK    bool
	Value float64
	Text  string // value with unit
	Note  string // where it comes from: " in v1.2, mean of 2 measurements"
	Href  Address
}

// Limit is a target.
type Limit struct {
	Value float64
	Label string
}

// linesDrawn is how many series share one figure.
const linesDrawn = 5

// Plain implements Block.
func (f Figure) Plain() []Block { return []Block{Prose{f.Summary()}, f.Table()} }

// Title names what is drawn, in which unit, and which way is better. A unit that the metric's name ends with is not
// repeated.
func (f Figure) Title() string {
	parts := []string{f.Metric, f.Unit, f.Better}
	if strings.HasSuffix(f.Metric, f.Unit) {
		parts = []string{f.Metric, f.Better}
	}
	return strings.Join(parts, ", ")
}

// Summary is the figure in words: where each line begins and ends.
func (f Figure) Summary() string {
	if len(f.Series) == 0 || len(f.Releases) == 0 {
		return f.Metric + ": nothing to draw"
	}
	out := fmt.Sprintf("%s over %s.", f.Title(), words.Plural(len(f.Releases), "release"))
	for _, s := range f.Series {
		first, last := -1, -1
		for i, p := range s.Points {
			if p.OK {
				if first < 0 {
					first = i
				}
				last = i
			}
		}
		switch {
		case first < 0:
			out += fmt.Sprintf(" %s: no value.", s.Name)
		case first == last:
			out += fmt.Sprintf(" %s: %s.", s.Name, words.Number(s.Points[last].Value))
		default:
			out += fmt.Sprintf(" %s: %s to %s.", s.Name, words.Number(s.Points[first].Value),
				words.Number(s.Points[last].Value))
		}
	}
	return out
}

// Table has every value of the figure, newest release first.
func (f Figure) Table() *Table {
	t := &Table{Caption: "The numbers of " + f.Title(), Layout: Numbers, Cols: []Col{{Head: "Release"}}}
	for _, s := range f.Series {
		t.Cols = append(t.Cols, Col{Head: s.Name, Unit: f.Unit, Num: true})
	}
	for i := len(f.Releases) - 1; i >= 0; i-- {
		run, one := f.RunOf(i)
		row := Row{Cells: []Cell{{Text: f.Releases[i], Head: true, Href: run}}}
		for _, s := range f.Series {
			cell := number(schema.Missing("not measured"))
			if p := s.Points[i]; p.OK {
				cell = number(schema.Num(p.Value))
				if !one {
					cell.Href = p.Href
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// RunOf is the run that all values of a release are from; one is false, and the address empty, when there are several.
func (f Figure) RunOf(release int) (run Address, one bool) {
	for _, s := range f.Series {
		switch p := s.Points[release]; {
		case !p.OK || p.Href == run:
		case run != "":
			return "", false
		default:
			run = p.Href
		}
	}
	return run, true
}

// Curves show one workload over concurrency: what the device gives against what one user sees.
type Curves struct {
	Name   string // of the workload
	Curves []Curve
	Table  *Table // the numbers of all
}

// Curve is output against the speed or the wait of one user: one line a release, one point a concurrency. Right is
// better where Right is set, left otherwise; up is always better.
type Curve struct {
	ID, Title, XTitle, YTitle string
	Right                     bool
	Lines                     []CurveLine // oldest first
	Limits                    []Limit     // on the horizontal axis
}

// CurveLine is the sweep of one release.
type CurveLine struct {
	Name   string
	Age    Age
	Points []CurvePoint
}

// Age is which of the shown releases a line is of.
type Age string

// Ages of lines.
const (
	Newest   Age = "newest"
	Previous Age = "previous"
	Older    Age = "older"
)

// CurvePoint is one concurrency.
type CurvePoint struct {
	Value, Output float64
	Concurrency   string
	Text          string // both values with their units
	// Front says that no other concurrency of the release gives more output at no worse a speed: only these are worth
	// choosing.
	Front bool
}

// Plain implements Block.
func (c Curves) Plain() []Block {
	var lines Prose
	for _, x := range c.Curves {
		lines = append(lines, x.Summary())
	}
	return []Block{lines, c.Table}
}

// front marks the points that are worth choosing.
func (c *Curve) front() {
	for i := range c.Lines {
		list := c.Lines[i].Points
		for k := range list {
			list[k].Front = !slices.ContainsFunc(list, func(o CurvePoint) bool { return c.beats(o, list[k]) })
		}
	}
}

// beats reports whether a point is at least as good as another in both, and better in one.
func (c *Curve) beats(a, b CurvePoint) bool {
	better, same := a.Value > b.Value, a.Value == b.Value
	if !c.Right {
		better = a.Value < b.Value
	}
	return (better || same) && a.Output >= b.Output && (better || a.Output > b.Output)
}

// Summary is the figure in a sentence: the ends of the newest line.
func (c Curve) Summary() string {
	if len(c.Lines) == 0 || len(c.Lines[len(c.Lines)-1].Points) == 0 {
		return c.Title + "."
	}
	l := c.Lines[len(c.Lines)-1]
	first, last := l.Points[0], l.Points[len(l.Points)-1]
	return fmt.Sprintf("%s: in %s from %s at concurrency %s to %s at concurrency %s.", c.Title, l.Name,
		first.Text, first.Concurrency, last.Text, last.Concurrency)
}

// curvesTable has the numbers behind the curves of a workload, newest release first.
func curvesTable(name string, sweeps []releaseSweep) *Table {
	t := &Table{Caption: "The numbers behind the curves of " + name, Layout: Numbers, Cols: []Col{
		{Head: "Release"}, {Head: "Concurrency", Num: true}, {Head: "Speed per user", Unit: "tok/s", Num: true},
		{Head: "TTFT", Unit: "ms", Num: true}, {Head: "Output", Unit: "tok/s", Num: true},
	}}
	for i := len(sweeps) - 1; i >= 0; i-- {
		for _, x := range sweeps[i].at {
			t.row(
				Cell{Text: sweeps[i].name, Head: true}, text(whole(x.concurrency)), number(x.speed), number(x.ttft),
				number(x.output),
			)
		}
	}
	t.Total = len(t.Rows)
	return t
}

// releaseSweep is a workload of a release over concurrency.
type releaseSweep struct {
	name string
	age  Age
	at   []sweepPoint // by concurrency
}

// sweepPoint is one concurrency of a sweep, in tok/s and milliseconds.
type sweepPoint struct {
	concurrency         float64
	speed, ttft, output schema.Number
}

// curve draws output against one of the other two.
func curve(c Curve, sweeps []releaseSweep, unit string, x func(sweepPoint) schema.Number) Curve {
	for _, s := range sweeps {
		l := CurveLine{Name: s.name, Age: s.age}
		for _, p := range s.at {
			v, ok := x(p).Get()
			out, has := p.output.Get()
			if ok && has {
				l.Points = append(l.Points, CurvePoint{Value: v, Output: out, Concurrency: whole(p.concurrency),
					Text: fmt.Sprintf("%s %s and %s tok/s", words.Number(v), unit, words.Number(out))})
			}
		}
		if len(l.Points) > 1 {
			c.Lines = append(c.Lines, l)
		}
	}
	c.front()
	return c
}

// Distribution is a latency over the requests of some workloads: at each percentile the value that this share of the
// requests did not exceed. Readers switch workloads and zoom in on the tail.
type Distribution struct {
	ID     string // stable, from what it shows
	Metric string // label: "TTFT"
	Unit   string
	Series []DistributionSeries
}

// DistributionSeries is one workload.
type DistributionSeries struct {
	Name      string
	Quantiles []float64 // at i/(len-1)
}

// Plain implements Block.
func (d Distribution) Plain() []Block { return []Block{Prose{d.Summary()}, d.Table()} }

// Title names what is drawn, and in which unit.
func (d Distribution) Title() string { return d.Metric + " over requests, " + d.Unit }

// Summary is the figure in words: the median and the maximum of each workload.
func (d Distribution) Summary() string {
	out := d.Title() + "."
	for _, s := range d.Series {
		n := len(s.Quantiles)
		out += fmt.Sprintf(" %s: median %s, maximum %s.", s.Name, words.Number(s.Quantiles[n/2]),
			words.Number(s.Quantiles[n-1]))
	}
	return out
}

// Percent is the percentile of a quantile, 0 to 100.
func (s DistributionSeries) Percent(i int) float64 {
	return 100 * float64(i) / float64(len(s.Quantiles)-1)
}

// Note says what a point of a line is.
func (d Distribution) Note(s DistributionSeries, i int) string {
	return fmt.Sprintf("%.4g %% of requests within %s", s.Percent(i), words.Quantity(s.Quantiles[i], d.Unit))
}

// Table has every value of the figure, one row a percentile.
func (d Distribution) Table() *Table {
	t := &Table{Caption: "The numbers of " + d.Title(), Layout: Numbers, Cols: []Col{{Head: "Percentile"}}}
	for _, s := range d.Series {
		t.Cols = append(t.Cols, Col{Head: s.Name, Unit: d.Unit, Num: true})
	}
	if len(d.Series) == 0 {
		return t
	}
	for i := range d.Series[0].Quantiles {
		row := Row{Cells: []Cell{{Text: fmt.Sprintf("%.4g", d.Series[0].Percent(i)), Head: true}}}
		for _, s := range d.Series {
			row.Cells = append(row.Cells, number(schema.Num(s.Quantiles[i])))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// distributionFigures are the distributions of a run, one a latency, each of at most as many workloads as a figure has
// lines.
func distributionFigures(run *schema.Run) []Block {
	var out []Block
	for _, metric := range []string{"ttft", "tpot", "e2el"} {
		info, _ := schema.MetricByName(metric)
		d := Distribution{ID: "distribution-" + metric, Metric: info.Label, Unit: info.Unit}
		for i := range run.Points {
			q := run.Points[i].Metrics[metric].Quantiles
			if len(q) == quantiles && q[0] > 0 && len(d.Series) < linesDrawn {
				d.Series = append(d.Series, DistributionSeries{pointName(&run.Points[i]), q})
			}
		}
		if len(d.Series) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// pointName tells the points of a run apart.
func pointName(p *schema.Point) string {
	name := words.Workload(p.Key) + " " + words.OrUnknown(p.Key.Tool)
	if p.Repeat > 1 {
		name += fmt.Sprintf(", repeat %d", p.Repeat)
	}
	return name
}

// Panels are small multiples: the history of one series each.
type Panels []Panel

// Panel is the history of one series: raw values in release order, where one new value was expected, and where the
// level changed.
type Panel struct {
	Title, Sub string
	Outcome    schema.Outcome
	Evidence   schema.Evidence
	Change     string
	Summary    string
	Releases   []string
	Points     []Point
	Last       string    // the newest value
	Expected   *Expected // nil when nobody knows
	Steps      []Step
	Limit      *Limit
	Effect     float64 // least relative change that matters
}

// Levels are the newest levels, the newest first: a panel has room for three.
func (p Panel) Levels() []Step {
	const most = 3
	var out []Step
	for _, s := range slices.Backward(p.Steps) {
		if s.Level != "" && len(out) < most {
			out = append(out, s)
		}
	}
	return out
}

// Expected is where one new value was expected 95 times in 100, from a release on.
type Expected struct {
	Low, High float64
	From      int // index of the release
}

// Step is a level that a release began.
type Step struct {
	At    int // index of the release
	Label string
	Note  string // what people wrote about the release, or ""
	Href  Address
	Level Address // the change on the page of changes; "" for one that only the drawing has
}

// Plain implements Block.
func (p Panels) Plain() []Block {
	t := &Table{Caption: "History by workload, worst first", Cols: []Col{
		{Head: "Series"}, {Head: "Verdict"}, {Head: "Change"}, {Head: "Newest", Num: true},
		{Head: "Releases", Num: true},
	}}
	for _, x := range p {
		t.row(
			Cell{Text: x.Title, Sub: x.Sub, Head: true}, Cell{Outcome: x.Outcome, Evidence: x.Evidence},
			text(x.Change), text(x.Last), text(words.Count(len(x.Releases))),
		)
	}
	return []Block{t}
}

// Spark is a row's history: its last values in release order.
type Spark struct {
	Label  string
	Values []float64 // NaN where a release has none
}

// Strip is the distribution of a latency over requests, on a scale that it shares with others.
type Strip struct {
	Label     string
	Quantiles []float64 // 33, at i/32
	Low, High float64   // of the scale, above zero
}

// Plane is what every configuration of a model gives against what one user sees. A script draws it, with switches; the
// table is there without script.
type Plane struct {
	ID        string       `json:"-"`
	Model     string       `json:"model"`
	Workloads []string     `json:"workloads"` // the first is drawn
	Lines     []PlaneLine  `json:"lines"`
	Limits    []PlaneLimit `json:"limits"`
	Limit     int          `json:"limit"` // which is drawn first; -1 for none
	Scaling   []Scaling    `json:"scaling,omitempty"`
	Left      []string     `json:"-"` // what is not drawn
	Currency  string       `json:"currency,omitempty"`
}

// PlaneLine is one configuration under one workload.
type PlaneLine struct {
	Name      string       `json:"name"`
	Device    string       `json:"device"`
	Look      int          `json:"look"` // of the device: its colour and mark
	Engine    string       `json:"engine,omitempty"`
	Precision string       `json:"precision,omitempty"`
	Parallel  string       `json:"parallel,omitempty"`
	Impl      string       `json:"impl,omitempty"`
	Tool      string       `json:"tool,omitempty"`
	Workload  string       `json:"workload"`
	Chips     int          `json:"chips,omitempty"` // 0 when unknown
	Price     float64      `json:"price,omitempty"` // of the deployment an hour; 0 when unknown
	Median    bool         `json:"median,omitempty"`
	Href      Address      `json:"href"`
	Points    []PlanePoint `json:"points"` // by load
}

// PlanePoint is one load.
type PlanePoint struct {
	Load   string             `json:"load"` // "32", or "4/s"
	At     float64            `json:"at"`
	Values [planeValues]maybe `json:"values"` // output tok/s, tok/s of a user, TTFT and E2EL in ms
	Run    Address            `json:"run"`

	isl, osl *float64
	rest     string // of the workload, without lengths and load
}

// Plain implements Block.
func (p *Plane) Plain() []Block {
	blocks := []Block{Prose{p.headline()}, p.table()}
	if s := p.notDrawn(); s != "" {
		blocks = append(blocks, Prose{s})
	}
	return blocks
}

// Label is the figure in words.
func (p *Plane) Label() string {
	return p.Model + ", " + p.Workloads[0] + ": output tok/s against tok/s per user, a line a configuration. " +
		p.headline()
}

// Table has the best points without script.
func (p *Plane) Table() *Table { return p.table() }

// NotDrawn says what is not drawn, and why.
func (p *Plane) NotDrawn() string { return strings.TrimSpace(p.notDrawn()) }

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
