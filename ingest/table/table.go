package table

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Format is the name of the format.
const Format = "table"

// Read returns a point for each row with a number.
func (t Table) Read(f *decode.File) schema.Reading {
	head, _, _ := bytes.Cut(f.Data, []byte("\n"))
	lines := csv.NewReader(bytes.NewReader(f.Data))
	lines.Comma, lines.FieldsPerRecord, lines.TrimLeadingSpace = separator(head), -1, true
	r := reader{table: t, file: f, decimalComma: lines.Comma == ';'}
	header, err := lines.Read()
	if err != nil {
		r.report(schema.SevError, "bad-table", "no line of headings", "a table whose first line names its columns", "none")
		return r.runs.Join(Format, "a table")
	}
	r.header = header
	r.checkHeader()
	for {
		row, err := lines.Read()
		if err != nil {
			if err.Error() != "EOF" {
				r.report(schema.SevError, "bad-table", err.Error(), "lines of cells", "the lines before it")
			}
			break
		}
		r.rows++
		r.row(row)
	}
	if f.Cut {
		r.report(schema.SevWarning, "too-long", "a table that is longer than is read", "a shorter one", "its beginning")
	}
	out := r.runs.Join(Format, fmt.Sprintf("a table of %d rows, by ttreport.yaml", r.rows))
	out.Problems = append(out.Problems, r.problems...)
	return out
}

// separator is what separates the headings: a comma, a semicolon or a tab.
func separator(head []byte) rune {
	most, n := ',', bytes.Count(head, []byte(","))
	for _, c := range []rune{';', '\t'} {
		if k := bytes.Count(head, []byte(string(c))); k > n {
			most, n = c, k
		}
	}
	return most
}

// reader reads one table.
type reader struct {
	table        Table
	file         *decode.File
	header       []string
	decimalComma bool
	rows         int
	runs         draft.Runs[system]
	problems     []schema.Problem
	bad          map[string]bool // columns with a cell that was reported
}

// system is who a row is of.
type system struct{ model, device, impl, engine, version, release string }

func (r *reader) report(severity schema.Severity, code, found, expected, used string) {
	p := r.file.Problem(severity, code, decode.Value{})
	p.Found, p.Expected, p.Used = found, expected, used
	p.Hint = "tables: in ttreport.yaml says what the columns hold; see ttreport help files"
	r.problems = append(r.problems, p)
}

// checkHeader reports columns that are mapped and not there.
func (r *reader) checkHeader() {
	has := map[string]bool{}
	for i, h := range r.header {
		r.header[i] = strings.TrimSpace(h)
		has[r.header[i]] = true
	}
	var missing []string
	for heading := range r.table.columns {
		if !has[heading] {
			missing = append(missing, strconv.Quote(heading))
		}
	}
	if len(missing) > 0 {
		found := fmt.Sprintf("a table with the columns %s", strings.Join(r.header, ", "))
		r.report(schema.SevWarning, "missing-column", found, "also "+joined(missing), "the columns that are there")
	}
}

// row makes a point of one row; a row without a number is none.
func (r *reader) row(cells []string) {
	var who system
	facts := schema.Facts{}
	for i, cell := range cells {
		if c := r.columnAt(i); c.kind == identity && !isAbsent(cell) {
			setFact(&facts, &who, c.name, strings.TrimSpace(cell))
		}
	}
	reading := r.runs.Of(who, func() schema.Reading { return schema.Reading{Format: Format, Facts: facts} })
	d := draft.New(r.file, reading, decode.Value{}, r.table.tool)
	for i, cell := range cells {
		if !isAbsent(cell) {
			r.cell(d, i, strings.TrimSpace(cell))
		}
	}
	if len(d.Metrics) == 0 {
		return
	}
	d.Start, d.End = facts.Start, facts.Start
	if !facts.Start.IsZero() {
		if reading.Facts.Start.IsZero() || facts.Start.Before(reading.Facts.Start) {
			reading.Facts.Start = facts.Start
		}
		if facts.Start.After(reading.Facts.End) {
			reading.Facts.End = facts.Start
		}
	}
	if ok, has := d.Metrics["requests_ok"].Stats.Get("value"); has {
		var failed *float64
		if x, stated := d.Metrics["requests_failed"].Stats.Get("value"); stated {
			failed = &x
		}
		d.Requests(&ok, failed, nil, "")
	}
	d.Done()
}

// columnAt returns what a column holds; a column that is not mapped is kept as it is.
func (r *reader) columnAt(i int) column {
	if i >= len(r.header) {
		return column{}
	}
	return r.table.columns[r.header[i]]
}

// cell puts one cell into a point.
func (r *reader) cell(d *draft.Draft, i int, text string) {
	if i >= len(r.header) {
		return
	}
	c, mapped := r.table.columns[r.header[i]]
	switch {
	case !mapped:
		d.Keep(r.header[i], text)
	case c.kind == dim:
		d.Dim(c.name, text)
	case c.kind == condition:
		d.Condition(c.name, text)
	case c.kind == workload:
		r.workload(d, c.name, text, i)
	case c.kind == metric:
		if x, ok := r.number(text); ok {
			d.Stat(c.name, definition(c.name), c.stat, x*c.factor)
		} else {
			r.badCell(i, text)
		}
	}
}

// definition is that of a latency, which a table does not state.
func definition(metric string) string {
	if schema.Unit(metric) == "ms" && !schema.IsOwn(metric) {
		return schema.DefNotStated
	}
	return ""
}

func (r *reader) workload(d *draft.Draft, field, text string, i int) {
	numbers := map[string]**float64{
		"isl": &d.Key.ISL, "osl": &d.Key.OSL, "concurrency": &d.Key.Concurrency, "rate": &d.Key.Rate,
	}
	switch field {
	case "dataset":
		d.Key.Dataset = text
	case "task":
		d.Key.Task = text
	case "tool":
		d.Key.Tool = text
	case "label":
		d.Dim(schema.DimLabel, text)
	default:
		if field == "rate" && strings.EqualFold(text, "inf") {
			return // as fast as possible
		}
		if x, ok := r.number(text); ok {
			*numbers[field] = &x
		} else {
			r.badCell(i, text)
		}
	}
}

// thousands matches a number with commas between its thousands.
var thousands = regexp.MustCompile(`^-?\d{1,3}(,\d{3})+(\.\d+)?$`)

// number reads a number. Where cells are separated by semicolons, a comma is the decimal point.
func (r *reader) number(text string) (float64, bool) {
	switch {
	case r.decimalComma && strings.Count(text, ",") == 1 && !strings.Contains(text, "."):
		text = strings.Replace(text, ",", ".", 1)
	case thousands.MatchString(text):
		text = strings.ReplaceAll(text, ",", "")
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && x-x == 0
}

// badCell reports the first cell of a column that is no number.
func (r *reader) badCell(i int, text string) {
	if r.bad == nil {
		r.bad = map[string]bool{}
	}
	if heading := r.header[i]; !r.bad[heading] {
		r.bad[heading] = true
		found := fmt.Sprintf("%q in column %q of row %d", text, heading, r.rows)
		r.report(schema.SevWarning, "bad-cell", found, "a number", "no number of this cell")
	}
}

// isAbsent reports what people write where there is no number.
func isAbsent(cell string) bool {
	switch strings.ToLower(strings.TrimSpace(cell)) {
	case "", "-", "–", "—", "n/a", "na", "nan", "none", "null", "oom", "error", "failed":
		return true
	}
	return false
}

// setFact sets what a cell states of who was measured.
func setFact(f *schema.Facts, who *system, field, text string) {
	switch field {
	case "model":
		f.Model.ID, who.model = text, text
	case "device":
		f.Device.Name, who.device = text, text
	case "impl":
		f.Impl, who.impl = text, text
	case "engine":
		f.Stack.Engine, who.engine = text, text
	case "version":
		f.Stack.Version, who.version = text, text
	case "release":
		f.Release, who.release = text, text
	case "start":
		for _, layout := range []string{
			time.RFC3339, time.DateTime, "2006-01-02T15:04:05", "2006-01-02_15-04-05", time.DateOnly,
		} {
			if t, err := time.Parse(layout, text); err == nil {
				f.Start = t.UTC()
				return
			}
		}
		if x, err := strconv.ParseFloat(text, 64); err == nil && x > 1e8 && x < 1e11 {
			f.Start = time.Unix(int64(x), 0).UTC()
		}
	}
}

func joined(list []string) string {
	if len(list) > 5 {
		return strings.Join(list[:5], ", ") + fmt.Sprintf(" and %d more", len(list)-5)
	}
	return strings.Join(list, ", ")
}
