package echarts

import (
	"math"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/ttreport/ttreport/render"
)

// distribution draws the value at each percentile, on a logarithmic axis where the tail is far from the median.
func distribution(d render.Distribution) Chart {
	const wide = 10
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
	y := opts.YAxis{Type: "value", Name: d.Unit, Scale: opts.Bool(true)}
	if lo > 0 && hi/lo > wide {
		y = opts.YAxis{Type: "log", Name: d.Unit + ", logarithmic"}
	}
	line.SetGlobalOptions(
		charts.WithDataZoomOpts(opts.DataZoom{Type: "slider"}),
		charts.WithGridOpts(opts.Grid{Left: "12", Right: "24", Top: "52", Bottom: "104"}),
		charts.WithXAxisOpts(opts.XAxis{
			Type: "value", Name: "share of requests, %", NameLocation: "middle", NameGap: 28, Min: 0, Max: 100,
		}),
		charts.WithYAxisOpts(y),
	)
	line.Validate()
	c.Option = line.JSON()
	return c
}
