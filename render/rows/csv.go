package rows

import (
	"bytes"
	"encoding/csv"
	"fmt"

	"github.com/gocarina/gocsv"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
)

// CSV writes rows: a header from the csv tags of the fields, then a line a row. A file without rows has its header.
func CSV[T any](rows []T) ([]byte, error) {
	var b bytes.Buffer
	if rows == nil {
		rows = []T{}
	}
	if err := gocsv.Marshal(rows, &b); err != nil {
		return nil, fmt.Errorf("writing CSV: %w", err)
	}
	return b.Bytes(), nil
}

// PointTable is points.csv of a release: after the columns of its rows the counts of requests, one for each field that
// [render.Report.FileFields] names, and why a point has no number.
type PointTable struct {
	Rows   []Point
	names  []string
	number func(row, column int) schema.Number
}

// Points returns points.csv of a release.
func Points(r *render.Report, release int) PointTable {
	list := points(r, release)
	fields := append([]render.Field{{Metric: "requests_ok", Stat: "value"}, {Metric: "requests_failed", Stat: "value"}},
		r.FileFields(list)...)
	out := PointTable{Rows: make([]Point, len(list)), number: func(row, column int) schema.Number {
		return r.Shown(list[row], fields[column].Metric, fields[column].Stat)
	}}
	for _, f := range fields {
		out.names = append(out.names, f.Name())
	}
	for i, p := range list {
		out.Rows[i] = pointOf(r, release, p)
	}
	return out
}

// CSV writes the table.
func (t PointTable) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := widened{Writer: csv.NewWriter(&b), t: t, line: -1}
	if err := gocsv.MarshalCSV(t.Rows, &w); err != nil {
		return nil, fmt.Errorf("writing CSV: %w", err)
	}
	return b.Bytes(), nil
}

// widened writes lines with the cells of the fields behind those of the rows; line -1 is the head.
type widened struct {
	*csv.Writer
	t    PointTable
	line int
}

// Write implements gocsv.CSVWriter.
func (w *widened) Write(cells []string) error {
	if w.line < 0 {
		cells = append(append(cells, w.t.names...), "missing_reason")
	} else {
		for i := range w.t.names {
			cell := ""
			if n, ok := w.t.number(w.line, i).Get(); ok {
				cell, _ = Num(n).MarshalCSV() // a number always formats
			}
			cells = append(cells, cell)
		}
		missing, _ := w.t.Rows[w.line].Missing.MarshalCSV() // so does a text
		cells = append(cells, missing)
	}
	w.line++
	return w.Writer.Write(cells)
}
