// Package tabular writes the report's data as CSV for spreadsheets and scripts. It is the only importer of gocsv, which it
// uses for writing alone: reading with it loses data silently.
//
// In flow columns and verdicts; out flow points.csv, scores.csv and verdicts.csv of each release: one header, one row a point, score or
// verdict, numbers in base units as stored, an empty cell where there is no number. A text that a spreadsheet would take
// for a formula is prefixed with an apostrophe.
package tabular

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gocarina/gocsv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// Text is a cell that no spreadsheet takes for a formula.
type Text string

// MarshalCSV implements gocsv.TypeMarshaller.
func (t Text) MarshalCSV() (string, error) { return Harmless(string(t)), nil }

// Harmless is a text that no spreadsheet takes for a formula.
func Harmless(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// Num is a cell with a number, empty when there is none.
type Num struct{ schema.Number }

// MarshalCSV implements gocsv.TypeMarshaller.
func (n Num) MarshalCSV() (string, error) {
	return digits(n.Number), nil
}

func digits(n schema.Number) string {
	v, ok := n.Get()
	if !ok {
		return ""
	}
	return strconv.FormatFloat(latency.Round(v, 7), 'g', -1, 64)
}

// Points returns points.csv of a release.
func Points(r *render.Report, release int) []byte {
	c := r.Columns
	n := 0
	for _, run := range r.Releases[release].Runs {
		n += c.Runs[run].PointsEnd - c.Runs[run].FirstPoint
	}
	w := newTable(256*n, "release", "channel", "run", "start_utc", "model", "device", "simulated", "impl", "engine", "engine_version", "task", "tool", "isl", "osl", "concurrency", "rate_req_s", "dataset", "dims", "repeat", "status",
		"requests_ok", "requests_failed", "ttft_mean_ms", "ttft_median_ms", "ttft_p99_ms", "tpot_mean_ms", "tpot_median_ms", "tpot_p99_ms", "itl_mean_ms", "e2el_mean_ms", "e2el_median_ms", "e2el_p99_ms",
		"tps_user_tok_s", "output_tps_tok_s", "total_tps_tok_s", "rps_req_s", "missing_reason")
	for _, run := range r.Releases[release].Runs {
		h := &c.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &c.Points[i]
			k := c.Keys[p.Key]
			w.text(h.Release, h.Channel, h.ID, stamp(h.Start), h.Model.Name, h.Device)
			w.flag(h.IsSimulated())
			w.text(h.Impl, h.Engine, h.Version, k.Task, k.Tool)
			w.ptr(k.ISL, k.OSL, k.Concurrency, k.Rate)
			w.text(k.Dataset, dims(k.Dims), strconv.Itoa(int(p.Repeat)), string(p.StatusWord()))
			for _, s := range [][2]string{{"requests_ok", "value"}, {"requests_failed", "value"}, {"ttft", "mean"}, {"ttft", "median"}, {"ttft", "p99"}, {"tpot", "mean"}, {"tpot", "median"}, {"tpot", "p99"},
				{"itl", "mean"}, {"e2el", "mean"}, {"e2el", "median"}, {"e2el", "p99"}} {
				w.number(r.Shown(p, s[0], s[1]))
			}
			user := r.Shown(p, "tps_user", "value")
			if _, ok := user.Get(); !ok {
				user = r.Shown(p, "tps_user", "mean")
			}
			w.number(user, r.Shown(p, "output_tps", "value"), r.Shown(p, "total_tps", "value"), r.Shown(p, "rps", "value"))
			w.text(c.Reasons[p.Reason])
			w.end()
		}
	}
	return w.b
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
	Fewshot   Text `csv:"fewshot"`
	Limit     Num  `csv:"limit"`
	Direction Text `csv:"direction"`
	Missing   Text `csv:"missing_reason"`
}

// Scores returns scores.csv of a release.
func Scores(r *render.Report, release int) ([]byte, error) {
	c := r.Columns
	rows := []Score{}
	for _, run := range r.Releases[release].Runs {
		h := &c.Runs[run]
		for _, s := range c.ScoresOf(run) {
			shots := ""
			if s.Fewshot != nil {
				shots = strconv.Itoa(*s.Fewshot)
			}
			rows = append(rows, Score{Text(h.Release), Text(h.ID), Text(h.Model.Name), Text(h.Device), h.IsSimulated(), Text(s.Task), Text(s.Metric), Text(s.Filter), Num{s.Value}, Num{s.Stderr},
				count(s.N), count(s.Total), Text(shots), ptr(s.Limit), Text(s.Direction), Text(s.Value.Why())})
		}
	}
	var b bytes.Buffer
	if err := gocsv.Marshal(rows, &b); err != nil {
		return nil, fmt.Errorf("writing CSV: %w", err)
	}
	return b.Bytes(), nil
}

// Verdicts returns verdicts.csv of a release, first against targets, then against history: those that say something. That a number is
// the same as before, has no history yet or no target is said by its line in points.csv and by the counts on the release's page; as
// rows here they were a third of a large site.
func Verdicts(r *render.Report, release int) []byte {
	f := r.Gate.Findings(release)
	w := newTable(1<<16, "id", "release", "run", "model", "device", "simulated", "key", "metric", "stat", "against", "level", "required", "verdict", "evidence", "value", "reference", "unit", "effect_positive_is_worse", "n", "why")
	for _, list := range [][]schema.Verdict{f.Targets, f.History} {
		for i := range list {
			v := &list[i]
			if v.Outcome == schema.Unchanged || v.Outcome == schema.NoBaseline || v.Outcome == schema.NoTarget {
				continue
			}
			w.text(v.ID, v.Release, v.Run, v.Model, v.Device)
			w.flag(v.Device == schema.Simulated)
			w.text(v.Key.String(), v.Metric, v.Stat, string(v.Against), v.Level)
			w.flag(v.Required)
			w.text(string(v.Outcome), string(v.Evidence))
			w.number(v.Value, v.Ref)
			w.text(schema.Unit(v.Metric))
			w.number(v.Effect)
			w.text(strconv.Itoa(v.N), plain(words.Why(*v)))
			w.end()
		}
	}
	return w.b
}

// plain replaces narrow spaces, which some spreadsheets show as boxes.
func plain(s string) string { return strings.ReplaceAll(s, words.Thin, " ") }

func ptr(v *float64) Num {
	if v == nil {
		return Num{schema.Missing("")}
	}
	return Num{schema.Num(*v)}
}

func count(n int) Text {
	if n == 0 {
		return ""
	}
	return Text(strconv.Itoa(n))
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func dims(m map[string]string) string {
	k := schema.Key{Dims: m}.String()
	if _, after, ok := strings.Cut(k, "rate=-/-/"); ok {
		return after
	}
	return ""
}
