package tabular

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gocarina/gocsv"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/gate"
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

// Compared is a row of a comparison: one number of both sides.
type Compared struct {
	System   Text            `csv:"system"`
	Workload Text            `csv:"workload"`
	Tool     Text            `csv:"tool"`
	Metric   Text            `csv:"metric"`
	Stat     Text            `csv:"stat"`
	Unit     Text            `csv:"unit"`
	A        Num             `csv:"a"`
	B        Num             `csv:"b"`
	NA       int             `csv:"n_a"`
	NB       int             `csv:"n_b"`
	Change   Num             `csv:"change"`
	Lo       Num             `csv:"lo"`
	Hi       Num             `csv:"hi"`
	P        Num             `csv:"p"`
	Test     string          `csv:"test"`
	Verdict  compare.Outcome `csv:"verdict"`
	OSLA     Num             `csv:"osl_a"` // measured, as all that follows
	OSLB     Num             `csv:"osl_b"`
	FailedA  Num             `csv:"failed_share_a"`
	FailedB  Num             `csv:"failed_share_b"`
}

// Compare returns the rows of a comparison.
func Compare(c *render.Comparison) []Compared {
	var rows []Compared
	for i := range c.Rows {
		r := &c.Rows[i]
		row := Compared{
			System: Text(r.System), Workload: Text(words.Workload(r.Key)), Tool: Text(r.Key.Tool), Metric: Text(r.Metric),
			Stat: Text(r.Stat), Unit: Text(schema.Unit(r.Metric)), A: finite(r.A), B: finite(r.B), NA: r.NA, NB: r.NB,
			Change: finite(r.Change), Lo: finite(r.Lo), Hi: finite(r.Hi), P: finite(r.P), Test: r.Test,
			Verdict: r.Outcome(),
		}
		if l := r.Loads; l != nil {
			row.OSLA, row.OSLB = Num{l.A.OSL}, Num{l.B.OSL}
			row.FailedA, row.FailedB = finite(l.A.Failed/l.A.Of), finite(l.B.Failed/l.B.Of) // NaN where none are counted
		}
		rows = append(rows, row)
	}
	return rows
}

// Verdict is a row of verdicts.csv.
type Verdict struct {
	ID        Text            `csv:"id"`
	Release   Text            `csv:"release"`
	Run       Text            `csv:"run"`
	Model     Text            `csv:"model"`
	Device    Text            `csv:"device"`
	Simulated bool            `csv:"simulated"`
	Key       Text            `csv:"key"`
	Metric    Text            `csv:"metric"`
	Stat      Text            `csv:"stat"`
	Against   schema.Against  `csv:"against"`
	Level     Text            `csv:"level"`
	Required  bool            `csv:"required"`
	Verdict   schema.Outcome  `csv:"verdict"`
	Evidence  schema.Evidence `csv:"evidence"`
	Value     Num             `csv:"value"`
	Reference Num             `csv:"reference"`
	Unit      Text            `csv:"unit"`
	Effect    Num             `csv:"effect_positive_is_worse"`
	Low       Num             `csv:"effect_low"` // 95 %
	High      Num             `csv:"effect_high"`
	Limit     Num             `csv:"limit"` // least change that matters; against targets the tolerance
	Noise     Num             `csv:"noise"` // one standard deviation, relative
	Releases  Text            `csv:"baseline_releases"`
	N         Text            `csv:"n"`
	Reason    Text            `csv:"reason"`
	Detail    Text            `csv:"detail"` // what people and tools wrote, and what differs
	Decision  Text            `csv:"decision"`
}

// Verdicts returns the rows of verdicts.csv of a release, first against targets, then against history: those that
// show something. That a number is unchanged, is inconclusive with a change of less than what matters, or has no
// history or target yet, follows from its line in points.csv and from the counts on the release's page; as rows here
// they were half of the files, and package parquet has them. Where inconclusive numbers fail a release, all are here. A
// reason is a code and numbers: the sentences of package words were most of the file, and a script had to take the
// numbers out of them.
func Verdicts(r *render.Report, release int) []Verdict {
	f := r.Gate.Findings(release)
	all := r.Gate.FailsOn(release)[gate.FailInconclusive]
	rows := []Verdict{}
	for _, list := range [][]schema.Verdict{f.Targets, f.History} {
		for i := range list {
			v := &list[i]
			if !shows(v) && !(all && v.Outcome == schema.Inconclusive) {
				continue
			}
			rows = append(rows, verdictOf(v))
		}
	}
	return rows
}

// shows reports whether a verdict has a row of its own.
func shows(v *schema.Verdict) bool {
	switch v.Outcome {
	case schema.Unchanged, schema.NoBaseline, schema.NoTarget:
		return false
	case schema.Inconclusive:
		return v.Large || v.Decision != nil || v.Against == schema.AgainstTarget
	}
	return true
}

func verdictOf(v *schema.Verdict) Verdict {
	row := Verdict{
		ID: Text(v.ID), Release: Text(v.Release), Run: Text(v.Run), Model: Text(v.Model), Device: Text(v.Device),
		Simulated: v.Device == schema.Simulated, Key: Text(v.Key.String()), Metric: Text(v.Metric),
		Stat: Text(v.Stat), Against: v.Against, Level: Text(v.Level), Required: v.Required, Verdict: v.Outcome,
		Evidence: v.Evidence, Value: Num{v.Value}, Reference: Num{v.Ref}, Unit: Text(schema.Unit(v.Metric)),
		Effect: Num{v.Effect}, N: count(v.N),
	}
	if v.Interval != nil {
		row.Low, row.High = finite(v.Interval[0]), finite(v.Interval[1])
	}
	if v.Decision != nil {
		row.Decision = Text(v.Decision.ID)
	}
	if v.Reason != nil {
		row.Reason = Text(v.Reason.Code())
		row.facts(v.Reason)
	}
	return row
}

// facts adds the numbers of a reason, and what people wrote.
func (row *Verdict) facts(r schema.Reason) {
	known := func(v float64) Num {
		if v == 0 {
			return Num{} // 0 is unknown
		}
		return Num{schema.Num(v)}
	}
	switch r := r.(type) {
	case schema.Change:
		row.Limit, row.Noise, row.Releases = known(r.Limit), known(r.Noise), count(r.Releases)
		row.Detail = joined(r.Conditions, r.Differs, r.Build, r.SameBuild, r.SameCommit)
	case schema.EvalChange:
		row.Limit, row.Releases, row.Detail = known(r.Limit), count(r.Releases), Text(r.Conditions)
	case schema.Limit:
		row.Limit, row.Noise = Num{schema.Num(r.Tolerance)}, known(r.Noise)
	case schema.EvalLimit:
		row.Limit = Num{schema.Num(r.Tolerance)}
	case schema.NoNumber:
		row.Detail = Text(r.Why)
	case schema.ExcludedBy:
		row.Detail = Text(r.Why)
	case schema.InvalidPoint:
		row.Detail = Text(r.Why)
	}
}

// joined is texts with semicolons, without empty ones.
func joined(list ...string) Text {
	out := ""
	for _, s := range list {
		if s != "" && out != "" {
			out += "; "
		}
		out += s
	}
	return plain(out)
}

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
