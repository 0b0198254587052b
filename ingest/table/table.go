package table

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Format is the name of the format.
const Format = "table"

// Read returns a point for each row with a number: a line of a table, or an object of JSON. Of a Parquet file Data is
// the whole.
func (t Table) Read(f *decode.File) schema.Reading {
	if f.Form == decode.Binary && IsParquet(f.Path) {
		return t.readParquet(f)
	}
	switch inner, p := f.FromYAML(); {
	case p != nil:
		return schema.Reading{Format: t.format(), Detail: "a table that cannot be read", Problems: []schema.Problem{*p}}
	case inner != nil:
		f = inner
	}
	out := schema.Reading{Format: t.format()}
	r := &reader{
		table: t, file: f, found: map[string]bool{}, told: map[string]bool{}, unmapped: map[string]bool{},
		scored: map[string]float64{}, out: &out, runs: draft.RunsOf[[7]string](&out),
	}
	what := "%d rows, by ttreport.yaml"
	switch f.Form {
	case decode.JSON:
		r.objects()
	case decode.Text:
		what = "a table of " + what
		r.lines()
	}
	r.tell()
	r.runs.Join(cmp.Or(t.detail, fmt.Sprintf(what, r.rows)))
	return out
}

// lines reads the rows of a table of text.
func (r *reader) lines() {
	head, _, _ := bytes.Cut(r.file.Data, []byte("\n"))
	lines := csv.NewReader(bytes.NewReader(r.file.Data))
	lines.Comma, lines.FieldsPerRecord, lines.TrimLeadingSpace = separator(head), -1, true
	r.decimalComma = lines.Comma == ';'
	header, err := lines.Read()
	headings := len(header)
	for i, h := range header {
		header[i] = strings.TrimSpace(h)
		r.found[header[i]] = true
	}
	for headings > 1 && header[headings-1] == "" { // the line ends in commas
		headings--
	}
	uneven, example := 0, ""
	for err == nil {
		var row []string
		if row, err = lines.Read(); err != nil {
			break
		}
		r.rows++
		isCut := r.file.Cut && lines.InputOffset() >= int64(len(r.file.Data)) // which is told
		switch {
		case fits(row, headings):
			r.line(header, row)
		case !isCut && !strings.HasPrefix(row[0], "#"): // a comment
			if uneven++; uneven == 1 {
				example = fmt.Sprintf("row %d has %d", r.rows, len(row))
			}
		}
	}
	if uneven > 0 {
		r.report(schema.SevError, "uneven-rows", fmt.Sprintf("%d of %s that have another number of cells than the %d "+
			"headings: %s", uneven, plaintext.Plural(r.rows, "row"), headings, example),
			"a cell under each heading, in quotes where it has a comma", "nothing of them")
	}
	if err != io.EOF || header == nil {
		r.report(schema.SevError, "bad-table", err.Error(), "a line of headings and lines of cells", "the lines before it")
	}
	if r.file.Cut {
		r.report(schema.SevWarning, "too-long", "a table that is longer than is read", "a shorter one", "its beginning")
	}
}

// fits reports whether the cells of a row stand under their headings. A single cell is a title, not a row.
func fits(row []string, headings int) bool {
	isFilled := func(cell string) bool { return strings.TrimSpace(cell) != "" }
	return len(row) == headings || len(row) > headings && !slices.ContainsFunc(row[headings:], isFilled) ||
		!slices.ContainsFunc(row[1:], isFilled)
}

// separator is what separates the headings: a comma, a semicolon or a tab.
func separator(head []byte) rune {
	count := func(c rune) int { return bytes.Count(head, []byte(string(c))) }
	return slices.MaxFunc([]rune{',', ';', '\t'}, func(a, b rune) int { return cmp.Compare(count(a), count(b)) })
}

// reader reads one table.
type reader struct {
	table                      Table
	file                       *decode.File
	decimalComma               bool
	rows, points, failed, left int // failed are points that say so, left rows without a number that have one unmapped
	runs                       *draft.Runs[[7]string]
	out                        *schema.Reading
	found                      map[string]bool    // headings that a row has
	told                       map[string]bool    // headings and tasks of which something was reported
	unmapped                   map[string]bool    // headings of numbers that are not mapped, and called like one
	scored                     map[string]float64 // scores by model, task and settings
	empty                      [][]cell           // rows that say what was measured, and have no number
}

func (r *reader) report(severity schema.Severity, code, found, expected, used string) {
	p := r.file.Problem(severity, code, decode.Value{})
	p.Found, p.Expected, p.Used = found, expected, used
	p.Hint = "tables: in ttreport.yaml says what the columns hold; see ttreport help files"
	r.out.Problems = append(r.out.Problems, p)
}

// tell reports what is missing, rows that failed, and numbers that are not mapped.
func (r *reader) tell() {
	isOurs, lacksNumbers := r.table.name != "", true // no column that is mapped as a number
	var missing []string
	for _, h := range slices.Sorted(maps.Keys(r.table.columns)) {
		if kind := r.table.columns[h].kind; !r.found[h] {
			missing = append(missing, strconv.Quote(h))
		} else if kind == metric || kind == score {
			lacksNumbers = false
		}
	}
	if len(missing) > 0 && !isOurs {
		r.report(schema.SevWarning, Lacking, plaintext.Plural(r.rows, "row"), "also "+joined(missing),
			"the columns that are there")
	}
	if r.failed > 0 {
		r.report(schema.SevWarning, "rows-failed", plaintext.Plural(r.failed, "row")+" of measurements that failed",
			"a number in each row", "points without a number")
	}
	switch names := slices.Sorted(maps.Keys(r.unmapped)); {
	case r.points == 0 && r.rows > 0:
		r.withoutNumber(lacksNumbers)
	case isOurs:
	case r.left > 0:
		r.report(schema.SevWarning, "rows-left-out", fmt.Sprintf("%s of %d without a number in a column that is mapped; "+
			"there are numbers called %s", plaintext.Plural(r.left, "row"), r.rows,
			strings.Join(names[:min(len(names), 4)], ", ")), "every number mapped", "nothing of these rows")
	case len(names) > 0:
		r.report(schema.SevNote, Unmapped, "numbers that are not mapped, called "+joined(names),
			"each mapped, or skip", "none of them")
	}
}

// withoutNumber reports a table in which no row has a number. A night that failed as a whole must not look like one
// that nobody measured; where the numbers are elsewhere, it is no measurement that failed.
func (r *reader) withoutNumber(lacksNumbers bool) {
	used, code := "nothing of it", "no-number"
	if lacksNumbers {
		code, r.empty = OtherFile, nil
	}
	if len(r.empty) > 0 {
		used = "points without a number"
	}
	r.report(schema.SevError, code, plaintext.Plural(r.rows, "row")+" and no number in a column that is mapped",
		"a number in each row", used)
	for _, cells := range r.empty {
		d, facts := r.begin(cells, decode.Value{})
		for _, c := range r.table.columns {
			if c.kind == metric {
				d.Missing(c.name, "", "empty in the file")
			}
		}
		d.Status, d.Start, d.End = schema.StatusFailed, facts.Start, facts.Start
		d.Reading.Facts.Widen(facts.Start, facts.Start, "")
		d.Done()
	}
}

// mostEmpty is how many rows without a number become failed points.
const mostEmpty = 1000

// Unmapped is the code of a note on numbers that a mapping leaves out.
const Unmapped = "unmapped"

// OtherFile is the code of a problem about a file without any of the numbers that are mapped.
const OtherFile = "other-file"

// Lacking is the code of a problem about a file that lacks some of the columns that are mapped.
const Lacking = "missing-column"

// line makes a point of the cells of one line.
func (r *reader) line(header, row []string) {
	var list []cell
	for i, text := range row[:min(len(row), len(header))] {
		if c, mapped := r.table.columns[header[i]]; !isAbsent(text) || c.kind == metric && isFailure(text) {
			list = append(list, cell{c, mapped, header[i], strings.TrimSpace(text), decode.Value{}})
		}
	}
	r.point(list, decode.Value{})
}

// cell is what a row has under one heading.
type cell struct {
	column
	mapped  bool
	heading string
	text    string
	json    decode.Value // such as the statistics of a metric
}

// begin begins the point of a row, of the run that the row says.
func (r *reader) begin(cells []cell, at decode.Value) (*draft.Draft, schema.Facts) {
	facts := schema.Facts{}
	for _, c := range cells {
		if c.kind != identity {
			continue
		}
		if setFact(&facts, c.name, c.text); c.name == "start" && facts.Start.IsZero() && !r.told[c.heading] {
			r.told[c.heading] = true
			r.report(schema.SevWarning, "bad-cell", fmt.Sprintf("%q as the start of a row, under %q",
				plaintext.Short(c.text, 40), c.heading), "a time such as 2026-05-09 20:00:00", "no time of such rows")
		}
	}
	day := "" // rows of other days are other runs
	if !facts.Start.IsZero() {
		day = facts.Start.Format(time.DateOnly)
	}
	who := [7]string{
		facts.Model.ID, facts.Device.Name, facts.Impl, facts.Stack.Engine, facts.Stack.Version, facts.Release, day,
	}
	reading := r.runs.Of(who, facts)
	d, before := draft.New(r.file, reading, at, r.table.tool), len(reading.Scores)
	for i, c := range cells {
		isAlike := func(o cell) bool { return o.kind == c.kind && o.name == c.name && o.stat == c.stat }
		n := slices.IndexFunc(cells[:i], isAlike)
		if n < 0 || cells[n].text == c.text || c.kind != metric && c.kind != workload {
			r.cell(d, c)
		} else if first := cells[n]; !r.told[c.heading] {
			r.told[c.heading] = true
			r.report(schema.SevWarning, "two-columns", fmt.Sprintf("%q and %q both mapped as %s, with %s and %s in row %d",
				first.heading, c.heading, strings.TrimSpace(c.name+" "+c.stat), plaintext.Short(first.text, 40),
				plaintext.Short(c.text, 40), r.rows), "one column for each", "the first")
		}
	}
	r.settings(who, cells, d, reading.Scores[before:])
	return d, facts
}

// settings says of the scores of a row how they were asked: what is mapped as a dimension is a part of their names, and
// the other texts of the row are kept. Two rows of one system that say nothing different, and have different scores,
// are noted.
func (r *reader) settings(who [7]string, cells []cell, d *draft.Draft, scores []schema.Score) {
	if len(scores) == 0 {
		return
	}
	unknown, dims, asked := schema.Unknown{}, []string{}, map[string]int{}
	for name, raw := range d.Extra {
		if _, ok := decode.ParseFloat(d.Extra.Text(name)); !ok {
			unknown[name] = raw
		}
	}
	for name, text := range d.Conditions {
		unknown[name] = schema.JSONString(text)
	}
	for _, c := range cells {
		switch n, _ := decode.ParseFloat(c.text); {
		case c.kind == questions && n >= 1 && n < 1e9:
			asked[c.name] = int(n)
		case c.kind == questions:
			r.badCell(c)
		case c.kind == dim:
			dims = append(dims, c.name+"="+c.text)
		}
	}
	slices.Sort(dims)
	for i := range scores {
		s := &scores[i]
		s.N = asked[s.Task]
		s.Filter, s.Unknown = strings.Join(dims, ", "), unknown
		one := fmt.Sprint(who, s.Task, s.Metric, s.Filter)
		value, _ := s.Value.Get()
		if earlier, has := r.scored[one]; has && earlier != value && !r.told["score "+s.Task] {
			r.told["score "+s.Task] = true
			r.report(schema.SevNote, "scores-alike", fmt.Sprintf("%s of one model is %.4g, and %.4g in row %d", s.Task,
				earlier, value, r.rows), "repeats, or a column that says what differs, mapped as dim NAME", "each as a repeat")
		}
		r.scored[one] = value
	}
}

// point makes a point of a row; one without a number is none.
func (r *reader) point(cells []cell, at decode.Value) {
	d, facts := r.begin(cells, at)
	has := func(is func(c cell) bool) bool { return slices.ContainsFunc(cells, is) }
	switch {
	case len(d.Metrics) > 0:
	case has(func(c cell) bool { return c.kind == score }):
		r.points++
		d.Reading.Facts.Widen(facts.Start, facts.Start, "")
		return
	case r.note(cells, at):
		r.left++
		return
	default:
		isOf := func(c cell) bool { return c.mapped && c.kind != metric }
		if r.table.name == "" && len(r.empty) < mostEmpty && has(isOf) {
			r.empty = append(r.empty, cells)
		}
		return
	}
	if !slices.ContainsFunc(d.Metrics, func(m schema.Metric) bool { return len(m.Stats) > 0 }) {
		d.Status = schema.StatusFailed
		r.failed++
	}
	r.points++
	if r.table.others {
		r.keepOthers(d, at)
	}
	d.Foreign(at, "")       // before what is looked at counts as read
	const mostSearched = 20 // the other rows have the same
	if r.points <= mostSearched {
		r.note(cells, at)
	}
	d.Start, d.End = facts.Start, facts.Start
	d.Reading.Facts.Widen(facts.Start, facts.Start, "")
	if ok := d.Number("requests_ok"); ok != nil {
		d.Requests(ok, d.Number("requests_failed"), nil, "")
	}
	d.Done()
}

// note notes the numbers of a row that are not mapped, and called like one of a benchmark; it reports whether there are
// any.
func (r *reader) note(cells []cell, row decode.Value) (has bool) {
	for _, c := range slices.Concat(cells, r.notMapped(row)) {
		_, isNumber := decode.ParseFloat(c.text)
		if !c.mapped && isNumber && IsMeasured(cmp.Or(c.name, c.heading)) {
			r.unmapped[c.heading], has = true, true
		}
	}
	return has
}

// measured match the name of a number that a benchmark measures: of speeds, of scores, of evals. One expression of all
// is too large for the quick way in which package regexp matches a line.
var measured = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)ttft|tpot|tok(?:en)?s?[ _/-]*(?:per[ _-]?|/)s|tok(?:en)?s?_s(?:$|\W)|` +
		`throughput|(?:^|[^u])tput|latenc|first.token|per.output.token|time_to_first|` +
		`(?:predicted|prompt|generated|eval|decode|prefill)_per_s|(?:generation|decode|prefill)[ _]speed|` +
		`eval_duration|\bt/s\b|_toks$|\bavg_ts$|` +
		`\breq(?:uest)?s?(?:/|[ _-]per[ _-])s|response[_ ]time$|(?:^|_)p9[059]_ms$|` +
		`(?:^|[_ ./-])(?:itl|e2e|e2el|tps|qps)(?:$|[_ ,./-])`),
	lazyregexp.New(`(?i)(?:pass|win|match|hit|resolve|correct|success|hallucination|consistency|refusal)[_ ]rate|` +
		`resolved_instances|unit_tests_passed|` +
		`(?:^|[_ ./-])(?:scores?|accuracy|acc|em|exact_match|pass(?:[@^]|[_ ]at[_ ])\d+|perplexity|ppl)` +
		`(?:$|[_ ,./-])|` +
		`(?:^|[\W_])(?:recall|ndcg|mrr|f1|bleu|chrf|rouge\w*|wer|elo|cosine[ _]similarity)(?:$|[\W_])`),
	lazyregexp.New(`(?i)\b(?:mmlu|c-?eval|cmmlu|agieval|boolq|piqa|openbookqa|triviaqa|lambada|simpleqa|` +
		`gsm8k|hellaswag|truthful_?qa|winogrande|humaneval|mbpp|gpqa|bbh|ifeval|aime|musr|mt-bench|` +
		`arc[-_ ]?(?:c|e|challenge|easy)|livecodebench|math[-_ ]?(?:500|lvl)|swe-bench)\b`),
}

// IsMeasured reports a name of a number that a benchmark measures, of a score or of an eval.
func IsMeasured(name string) bool {
	return slices.ContainsFunc(measured, func(re *lazyregexp.Regexp) bool { return re.MatchString(name) })
}

// cell puts one cell into a point.
func (r *reader) cell(d *draft.Draft, c cell) {
	switch {
	case !c.mapped && c.json.Kind() == decode.Number:
		d.KeepNumber(c.heading, c.json.Float0())
	case !c.mapped:
		d.Keep(c.heading, c.text)
	case c.kind == dim:
		d.Dim(c.name, c.text)
	case c.kind == condition:
		d.Condition(c.name, c.text)
	case c.kind == workload:
		r.workload(d, c)
	case c.kind == metric && isFailure(c.text):
		d.Missing(c.name, c.def, "the row says "+c.text)
	case c.kind == metric && c.json.Kind() == decode.Object:
		d.Block(c.json, draft.Wide, draft.Field{Metric: c.name, Def: c.def, Scale: c.factor})
	case c.kind == metric, c.kind == score:
		switch x, ok := r.value(c); {
		case !ok:
			r.badCell(c)
		case c.kind == score:
			draft.Score(r.file, d.Reading, c.name, c.stat, x)
		default:
			d.Stat(c.name, c.def, c.stat, x)
		}
	}
}

// value is the number of a cell in the unit of its metric; 35.5% of a score is a share, whatever its column says.
func (r *reader) value(c cell) (x float64, ok bool) {
	text, isPercent := strings.CutSuffix(c.text, "%")
	x, ok = r.number(strings.TrimSpace(text))
	switch {
	case isPercent && c.kind == score:
		return x / 100, ok
	case isPercent && schema.Unit(c.name) != "%":
		return 0, false
	case c.kind == score:
		return x / c.factor, ok
	}
	return x * c.factor, ok
}

func (r *reader) workload(d *draft.Draft, c cell) {
	texts := map[string]*string{"dataset": &d.Key.Dataset, "task": &d.Key.Task, "tool": &d.Key.Tool}
	switch x, ok := r.number(c.text); {
	case texts[c.name] != nil:
		*texts[c.name] = c.text
	case c.name == "label":
		d.Dim(schema.DimLabel, c.text)
	case ok:
		*d.Load(c.name) = &x
	case c.name != "rate" || !strings.EqualFold(c.text, "inf"): // which is as fast as possible
		r.badCell(c)
	}
}

// thousands matches a number with commas between its thousands.
var thousands = lazyregexp.New(`^-?\d{1,3}(,\d{3})+(\.\d+)?$`)

// number reads a number. Where cells are separated by semicolons, a comma is the decimal point.
func (r *reader) number(text string) (float64, bool) {
	switch {
	case r.decimalComma && strings.Count(text, ",") == 1 && !strings.Contains(text, "."):
		text = strings.Replace(text, ",", ".", 1)
	case thousands.MatchString(text):
		text = strings.ReplaceAll(text, ",", "")
	}
	return decode.ParseFloat(text)
}

// badCell reports the first cell of a column that is no number.
func (r *reader) badCell(c cell) {
	if !r.told[c.heading] {
		r.told[c.heading] = true
		found := fmt.Sprintf("%q in column %q of row %d", c.text, c.heading, r.rows)
		r.report(schema.SevWarning, "bad-cell", found, "a number", "no number of this cell")
	}
}

var (
	absent  = draft.Names("- – — n/a na nan none null oom error failed fail timeout crash crashed")
	failure = draft.Names("oom error failed fail timeout crash crashed")
)

// isFailure reports what people write where a measurement failed.
func isFailure(cell string) bool { return failure(strings.ToLower(strings.TrimSpace(cell))) }

// isAbsent reports what people write where there is no number.
func isAbsent(cell string) bool {
	cell = strings.ToLower(strings.TrimSpace(cell))
	return cell == "" || absent(cell)
}

// setFact sets what a cell states of who was measured, or when.
func setFact(f *schema.Facts, field, text string) {
	if name := identityFields[field]; name != "" {
		*manifest.Text(f, name) = text
		return
	}
	if f.Start = draft.Time(text); !f.Start.IsZero() {
		return
	}
	if x, ok := decode.ParseFloat(text); ok && x > 1e8 && x < 1e20 {
		for x >= 1e11 { // milliseconds, microseconds or nanoseconds
			x /= 1000
		}
		f.Start = time.Unix(int64(math.Round(x)), 0).UTC()
	}
}

func joined(list []string) string {
	if len(list) > 5 {
		return strings.Join(list[:5], ", ") + fmt.Sprintf(" and %d more", len(list)-5)
	}
	return strings.Join(list, ", ")
}

// Mapping says what the columns of some tables hold, as in ttreport.yaml. Files is a glob that is matched against the
// end of a path. Columns are by heading:
//
//	Batch: concurrency            a part of the workload: isl osl concurrency rate dataset task label tool
//	Quant: dim quantization       a dimension of the workload
//	GPU: device                   who was measured: model device impl engine version release; start is when
//	TTFT avg: ttft mean s         a metric, its statistic and the unit of the file
//	Throughput: output_tps tok/s  a metric that is one number
//	Power: power W lower          a metric of one's own: its unit, and the better direction
//	MMLU: score mmlu acc %        a score of a task, here of 100
//	MMLU n: questions mmlu        how many questions the scores of a task are of
//	Seed: condition seed          a condition
//	Comment: skip                 nothing
//
// In JSON, JSON lines and YAML a row is an object and a heading is the path to a member: "latency.p99". Rows is the
// path to the list of them, or to an object of them. A heading that begins with "../" is a path from the object around
// that list or object, "../../" from the one around this, and one that begins with a slash from the top of the file.
// "@key" is the key of a row; a * in Rows stands for every member, whose key is "@*". A metric whose member is an
// object has the statistics that this states by name. A definition may follow a unit: "ttft mean ms first-content".
// With "others: metrics" every number deeper in a row that no heading names is a metric of its own, without a unit,
// which has no verdicts.
type Mapping struct {
	Files   string            `yaml:"files"`
	Tool    string            `yaml:"tool"`
	Rows    string            `yaml:"rows"`
	Columns map[string]string `yaml:"columns"`
	Others  string            `yaml:"others"`
}

// Table is a mapping that was checked.
type Table struct {
	files   manifest.Pattern
	tool    string
	name    string // of the format, where no user states it
	detail  string
	rows    []string          // path in JSON
	columns map[string]column // by heading
	others  bool              // numbers that no column names are metrics too
}

// column is what one column holds.
type column struct {
	kind   kind
	name   string // of a field, dimension, condition or metric, or the task of a score
	stat   string // or the metric of a score
	def    string
	factor float64 // to the metric's unit; what a score is of
}

type kind uint8

const (
	skipped kind = iota
	workload
	identity
	dim
	condition
	metric
	score
	questions
)

var (
	workloadFields = []string{"isl", "osl", "concurrency", "rate", "dataset", "task", "label", "tool"}
	// by the names of facts in provenance, of which the start of a run has none
	identityFields = map[string]string{
		"model": "model.id", "device": "device.name", "impl": "impl", "engine": "stack.engine",
		"version": "stack.version", "release": "release", "start": "",
	}
)

// format is the name of what a mapping reads.
func (t Table) format() string { return cmp.Or(t.name, Format) }

// Compile checks mappings. An error names the mapping and the column, and says what is expected.
func Compile(list []Mapping) ([]Table, error) {
	var out []Table
	for i, m := range list {
		where := fmt.Sprintf("tables: %s", m.Files)
		if m.Files == "" {
			return nil, fmt.Errorf("tables: entry %d names no files", i+1)
		}
		files, err := manifest.NewPattern(m.Files)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		t := Table{
			files: files, tool: cmp.Or(m.Tool, schema.ToolTable), columns: map[string]column{}, others: m.Others == "metrics",
		}
		if m.Others != "" && !t.others {
			return nil, fmt.Errorf("%s: others: %q; expected metrics, or nothing", where, m.Others)
		}
		if m.Rows != "" {
			t.rows = strings.Split(m.Rows, ".")
		}
		for _, heading := range slices.Sorted(maps.Keys(m.Columns)) {
			c, err := newColumn(m.Columns[heading])
			if err != nil {
				return nil, fmt.Errorf("%s: column %q: %w", where, heading, err)
			}
			t.columns[heading] = c
		}
		if err := t.measures(); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		out = append(out, t)
	}
	return out, nil
}

// measures checks that a mapping has a number, and nothing that its numbers cannot have.
func (t *Table) measures() error {
	of := map[kind]string{} // a heading
	for _, heading := range slices.Sorted(maps.Keys(t.columns)) {
		of[t.columns[heading].kind] = heading
	}
	load := of[workload]
	switch {
	case of[metric] != "":
	case of[score] == "":
		return errors.New("no column is a metric or a score; map one, such as TTFT: ttft mean ms")
	case load != "":
		name := t.columns[load].name
		return fmt.Errorf("column %q: %s is a part of a load, and scores have none; write dim %s for what tells scores apart",
			load, name, name)
	}
	return nil
}

// Find returns the tables whose files match a path, by the rows that they read.
func Find(list []Table, path string) [][]Table {
	isOther := func(t Table) bool { _, _, _, _, ok := t.files.Match(path); return !ok }
	return schema.Alike(slices.DeleteFunc(slices.Clone(list), isOther), func(t Table) string {
		return strings.Join(t.rows, ".")
	})
}

// named are the kinds that a column names before what it holds.
var named = map[string]kind{"dim": dim, "condition": condition, "questions": questions}

func newColumn(text string) (column, error) {
	words := strings.Fields(text)
	_, isIdentity := identityFields[text]
	switch {
	case len(words) == 0:
		return column{}, fmt.Errorf("it says nothing; write skip to leave a column out")
	case text == "skip":
		return column{}, nil
	case len(words) == 1 && slices.Contains(workloadFields, words[0]):
		return column{kind: workload, name: words[0]}, nil
	case len(words) == 1 && isIdentity:
		return column{kind: identity, name: words[0]}, nil
	case len(words) == 2 && named[words[0]] != skipped:
		return column{kind: named[words[0]], name: words[1]}, nil
	case words[0] == "score":
		return newScore(words)
	}
	return newMetric(words)
}

// newScore reads "score mmlu acc" and "score mmlu acc %".
func newScore(words []string) (column, error) {
	isShare := len(words) == 3
	if !isShare && !(len(words) == 4 && words[3] == "%") {
		return column{}, fmt.Errorf("%q; expected score TASK METRIC, and %% where 100 is the most",
			strings.Join(words, " "))
	}
	return column{kind: score, name: words[1], stat: words[2], factor: map[bool]float64{true: 1, false: 100}[isShare]}, nil
}

// usual is the statistic of a column that names none, or a value: of what each request has, that is the mean.
func usual(of schema.MetricInfo) string {
	if of.Latency || of.Unit == "tok" || of.Name == "tps_user" {
		return "mean"
	}
	return "value"
}

// newMetric reads "ttft mean s", "output_tps tok/s" and "power W lower".
func newMetric(words []string) (column, error) {
	info, known := schema.MetricByName(words[0])
	if !known || schema.IsOwn(words[0]) {
		if len(words) == 3 {
			if name, ok := schema.OwnMetric(words[0], words[1], words[2]); ok {
				return column{kind: metric, name: name, stat: "value", factor: 1}, nil
			}
		}
		return column{}, fmt.Errorf("%q is neither a field (%s), a metric, a metric of your own (power W lower), dim NAME, "+
			"condition NAME, score TASK METRIC, questions TASK, nor skip", strings.Join(words, " "),
			strings.Join(workloadFields, " ")+" model device impl engine version release start")
	}
	isOther := func(word string) bool { return !schema.IsStat(word) }
	if len(slices.DeleteFunc(slices.Clone(words[1:]), isOther)) > 1 {
		return column{}, fmt.Errorf("%q names two statistics; expected one for each column", strings.Join(words, " "))
	}
	c, units := column{kind: metric, name: words[0], stat: usual(info)}, []string{""}
	c.def = map[bool]string{true: schema.DefNotStated}[info.Latency]
	if slices.Contains([]string{"req", "tok"}, info.Unit) {
		units[0] = info.Unit // a count
	}
	for _, word := range words[1:] {
		switch {
		case word == "value":
		case schema.IsStat(word):
			c.stat = word
		case word == "p50":
			c.stat = "median"
		case schema.IsDefinition(word) && len(units) > 1:
			c.def = word
		default:
			units = append(units, word)
		}
	}
	if len(units) > 2 {
		return column{}, fmt.Errorf("%q is not a statistic: mean, median, std, min, max, value or p1 to p99.9", units[1])
	}
	isUnit := false
	if c.factor, isUnit = draft.Scale(units[len(units)-1], info.Unit); !isUnit {
		return column{}, fmt.Errorf("state the unit of %s: %s %s %s, or another unit of the same kind", words[0], words[0],
			c.stat, info.Unit)
	}
	return c, nil
}

// Proposal is a mapping that a message proposes: the names of its files, and the rest as ttreport.yaml has it.
type Proposal struct{ Files, Rest string }

// The lines before proposals, and what each begins with.
const (
	aboveProposals = "\ntables:\n"
	beginsProposal = "  - files: "
)

// Hint is a text and the mappings that it proposes.
func Hint(text string, list ...Proposal) string {
	for i, p := range list {
		text += []string{aboveProposals, "\n"}[min(i, 1)] + beginsProposal + strconv.Quote(p.Files) + "\n" + p.Rest
	}
	return text
}

// Proposed are the text of a hint and the mappings that it proposes.
func Proposed(hint string) (text string, list []Proposal) {
	text, entries, _ := strings.Cut(hint, aboveProposals)
	for entry := range strings.SplitSeq("\n"+strings.TrimRight(entries, "\n"), "\n"+beginsProposal) {
		name, rest, _ := strings.Cut(entry, "\n")
		if files, err := strconv.Unquote(name); err == nil {
			list = append(list, Proposal{files, rest})
		}
	}
	return text, list
}

// Propose returns the mapping of a table as a person would begin it in ttreport.yaml, from the line of its headings:
// what a heading names with its unit, and as a question what names a number without one. "" where no heading says
// anything else. Nothing is read by it until somebody wrote it down. It says nothing of the names of files: that of
// one may be too narrow, a pattern too wide.
func Propose(head []byte) (rest string) {
	line := csv.NewReader(bytes.NewReader(head))
	line.Comma, line.TrimLeadingSpace = separator(head), true
	headings, err := line.Read()
	if err != nil {
		return ""
	}
	return propose("", headings)
}

// ProposeJSON is [Propose] for the first value of a file: for the rows that lie least deep in it, lists first. Where
// several members of an object have such rows, it is of all of them.
func ProposeJSON(v decode.Value) (rest string) {
	const deepest = 4
	level := []place{{at: v}}
	for range deepest {
		var deeper, found []place // a list comes first
		for _, p := range level {
			if p.hasMetrics() {
				found = append(found, p)
			}
			for _, m := range p.members() {
				if m.Val.Kind() == decode.Object || m.Val.Kind() == decode.Array {
					deeper = append(deeper, p.step(m.Key, m.Val))
				}
			}
			if first := p.at.Index(0); first.Kind() == decode.Object {
				deeper = append(deeper, p.step("*", first))
			}
		}
		if i := slices.IndexFunc(found, func(p place) bool { return p.at.Kind() == decode.Array }); i > 0 {
			found = found[i:]
		}
		if len(found) > 0 {
			return found[0].propose(v)
		}
		level = deeper[:min(len(deeper), mostProposed)]
	}
	return ""
}

// mostProposed is how many members of an object, or places in a file, a proposed mapping takes notice of.
const mostProposed = 60

func (p place) members() []decode.Member {
	list := p.at.Members()
	return list[:min(len(list), mostProposed)]
}

// first is the first row; isKeyed says that it is a member of a map of rows.
func (p place) first() (row decode.Value, isKeyed bool) {
	switch members := p.members(); {
	case p.at.Kind() == decode.Array:
		return p.at.Index(0), false
	case len(p.path) > 0 && len(members) > 0 && areRows(p.at):
		return members[0].Val, true
	}
	return p.at, false
}

// headings are those of the first row, and of the key of a row that has one.
func (p place) headings() []string {
	row, isKeyed := p.first()
	list := scalars(row, "", mostProposed)
	if isKeyed {
		list = append(list, "@key")
	}
	return list
}

// hasMetrics reports headings that name a metric, unless several members name one: then they are rows themselves.
func (p place) hasMetrics() bool {
	row, _ := p.first()
	of := map[string]string{} // the member that has a metric
	for _, m := range (place{at: row}).members() {
		names := []string{m.Key}
		if m.Val.Kind() == decode.Object {
			names = scalars(m.Val, m.Key+".", mostProposed)
		}
		for _, name := range names {
			says, _ := meaningOfPath(name)
			if !isMetricName(name) || m.Val.Kind() == decode.Array {
				continue
			}
			if first, has := of[says]; has && m.Val.Kind() == decode.Object && first != m.Key {
				return false
			}
			of[says] = m.Key
		}
	}
	return len(of) > 0
}

// propose is the mapping of the rows at a place, with what the file states of all rows, and with the rows beside them.
func (p place) propose(top decode.Value) string {
	headings, rows := p.headings(), slices.Clone(p.path)
	if len(rows) == 0 {
		return propose("", headings)
	}
	says := func(heading string) bool { says, _ := meaningOfPath(path.Base(heading)); return says != "" }
	var around []string
	for i, v := range slices.Backward(p.in) {
		if at := strings.Repeat("../", len(p.in)-i); i > 0 || top.Kind() == decode.Array {
			around = append(around, scalars(v, at, mostProposed)...)
		}
	}
	// items of a list are told apart by what they say of themselves, members of a map by their keys
	isOne := !slices.Contains(rows, "*") || slices.ContainsFunc(around, says)
	for i := range rows {
		if rows[i] != "*" && (strings.Contains(rows[i], ".") || p.alike(top, i)) {
			rows[i], isOne = "*", false
		}
	}
	around = append(around, scalars(top, "/", mostProposed)...)
	headings = append(headings, slices.DeleteFunc(around, isMetricName)...)
	if !isOne {
		headings = append(headings, "@*")
	}
	return propose(strings.Join(rows, "."), headings)
}

// alike reports whether members beside one part of the path have such rows, too.
func (p place) alike(top decode.Value, part int) bool {
	like, metrics := 0, slices.DeleteFunc(p.headings(), func(h string) bool { return !isMetricName(h) })
	for _, m := range (place{at: top.At(p.path[:part]...)}).members() {
		other := place{path: p.path, at: m.Val.At(p.path[part+1:]...)}
		headings := other.headings()
		isLacking := func(h string) bool { return !slices.Contains(headings, h) }
		if other.at.Kind() == p.at.Kind() && !slices.ContainsFunc(metrics, isLacking) {
			like++
		}
	}
	return like > 1
}

// ofLimit matches the name of a number that was asked for, and not measured.
var ofLimit = lazyregexp.New(`(?i)(?:^|[^a-z])(?:sla|slo|target|threshold|limit|goal|budget|timeout)(?:$|[^a-z])`)

func isMetricName(heading string) bool {
	_, isMetric := meaningOfPath(strings.TrimLeft(strings.TrimSpace(heading), "./"))
	return isMetric && !ofLimit.MatchString(heading)
}

// scalars are the paths of the members of a row that are no lists, one level deep and those of distributions, without
// texts that are called like a metric, or in one: the unit beside its number.
func scalars(row decode.Value, in string, most int) (out []string) {
	members := row.Members()
	for _, m := range members[:min(len(members), most)] {
		switch {
		case m.Val.Kind() == decode.Object && (in == "" || isDistribution(m)):
			out = append(out, scalars(m.Val, in+m.Key+".", most)...)
		case m.Val.Kind() == decode.String && m.Val.Ptr() == nil &&
			(isMetricName(in+m.Key) || isMetricName(strings.TrimSuffix(in, "."))):
		case m.Val.Kind() != decode.Object && m.Val.Kind() != decode.Array:
			out = append(out, in+m.Key)
		}
	}
	return out
}

// says is what a heading says that its column holds.
type says struct {
	heading, says string
	isMetric      bool
}

// meanings are what headings say, the first of several that say the same.
func meanings(headings []string) (out []says) {
	for _, h := range headings {
		text, isMetric := meaningOfPath(strings.TrimLeft(strings.TrimSpace(h), "./"))
		if text != "" && !slices.ContainsFunc(out, func(o says) bool { return o.says == text }) {
			out = append(out, says{h, text, isMetric})
		}
	}
	return out
}

func propose(rows string, headings []string) string {
	var columns strings.Builder
	taken, said := map[string]bool{}, map[string]bool{}
	metrics := 0
	for _, c := range meanings(headings) {
		taken[c.says], said[c.heading] = true, true
		if c.isMetric {
			metrics++
		}
		fmt.Fprintf(&columns, "      %s: %s\n", key(strings.TrimSpace(c.heading)), c.says)
	}
	unsaid := unsaid(headings, said)
	if metrics == 0 && (unsaid == "" || len(said) == 0) {
		return ""
	}
	for _, is := range [][2]string{{"@key", "label"}, {"@*", "dim of"}} { // rows of other keys would count as repeats
		if slices.Contains(headings, is[0]) {
			fmt.Fprintf(&columns, "      %q: %s # or model, device, release: what this key is\n", is[0], is[1])
		}
	}
	for _, length := range lengthNames { // so would rows of other lengths
		for _, h := range headings {
			if says := length.says; !taken[says] && length.name.MatchString(h) {
				taken[says] = true
				fmt.Fprintf(&columns, "      %s: %s # if it was asked for, and not counted\n", key(strings.TrimSpace(h)), says)
			}
		}
	}
	columns.WriteString(unsaid)
	if rows != "" {
		rows = "    rows: " + key(rows) + "\n"
	}
	return rows + "    columns:\n" + strings.TrimSuffix(columns.String(), "\n")
}

// unsaid is a comment with the headings that are called like a number of a benchmark and are not mapped: they do not
// say of which unit, or another one says the same.
func unsaid(headings []string, said map[string]bool) string {
	var names []string
	for _, h := range headings {
		if !said[h] && (IsMeasured(h) || isMetricName(h)) && !strings.ContainsAny(h, "\r\n") {
			names = append(names, strings.TrimSpace(h))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "      # say what these are, such as output_tps tok/s: " + joined(names) + "\n"
}

// lengthNames are lengths that a person may have asked for, or a tool counted.
var lengthNames = []struct {
	says string
	name *lazyregexp.Regexp
}{
	{"isl", lazyregexp.New(`(?i)^(?:prompt|input)[_ ]?(?:tokens|len|length|size)$|^n_prompt$`)},
	{"isl", lazyregexp.New(`(?i)^(?:context|ctx)[_ ]?(?:tokens|len|length)$|^context$`)}, // a size is the server's
	{"osl", lazyregexp.New(`(?i)^(?:gen|generated|output)[_ ]?(?:tokens|len|length)$|^n_gen$`)},
}

// plainKey is a heading that YAML takes as it is.
var plainKey = lazyregexp.New(`^[A-Za-z_][\w .()/%-]*$`)

func key(heading string) string {
	if plainKey.MatchString(heading) {
		return heading
	}
	return fmt.Sprintf("%q", heading)
}

// meaningOfPath is [meaning], else that of the last part of a path: device.model is a device. What stands below a
// latency is a statistic of it, as in ttft_ms.p99, and nothing else, as ttft_ms.n.
func meaningOfPath(heading string) (says string, isMetric bool) {
	says, isMetric = meaning(heading)
	last := strings.LastIndexByte(heading, '.')
	if last < 0 {
		return says, isMetric
	}
	of, _ := meaning(heading[:last])
	if latency := strings.Fields(of); len(latency) == 3 && !strings.HasPrefix(of, "dim ") {
		if stat, isStat := schema.ParseStat(heading[last+1:]); isStat && latency[1] == "mean" {
			return latency[0] + " " + stat + " " + latency[2], true
		}
	}
	if says != "" {
		return says, isMetric
	}
	if says, isMetric = meaning(heading[last+1:]); says == "model" {
		if of, _ := meaning(heading[:last]); of == "device" {
			return of, false
		}
	}
	return says, isMetric
}

// meaning is what a column holds by its heading, as a mapping says it; "" for what a person has to say. Tokens that a
// tool counted are no lengths that were asked for, and a rate without a unit is none.
func meaning(heading string) (says string, isMetric bool) {
	name := strings.Trim(separators.ReplaceAllString(strings.ToLower(heading), "_"), "_")
	name = unitTwice.ReplaceAllString(throughput.ReplaceAllString(name, "_"), "$2$1")
	for _, f := range []struct{ says, names string }{
		{"model", "model model_name model_id"}, {"device", "device gpu gpu_type gpu_name accelerator hardware"},
		{"engine", "engine backend framework serving_engine"}, {"version", "engine_version backend_version"},
		{"release", "release"}, {"start", "timestamp start_time date ts test_date run_date datetime created created_at"},
		{"dataset", "dataset"}, {"task", "task"},
		{"isl", "isl input_len input_length input_sequence_length"},
		{"osl", "osl output_len output_length output_sequence_length"},
		{"concurrency", "concurrency max_concurrency num_concurrent concurrent_requests concurrent_users users num_users"},
		{"rate", "request_rate configured_rps target_rps configured_rate target_rate"},
		{"dim tp", "tp tp_size tensor_parallel tensor_parallel_size"}, {"dim quant", "quant quantization precision variant"},
	} {
		if strings.Contains(" "+f.names+" ", " "+name+" ") {
			return f.says, false
		}
	}
	if setting.MatchString(name) {
		return "dim " + strings.TrimSuffix(name, "_size"), false
	}
	if m := phaseRate.FindStringSubmatch(name); m != nil {
		if m[1]+m[2] != "" {
			return "output_tps tok/s", true
		}
		return "input_tps tok/s", true
	}
	for _, f := range []struct{ says, rate string }{
		{"output_tps tok/s", "output_tok"}, {"total_tps tok/s", "total_tok"}, {"rps req/s", "req"},
	} {
		if rest, is := strings.CutPrefix(name, f.rate); is && perSecond.MatchString(rest) {
			return f.says, true
		}
	}
	return latency(name)
}

// separators are what stands between the words of a heading.
var separators = lazyregexp.New(`[^a-z0-9./]+`)

// setting matches a setting of an engine, by which results differ.
var setting = lazyregexp.New(`^(?:kv_cache(?:_dtype|_type)?|spec(?:ulative)?(?:_decod\w+)?|dtype|` +
	`attention_backend|n_?ubatch|flash_attn|thinking|prefix_caching|pp_size|(?:dp|ep)(?:_size)?|n_gpu_layers|ngl|` +
	`n?_?gpus|gpu_count|draft_model)$`)

// Parts of a heading that name a rate, or a latency with its statistic and its unit: "ttft_p99_ms", "Mean ITL (ms)".
var (
	phaseRate = lazyregexp.New(`^(?:(decode|gen|generation|output|tg|eval|predicted)|prefill|prompt|input|pp|` +
		`prompt_eval)_(?:tps|t/s|tok(?:en)?s?(?:_|_per_|/)s(?:ec|econd)?)$|` +
		`^(?:(predicted)|prompt)_per_second$`) // of llama.cpp: tokens
	perSecond   = lazyregexp.New(`^(en|uest)?s?(/|_per_|_)s(ec|econd)?$`)
	latencyName = lazyregexp.New(`(?:^|[_.])(ttft|tpot|itl|e2el|time_to_first_token|time_per_output_token|` +
		`inter_token_latency|e2e_latency|end_to_end_latency|` +
		`sequence_latency)(?:[_.]|$)`)
	endToEnd  = lazyregexp.New(`(?:^|[_.])(e2e)_(?:(?:mean|avg|average|median|p\d\d?(?:\.\d)?)_)?(?:ms|us|s|sec)$`)
	noMean    = lazyregexp.New(`(?:^|[_.])(?:sum|total|count|delta|diff|var|variance|bucket|created|cv)(?:_|$)`)
	statistic = lazyregexp.New(`(?:^|[_.])(mean|avg|average|median|std|stddev|stdev|min|max|p\d\d?(?:\.\d)?)(?:[_.]|$)`)
	timeUnit  = lazyregexp.New(`_(ms|us|s)(?:ec|econds)?(?:_|$)`)
	// "output_tok_throughput_tok_s" and "output throughput (tok/s)" are one rate
	throughput = lazyregexp.New(`_(?:throughput|tput|speed)_`)
	unitTwice  = lazyregexp.New(`tok(?:en)?s?_(tok)|req(?:uest)?s?_(req)`)
)

// latency is the mapping of a column of latencies; "" where its heading names none, or not in which unit.
func latency(name string) (says string, isMetric bool) {
	named, unit := latencyName.FindStringSubmatch(name), timeUnit.FindStringSubmatch(name)
	if named == nil {
		named = endToEnd.FindStringSubmatch(name)
	}
	if named == nil || unit == nil || noMean.MatchString(name) {
		return "", false
	}
	stat := "mean" // as a column that names none is read
	if s := statistic.FindStringSubmatch(name); s != nil {
		stat, _ = schema.ParseStat(s[1])
	}
	short := map[string]string{
		"time_to_first_token": "ttft", "time_per_output_token": "tpot", "inter_token_latency": "itl",
		"e2e": "e2el", "e2e_latency": "e2el", "end_to_end_latency": "e2el", "sequence_latency": "e2el",
	}
	return cmp.Or(short[named[1]], named[1]) + " " + stat + " " + unit[1], true
}

// objects reads the rows of JSON.
func (r *reader) objects() {
	headings := slices.Sorted(maps.Keys(r.table.columns))
	for top := range r.file.Values() {
		place{at: top}.below(r.table.rows, func(row place) bool {
			if r.rows++; r.rows > r.file.Limits().Results {
				return false // the load says so
			}
			r.object(headings, top, row)
			return true
		})
	}
}

// place is a row of JSON, or where rows may be.
type place struct {
	path []string // from the top of the file; "*" is any member or item
	at   decode.Value
	in   []decode.Value // the objects around it, the nearest last; the list or map of a row is none of them
	key  string         // of a row in a map
	all  string         // the keys that the * of the path stand for
}

// step is a member or an item of a place, at a part of a path.
func (p place) step(part string, x decode.Value) place {
	p.path = append(slices.Clip(p.path), part)
	if p.at.Kind() == decode.Object {
		p.in = append(slices.Clip(p.in), p.at)
	}
	p.at = x
	return p
}

// below goes through the rows at the end of a path, whose keys may have points; false ends it.
func (p place) below(path []string, yield func(row place) bool) bool {
	if len(path) == 0 {
		return p.rows(yield)
	}
	for n := len(path); n > 0 && path[0] != "*"; n-- {
		part := strings.Join(path[:n], ".")
		if x := p.at.At(part); x.Kind() != decode.Invalid {
			return p.step(part, x).below(path[n:], yield)
		}
	}
	if path[0] != "*" {
		return true
	}
	for key, x := range children(p.at) { // what else is there is what a file states of all rows
		isRows := p.at.Kind() == decode.Array || x.Kind() == decode.Object || x.Kind() == decode.Array
		next := p.step("*", x)
		next.all = strings.TrimPrefix(p.all+"/"+key, "/")
		if isRows && !next.below(path[1:], yield) {
			return false
		}
	}
	return true
}

// rows goes through the items of a list, the members of a map of objects, or the one row that an object is.
func (p place) rows(yield func(row place) bool) bool {
	isMap := p.at.Kind() == decode.Object
	if isMap && (len(p.path) == 0 || p.at.Len() > 0 && !areRows(p.at)) {
		return yield(p)
	}
	row := p
	for key, x := range children(p.at) {
		if row.at = x; isMap {
			row.key = key
		}
		if !yield(row) {
			return false
		}
	}
	return true
}

// find is what stands under a heading: in the row, in an object around it, or at a path from the top.
func (p place) find(heading string, top decode.Value) decode.Value {
	if x := p.at.Path(heading); x.Kind() != decode.Invalid {
		return x
	}
	if path, isTop := strings.CutPrefix(heading, "/"); isTop {
		return top.Path(path)
	}
	var from decode.Value
	for _, v := range slices.Backward(p.in) {
		path, isAround := strings.CutPrefix(heading, "../")
		if !isAround {
			break
		}
		from, heading = v, path
	}
	return from.Path(heading)
}

// children are the members of an object by key, and the items of a list by place.
func children(v decode.Value) iter.Seq2[string, decode.Value] {
	return func(yield func(string, decode.Value) bool) {
		for _, m := range v.Members() {
			if !yield(m.Key, m.Val) {
				return
			}
		}
		n := 0
		for x := range v.Items() {
			if !yield(strconv.Itoa(n), x) {
				return
			}
			n++
		}
	}
}

// areRows reports an object whose members are rows: objects, and no distributions.
func areRows(v decode.Value) bool {
	isOther := func(m decode.Member) bool { return m.Val.Kind() != decode.Object || isDistribution(m) }
	return !slices.ContainsFunc(v.Members(), isOther)
}

// isDistribution reports a member with the statistics of a metric that it is called like: ttft_ms: {p50: 12, p99: 40}.
func isDistribution(m decode.Member) bool {
	return draft.StatIn(m.Val, draft.Field{Key: "{}"}) != "" && isMetricName(m.Key)
}

// object makes a point of one row. What nothing maps is kept.
func (r *reader) object(headings []string, top decode.Value, row place) {
	if row.at.Kind() != decode.Object {
		return
	}
	row.at = row.at.Track()
	var cells []cell
	for _, h := range headings {
		v := row.find(h, top)
		text := v.Text()
		switch {
		case h == "@key":
			text = row.key
		case h == "@*":
			text = row.all
		case v.Kind() == decode.Invalid:
			continue
		}
		r.found[h] = true
		c := r.table.columns[h]
		if c.kind == dim && !strings.HasPrefix(h, "@") && (text == "0" || text == "false") {
			continue // a setting that is off, as those who leave it out have it
		}
		if v.Kind() == decode.Object || !isAbsent(text) || c.kind == metric && isFailure(text) {
			cells = append(cells, cell{c, true, h, strings.TrimSpace(text), v})
		}
	}
	r.point(append(cells, r.siblings(headings, row.at)...), row.at)
}

// siblings are the members of nested objects of which others are mapped.
func (r *reader) siblings(headings []string, row decode.Value) (out []cell) {
	for path, v := range r.unnamed(row, "", 0) {
		in, _, isNested := strings.Cut(path, ".")
		isOf := func(h string) bool { return strings.HasPrefix(h, in+".") }
		isOther := r.table.others && v.Kind() == decode.Number // which is a metric
		if isNested && !isOther && slices.ContainsFunc(headings, isOf) {
			out = append(out, cell{heading: path, text: v.Text(), json: v})
		}
	}
	return out
}

// notMapped are the numbers of a row that no heading names, also those of the first item of a list.
func (r *reader) notMapped(row decode.Value) (out []cell) {
	if r.table.name != "" || r.table.others {
		return nil
	}
	for path, v := range r.unnamed(row, "", 1) {
		if v.Kind() == decode.Number {
			of := column{name: path[strings.LastIndexByte(path, '.')+1:]}
			out = append(out, cell{of, false, path, v.Text(), v})
		}
	}
	return out
}

// keepOthers keeps the numbers below the members of a row that no heading names, under the end of their path.
func (r *reader) keepOthers(d *draft.Draft, row decode.Value) {
	for path, v := range r.unnamed(row, "", math.MaxInt) {
		if x, ok := v.Float(); ok && v.Kind() == decode.Number && strings.Contains(path, ".") {
			for len(path) > longestName {
				_, path, _ = strings.Cut(path, ".")
			}
			if own, ok := schema.OwnMetric(path, "", "neither"); ok {
				d.Value(own, x)
			}
		}
	}
}

// unnamed goes through what no heading names in a row: the members of objects and so many items of lists, which are not
// objects or lists themselves, each with its path.
func (r *reader) unnamed(v decode.Value, path string, items int) iter.Seq2[string, decode.Value] {
	return func(yield func(string, decode.Value) bool) {
		n := 0
		for key, x := range children(v) {
			if n++; v.Kind() == decode.Array && n > items {
				return
			}
			at := strings.TrimPrefix(path+"."+key, ".")
			_, isNamed := r.table.columns[at]
			_, isOfTop := r.table.columns["/"+at]
			switch {
			case isNamed || isOfTop:
			case x.Kind() == decode.Object || x.Kind() == decode.Array:
				for inner, y := range r.unnamed(x, at, items) {
					if !yield(inner, y) {
						return
					}
				}
			case !yield(at, x):
				return
			}
		}
	}
}

// longestName is the longest name of a metric of the user's own.
const longestName = 64
