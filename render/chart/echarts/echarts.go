// Package echarts turns a resolved chart into an ECharts option by way of go-echarts' structs. It is the only importer of
// go-echarts, and never uses its HTML renderer, which executes script that it finds in data.
//
// In flows a chart with geometry; out flows JSON. Functions are not in the data: a formatter is a name such as "@x" that
// the site's own script replaces by a function of its own.
package echarts

import (
	"encoding/json"
	"fmt"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/ttreport/ttreport/render/chart"
)

// colours and shapes by role; the script replaces a colour name by the page's token, so that light and dark both fit.
var symbols = [...]string{"circle", "circle", "rect", "triangle", "diamond", "path://M0 0L10 10M10 0L0 10"}

// Shard is what the page's script needs to draw one chart.
type Shard struct {
	W      float64        `json:"w"`
	H      float64        `json:"h"`
	Names  []string       `json:"names"`  // whole release names, by index
	Labels []string       `json:"labels"` // axis labels, "" where there is no room
	YTicks []string       `json:"yticks"` // labels of the value axis, in order
	YAt    []float64      `json:"yat"`    // their values
	Unit   string         `json:"unit"`
	Notes  [][]string     `json:"notes"` // by series and release: the text of a point
	Links  [][]string     `json:"links"` // by series and release: the run's page
	Texts  []Text         `json:"texts"` // names and remarks beside the plot, in the chart's own units
	Option map[string]any `json:"option"`
}

// Text is a label at a place.
type Text struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Text   string  `json:"text"`
	Colour string  `json:"colour"` // a token of the style sheet
	Bold   bool    `json:"bold,omitempty"`
	Align  string  `json:"align,omitempty"`
}

// Option returns the chart as a shard. The option has the same plot rectangle, ranges and ticks as the SVG.
func Option(c chart.Chart) (Shard, error) {
	line := charts.NewLine()
	line.SetGlobalOptions(
		charts.WithInitializationOpts(opts.Initialization{ChartID: c.ID}),
		charts.WithAnimation(false),
		charts.WithGridOpts(opts.Grid{Left: px(c.Plot.X0), Top: px(c.Plot.Y0), Right: px(c.W - c.Plot.X1), Bottom: px(c.H - c.Plot.Y1)}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item", Formatter: "@point"}),
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Min: -.5, Max: float64(len(c.Names)) - .5, SplitLine: &opts.SplitLine{Show: opts.Bool(false)},
			AxisLabel: &opts.AxisLabel{Formatter: "@x"}, AxisTick: &opts.AxisTick{Show: opts.Bool(false)}}),
		charts.WithYAxisOpts(opts.YAxis{Type: axisType(c.Y), Min: c.Y.Min, Max: c.Y.Max, AxisLabel: &opts.AxisLabel{Formatter: "@y"}}),
	)
	s := Shard{W: c.W, H: c.H, Names: c.Names, Unit: c.Unit}
	for _, t := range c.X {
		s.Labels = append(s.Labels, t.Label)
	}
	for _, t := range c.Y.Ticks {
		s.YTicks, s.YAt = append(s.YTicks, t.Label), append(s.YAt, t.Value)
	}
	for _, l := range c.Lines {
		data := make([]opts.LineData, 0, len(l.Points))
		notes, links := make([]string, len(l.Points)), make([]string, len(l.Points))
		for i, p := range l.Points {
			value := []any{i, nil}
			if p.OK {
				value = []any{i, p.Value}
				notes[i], links[i] = p.Text+p.Note, p.Href
			}
			data = append(data, opts.LineData{Value: value})
		}
		s.Notes, s.Links = append(s.Notes, notes), append(s.Links, links)
		line.AddSeries(l.Name, data, charts.WithLineChartOpts(opts.LineChart{Symbol: symbols[l.Role], SymbolSize: 7, ShowSymbol: opts.Bool(true), ConnectNulls: opts.Bool(false)}),
			charts.WithLineStyleOpts(opts.LineStyle{Width: 1.5, Color: fmt.Sprintf("--c%d", l.Role)}),
			charts.WithItemStyleOpts(opts.ItemStyle{Color: fmt.Sprintf("--c%d", l.Role)}))
	}
	s.addLimits(line, c)
	s.addTexts(c)
	line.Validate()
	option, err := toMap(line.JSON())
	if err != nil {
		return s, err
	}
	// go-echarts has no field for the axis' step; without it ECharts would choose other ticks than the SVG has.
	if list, ok := option["yAxis"].([]any); ok && len(list) == 1 && c.Y.Step > 0 {
		if y, ok := list[0].(map[string]any); ok {
			y["interval"] = c.Y.Step
		}
	}
	s.Option = option
	return s, nil
}

// addLimits draws targets as dashed lines of the first series.
func (s *Shard) addLimits(line *charts.Line, c chart.Chart) {
	var marks []any
	for _, l := range c.Limits {
		if l.Off == 0 {
			marks = append(marks, map[string]any{"yAxis": l.Value, "name": l.Label})
		}
	}
	if len(marks) == 0 || len(line.MultiSeries) == 0 {
		return
	}
	line.MultiSeries[0].MarkLines = &opts.MarkLines{Data: marks, MarkLineStyle: opts.MarkLineStyle{Symbol: []string{"none", "none"},
		Label: &opts.Label{Show: opts.Bool(true), Position: "insideEndTop", Formatter: "{b}"}, LineStyle: &opts.LineStyle{Type: "dashed", Width: 1.25, Color: "--ink"}}}
}

// addTexts places what the SVG writes beside the plot.
func (s *Shard) addTexts(c chart.Chart) {
	s.Texts = append(s.Texts, Text{X: 2, Y: 6, Text: c.Title(), Colour: "--ink", Bold: true})
	for _, l := range c.Lines {
		s.Texts = append(s.Texts, Text{X: c.Plot.X1 + 8, Y: l.LabelY, Text: l.Label, Colour: fmt.Sprintf("--c%d", l.Role), Bold: true})
	}
	for _, l := range c.Limits {
		switch l.Off {
		case 1:
			s.Texts = append(s.Texts, Text{X: c.Plot.X1 - 4, Y: l.LabelY + 6, Text: l.Label + " ↑", Colour: "--ink3", Align: "right"})
		case -1:
			s.Texts = append(s.Texts, Text{X: c.Plot.X1 - 4, Y: l.LabelY - 9, Text: l.Label + " ↓", Colour: "--ink3", Align: "right"})
		}
	}
}

func toMap(v any) (map[string]any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("chart option: %w", err)
	}
	m := map[string]any{}
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("chart option: %w", err)
	}
	return m, nil
}

func axisType(a chart.Axis) string {
	if a.Log {
		return "log"
	}
	return "value"
}

func px(v float64) string { return fmt.Sprintf("%g", v) }
