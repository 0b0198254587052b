package render

import (
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/curve"
)

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

// front marks the points that are worth choosing: no other is at least as good in both, and better in one.
func (c *Curve) front() {
	right := -1.
	if c.Right {
		right = 1
	}
	for _, l := range c.Lines {
		for k := range l.Points {
			p := &l.Points[k]
			p.Front = !slices.ContainsFunc(l.Points, func(o CurvePoint) bool {
				x, y := right*(o.Value-p.Value), o.Output-p.Output
				return x >= 0 && y >= 0 && x+y > 0
			})
		}
	}
}

// Summary is the figure in a sentence: the ends of the newest line.
func (c Curve) Summary() string {
	l := c.Lines[len(c.Lines)-1]
	first, last := l.Points[0], l.Points[len(l.Points)-1]
	return fmt.Sprintf("%s: in %s from %s at concurrency %s to %s at concurrency %s.", c.Title, l.Name,
		first.Text, first.Concurrency, last.Text, last.Concurrency)
}

// curvesTable has the numbers behind the curves of a workload, newest release first.
func curvesTable(name string, sweeps []releaseSweep) *Table {
	t := &Table{Caption: "The numbers behind the curves of " + name, Layout: Numbers, Cols: []Col{
		col("Release"), {Head: "Concurrency", Num: true}, {Head: "Speed per user", Unit: "tok/s", Num: true},
		{Head: "TTFT", Unit: "ms", Num: true}, {Head: "Output", Unit: "tok/s", Num: true},
	}}
	for _, s := range slices.Backward(sweeps) {
		for _, x := range s.at {
			t.row(head(s.name, ""), text(whole(x.concurrency)), number(x.speed), number(x.ttft), number(x.output))
		}
	}
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

// drawnCurve draws output against one of the other two.
func drawnCurve(c Curve, sweeps []releaseSweep, unit string, x func(sweepPoint) schema.Number) Curve {
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
	columns := []Column[int]{{col("Percentile"), func(i int) Cell {
		return head(fmt.Sprintf("%.4g", d.Series[0].Percent(i)), "")
	}}}
	var rows []int
	for _, s := range d.Series {
		columns = append(columns, Column[int]{Col{Head: s.Name, Unit: d.Unit, Num: true}, func(i int) Cell {
			return number(schema.Num(s.Quantiles[i]))
		}})
		for i := len(rows); i < len(s.Quantiles); i++ {
			rows = append(rows, i)
		}
	}
	return tableOf("The numbers of "+d.Title(), Numbers, rows, columns)
}

// distributionFigures are the distributions of a run, one a latency, each of at most five workloads.
func distributionFigures(run *schema.Run) []Block {
	const most = 5
	var out []Block
	for _, metric := range tailMetrics() {
		info, _ := schema.MetricByName(metric)
		d := Distribution{ID: "distribution-" + metric, Metric: info.Label, Unit: info.Unit}
		for i := range run.Points {
			p := &run.Points[i]
			m, _ := p.Metric(metric)
			q := m.Detail().Quantiles
			if len(q) != quantiles || q[0] <= 0 || len(d.Series) == most {
				continue
			}
			name := words.Workload(p.Key) + " " + words.OrUnknown(p.Key.Tool)
			if p.Repeat > 1 {
				name += fmt.Sprintf(", repeat %d", p.Repeat)
			}
			d.Series = append(d.Series, DistributionSeries{name, q})
		}
		if len(d.Series) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// tailMetrics are the latencies whose distribution is judged.
func tailMetrics() []string {
	return schema.MetricNames(func(m *schema.MetricInfo) bool { return m.Tail })
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
	IO        float64      `json:"io,omitempty"`    // tokens that are read for one that is written; 0 when unknown
	Median    bool         `json:"median,omitempty"`
	Href      Address      `json:"href"`
	Points    []PlanePoint `json:"points"` // by load
	// Bands are the joint 95 % bands of output over each other value: levels, each with its low and high end.
	Bands [planeValues - 1][][3]float64 `json:"bands,omitzero"`
	// Paths are points of the curves between the measured ones, over each other value.
	Paths  [planeValues - 1][][2]float64 `json:"paths,omitzero"`
	id     planeID
	byLoad map[string]*PlanePoint // while the points are found
	fitted map[int]*curve.Curve   // by value
}

// PlanePoint is one load.
type PlanePoint struct {
	Load   string             `json:"load"` // "32", or "4/s"
	At     float64            `json:"at"`
	Values [planeValues]maybe `json:"values"` // output tok/s, tok/s of a user; TTFT, E2EL and P90 of TTFT in ms
	Run    Address            `json:"run"`

	isl, osl *float64
	rest     string // of the workload, without lengths and load
	run      int    // the newest
	repeats  [planeValues][]float64
}

// Label is the figure in words.
func (p *Plane) Label() string {
	return p.Model + ", " + p.Workloads[0] + ": output tok/s against tok/s per user, a line a configuration. " +
		p.headline()
}

// keysOf are the workloads of points, in their order.
func keysOf(points []*columns.PointRow) []int32 {
	var seen groups[int32, int32]
	for _, p := range points {
		key, _ := seen.of(p.Key)
		*key = p.Key
	}
	return seen.list
}
