// Package echarts describes the chart of a series over its releases as an ECharts option, by way of go-echarts'
// structs. It is the only importer of go-echarts, and never uses its HTML renderer, which executes script that it finds
// in data.
//
// Nothing goes in, since the numbers come from the shards of the site: out goes what all series have alike, as JSON for
// static/assets/trend.js, which adds releases, values, levels and targets. What JSON cannot hold is a colour: a text
// such as "--ink" names a custom property of the style sheet, and the script replaces it by what that comes to.
package echarts

import (
	"encoding/json"
	"fmt"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// Series is the option of the chart of a series, as JSON.
func Series() (string, error) {
	yes, no := opts.Bool(true), opts.Bool(false)
	line := func(colour string) *opts.LineStyle { return &opts.LineStyle{Color: colour} }
	label := &opts.AxisLabel{Color: "--ink2", FontSize: 12, HideOverlap: yes}
	axis := &opts.AxisLine{Show: yes, LineStyle: line("--rule")}
	c := charts.NewLine()
	c.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithLegendOpts(opts.Legend{Show: no}),
		charts.WithGridOpts(opts.Grid{Left: "12", Right: "64", Top: "44", Bottom: "64", ContainLabel: yes}),
		charts.WithTooltipOpts(opts.Tooltip{
			Show: yes, Trigger: "axis", AxisPointer: &opts.AxisPointer{Type: "cross"},
			BackgroundColor: "--panel", BorderColor: "--rule",
		}),
		charts.WithToolboxOpts(opts.Toolbox{
			Right: "0", Feature: &opts.ToolBoxFeature{DataZoom: &opts.ToolBoxFeatureDataZoom{Show: yes, YAxisIndex: "none"}},
		}),
		charts.WithDataZoomOpts(opts.DataZoom{Type: "slider"}),
		charts.WithXAxisOpts(opts.XAxis{
			Type: "category", AxisLabel: label, AxisLine: axis, AxisTick: &opts.AxisTick{LineStyle: line("--rule")},
			SplitLine: &opts.SplitLine{Show: no},
		}),
		charts.WithYAxisOpts(opts.YAxis{
			Type: "value", Scale: yes, AxisLabel: label, AxisLine: axis,
			SplitLine: &opts.SplitLine{Show: yes, LineStyle: line("--hair")},
		}),
	)
	c.AddSeries("", nil,
		charts.WithLineChartOpts(opts.LineChart{Symbol: "circle", SymbolSize: 6}),
		charts.WithLineStyleOpts(opts.LineStyle{Color: "--ink2", Width: 1.5}),
		charts.WithItemStyleOpts(opts.ItemStyle{Color: "--ink"}),
		charts.WithMarkLineStyleOpts(opts.MarkLineStyle{Symbol: []string{"none"}}),
	)
	c.Validate()
	out, err := json.Marshal(c.JSON())
	if err != nil {
		return "", fmt.Errorf("the option of the chart of a series: %w", err)
	}
	return string(out), nil
}
