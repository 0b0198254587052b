package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/chart"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// sweep is one workload over concurrency: the series of each, ascending.
type sweep struct {
	name   string // ISL/OSL and tool
	key    schema.Key
	series map[string]map[float64]*judge.Series // by metric and concurrency
	at     []float64
}

// sweeps finds the workloads of a pair that were measured at three concurrencies or more, those with most first.
func (r *Report) sweeps(pair Pair) []sweep {
	const fewest, most = 3, 2
	by := map[string]*sweep{}
	var order []string
	for _, s := range r.series[pair.Pair] {
		k := s.Key
		if k.Concurrency == nil || k.Rate != nil || s.Metric != "tpot" && s.Metric != "ttft" && s.Metric != "output_tps" {
			continue
		}
		c := *k.Concurrency
		k.Concurrency = nil
		id := s.Impl + "\x00" + s.Stat + "\x00" + k.String()
		if s.Metric == "output_tps" {
			id = s.Impl + "\x00mean\x00" + k.String()
		}
		if by[id] == nil {
			by[id] = &sweep{name: strings.TrimSuffix(words.Workload(k), "/-"), key: k, series: map[string]map[float64]*judge.Series{}}
			order = append(order, id)
		}
		if by[id].series[s.Metric] == nil {
			by[id].series[s.Metric] = map[float64]*judge.Series{}
		}
		by[id].series[s.Metric][c] = s
	}
	var out []sweep
	for _, id := range order {
		w := by[id]
		for c := range w.series["output_tps"] {
			w.at = append(w.at, c)
		}
		slices.Sort(w.at)
		if len(w.at) >= fewest {
			out = append(out, *w)
		}
	}
	slices.SortStableFunc(out, func(a, b sweep) int { return cmp.Compare(len(b.at), len(a.at)) })
	return out[:min(most, len(out))]
}

// curveSection draws output against speed per user and against the wait for the first token, one line a release.
func (r *Report) curveSection(pair Pair) Section {
	s := Section{ID: "curves", Title: "Throughput against speed and against wait", Intro: "Each mark is one concurrency; filled marks are worth choosing: no other gives more output at no worse a speed. The newest release is drawn bold, the one before dashed."}
	const lines = 4
	for _, w := range r.sweeps(pair) {
		releases := r.measuredIn(pair.Model, pair.Device)
		releases = releases[max(0, len(releases)-lines):]
		var curves []chart.Curve
		for _, c := range []struct {
			metric, title, x string
			right            bool
			value            func(float64) float64
			unit             string
		}{{"tpot", "Output against speed", "speed per user, tok/s; right is better →", true, speed, "tok/s/user"},
			{"ttft", "Output against wait", "mean TTFT, ms; ← left is better", false, itself, "ms TTFT"}} {
			in := chart.Curve{Title: c.title + ", " + w.name, XTitle: c.x, YTitle: "output, tok/s", Right: c.right, Limits: r.curveLimits(pair, w, map[bool]string{true: "tps_user", false: "ttft"}[c.right])}
			for i, ri := range releases {
				l := chart.CurveLine{Name: r.Releases[ri].Name, Class: []string{"now", "base", "old"}[min(2, len(releases)-1-i)]}
				for _, at := range w.at {
					v, ok := valueAt(w.series[c.metric][at], ri)
					out, has := valueAt(w.series["output_tps"][at], ri)
					if ok && has {
						l.Points = append(l.Points, chart.CurvePoint{Value: c.value(v), Output: out, Label: whole(at), Text: fmt.Sprintf("%s %s and %s tok/s", words.Number(c.value(v)), c.unit, words.Number(out))})
					}
				}
				if len(l.Points) > 1 {
					in.Lines = append(in.Lines, l)
				}
			}
			if len(in.Lines) > 0 {
				in.Key = lineKey(in.Lines)
				curves = append(curves, chart.NewCurve(in))
			}
		}
		if len(curves) > 0 {
			s.Blocks = append(s.Blocks, Block{Curves: curves}, Block{Details: r.curveTable(w, releases)})
		}
	}
	return s
}

// speed is what one user sees at a mean TPOT in milliseconds, tok/s.
func speed(tpot float64) float64 { return 1000 / tpot }

func itself(v float64) float64 { return v }

// whole is a concurrency as people write it.
func whole(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// lineKey says which release is drawn how.
func lineKey(lines []chart.CurveLine) string {
	how := map[string]string{"now": "bold", "base": "dashed", "old": "thin"}
	var parts []string
	for i := len(lines) - 1; i >= 0; i-- {
		parts = append(parts, lines[i].Name+" "+how[lines[i].Class])
	}
	return strings.Join(parts, ", ")
}

func valueAt(s *judge.Series, release int) (float64, bool) {
	if s == nil {
		return 0, false
	}
	return s.At(release)
}

// curveLimits are the promises on the horizontal axis that speak of the workload: of the lowest concurrency that has any.
func (r *Report) curveLimits(pair Pair, w sweep, metric string) []chart.CurveLimit {
	var out []chart.CurveLimit
	least := math.Inf(1)
	for _, v := range r.pairVerdicts(pair, pair.Newest) {
		ref, ok := v.Ref.Get()
		if v.Metric != metric || !ok || v.Key.Concurrency == nil || v.Outcome == schema.Unattainable {
			continue
		}
		k := v.Key
		c := *k.Concurrency
		k.Concurrency = nil
		if words.Workload(k) != words.Workload(w.key) || c > least {
			continue
		}
		if c < least {
			least, out = c, nil
		}
		label := fmt.Sprintf("%s %s at concurrency %s", v.Level, words.Number(ref), whole(c))
		if v.Required {
			label += ", required"
		}
		out = append(out, chart.CurveLimit{Value: ref, Label: label})
	}
	return out
}

// curveTable has the numbers behind the curves.
func (r *Report) curveTable(w sweep, releases []int) *Table {
	t := &Table{Caption: "The numbers behind the curves of " + w.name, Class: "grid", Cols: []Col{{Head: "Release"}, {Head: "Concurrency", Num: true}, {Head: "Speed per user", Unit: "tok/s", Num: true}, {Head: "TTFT", Unit: "ms", Num: true}, {Head: "Output", Unit: "tok/s", Num: true}}}
	for i := len(releases) - 1; i >= 0; i-- {
		for _, c := range w.at {
			cell := func(metric string, of func(float64) float64) Cell {
				if v, ok := valueAt(w.series[metric][c], releases[i]); ok {
					return number(schema.Num(of(v)))
				}
				return number(schema.Missing("not measured"))
			}
			t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: r.Releases[releases[i]].Name, Head: true}, text(whole(c)), cell("tpot", speed), cell("ttft", itself), cell("output_tps", itself)}})
		}
	}
	return t.cut("data/ has all, by release")
}

// panelSection draws the worst series of a pair over its releases.
func (r *Report) panelSection(pair Pair) Section {
	const most = 12
	s := Section{ID: "panels", Title: "History by workload, worst first", Intro: "Raw values, never flipped. Grey: where one new value was expected 95 times in 100. Dotted: a new level. Dashed: a promise. The scale never shows less than twice the change that matters to either side."}
	var panels []chart.Panel
	promised := required(r.pairVerdicts(pair, pair.Newest))
	all, tools := 0, map[string]bool{}
	for _, s := range r.series[pair.Pair] {
		tools[s.Key.Tool] = true
	}
	for _, v := range r.pairChanges(pair, pair.Newest) {
		series := r.seriesOf(v)
		if series == nil || v.Key.IsEval() || v.Metric == "" {
			continue
		}
		if r.measuredOften(series, pair) < 2 {
			continue // one value has no history
		}
		if all++; all > most {
			continue
		}
		p := r.panel(pair, series, v, promised)
		if len(tools) > 1 {
			p.Title += " " + v.Key.Tool
		}
		panels = append(panels, p)
	}
	if all > len(panels) {
		s.Intro += fmt.Sprintf(" %d of %d series are drawn.", len(panels), all)
	}
	if len(panels) > 0 {
		s.Blocks = []Block{{Panels: panels}}
	}
	return s
}

func (r *Report) panel(pair Pair, s *judge.Series, v schema.Verdict, promised []schema.Verdict) chart.Panel {
	in := chart.PanelInput{Panel: chart.Panel{Title: strings.TrimSpace(words.Workload(s.Key)) + " " + metricLabel(s.Metric, s.Stat), Sub: direction(s.Metric), Outcome: v.Outcome, Evidence: v.Evidence}, Low: math.NaN(), High: math.NaN(), Limit: math.NaN(), Effect: r.Gate.Policy.Effect(s.Metric)}
	if e, ok := v.Effect.Get(); ok {
		in.Change = words.Signed(s.Metric, e)
	}
	releases := r.measuredIn(pair.Model, pair.Device)
	in.Releases = r.namesOf(releases)
	place := map[int]int{}
	for i, ri := range releases {
		place[ri] = i
		p := r.chartPoint(s, ri)
		if p.OK {
			in.Last = words.Number(p.Value)
		}
		in.Points = append(in.Points, p)
	}
	if now, ok := v.Value.Get(); ok && len(in.Points) > 0 && in.Points[len(in.Points)-1].OK { // the run that the verdict speaks of, where several measured it
		p := &in.Points[len(in.Points)-1]
		p.Value, p.Text, in.Last = now, words.Quantity(now, s.Unit), words.Number(now)
	}
	f := r.Gate.Frame(s, pair.Newest)
	in.Low, in.High, in.From = f.Low, f.High, place[f.From]
	for _, step := range f.Steps {
		if at, ok := place[step.Release]; ok {
			label := words.Signed(s.Metric, step.Effect)
			if step.Release == pair.Newest && in.Change != "" {
				label = in.Change
			}
			note, href := r.noteOn(r.Releases[step.Release].Name)
			in.Begun = append(in.Begun, chart.Begun{At: at, Label: label, Note: note, Href: href})
		}
	}
	for _, t := range promised {
		ref, ok := t.Ref.Get()
		if ok && t.Metric == s.Metric && t.Key.Workload() == s.Key.Workload() && t.Outcome != schema.Unattainable {
			in.Limit, in.LimitText = ref, t.Level+" "+words.Number(ref)
		}
	}
	word := strings.TrimSpace(string(v.Outcome) + " " + string(v.Evidence))
	in.Summary = fmt.Sprintf("%s over %s: %s in %s, %s.", in.Title, words.Plural(len(in.Releases), "release"), words.Quantity(last(in.Points), s.Unit), r.Releases[pair.Newest].Name, word)
	return chart.NewPanel(in)
}

// noteOn is the first words of a note on a release and where it stands, both "" when nobody wrote one.
func (r *Report) noteOn(release string) (text, href string) {
	notes := r.NotesOf(release)
	if len(notes) == 0 {
		return "", ""
	}
	const most = 80
	for line := range strings.Lines(notes[0].Source) {
		if line = strings.Trim(line, "#*_> \t\r\n"); line != "" {
			return release + ": " + opening(line, most), ReleasePath(release) + "#notes"
		}
	}
	return "", ""
}

// measuredOften counts the releases of a pair that have a value of a series, up to two.
func (r *Report) measuredOften(s *judge.Series, pair Pair) int {
	n := 0
	for _, release := range r.measuredIn(pair.Model, pair.Device) {
		if _, ok := r.Gate.Value(s, release); ok {
			if n++; n == 2 {
				break
			}
		}
	}
	return n
}

// opening is the beginning of a text, whole words of at most so many letters.
func opening(s string, most int) string {
	if letters := []rune(s); len(letters) > most {
		s = string(letters[:most])
		if at := strings.LastIndex(s, " "); at > 0 {
			s = s[:at]
		}
		s += "…"
	}
	return s
}

func last(points []chart.Point) float64 {
	for i := len(points) - 1; i >= 0; i-- {
		if points[i].OK {
			return points[i].Value
		}
	}
	return math.NaN()
}
