package render

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/url"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// resultTables are the tables of some runs' points, with the fields that they fill: one, or where that would be too
// wide one with means and rates and one with the other statistics.
func (r *Report) resultTables(runs []int) []*Table {
	return r.pointTables(r.points(runs))
}

// pointTables are the tables of points.
func (r *Report) pointTables(points []*columns.PointRow) []*Table {
	if len(points) == 0 {
		return nil
	}
	repeats := map[int32]int{}
	for _, p := range points {
		repeats[p.Key]++
	}
	var out []*Table
	for i, fields := range r.tableFields(points) {
		t := &Table{Caption: "Results, by workload", Titled: true, Layout: Numbers, Cols: []Col{
			{Head: "ISL", Num: true, Sort: true}, {Head: "OSL", Num: true, Sort: true},
			{Head: "Max concurrency", Num: true, Sort: true}, {Head: "N", Num: true},
		}}
		if i > 0 {
			t.Caption = "Spread of latencies, by workload"
		}
		for _, f := range fields {
			t.Cols = append(t.Cols, Col{Head: f.Head, Unit: f.Unit, Num: true, Sort: f.sort})
		}
		t.Cols = append(t.Cols, Col{Head: "Tool"}, Col{Head: "Status"})
		for _, p := range points {
			t.Rows = append(t.Rows, Row{Cells: r.resultCells(p, fields, repeats[p.Key] > 1)})
		}
		out = append(out, t)
	}
	return out
}

func (r *Report) resultCells(p *columns.PointRow, fields []Field, several bool) []Cell {
	c := r.Columns
	k := c.Keys[p.Key]
	length := func(v *float64, head bool) Cell {
		if v == nil {
			return Cell{Text: words.Absent, Missing: "not stated", Head: head}
		}
		return Cell{Text: fmt.Sprintf("%.10g", *v), Sort: v, Head: head, Href: RunPath(c.Runs[p.Run].ID)}
	}
	isl, osl, conc := length(k.ISL, true), length(k.OSL, false), length(k.Concurrency, false)
	r.counted(p, &isl, "isl")
	r.counted(p, &osl, "osl")
	osl.Href, conc.Href = "", ""
	if k.Rate != nil {
		conc.Sub = words.Number(*k.Rate) + " req/s"
	}
	n, _ := c.Value(p, "requests_ok", "value")
	cells := []Cell{isl, osl, conc, counted(n)}
	for _, f := range fields {
		cells = append(cells, r.statistic(p, f.Metric, f.Stat))
	}
	status := p.StatusWord()
	if several {
		status += ", repeated"
	}
	return append(cells, Cell{Text: k.Tool, Sub: otherDims(k)}, text(string(status)))
}

// counted fills in a length that the workload does not state with what was counted, such as of a dataset.
func (r *Report) counted(p *columns.PointRow, c *Cell, metric string) {
	v, _ := r.Columns.Value(p, metric, "mean")
	if n, ok := v.Get(); ok && c.Missing != "" {
		c.Text, c.Sub, c.Sort, c.Missing = words.Number(math.Round(n)), "counted", &n, ""
	}
}

func (r *Report) points(runs []int) []*columns.PointRow {
	c := r.Columns
	var points []*columns.PointRow
	for _, run := range runs {
		for i := c.Runs[run].FirstPoint; i < c.Runs[run].PointsEnd; i++ {
			points = append(points, &c.Points[i])
		}
	}
	sort.SliceStable(points, func(i, j int) bool {
		a, b := c.Keys[points[i].Key], c.Keys[points[j].Key]
		if points[i].Key != points[j].Key {
			return a.Less(b)
		}
		return false
	})
	return points
}

// Shown is a point's statistic as every surface shows it: a P99 of fewer than 100 requests is no number.
func (r *Report) Shown(p *columns.PointRow, metric, stat string) schema.Number {
	v := r.raw(p, metric, stat)
	if _, ok := v.Get(); !ok || stat != "p99" {
		return v
	}
	n, _ := r.Columns.Value(p, metric, "n")
	count, known := n.Get()
	if !known {
		n, _ = r.Columns.Value(p, "requests_ok", "value")
		count, known = n.Get()
	}
	if known && count < schema.FewForTail {
		return schema.Missing(fmt.Sprintf("n = %.0f", count))
	}
	return v
}

// statistic is a statistic's cell.
func (r *Report) statistic(p *columns.PointRow, metric, stat string) Cell {
	v := r.Shown(p, metric, stat)
	if strings.HasPrefix(v.Why(), "n = ") {
		return Cell{Text: v.Why(), Missing: "a P99 of fewer than 100 requests is no number"}
	}
	return number(v)
}

func otherDims(k schema.Key) string {
	var parts []string
	if k.Dataset != "" {
		parts = append(parts, k.Dataset)
	}
	names := make([]string, 0, len(k.Dims))
	for name := range k.Dims {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if name == schema.DimLabel {
			parts = append(parts, k.Dims[name])
		} else {
			parts = append(parts, name+" "+k.Dims[name])
		}
	}
	return strings.Join(parts, ", ")
}

// numberAt is the address of the number that a verdict is about: of the point or the score of its run; "" for none.
func (r *Report) numberAt(v *schema.Verdict) Address {
	run, ok := r.runAt(v.Run)
	if _, has := v.Value.Get(); !has || !ok {
		return ""
	}
	h := &r.Columns.Runs[run]
	key := v.Key.String()
	if v.Key.IsEval() {
		if s := r.scoreOf(v); s != nil {
			return r.scoreAt(s)
		}
		return ""
	}
	for i := h.FirstPoint; i < h.PointsEnd; i++ {
		p := &r.Columns.Points[i]
		if r.Columns.KeyName(p.Key) != key {
			continue
		}
		if value, _ := r.Columns.Value(p, v.Metric, v.Stat); !present(value) {
			continue
		}
		at := NumberPath(h.ID, i-h.FirstPoint+1, v.Metric)
		if v.Stat != "" && v.Stat != "mean" && v.Stat != "value" {
			at += "/" + Address(v.Stat)
		}
		return at
	}
	return ""
}

func present(n schema.Number) bool {
	_, ok := n.Get()
	return ok
}

// runAt is the index of a run.
func (r *Report) runAt(id string) (int, bool) {
	r.numbering.Do(func() {
		r.byID = make(map[string]int, len(r.Columns.Runs))
		for i := range r.Columns.Runs {
			r.byID[r.Columns.Runs[i].ID] = i
		}
	})
	at, ok := r.byID[id]
	return at, ok
}

// scoreAt is the address of a score in the columns.
func (r *Report) scoreAt(s *columns.ScoreRow) Address {
	list := r.Columns.ScoresOf(int(s.Run))
	for i := range list {
		if &list[i] == s {
			return ScorePath(r.Columns.Runs[s.Run].ID, i+1, s.Metric)
		}
	}
	return ""
}

// numberIn is a cell with the number of a verdict and its address.
func (r *Report) numberIn(v *schema.Verdict) Cell {
	c := number(v.Value)
	c.Href = r.numberAt(v)
	return c
}

// scoreIn is a cell with a score and its address.
func (r *Report) scoreIn(s *columns.ScoreRow) Cell {
	c := number(s.Value)
	c.Href = r.scoreAt(s)
	return c
}

// Addresses of pages, relative to the site's root. They are permalinks: they depend on names alone, so that no release,
// model or run that arrives later changes one. This file is the one home of how names become paths.

// segment is the part of a path for a name. Two names have two, also where a file system does not tell capitals from
// small letters, and each can be a file everywhere: a name of small letters, digits, dots, hyphens and underscores that
// is no device of Windows is its own; to what is left of any other a tilde and eight hex digits of its SHA-256 are
// added. Nothing else has a tilde. Ids of runs begin with a time, whose T and Z count as small. No name is "unknown".
func segment(name string) string {
	if name == "" {
		return "unknown"
	}
	slug, folded := schema.Slug(name), strings.ToLower(name)
	if t := timeRE.FindString(folded); t != "" {
		folded = strings.ToUpper(t) + folded[len(t):]
	}
	if slug == name && name == folded && name != "unknown" {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	hash := hex.EncodeToString(sum[:4])
	if slug != name { // its end is that of the hash already
		slug = strings.TrimSuffix(strings.TrimSuffix(slug, hash[:4]), "-")
	}
	return cmp.Or(slug, "name") + "~" + hash
}

var timeRE = regexp.MustCompile(`^\d{8}t\d{6}z-`)

// pairSegment is that of a model on a device in one name. The last underscore parts the two, so a device with one is
// marked.
func pairSegment(model, device string) string {
	a, b := segment(model), segment(device)
	if strings.Contains(b, "_") {
		sum := sha256.Sum256([]byte(model + "\x00" + device))
		b += "~" + hex.EncodeToString(sum[:4])
	}
	return a + "_" + b
}

// ReleasePath is the page of a release or build.
func ReleasePath(name string) Address {
	return Address("releases/" + segment(name) + "/index.html")
}

// PairPath is the page of a model on a device.
func PairPath(model, device string) Address {
	return Address("models/" + segment(model) + "/" + segment(device) + "/index.html")
}

// ModelPath is the page of a model on all its devices.
func ModelPath(model string) Address { return Address("models/" + segment(model) + "/index.html") }

// RunsPath is the page that shows any run.
const RunsPath Address = "runs/index.html"

// RunName is a run in an address.
func RunName(id string) string { return segment(id) }

// RunPath is the address of a run: the part after # names it.
func RunPath(id string) Address { return RunsPath + "#" + Address(RunName(id)) }

// NumberPath is the address of a number: a metric of a point of a run, counted from 1. Every page opens what is behind
// it. A statistic may follow: …/p3/ttft/p99.
func NumberPath(id string, point int, metric string) Address {
	return numberPath(id, 'p', point, metric)
}

// numberPath is the address of a metric of a point, p, or of a score, e.
func numberPath(id string, kind byte, n int, metric string) Address {
	return RunPath(id) + Address(fmt.Sprintf("/%c%d/%s", kind, n, url.PathEscape(metric)))
}

// RunIndexPath is the script that says in which script the details of a run are.
const RunIndexPath Address = "data/shards/runs.js"

// RunShardPath is a script with details of runs of a release; part counts from 0.
func RunShardPath(release string, part int) Address {
	name := segment(release)
	if part > 0 {
		name += fmt.Sprintf("~%d", part+1)
	}
	return Address("data/shards/runs/" + name + ".js")
}

// ReportPath is the markdown report of a model and device in a release.
func ReportPath(release, model, device string) Address {
	return Address("reports/" + segment(release) + "/" + pairSegment(model, device) + ".md")
}

// ExploreShardPath is the script with all series.
const ExploreShardPath Address = "data/shards/explore.js"

// SearchShardPath is the script with what can be searched for.
const SearchShardPath Address = "data/shards/search.js"

// ReleaseShardPath is the script with the series of a release.
func ReleaseShardPath(release string) Address {
	return Address("data/shards/releases/" + segment(release) + ".js")
}

// ReleaseReportPath is the markdown report of a whole release.
func ReleaseReportPath(release string) Address {
	return Address("reports/" + segment(release) + "/release.md")
}

// largeData is how many points and scores a release may have before its CSV files are compressed: half a megabyte for
// points, one and a half for verdicts.
const largeData = 1000

// DataPath is a CSV file of a release: points, scores or verdicts. Those of a large release are compressed with gzip.
func (r *Report) DataPath(release int, kind string) Address {
	path := Address("data/" + kind + "/" + segment(r.Releases[release].Name) + ".csv")
	rows := 0
	for _, run := range r.Releases[release].Runs {
		h := &r.Columns.Runs[run]
		rows += h.PointsEnd - h.FirstPoint + h.Scores
	}
	if rows > largeData {
		path += ".gz"
	}
	return path
}

// dataLink is a CSV file of a release by its name.
func (r *Report) dataLink(release int, kind string) Link {
	at := r.DataPath(release, kind)
	return Link{kind + strings.TrimPrefix(path.Base(string(at)), segment(r.Releases[release].Name)), at}
}

// allIn says which file of a release has all rows of a table of points or scores.
func (r *Report) allIn(release int, kind string) string {
	return string(r.DataPath(release, kind)) + " has all rows"
}

// allVerdicts says where the verdicts of a release are that a table leaves out. The file has those that show
// something: see package tabular.
func (r *Report) allVerdicts(release int) string {
	return string(r.DataPath(release, "verdicts")) +
		" has all but what is unchanged, not compared, or inconclusive below the limit; ttreport check --all --release " +
		r.Releases[release].Name + " has all"
}

// moment is a date with its time; midnight to the second is a date that nobody gave a time.
func moment(t time.Time) string {
	switch t = t.UTC(); {
	case t.IsZero():
		return "unknown"
	case t.Equal(t.Truncate(24 * time.Hour)):
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02 15:04") + words.Thin + "UTC"
}

// day is a date as people write it.
func day(t time.Time) string {
	if t.IsZero() {
		return "date unknown"
	}
	return t.UTC().Format("2 January 2006")
}

// Field is a number of a point that tables, reports and files of results show. This file alone decides which there are,
// in which order, and what they are called: pages, markdown, the terminal and CSV take the list of [Report.Fields].
type Field struct {
	Metric, Stat string
	Head, Unit   string
	Part         Part
	Always       bool // a file of results has it although no point fills it: it is the same in every release
	sort         bool
}

// Part is the table that a field stands in where all of them would be too wide for one.
type Part int

// Parts of the results.
const (
	Summary Part = iota // means and rates
	Spread              // the other statistics of latencies
)

// Name is the column in a file: "ttft_mean_ms". A metric of the users' own has its unit in its name.
func (f Field) Name() string {
	if schema.IsOwn(f.Metric) {
		return f.Metric
	}
	if f.Metric == inputTPS {
		return "input_tps_tok_s"
	}
	name := f.Metric
	if f.Stat != "value" {
		name += "_" + f.Stat
	}
	if unit := unitNames[schema.Unit(f.Metric)]; unit != "" {
		name += "_" + unit
	}
	return name
}

// unitNames are units in names of columns.
var unitNames = map[string]string{"ms": "ms", "tok/s": "tok_s", "req/s": "req_s", "%": "percent"}

// inputTPS is the rate of input tokens: what is left of the total rate without the output.
const inputTPS = "input_tps"

// latencyStats are the statistics of a latency, in the order of a table.
var latencyStats = []struct{ stat, head string }{
	{"mean", "Avg"}, {"std", "Std"}, {"median", "P50"}, {"p90", "P90"}, {"p95", "P95"}, {"p99", "P99"},
}

// allFields lists every field, in order. People know the first ones from tt-inference-server's reports; E2EL is what
// engines without a server report.
func (r *Report) allFields() []Field {
	var out []Field
	always := map[string][]string{
		"ttft": {"mean", "median", "p99"}, "tpot": {"mean", "median", "p99"}, "itl": {"mean"},
		"e2el": {"mean", "median", "p99"},
	}
	for _, metric := range []string{"ttft", "tpot", "itl", "ntpot", "e2el"} {
		info, _ := schema.MetricByName(metric)
		for _, s := range latencyStats {
			f := Field{
				Metric: metric, Stat: s.stat, Head: info.Label + " " + s.head, Unit: info.Unit, Part: Spread,
				Always: slices.Contains(always[metric], s.stat), sort: s.stat == "mean",
			}
			if s.stat == "mean" {
				f.Part = Summary
			}
			out = append(out, f)
		}
	}
	for _, f := range []Field{
		{Metric: "tps_user", Head: "Tok/s", Unit: "user", Always: true},
		{Metric: inputTPS, Head: "Tok/s", Unit: "input"},
		{Metric: "output_tps", Head: "Tok/s", Unit: "output", Always: true},
		{Metric: "total_tps", Head: "Tok/s", Unit: "total", Always: true},
		{Metric: "rps", Head: "Req/s", Always: true}, {Metric: "goodput_rps", Head: "Goodput", Unit: "req/s"},
		{Metric: "correct_rate", Head: "Correct", Unit: "%"}, {Metric: "startup_s", Head: "Start-up", Unit: "s"},
	} {
		f.Stat, f.sort = "value", true
		out = append(out, f)
	}
	for _, name := range r.ownMetrics() {
		info, _ := schema.MetricByName(name)
		out = append(out, Field{Metric: name, Stat: "value", Head: info.Label, Unit: info.Unit, sort: true})
	}
	return out
}

// Fields are those that some of the points fill.
func (r *Report) Fields(points []*columns.PointRow) []Field {
	return slices.DeleteFunc(r.allFields(), func(f Field) bool { return !r.fills(points, f) })
}

// FileFields are those of a file of results: it has some whether or not a point fills them.
func (r *Report) FileFields(points []*columns.PointRow) []Field {
	return slices.DeleteFunc(r.allFields(), func(f Field) bool { return !f.Always && !r.fills(points, f) })
}

func (r *Report) fills(points []*columns.PointRow, f Field) bool {
	return slices.ContainsFunc(points, func(p *columns.PointRow) bool {
		v := r.raw(p, f.Metric, f.Stat)
		_, ok := v.Get()
		return ok
	})
}

// wide is how many fields fit beside the workload in one table.
const wide = 14

// tableFields are the fields of the tables of some points. Where they fit, one table has all of them. TTFT and TPOT are
// shown empty where a point of a server has neither: that is a finding.
func (r *Report) tableFields(points []*columns.PointRow) [][]Field {
	all := r.Fields(points)
	has := func(metric string, stats ...string) bool {
		return slices.ContainsFunc(all, func(f Field) bool {
			return f.Metric == metric && slices.Contains(stats, f.Stat)
		})
	}
	if has("ttft", "mean") || has("tpot", "median") || !has("e2el", "mean") {
		for i, metric := range []string{"ttft", "tpot"} {
			if !has(metric, "mean", "median") {
				info, _ := schema.MetricByName(metric)
				f := Field{Metric: metric, Stat: "mean", Head: info.Label + " Avg", Unit: info.Unit, sort: true}
				all = slices.Insert(all, min(i, len(all)), f)
			}
		}
	}
	if len(all) <= wide {
		return [][]Field{all}
	}
	var summary, spread []Field
	for _, f := range all {
		switch {
		case f.Part == Summary || f.Stat == "median" && !has(f.Metric, "mean"):
			summary = append(summary, f)
		default:
			spread = append(spread, f)
		}
	}
	return [][]Field{summary, spread}
}

// ownMetrics are the metrics of the users' own in history, by name.
func (r *Report) ownMetrics() []string {
	var out []string
	for _, s := range r.Columns.Stats {
		if schema.IsOwn(s.Metric) && s.Stat == "value" && !slices.Contains(out, s.Metric) {
			out = append(out, s.Metric)
		}
	}
	sort.Strings(out)
	return out
}

// raw is a statistic of a point, or a number that follows from others of it.
func (r *Report) raw(p *columns.PointRow, metric, stat string) schema.Number {
	v, _ := r.Columns.Value(p, metric, stat)
	switch metric {
	case inputTPS:
		total, _ := r.Columns.Value(p, "total_tps", "value")
		output, _ := r.Columns.Value(p, "output_tps", "value")
		a, ok1 := total.Get()
		if b, ok2 := output.Get(); ok1 && ok2 && a >= b {
			return schema.Num(a - b)
		}
		return schema.Missing("total and output are not both stated")
	case "tps_user":
		if _, ok := v.Get(); !ok && stat == "value" {
			v, _ = r.Columns.Value(p, metric, "mean")
		}
	}
	return v
}

// farther is how many times as wide a drawing would have to be for a value to lie beyond it.
const farther = 4

// AxisShare is the least share of its values that an axis over releases spans.
const AxisShare = .2

// Span is the range of values that a drawing over releases shows, NaN without values. Single values that would make it
// more than four times as wide, where it spans at least a share of its values, lie beyond it: a drawing has them at its
// edge, with their numbers, so that all others can be read. The newest value and two in a row never do: they may be a
// new level.
func Span(points []Point, share float64) (lo, hi float64) {
	var values []float64
	for _, p := range points {
		if p.OK {
			values = append(values, p.Value)
		}
	}
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	lo, hi = slices.Min(values), slices.Max(values)
	const few, many = 6, 10
	if len(values) < few {
		return lo, hi
	}
	middle := slices.Sorted(slices.Values(values))[len(values)/2]
	far := make([]int, len(values)) // the farthest first
	for i := range far {
		far[i] = i
	}
	slices.SortStableFunc(far, func(a, b int) int {
		return cmp.Compare(math.Abs(values[b]-middle), math.Abs(values[a]-middle))
	})
	for n := 1; n <= max(1, len(values)/many); n++ {
		beyond := slices.Sorted(slices.Values(far[:n]))
		if beyond[n-1] == len(values)-1 {
			break
		}
		if rest := without(values, beyond); !inARow(beyond) {
			if low, high := slices.Min(rest), slices.Max(rest); hi-lo > farther*max(high-low, share*math.Abs(middle)) {
				return low, high
			}
		}
	}
	return lo, hi
}

func inARow(places []int) bool {
	for i := 1; i < len(places); i++ {
		if places[i] == places[i-1]+1 {
			return true
		}
	}
	return false
}

func without(values []float64, places []int) (out []float64) {
	for i, v := range values {
		if !slices.Contains(places, i) {
			out = append(out, v)
		}
	}
	return out
}

// Span is that of all lines.
func (f Figure) Span() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, s := range f.Series {
		if low, high := Span(s.Points, AxisShare); low <= high {
			lo, hi = math.Min(lo, low), math.Max(hi, high)
		}
	}
	return lo, hi
}

// Beyond names the values that lie beyond the drawing: "128/128/1: 912 ms in v0.3.0"; "" for none.
func (f Figure) Beyond() string {
	lo, hi := f.Span()
	var out []string
	for _, s := range f.Series {
		for i, p := range s.Points {
			if p.OK && (p.Value < lo || p.Value > hi) {
				out = append(out, fmt.Sprintf("%s: %s in %s", s.Name, p.Text, f.Releases[i]))
			}
		}
	}
	return strings.Join(out, "; ")
}

// Finding is one line of a list of changes: the worst of the verdicts that one cause has, and the others.
type Finding struct {
	*schema.Verdict
	Others []*schema.Verdict
}

// Fold makes one finding of the verdicts of each cause: of a shift, of most of a system, else of a point, whose metrics
// may be confirmed or suspected; below the limit what is worse and what is better; and of what a system has no number
// of any more. A list that is ordered worst first stays so. What else is no change is a finding by itself, and so is
// everything with apart.
func Fold(list []schema.Verdict, apart bool) []Finding {
	type same struct {
		outcome  schema.Outcome
		evidence schema.Evidence
		cause    schema.Cause
		system   schema.System
		key      string
		decision string
		own      string // of what is gone: missing, or not measured again
		better   bool
	}
	at := map[same]int{}
	out := make([]Finding, 0, len(list))
	for i := range list {
		v := &list[i]
		gone := schema.ReasonIs[schema.NotRemeasured](v.Reason)
		below := v.Outcome == schema.BelowLimit
		if apart || v.Evidence == "" && v.Outcome != schema.Recovered && !gone && !below {
			out = append(out, Finding{Verdict: v})
			continue
		}
		id := same{outcome: v.Outcome, evidence: v.Evidence, cause: v.Cause}
		if effect, _ := v.Effect.Get(); below {
			id.better = effect < 0
		}
		if v.Decision != nil {
			id.decision = v.Decision.ID
		}
		switch {
		case gone:
			id.cause, id.system, id.own = schema.Cause{}, v.System(), words.OwnWord(v)
		case v.Cause.Kind != schema.CauseShift && v.Cause.Kind != schema.CauseRun:
			id.cause, id.system, id.key, id.evidence = schema.Cause{}, v.System(), v.Key.String(), ""
		}
		if k, known := at[id]; known {
			out[k].join(v)
			continue
		}
		at[id] = len(out)
		out = append(out, Finding{Verdict: v})
	}
	return out
}

// join adds a verdict: what is confirmed heads what is suspected.
func (f *Finding) join(v *schema.Verdict) {
	if v.Evidence == schema.Confirmed && f.Evidence != schema.Confirmed {
		f.Others = append(f.Others, f.Verdict)
		f.Verdict = v
		return
	}
	f.Others = append(f.Others, v)
}

// Folded says what else is part of a finding: the other metrics of its point, or how many numbers changed with it.
func (f *Finding) Folded() string {
	if len(f.Others) == 0 {
		return ""
	}
	points := map[string]bool{f.Model + f.Device + f.Impl + f.Key.String(): true}
	for _, v := range f.Others {
		points[v.Model+v.Device+v.Impl+v.Key.String()] = true
	}
	if len(points) > 1 {
		const most = 3
		noun := "workload"
		if f.Key.IsEval() {
			noun = "task"
		}
		out := "With it " + f.list(f.Others[:min(most, len(f.Others))], true)
		if rest := len(f.Others) - most; rest > 0 {
			out += " and " + words.Plural(rest, "other number")
		}
		return out + fmt.Sprintf(", of %s in all.", words.Plural(len(points), noun))
	}
	return "With it " + f.list(f.Others, false) + "."
}

// list names numbers with their changes, and with their evidence where it is other than that of the finding.
func (f *Finding) list(of []*schema.Verdict, workload bool) string {
	var parts []string
	for _, v := range of {
		part := words.Metric(v.Metric, v.Stat)
		if workload {
			part = strings.TrimSpace(words.Subject(v) + " " + part)
		}
		if e, ok := v.Effect.Get(); ok {
			part += " " + words.Effect(*v, e)
		}
		if v.Evidence != f.Evidence {
			part += " (" + string(v.Evidence) + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// sameShown is how many rows that say the same a list shows; more are one row with their number.
const sameShown = 5

// foldEqual gathers what has the same key, in the order in which each key comes first: more than sameShown of them are
// one list, others are lists of one.
func foldEqual[T any](list []T, key func(*T) string) (out [][]T) {
	n := map[string]int{}
	for i := range list {
		n[key(&list[i])]++
	}
	at := map[string]int{}
	for i := range list {
		k := key(&list[i])
		if n[k] <= sameShown {
			out = append(out, list[i:i+1])
			continue
		}
		place := place(at, k, &out, func() []T { return nil })
		out[place] = append(out[place], list[i])
	}
	return out
}

// FoldLints gathers what many lints of one kind say alike.
func FoldLints(list []lint.Lint) [][]lint.Lint {
	return foldEqual(list, func(l *lint.Lint) string { return string(l.ID) + string(l.Severity) })
}

// placesOf counts the models and devices of lints, or their runs where they are all of one.
func placesOf(list []lint.Lint) string {
	pairs, runs := map[schema.Pair]bool{}, map[string]bool{}
	for i := range list {
		pairs[schema.Pair{Model: list[i].Model, Device: list[i].Device}] = true
		runs[list[i].Run] = true
	}
	if len(pairs) > 1 {
		return words.Count(len(pairs)) + " models and devices"
	}
	return words.OnDevice(list[0].Model, list[0].Device) + ", " + words.Plural(len(runs), "run")
}
