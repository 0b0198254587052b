package ttis

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ttreport/ttreport/ingest/schema"
)

// notMeasured is the word of a benchmark's cell without a number; notAvailable is that of all other tables.
const (
	notMeasured  = "n/a"
	notAvailable = "N/A"
)

// rounded is a number to a count of decimal places, as v0.17 stores and prints it: 4.52 and not 4.520, 21.0 and not 21.
func rounded(n schema.Number, places int) schema.Number {
	v, ok := n.Get()
	if !ok {
		return n
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'f', places, 64), 64)
	return schema.Num(v)
}

// plain writes a number with all its digits, and a point.
func plain(n schema.Number, missing string) string {
	v, ok := n.Get()
	if !ok {
		return missing
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// whole writes a count.
func whole(n schema.Number, missing string) string {
	v, ok := n.Get()
	if !ok {
		return missing
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// fixed writes a number to a count of decimal places.
func fixed(n schema.Number, places int, missing string) string {
	v, ok := n.Get()
	if !ok {
		return missing
	}
	return strconv.FormatFloat(v, 'f', places, 64)
}

// significant writes four significant digits, or all before the point: 60000 and not 6e+04.
func significant(n schema.Number) string {
	v, ok := n.Get()
	if !ok {
		return notAvailable
	}
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// value is a number for JSON: null when there is none.
func value(n schema.Number) any {
	if v, ok := n.Get(); ok {
		return v
	}
	return nil
}

// text is a text for JSON: null when there is none.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// parsed is a number that is written as a text.
func parsed(s string) schema.Number {
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return schema.Num(v)
	}
	return schema.Missing("not stated")
}

func number(p *float64) schema.Number {
	if p == nil {
		return schema.Missing("not stated")
	}
	return schema.Num(*p)
}

// of applies a formula to numbers that are all there.
func of(formula func(...float64) float64, list ...schema.Number) schema.Number {
	values := make([]float64, len(list))
	for i, n := range list {
		v, ok := n.Get()
		if !ok {
			return n
		}
		values[i] = v
	}
	return schema.Num(formula(values...))
}

// object is a JSON object whose members stay in order: readers of these files know them by it.
type object []member

type member struct {
	key   string
	value any
}

func (o *object) add(key string, value any) { *o = append(*o, member{key, value}) }

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := encode(m.key)
		if err != nil {
			return nil, err
		}
		value, err := encode(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode leaves <, > and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// document is a value as a file: four spaces for each level.
func document(v any) ([]byte, error) {
	text, err := encode(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, text, "", "    ")
	return b.Bytes(), err
}

// row is a measured workload with the numbers that the reports of both generations derive from it, unrounded.
type row struct {
	point *schema.Point
	run   *schema.Run

	isl, osl, concurrency, asked, completed schema.Number
	ttft, tpot, e2el                        latencies
	user, userStd, decode, prefill          schema.Number // tok/s
	output, total, rps                      schema.Number
	inputTokens, outputTokens               schema.Number
	correct                                 schema.Number // %, of structured output
	stamp                                   string        // when it was measured, as in file names
}

// latencies are the statistics of a latency, in ms. A P99 of fewer than 100 requests is no number.
type latencies struct{ mean, median, p99, std schema.Number }

// rows are the workloads that are wanted, in the order of a sweep, the newest measurement of each.
func rows(runs []schema.Run, wanted func(*schema.Point) bool) []*row {
	var out []*row
	newest := map[string]*row{}
	for i := range runs {
		for j := range runs[i].Points {
			pt := &runs[i].Points[j]
			if !wanted(pt) {
				continue
			}
			key := pt.Key.String()
			if before := newest[key]; before != nil && !before.point.End.Before(pt.End) {
				continue
			}
			newest[key] = newRow(&runs[i], pt)
		}
	}
	for _, r := range newest {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *row) int {
		if c := slices.Compare(a.order(), b.order()); c != 0 {
			return c
		}
		if c := cmp.Or(cmp.Compare(a.point.Key.Dataset, b.point.Key.Dataset), cmp.Compare(a.ratio(), b.ratio())); c != 0 {
			return c
		}
		return cmp.Compare(a.point.Key.String(), b.point.Key.String())
	})
	return out
}

// order is by ISL, OSL and concurrency, then by pictures.
func (r *row) order() []float64 {
	out := make([]float64, 0, 6)
	for _, n := range []schema.Number{r.isl, r.osl, r.concurrency} {
		v, _ := n.Get()
		out = append(out, v)
	}
	for _, name := range []string{"images", "height", "width"} {
		v, _ := strconv.ParseFloat(r.point.Key.Dims[name], 64)
		out = append(out, v)
	}
	return out
}

func newRow(run *schema.Run, pt *schema.Point) *row {
	stat := func(metric, name string) schema.Number { return pt.Metrics[metric].Stat(name) }
	r := &row{
		point: pt, run: run, isl: number(pt.Key.ISL), osl: number(pt.Key.OSL),
		completed: stat("requests_ok", "value"), output: stat("output_tps", "value"), total: stat("total_tps", "value"),
		rps: stat("rps", "value"), stamp: stamp(pt), correct: stat("correct_rate", "value"),
	}
	r.asked = r.completed
	if n, err := strconv.ParseFloat(pt.Conditions["num_prompts"], 64); err == nil {
		r.asked = schema.Num(n)
	}
	if _, ok := r.isl.Get(); !ok { // a dataset of its own: what was counted
		r.isl = rounded(stat("isl", "mean"), 0)
	}
	r.concurrency = of(func(v ...float64) float64 { return math.Min(v[0], v[1]) }, number(pt.Key.Concurrency), r.asked)
	r.ttft, r.tpot, r.e2el = r.latencies("ttft"), r.latencies("tpot"), r.latencies("e2el")
	r.user = of(func(v ...float64) float64 { return 1000 / v[0] }, positive(r.tpot.mean))
	r.userStd = of(func(v ...float64) float64 { return v[0] - 1000/(v[1]+v[2]) }, r.user, r.tpot.mean,
		positive(r.tpot.std))
	r.decode = of(func(v ...float64) float64 { return v[0] * v[1] }, r.user, r.concurrency)
	r.prefill = of(func(v ...float64) float64 { return v[0] * v[1] / (v[2] / 1000) }, r.isl, r.concurrency,
		positive(r.ttft.mean))
	tokens := func(v ...float64) float64 { return math.Round(v[0] * v[1]) }
	r.inputTokens = of(tokens, stat("isl", "mean"), r.completed)
	r.outputTokens = of(tokens, stat("osl", "mean"), r.completed)
	return r
}

func positive(n schema.Number) schema.Number {
	if v, ok := n.Get(); ok && v <= 0 {
		return schema.Missing("0")
	}
	return n
}

func (r *row) latencies(metric string) latencies {
	m := r.point.Metrics[metric]
	out := latencies{mean: m.Stat("mean"), median: m.Stat("median"), p99: m.Stat("p99"), std: m.Stat("std")}
	n := float64(m.N)
	if n == 0 {
		n, _ = r.completed.Get()
	}
	if _, ok := out.p99.Get(); ok && n > 0 && n < schema.FewForTail {
		out.p99 = schema.Missing("n = " + strconv.FormatFloat(n, 'f', -1, 64))
	}
	return out
}

var stamped = regexp.MustCompile(`_(\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)_`)

// stamps is how tt-inference-server writes a time into names.
const stamps = "2006-01-02_15-04-05"

// stamp is the time in the name of the raw file, else when the measurement ended.
func stamp(pt *schema.Point) string {
	if m := stamped.FindStringSubmatch(path.Base(pt.Source.Path)); m != nil {
		return m[1]
	}
	return timeText(cmp.Or(pt.End, pt.Start), stamps)
}

func timeText(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}

// task is the task type of the reports.
func (r *row) task() string {
	switch {
	case r.point.Key.Dims[structured] != "":
		return "structured_output"
	case r.point.Key.Task == "":
		return "text"
	}
	return r.point.Key.Task
}

// structured is the dimension with the share of structured requests.
const structured = "structured"

// ratio is the share of structured requests; what is off comes first.
func (r *row) ratio() float64 {
	v, err := strconv.ParseFloat(r.point.Key.Dims[structured], 64)
	if err != nil {
		return -1
	}
	return v
}

// source is the name of the tool: v0.17 has the protocol of vLLM's client.
func (r *row) source() string {
	if client := r.point.Conditions["client"]; client != "" && r.point.Key.Tool == "vllm" {
		return client
	}
	return r.point.Key.Tool
}

// grid is a table of texts.
type grid struct {
	heads []string
	rows  [][]string
}

// row adds the cells of a row.
func (g *grid) row(cells ...string) {
	for i, c := range cells {
		cells[i] = clean(c)
	}
	g.rows = append(g.rows, cells)
}

// clean keeps a text in its cell.
func clean(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\n", " "))
}

var isNumber = regexp.MustCompile(`^-?\d+(\.\d+)?$`)

// aligned writes the table as v0.17 does: heads centred, columns of numbers aligned at their points.
func (g *grid) aligned() string {
	width := make([]int, len(g.heads))
	numeric := make([]bool, len(g.heads))
	for c := range g.heads {
		numeric[c] = g.alignPoints(c)
		width[c] = columns(g.heads[c])
		for _, r := range g.rows {
			width[c] = max(width[c], columns(r[c]))
		}
	}
	var b strings.Builder
	for c, h := range g.heads {
		left := (width[c] - columns(h)) / 2
		b.WriteString("| " + strings.Repeat(" ", left) + h + strings.Repeat(" ", width[c]-columns(h)-left) + " ")
	}
	b.WriteString("|\n")
	for c := range g.heads {
		b.WriteString("|" + strings.Repeat("-", width[c]+2))
	}
	b.WriteString("|")
	for _, r := range g.rows {
		b.WriteString("\n")
		for c, s := range r {
			pad := strings.Repeat(" ", width[c]-columns(s))
			if numeric[c] {
				s, pad = pad, s
			}
			b.WriteString("| " + s + pad + " ")
		}
		b.WriteString("|")
	}
	return b.String()
}

// alignPoints pads the numbers of a column so that their points are below each other, and reports whether it holds
// nothing else.
func (g *grid) alignPoints(col int) bool {
	before, after := 0, 0
	for _, r := range g.rows {
		if !isNumber.MatchString(r[col]) {
			return false
		}
		left, right, _ := strings.Cut(r[col], ".")
		before, after = max(before, len(left)), max(after, len(right))
	}
	for _, r := range g.rows {
		left, right, _ := strings.Cut(r[col], ".")
		r[col] = strings.Repeat(" ", before-len(left)) + left
		if after > 0 {
			r[col] += "." + right + strings.Repeat(" ", after-len(right))
		}
	}
	return len(g.rows) > 0
}

// left writes the table as v0.19 does: all columns to the left.
func (g *grid) left() string {
	var b strings.Builder
	width := make([]int, len(g.heads))
	lines := append([][]string{g.heads}, g.rows...)
	for _, r := range lines {
		for c, s := range r {
			width[c] = max(width[c], columns(s))
		}
	}
	for n, r := range lines {
		if n > 0 {
			b.WriteByte('\n')
		}
		for c, s := range r {
			b.WriteString("| " + s + strings.Repeat(" ", width[c]-columns(s)) + " ")
		}
		b.WriteString("|")
		if n == 0 {
			b.WriteByte('\n')
			for c := range r {
				b.WriteString("|:" + strings.Repeat("-", width[c]+1))
			}
			b.WriteString("|")
		}
	}
	return b.String()
}

// withoutColumns drops columns.
func (g *grid) withoutColumns(drop func(col int, cells []string) bool) {
	for c := len(g.heads) - 1; c >= 0; c-- {
		cells := make([]string, len(g.rows))
		for i, r := range g.rows {
			cells[i] = r[c]
		}
		if !drop(c, cells) {
			continue
		}
		g.heads = append(g.heads[:c:c], g.heads[c+1:]...)
		for i, r := range g.rows {
			g.rows[i] = append(r[:c:c], r[c+1:]...)
		}
	}
}

// columns is how many columns of a terminal a text takes: signs are two wide.
func columns(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r) && r != '\ufe0f':
		case r >= 0x1f300, r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
			r >= 0xff00 && r <= 0xff60, strings.ContainsRune("✅❌⛔", r):
			n += 2
		default:
			n++
		}
	}
	return n
}
