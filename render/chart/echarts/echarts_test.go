package echarts_test

import (
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
		Name string  `json:"name"`
		Data []datum `json:"data"`
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

// A curve has every concurrency of every release, and those that are worth choosing are filled.
func TestCurve(t *testing.T) {
	in := render.Curves{
		Curves: []render.Curve{{ID: "c", Lines: []render.CurveLine{
			{Name: "v1", Age: render.Previous, Points: []render.CurvePoint{{Value: 30, Output: 40, Concurrency: "1"}}},
			{Name: "v2", Age: render.Newest, Points: []render.CurvePoint{
				{Value: 31, Output: 41, Concurrency: "1", Front: true}, {Value: 20, Output: 30, Concurrency: "8"},
			}},
		}}},
	}
	o, c := optionOf(t, in, "c")
	if len(o.Series) != 2 || len(o.Series[1].Data) != 2 {
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
	if len(c.Notes[1]) != 2 {
		t.Errorf("%+v", c.Notes)
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
