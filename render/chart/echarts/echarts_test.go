package echarts_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/chart/echarts"
	"github.com/ttreport/ttreport/render/words"
)

// option is what a chart's JSON must have.
type option struct {
	XAxis []struct {
		Type string   `json:"type"`
		Data []string `json:"data"`
	} `json:"xAxis"`
	YAxis []struct {
		Type     string
		Min, Max float64
	} `json:"yAxis"`
	DataZoom []any `json:"dataZoom"`
	Series   []struct {
		Name     string  `json:"name"`
		Data     []datum `json:"data"`
		MarkLine struct {
			Label struct{ Show *bool } `json:"label"`
			Data  []struct {
				Name  string  `json:"name"`
				XAxis float64 `json:"xAxis"`
				YAxis float64 `json:"yAxis"`
			} `json:"data"`
		} `json:"markLine"`
	} `json:"series"`
}

// datum is a point: a value alone, or one with a name and a symbol.
type datum struct {
	Name   string  `json:"name"`
	Value  any     `json:"value"`
	Real   float64 `json:"real"`
	Symbol string  `json:"symbol"`
}

func (d *datum) UnmarshalJSON(b []byte) error {
	type fields datum
	if len(b) > 0 && b[0] == '{' {
		return json.Unmarshal(b, (*fields)(d))
	}
	return json.Unmarshal(b, &d.Value)
}

func optionOf(t *testing.T, b render.Block, id string) (option, echarts.Chart) {
	t.Helper()
	c, ok := echarts.Of(b)[id]
	if !ok {
		t.Fatalf("there is no chart %s", id)
	}
	data, err := json.Marshal(c.Option)
	if err != nil {
		t.Fatal(err)
	}
	var o option
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return o, c
}

func figure(values ...[]float64) render.Figure {
	f := render.Figure{ID: "x", Metric: "TTFT mean", Unit: "ms", Limits: []render.Limit{{Value: 80, Label: "complete 80"}}}
	for i := range values[0] {
		f.Releases = append(f.Releases, fmt.Sprintf("v%d", i))
	}
	for i, list := range values {
		s := render.FigureSeries{Name: fmt.Sprintf("128/64/%d", i)}
		for k, v := range list {
			s.Points = append(s.Points, render.Point{
				OK: v > 0, Value: v, Text: words.Quantity(v, "ms"),
				Href: render.Address(fmt.Sprintf("runs/%d-%d", i, k)),
			})
		}
		f.Series = append(f.Series, s)
	}
	return f
}

// The chart has every series, release, value and target of the table beside it, and nothing where the table has
// nothing.
func TestFigureHasItsTable(t *testing.T) {
	f := figure([]float64{100, 0, 110}, []float64{30, 31, 32})
	o, c := optionOf(t, f, "x")
	table := f.Table()
	if len(o.Series) != len(table.Cols)-1 || fmt.Sprint(o.XAxis[0].Data) != fmt.Sprint(f.Releases) {
		t.Fatalf("%d series over %v for %d columns", len(o.Series), o.XAxis[0].Data, len(table.Cols))
	}
	for i, s := range o.Series {
		if s.Name != table.Cols[i+1].Head {
			t.Errorf("series %d is %s, its column %s", i, s.Name, table.Cols[i+1].Head)
		}
		for k, d := range s.Data {
			cell := table.Rows[len(f.Releases)-1-k].Cells[i+1]
			want := words.Absent
			if v, ok := d.Value.(float64); ok {
				want = words.Number(v)
				cell.Href = cmp.Or(cell.Href, table.Rows[len(f.Releases)-1-k].Cells[0].Href)
				if c.Links[i][k] != cell.Href || c.Notes[i][k] == "" {
					t.Errorf("%s in %s leads to %q, its cell to %q", s.Name, f.Releases[k], c.Links[i][k], cell.Href)
				}
			}
			if cell.Text != want {
				t.Errorf("%s in %s is drawn as %s, the table has %s", s.Name, f.Releases[k], want, cell.Text)
			}
		}
	}
	if m := o.Series[0].MarkLine.Data; len(m) != 1 || m[0].YAxis != 80 || m[0].Name != "complete 80" {
		t.Errorf("targets: %+v", m)
	}
	if show := o.Series[0].MarkLine.Label.Show; show == nil || *show {
		t.Error("the labels of targets lie on the lines")
	}
}

// What the script can write itself is not in the file: the value with its release, and one run's address once.
func TestFigureSaysNothingTwice(t *testing.T) {
	f := figure([]float64{100, 110}, []float64{30, 31})
	for i := range f.Series {
		for k := range f.Releases {
			f.Series[i].Points[k].Href, f.Series[i].Points[k].Note = render.Address("runs/index.html#"+f.Releases[k]),
				" in "+f.Releases[k]
		}
	}
	if _, c := optionOf(t, f, "x"); c.Notes != nil || len(c.Links) != 1 || c.Links[0][1] != "runs/index.html#v1" ||
		c.Unit != "ms" {
		t.Errorf("%+v", c)
	}
	f.Series[1].Points[0].Note += ", mean of 2 measurements"
	f.Series[1].Points[1].Href = "runs/index.html#other"
	if _, c := optionOf(t, f, "x"); c.Notes[1][0] == "" || c.Notes[0][0] != "" || len(c.Links) != 2 {
		t.Errorf("%+v", c)
	}
}

// Noise does not fill the axis, a wide span is logarithmic, and a long history can be zoomed.
func TestFigureAxes(t *testing.T) {
	o, _ := optionOf(t, figure([]float64{100, 101}), "x")
	if y := o.YAxis[0]; y.Type != "value" || y.Max-y.Min < 20 || y.Min > 100 || y.Max < 101 || len(o.DataZoom) != 0 {
		t.Errorf("noise: %+v, zoom %v", y, o.DataZoom)
	}
	o, _ = optionOf(t, figure([]float64{1, 2, 4, 8, 16, 32, 64, 128, 256}), "x")
	if o.YAxis[0].Type != "log" || len(o.DataZoom) != 1 {
		t.Errorf("wide and long: %+v, zoom %v", o.YAxis[0], o.DataZoom)
	}
}

// One value far outside does not flatten a figure: it is an arrow at the edge, and its number is said.
func TestFigureBeyond(t *testing.T) {
	f := figure([]float64{1, 1000, 2, 3, 4, 5, 6, 7, 8})
	o, c := optionOf(t, f, "x")
	d := o.Series[0].Data[1]
	said := strings.HasPrefix(c.Notes[0][1], "beyond the axis")
	if o.YAxis[0].Type != "value" || d.Symbol != "arrow" || d.Value != 8. || d.Real != 1000 || !said {
		t.Errorf("%+v, %+v, notes %q", o.YAxis[0], d, c.Notes)
	}
	o, _ = optionOf(t, figure([]float64{100, 100.2, 99.9, 104, 100.1, 100, 99.8, 100.1}), "x")
	if d := o.Series[0].Data[3]; d.Symbol != "" || d.Value != 104. {
		t.Errorf("what the axis has room for is drawn as %+v", d)
	}
	if got := f.Beyond(); !strings.Contains(got, "1000") && !strings.Contains(got, "1,000") {
		t.Errorf("said is %q", got)
	}
}

// A curve has every concurrency of every release, and those that are worth choosing are filled.
func TestCurve(t *testing.T) {
	in := render.Curves{
		Curves: []render.Curve{{ID: "c", Limits: []render.Limit{{Value: 20, Label: "complete 20"}}, Lines: []render.CurveLine{
			{Name: "v1", Age: render.Previous, Points: []render.CurvePoint{{Value: 30, Output: 40, Concurrency: "1"}}},
			{Name: "v2", Age: render.Newest, Points: []render.CurvePoint{
				{Value: 31, Output: 41, Concurrency: "1", Front: true}, {Value: 20, Output: 30, Concurrency: "8"},
			}},
		}}},
	}
	o, c := optionOf(t, in, "c")
	if len(o.Series) != 2 || len(o.Series[1].Data) != 2 || o.Series[0].MarkLine.Data[0].XAxis != 20 {
		t.Fatalf("%+v", o)
	}
	d := o.Series[1].Data
	if d[0].Name != "1" || d[0].Symbol != "circle" || d[1].Symbol != "emptyCircle" || fmt.Sprint(d[1].Value) != "[20 30]" {
		t.Errorf("%+v", d)
	}
	data, _ := json.Marshal(c.Option) // on a small screen
	if n := strings.Count(string(data), `"hideOverlap":true`); n != 3 {
		t.Errorf("labels of the axis and of both lines may overlap: %d in %s", n, data)
	}
	if c.Links != nil || len(c.Notes[1]) != 2 {
		t.Errorf("%+v %+v", c.Links, c.Notes)
	}
	if echarts.Of(render.Prose{"x"}) != nil {
		t.Error("prose has a chart")
	}
}

// The option of a distribution has every value of its table, at its percentile.
func TestDistributionHasItsTable(t *testing.T) {
	d := render.Distribution{ID: "d", Metric: "TTFT", Unit: "ms", Series: []render.DistributionSeries{
		{Name: "128/64/8 vllm", Quantiles: []float64{10, 20, 30, 40, 400}}, {Name: "2048/64/8 vllm",
			Quantiles: []float64{1, 2, 3, 4, 5}},
	}}
	o, c := optionOf(t, d, "d")
	if len(o.Series) != 2 || len(o.DataZoom) != 1 || o.YAxis[0].Type != "log" {
		t.Fatalf("%+v", o)
	}
	for i, row := range d.Table().Rows {
		for k, s := range o.Series {
			at := s.Data[i].Value.([]any)
			if words.Number(at[1].(float64)) != row.Cells[k+1].Text || fmt.Sprintf("%.4g", at[0]) != row.Cells[0].Text {
				t.Errorf("%s at %d: %v, the table has %v", s.Name, i, at, row.Cells)
			}
		}
	}
	if c.Notes[0][4] != "100 % of requests within 400\u202fms" {
		t.Errorf("%q", c.Notes[0][4])
	}
}
