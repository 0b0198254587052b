package tabular

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gocarina/gocsv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/render/words"
)

// CSV writes rows: a header from the csv tags of the fields, then a line a row. gocsv's reflection costs 85 ns a cell
// (BenchmarkCSV), a writer made by hand for these rows 41: a quarter of a second of processor time in the fourteen that
// 10,000 series in 50 releases take.
func CSV[T any](rows []T) ([]byte, error) {
	if rows == nil {
		rows = []T{} // a file without rows has its header
	}
	var b bytes.Buffer
	if err := gocsv.Marshal(rows, &b); err != nil {
		return nil, fmt.Errorf("writing CSV: %w", err)
	}
	return b.Bytes(), nil
}

// Text is a cell that people wrote: no spreadsheet takes it for a formula, and a public site may have to change it.
type Text string

// IsText tells such a cell from a name of ours.
func (Text) IsText() {}

// MarshalCSV implements gocsv.TypeMarshaller.
func (t Text) MarshalCSV() (string, error) {
	if t != "" && strings.ContainsRune("=+-@\t\r", rune(t[0])) {
		return "'" + string(t), nil
	}
	return string(t), nil
}

// Num is a cell with a number, empty when there is none.
type Num struct{ schema.Number }

// MarshalCSV implements gocsv.TypeMarshaller: seven digits.
func (n Num) MarshalCSV() (string, error) {
	return string(n.appendTo(nil)), nil
}

// appendTo appends the number; nothing where there is none.
func (n Num) appendTo(b []byte) []byte {
	v, ok := n.Get()
	if !ok {
		return b
	}
	return strconv.AppendFloat(b, latency.Round(v, 7), 'g', -1, 64)
}

// numOf is a number that may be absent.
func numOf(v *float64) Num {
	if v == nil {
		return Num{schema.Missing("")}
	}
	return Num{schema.Num(*v)}
}

// finite is a number that is absent when it is not finite.
func finite(v float64) Num {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Num{schema.Missing("")}
	}
	return Num{schema.Num(v)}
}

// plain replaces narrow spaces, which some spreadsheets show as boxes.
func plain(s string) Text { return Text(strings.ReplaceAll(s, words.Thin, " ")) }

// count is a whole number, empty for none.
func count(n int) Text {
	if n == 0 {
		return ""
	}
	return Text(strconv.Itoa(n))
}

func stamp(t time.Time) Text {
	if t.IsZero() {
		return ""
	}
	return Text(t.UTC().Format(time.RFC3339))
}

func dims(m map[string]string) Text {
	if len(m) == 0 {
		return ""
	}
	_, after, _ := strings.Cut(schema.Key{Dims: m}.String(), "rate=-/-/")
	return Text(after)
}
