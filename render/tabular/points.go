package tabular

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
)

// PointTable is points.csv of a release: a column for each field that [render.Report.FileFields] names.
type PointTable struct {
	Fields []string
	Rows   []PointRow
}

// PointRow is a row: what was measured, how often, its numbers by field, and why it has none.
type PointRow struct {
	Identity []Text // by pointIdentity
	Counts   []Num  // by pointCounts
	Numbers  []Num
	Missing  Text
}

// Columns that every row has, before the numbers.
var (
	pointIdentity = []string{
		"release", "channel", "run", "start_utc", "model", "device", "simulated", "impl", "engine", "engine_version", "task",
		"tool", "isl", "osl", "concurrency", "rate_req_s", "dataset", "dims", "repeat", "status",
	}
	pointCounts = []string{"requests_ok", "requests_failed"}
)

// Points returns points.csv of a release.
func Points(r *render.Report, release int) PointTable {
	c := r.Columns
	var points []*columns.PointRow
	for _, run := range r.Releases[release].Runs {
		for i := c.Runs[run].FirstPoint; i < c.Runs[run].PointsEnd; i++ {
			points = append(points, &c.Points[i])
		}
	}
	fields := r.FileFields(points)
	out := PointTable{Rows: make([]PointRow, 0, len(points))}
	for _, f := range fields {
		out.Fields = append(out.Fields, f.Name())
	}
	texts := make([]Text, 0, len(points)*len(pointIdentity)) // one after the other: there are thousands of rows
	numbers := make([]Num, 0, len(points)*(len(pointCounts)+len(fields)))
	for _, p := range points {
		text, number := len(texts), len(numbers)
		texts = appendIdentity(texts, r, p)
		for _, name := range pointCounts {
			numbers = append(numbers, Num{r.Shown(p, name, "value")})
		}
		count := len(numbers)
		for _, f := range fields {
			numbers = append(numbers, Num{r.Shown(p, f.Metric, f.Stat)})
		}
		out.Rows = append(out.Rows, PointRow{
			Identity: texts[text:], Counts: numbers[number:count], Numbers: numbers[count:],
			Missing: Text(c.Reasons[p.Reason]),
		})
	}
	return out
}

// appendIdentity appends what was measured: of the run, and of the point.
func appendIdentity(list []Text, r *render.Report, p *columns.PointRow) []Text {
	h, k := &r.Columns.Runs[p.Run], &r.Columns.Keys[p.Key]
	number := func(v *float64) Text {
		s, _ := numOf(v).MarshalCSV() // a number always formats
		return Text(s)
	}
	return append(list,
		Text(h.Release), Text(h.Channel), Text(h.ID), stamp(h.Start), Text(h.Model.Name), Text(h.Device),
		Text(strconv.FormatBool(h.IsSimulated())), Text(h.Impl), Text(h.Engine), Text(h.Version), Text(k.Task), Text(k.Tool),
		number(k.ISL), number(k.OSL), number(k.Concurrency), number(k.Rate), Text(k.Dataset), dims(k.Dims),
		Text(strconv.Itoa(int(p.Repeat))), Text(p.StatusWord()),
	)
}

// CSV writes the table. It is written by hand: what its columns are depends on the results, and a release has tens of
// thousands of cells.
func (t PointTable) CSV() ([]byte, error) {
	var b []byte
	for i, name := range slices.Concat(pointIdentity, pointCounts, t.Fields, []string{"missing_reason"}) {
		b = appendCell(b, i, name)
	}
	for i := range t.Rows {
		row := &t.Rows[i]
		b = append(b, '\n')
		for i, s := range row.Identity {
			text, _ := s.MarshalCSV() // a text always formats
			b = appendCell(b, i, text)
		}
		for _, list := range [][]Num{row.Counts, row.Numbers} {
			for _, n := range list {
				b = n.appendTo(append(b, ','))
			}
		}
		text, _ := row.Missing.MarshalCSV()
		b = appendCell(b, 1, text)
	}
	return append(b, '\n'), nil
}

// appendCell appends a cell, quoted where encoding/csv quotes it; at is its place in the line.
func appendCell(b []byte, at int, s string) []byte {
	if at > 0 {
		b = append(b, ',')
	}
	if first, _ := utf8.DecodeRuneInString(s); s != `\.` && !unicode.IsSpace(first) && !strings.ContainsAny(s, "\",\r\n") {
		return append(b, s...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(s, `"`, `""`)...), '"')
}

// Score is a row of scores.csv.
type Score struct {
	Release   Text `csv:"release"`
	Run       Text `csv:"run"`
	Model     Text `csv:"model"`
	Device    Text `csv:"device"`
	Simulated bool `csv:"simulated"`
	Task      Text `csv:"task"`
	Metric    Text `csv:"metric"`
	Filter    Text `csv:"filter"`
	Value     Num  `csv:"value"`
	Stderr    Num  `csv:"stderr"`
	N         Text `csv:"n"`
	Total     Text `csv:"total"`
	Fewshot   Num  `csv:"fewshot"`
	Limit     Num  `csv:"limit"`
	Direction Text `csv:"direction"`
	Missing   Text `csv:"missing_reason"`
}

// Scores returns the rows of scores.csv of a release.
func Scores(r *render.Report, release int) []Score {
	c := r.Columns
	var rows []Score
	for _, run := range r.Releases[release].Runs {
		h := &c.Runs[run]
		for _, s := range c.ScoresOf(run) {
			shots := numOf(nil)
			if s.Fewshot != nil {
				shots = Num{schema.Num(float64(*s.Fewshot))}
			}
			rows = append(rows, Score{
				Release: Text(h.Release), Run: Text(h.ID), Model: Text(h.Model.Name), Device: Text(h.Device),
				Simulated: h.IsSimulated(), Task: Text(s.Task), Metric: Text(s.Metric), Filter: Text(s.Filter),
				Value: Num{s.Value}, Stderr: Num{s.Stderr}, N: count(s.N), Total: count(s.Total), Fewshot: shots,
				Limit: numOf(s.Limit), Direction: Text(s.Direction), Missing: Text(s.Value.Why()),
			})
		}
	}
	return rows
}
