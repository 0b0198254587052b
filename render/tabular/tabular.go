// Package tabular writes the report's data as CSV for spreadsheets and scripts. It is the only importer of gocsv, which it
// uses for writing alone: reading with it loses data silently.
//
// In flow columns and verdicts; out flow points.csv, scores.csv and verdicts.csv: one header, one row a point, score or
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
func (t Text) MarshalCSV() (string, error) {
	s := string(t)
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s, nil
	}
	return s, nil
}

// Num is a cell with a number, empty when there is none.
type Num struct{ schema.Number }

// MarshalCSV implements gocsv.TypeMarshaller.
func (n Num) MarshalCSV() (string, error) {
	v, ok := n.Get()
	if !ok {
		return "", nil
	}
	return strconv.FormatFloat(latency.Round(v, 7), 'g', -1, 64), nil
}

// Point is a row of points.csv.
type Point struct {
	Release     Text `csv:"release"`
	Channel     Text `csv:"channel"`
	Run         Text `csv:"run"`
	Start       Text `csv:"start_utc"`
	Model       Text `csv:"model"`
	Device      Text `csv:"device"`
	Simulated   bool `csv:"simulated"`
	Impl        Text `csv:"impl"`
	Engine      Text `csv:"engine"`
	Version     Text `csv:"engine_version"`
	Task        Text `csv:"task"`
	Tool        Text `csv:"tool"`
	ISL         Num  `csv:"isl"`
	OSL         Num  `csv:"osl"`
	Concurrency Num  `csv:"concurrency"`
	Rate        Num  `csv:"rate_req_s"`
	Dataset     Text `csv:"dataset"`
	Dims        Text `csv:"dims"`
	Repeat      int  `csv:"repeat"`
	Status      Text `csv:"status"`
	OK          Num  `csv:"requests_ok"`
	Failed      Num  `csv:"requests_failed"`
	TTFTMean    Num  `csv:"ttft_mean_ms"`
	TTFTMedian  Num  `csv:"ttft_median_ms"`
	TTFTP99     Num  `csv:"ttft_p99_ms"`
	TPOTMean    Num  `csv:"tpot_mean_ms"`
	TPOTMedian  Num  `csv:"tpot_median_ms"`
	TPOTP99     Num  `csv:"tpot_p99_ms"`
	ITLMean     Num  `csv:"itl_mean_ms"`
	E2ELMean    Num  `csv:"e2el_mean_ms"`
	E2ELMedian  Num  `csv:"e2el_median_ms"`
	E2ELP99     Num  `csv:"e2el_p99_ms"`
	TPSUser     Num  `csv:"tps_user_tok_s"`
	OutputTPS   Num  `csv:"output_tps_tok_s"`
	TotalTPS    Num  `csv:"total_tps_tok_s"`
	RPS         Num  `csv:"rps_req_s"`
	Missing     Text `csv:"missing_reason"`
}

// Points returns points.csv.
func Points(r *render.Report) ([]byte, error) {
	c := r.Columns
	rows := []Point{}
	for _, rel := range r.Releases {
		for _, run := range rel.Runs {
			h := &c.Runs[run]
			for i := h.FirstPoint; i < h.PointsEnd; i++ {
				p := &c.Points[i]
				k := c.Keys[p.Key]
				get := func(metric, stat string) Num { return Num{r.Shown(p, metric, stat)} }
				row := Point{Release: Text(h.Release), Run: Text(h.ID), Start: stamp(h.Start), Model: Text(h.Model.Name), Device: Text(h.Device), Simulated: h.IsSimulated(), Channel: Text(h.Channel),
					Impl: Text(h.Impl), Engine: Text(h.Engine), Version: Text(h.Version), Task: Text(k.Task), Tool: Text(k.Tool), ISL: ptr(k.ISL), OSL: ptr(k.OSL), Concurrency: ptr(k.Concurrency), Rate: ptr(k.Rate),
					Dataset: Text(k.Dataset), Dims: dims(k.Dims), Repeat: int(p.Repeat), Status: Text(p.StatusWord()), OK: get("requests_ok", "value"), Failed: get("requests_failed", "value"),
					TTFTMean: get("ttft", "mean"), TTFTMedian: get("ttft", "median"), TTFTP99: get("ttft", "p99"), TPOTMean: get("tpot", "mean"), TPOTMedian: get("tpot", "median"), TPOTP99: get("tpot", "p99"),
					ITLMean: get("itl", "mean"), E2ELMean: get("e2el", "mean"), E2ELMedian: get("e2el", "median"), E2ELP99: get("e2el", "p99"), OutputTPS: get("output_tps", "value"),
					TotalTPS: get("total_tps", "value"), RPS: get("rps", "value"), TPSUser: get("tps_user", "value")}
				if _, ok := row.TPSUser.Get(); !ok {
					row.TPSUser = get("tps_user", "mean")
				}
				row.Missing = Text(c.Reasons[p.Reason])
				rows = append(rows, row)
			}
		}
	}
	return write(rows)
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

// Scores returns scores.csv.
func Scores(r *render.Report) ([]byte, error) {
	c := r.Columns
	rows := []Score{}
	for _, rel := range r.Releases {
		for _, run := range rel.Runs {
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
	}
	return write(rows)
}

// Verdict is a row of verdicts.csv.
type Verdict struct {
	ID        Text `csv:"id"`
	Release   Text `csv:"release"`
	Run       Text `csv:"run"`
	Model     Text `csv:"model"`
	Device    Text `csv:"device"`
	Simulated bool `csv:"simulated"`
	Key       Text `csv:"key"`
	Metric    Text `csv:"metric"`
	Stat      Text `csv:"stat"`
	Against   Text `csv:"against"`
	Level     Text `csv:"level"`
	Required  bool `csv:"required"`
	Verdict   Text `csv:"verdict"`
	Evidence  Text `csv:"evidence"`
	Value     Num  `csv:"value"`
	Reference Num  `csv:"reference"`
	Unit      Text `csv:"unit"`
	Effect    Num  `csv:"effect_positive_is_worse"`
	N         int  `csv:"n"`
	Why       Text `csv:"why"`
}

// Verdicts returns verdicts.csv: of every release, first against targets, then against history.
func Verdicts(r *render.Report) ([]byte, error) {
	rows := []Verdict{}
	for ri := range r.Releases {
		for _, v := range r.Verdicts(ri) {
			info, _ := schema.MetricByName(v.Metric)
			rows = append(rows, Verdict{Text(v.ID), Text(v.Release), Text(v.Run), Text(v.Model), Text(v.Device), v.Device == schema.Simulated, Text(v.Key.String()), Text(v.Metric), Text(v.Stat), Text(v.Against),
				Text(v.Level), v.Required, Text(v.Word), Text(v.Evidence), Num{v.Value}, Num{v.Ref}, Text(info.Unit), Num{v.Effect}, v.N, Text(plain(words.Why(v)))})
		}
	}
	return write(rows)
}

// plain replaces narrow spaces, which some spreadsheets show as boxes.
func plain(s string) string { return strings.ReplaceAll(s, words.Thin, " ") }

func write[T any](rows []T) ([]byte, error) {
	var b bytes.Buffer
	if err := gocsv.Marshal(rows, &b); err != nil {
		return nil, fmt.Errorf("writing CSV: %w", err)
	}
	return b.Bytes(), nil
}

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

func stamp(t time.Time) Text {
	if t.IsZero() {
		return ""
	}
	return Text(t.UTC().Format(time.RFC3339))
}

func dims(m map[string]string) Text {
	k := schema.Key{Dims: m}.String()
	if _, after, ok := strings.Cut(k, "rate=-/-/"); ok {
		return Text(after)
	}
	return ""
}
