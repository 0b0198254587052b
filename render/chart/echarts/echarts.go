// Package echarts describes the figures that readers work with as ECharts options, by way of go-echarts' structs. It
// is the only importer of go-echarts, and never uses its HTML renderer, which executes script that it finds in data.
//
// In go blocks of a page; out goes JSON for the page's script. What JSON cannot hold is a name that the script
// replaces: a formatter such as "@point" by a function of the script's own, a colour such as "--c1" by that custom
// property of the style sheet.
package echarts

import (
	"math"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/ttreport/ttreport/render"
)

// Chart is what the page's script needs to draw one figure.
type Chart struct {
	Option map[string]any `json:"option"`
	Notes  [][]string     `json:"notes"` // what the tooltip shows, by series and point
}

// Of returns the charts of a block by the id of their place in the page; none for a block that readers only look at.
func Of(b render.Block) map[string]Chart {
	out := map[string]Chart{}
	switch b := b.(type) {
	case render.Distribution:
		out[b.ID] = distribution(b)
	case render.Curves:
		for _, c := range b.Curves {
			out[c.ID] = curve(c)
		}
	default:
		return nil
	}
	return out
}

// symbols tell the lines of a figure apart without colour.
func symbols() []string { return []string{"circle", "rect", "triangle", "diamond", "emptyCircle"} }

// palette are the colours of lines, as custom properties.
func palette() opts.Colors { return opts.Colors{"--c1", "--c2", "--c3", "--c4", "--c5"} }

func newLine() *charts.Line {
	line := charts.NewLine()
	line.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithColorsOpts(palette()),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(true), Type: "scroll", Top: "0"}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item", Formatter: "@point"}),
	)
	return line
}

// valueAxis is logarithmic where the tail is far from the median, and does not begin at zero: position is read, and not
// length.
func valueAxis(unit string, lo, hi float64) opts.YAxis {
	if lo > 0 && hi/lo > 10 {
		return opts.YAxis{Type: "log", Name: unit + ", logarithmic"}
	}
	return opts.YAxis{Type: "value", Name: unit, Scale: opts.Bool(true)}
}

// curve draws output over speed or wait.
func curve(f render.Curve) Chart {
	line := newLine()
	line.SetGlobalOptions(
		charts.WithGridOpts(opts.Grid{Left: "12", Right: "24", Top: "64", Bottom: "48"}),
		charts.WithXAxisOpts(opts.XAxis{
			Type: "value", Name: f.XTitle, NameLocation: "middle", NameGap: 28, Scale: opts.Bool(true),
			AxisLabel: &opts.AxisLabel{HideOverlap: opts.Bool(true)},
		}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Name: f.YTitle}),
	)
	var c Chart
	for _, l := range f.Lines {
		var notes []string
		data := make([]opts.LineData, len(l.Points))
		for k, p := range l.Points {
			data[k] = opts.LineData{Name: p.Concurrency, Value: []float64{p.Value, p.Output}, Symbol: "emptyCircle"}
			if p.Front {
				data[k].Symbol = "circle"
			}
			notes = append(notes, "concurrency "+p.Concurrency+": "+p.Text)
		}
		c.Notes = append(c.Notes, notes)
		line.AddSeries(l.Name, data, style(l.Age)...)
	}
	line.Validate()
	c.Option = line.JSON()
	return c
}

// style draws the newest release bold and with its concurrencies, the one before dashed, older ones thin.
func style(a render.Age) []charts.SeriesOpts {
	colour, look := "--rule", opts.LineStyle{Width: 1}
	size, label := 4., opts.Label{Show: opts.Bool(false)}
	switch a {
	case render.Newest:
		colour, size, look.Width = "--ink", 8, 2
		label = opts.Label{Show: opts.Bool(true), Position: "top", Formatter: "{b}", Color: "--ink2"}
	case render.Previous:
		colour, size, look.Type = "--ink2", 7, "dashed"
	}
	look.Color = colour
	return []charts.SeriesOpts{
		charts.WithLineChartOpts(opts.LineChart{SymbolSize: size, ShowSymbol: opts.Bool(true)}),
		charts.WithLineStyleOpts(look), charts.WithItemStyleOpts(opts.ItemStyle{Color: colour}), charts.WithLabelOpts(label),
		charts.WithLabelLayoutOpts(opts.LabelLayout{HideOverlap: opts.Bool(true)}),
	}
}

// distribution draws the value at each percentile, on a logarithmic axis where the tail is far from the median.
func distribution(d render.Distribution) Chart {
	lo, hi := math.Inf(1), 0.
	line := newLine()
	var c Chart
	for i, s := range d.Series {
		var notes []string
		data := make([]opts.LineData, len(s.Quantiles))
		for k, v := range s.Quantiles {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
			data[k] = opts.LineData{Value: []float64{s.Percent(k), v}}
			notes = append(notes, d.Note(s, k))
		}
		c.Notes = append(c.Notes, notes)
		line.AddSeries(s.Name, data, charts.WithLineChartOpts(opts.LineChart{
			Symbol: symbols()[i%len(symbols())], SymbolSize: 5, ShowSymbol: opts.Bool(true),
		}))
	}
	line.SetGlobalOptions(
		charts.WithDataZoomOpts(opts.DataZoom{Type: "slider"}),
		charts.WithGridOpts(opts.Grid{Left: "12", Right: "24", Top: "52", Bottom: "104"}),
		charts.WithXAxisOpts(opts.XAxis{
			Type: "value", Name: "share of requests, %", NameLocation: "middle", NameGap: 28, Min: 0, Max: 100,
		}),
		charts.WithYAxisOpts(valueAxis(d.Unit, lo, hi)),
	)
	line.Validate()
	c.Option = line.JSON()
	return c
}
