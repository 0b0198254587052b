package history

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// The tables of a site's data folder are read by the names of their columns, so that tables of other versions are
// read as far as possible. A table has fewer statistics than the document it was made from, and no definitions: the
// definitions of its latencies are "not stated" unless a column has them.

// ownTables are our tables, and the columns by which they are recognised.
var ownTables = []struct {
	detail  string
	columns []string
}{
	{"points of a site", []string{"release", "run", "model", "device", "task", "tool", "isl", "osl", "concurrency"}},
	{"scores of a site", []string{"release", "run", "model", "device", "task", "metric", "filter", "value"}},
	{noResult, []string{"release", "run", "model", "device", "verdict", "against"}},
}

const noResult = "not a result: verdicts, which every build reaches anew"

// detectTable recognises a table by its first line.
func detectTable(f *decode.File) schema.Match {
	line, _, _ := bytes.Cut(f.Data[:min(len(f.Data), 8192)], []byte("\n"))
	header := strings.Split(strings.TrimSpace(strings.ToLower(string(line))), ",")
	for _, table := range ownTables {
		if !slices.ContainsFunc(table.columns, func(c string) bool { return !slices.Contains(header, c) }) {
			return schema.Match{Format: OwnTable, Has: table.columns, Detail: table.detail}
		}
	}
	return schema.Match{Format: OwnTable, Lacks: []string{"the columns of a table of ttreport"}}
}

// row is one line of a table by the names of its columns.
type row map[string]string

func (r row) text(name string) string {
	s := r[name]
	if len(s) > 1 && s[0] == '\'' && strings.ContainsRune("=+-@\t\r", rune(s[1])) {
		return s[1:] // written so that spreadsheets do not take the text for a formula
	}
	return s
}

func (r row) number(name string) *float64 {
	x, err := strconv.ParseFloat(r[name], 64)
	if err != nil || x != x || x > 1e300 || x < -1e300 {
		return nil
	}
	return &x
}

func (r row) count(name string) int {
	n, err := strconv.Atoi(r[name])
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// readTable returns a reading for each run in a table.
func readTable(f *decode.File, m schema.Match) schema.Reading {
	lines := csv.NewReader(bytes.NewReader(f.Data))
	lines.FieldsPerRecord, lines.LazyQuotes = -1, true
	header, _ := lines.Read() // Detect has read it already
	for i := range header {
		header[i] = strings.TrimSpace(strings.ToLower(header[i]))
	}
	type run struct{ id, model, device, release string }
	var runs draft.Runs[run]
	for range f.Limits().Results + 1 { // bound reports it
		cells, err := lines.Read()
		if err != nil {
			break // the end, or a line that is not CSV: what was read before it counts
		}
		r := row{}
		for i := range min(len(cells), len(header)) {
			r[header[i]] = strings.TrimSpace(cells[i])
		}
		into := runs.Of(run{r["run"], r["model"], r["device"], r["release"]}, func() schema.Reading {
			return schema.Reading{Format: m.Format, Detail: m.Detail, Facts: r.facts()}
		})
		if slices.Contains(header, "metric") {
			r.score(f, into)
		} else {
			r.point(f, header, into)
		}
	}
	return runs.Join(m.Format, m.Detail)
}

func (r row) facts() schema.Facts {
	f := schema.Facts{
		RunID: r.text("run"), Release: r.text("release"), Channel: r.text("channel"), Impl: r.text("impl"),
		Model: schema.Model{Name: r.text("model")}, Device: schema.Device{Name: r.text("device")},
		Stack: schema.Stack{Engine: r.text("engine"), Version: r.text("engine_version")},
	}
	if t, err := time.Parse(time.RFC3339, r.text("start_utc")); err == nil {
		f.Start, f.End = t.UTC(), t.UTC()
	}
	return f
}

func (r row) point(f *decode.File, header []string, into *schema.Reading) {
	d := draft.New(f, into, decode.Value{}, r.text("tool"))
	d.Key.Task = r.text("task")
	d.Key.ISL, d.Key.OSL, d.Key.Concurrency, d.Key.Rate = r.number("isl"), r.number("osl"), r.number("concurrency"),
		r.number("rate_req_s")
	d.Key.Dataset = r.text("dataset")
	for _, part := range strings.Split(r.text("dims"), "/") {
		name, v, ok := strings.Cut(part, "=")
		n, err1 := url.PathUnescape(name)
		x, err2 := url.PathUnescape(v)
		if ok && err1 == nil && err2 == nil && n != "" && x != "-" {
			d.Dim(n, x)
		}
	}
	d.Repeat = min(max(r.count("repeat"), 1), 1<<14)
	d.Start, d.End = into.Facts.Start, into.Facts.Start
	for _, column := range header {
		metric, stat, ok := statOf(column)
		if x := r.number(column); ok && x != nil {
			def := r.text(metric + "_def")
			if def == "" && schema.Unit(metric) == "ms" {
				def = schema.DefNotStated
			}
			d.Stat(metric, def, stat, *x)
		}
	}
	d.Key.Tool = cmp.Or(d.Key.Tool, "unknown")
	if status := schema.Status(r.text("status")); slices.Contains(schema.Statuses()[1:], status) {
		d.Status = status
	}
	d.Done()
	last := &into.Points[len(into.Points)-1]
	if why := r.text("missing_reason"); why != "" && last.Status == schema.StatusFailed {
		last.Metrics.Put(schema.NewMetric(schema.Kind{Name: "ttft", Unit: "ms", Def: schema.DefNotStated, Why: why}))
	}
}

// statOf splits a column's name: "ttft_p99_ms" is metric, statistic and unit; "output_tps_tok_s" has one value.
func statOf(column string) (metric, stat string, ok bool) {
	for _, info := range schema.Metrics() {
		rest, found := strings.CutPrefix(column, info.Name)
		if !found || info.Name == "isl" || info.Name == "osl" { // which are requested lengths in a table
			continue
		}
		unit := strings.NewReplacer("/", "_", "%", "pct").Replace(info.Unit)
		switch {
		case rest == "" || rest == "_"+unit:
			return info.Name, "value", true
		case strings.HasPrefix(rest, "_") && strings.HasSuffix(rest, "_"+unit):
			stat = strings.TrimSuffix(rest[1:], "_"+unit)
			return info.Name, stat, schema.IsStat(stat)
		}
	}
	return "", "", false
}

func (r row) score(f *decode.File, into *schema.Reading) {
	s := schema.Score{
		Task: r.text("task"), Metric: r.text("metric"), Filter: r.text("filter"), N: r.count("n"),
		Total: r.count("total"), Limit: r.number("limit"), Direction: r.text("direction"), Source: f.Source(OwnTable),
		Value:  schema.Missing(cmp.Or(r.text("missing_reason"), "not in the table")),
		Stderr: schema.Missing("not in the table"),
	}
	if x := r.number("value"); x != nil {
		s.Value = schema.Num(*x)
	}
	if x := r.number("stderr"); x != nil {
		s.Stderr = schema.Num(*x)
	}
	if n, err := strconv.Atoi(r["fewshot"]); err == nil {
		s.Fewshot = &n
	}
	if s.Task != "" && s.Metric != "" {
		into.Scores = append(into.Scores, s)
	}
}
