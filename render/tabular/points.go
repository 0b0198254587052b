package tabular

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
)

// Point is a row of points.csv.
type Point struct {
	Release        Text `csv:"release"`
	Channel        Text `csv:"channel"`
	Run            Text `csv:"run"`
	Start          Text `csv:"start_utc"`
	Model          Text `csv:"model"`
	Device         Text `csv:"device"`
	Simulated      bool `csv:"simulated"`
	Impl           Text `csv:"impl"`
	Engine         Text `csv:"engine"`
	EngineVersion  Text `csv:"engine_version"`
	Task           Text `csv:"task"`
	Tool           Text `csv:"tool"`
	ISL            Num  `csv:"isl"`
	OSL            Num  `csv:"osl"`
	Concurrency    Num  `csv:"concurrency"`
	Rate           Num  `csv:"rate_req_s"`
	Dataset        Text `csv:"dataset"`
	Dims           Text `csv:"dims"`
	Repeat         int  `csv:"repeat"`
	Status         Text `csv:"status"`
	RequestsOK     Num  `csv:"requests_ok"`
	RequestsFailed Num  `csv:"requests_failed"`
	TTFTMean       Num  `csv:"ttft_mean_ms"`
	TTFTMedian     Num  `csv:"ttft_median_ms"`
	TTFTP99        Num  `csv:"ttft_p99_ms"`
	TPOTMean       Num  `csv:"tpot_mean_ms"`
	TPOTMedian     Num  `csv:"tpot_median_ms"`
	TPOTP99        Num  `csv:"tpot_p99_ms"`
	ITLMean        Num  `csv:"itl_mean_ms"`
	E2ELMean       Num  `csv:"e2el_mean_ms"`
	E2ELMedian     Num  `csv:"e2el_median_ms"`
	E2ELP99        Num  `csv:"e2el_p99_ms"`
	TPSUser        Num  `csv:"tps_user_tok_s"`
	OutputTPS      Num  `csv:"output_tps_tok_s"`
	TotalTPS       Num  `csv:"total_tps_tok_s"`
	RPS            Num  `csv:"rps_req_s"`
	Missing        Text `csv:"missing_reason"`
}

// Points returns the rows of points.csv of a release.
func Points(r *render.Report, release int) []Point {
	c := r.Columns
	var rows []Point
	for _, run := range r.Releases[release].Runs {
		h := &c.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			rows = append(rows, pointOf(r, h, &c.Points[i]))
		}
	}
	return rows
}

func pointOf(r *render.Report, h *columns.RunHead, p *columns.PointRow) Point {
	k := r.Columns.Keys[p.Key]
	value := func(metric, stat string) Num { return Num{r.Shown(p, metric, stat)} }
	user := value("tps_user", "value")
	if _, ok := user.Get(); !ok {
		user = value("tps_user", "mean")
	}
	return Point{
		Release: Text(h.Release), Channel: Text(h.Channel), Run: Text(h.ID), Start: stamp(h.Start),
		Model: Text(h.Model.Name), Device: Text(h.Device), Simulated: h.IsSimulated(), Impl: Text(h.Impl),
		Engine: Text(h.Engine), EngineVersion: Text(h.Version), Task: Text(k.Task), Tool: Text(k.Tool),
		ISL: numOf(k.ISL), OSL: numOf(k.OSL), Concurrency: numOf(k.Concurrency), Rate: numOf(k.Rate),
		Dataset: Text(k.Dataset), Dims: dims(k.Dims), Repeat: int(p.Repeat), Status: Text(p.StatusWord()),
		RequestsOK: value("requests_ok", "value"), RequestsFailed: value("requests_failed", "value"),
		TTFTMean: value("ttft", "mean"), TTFTMedian: value("ttft", "median"), TTFTP99: value("ttft", "p99"),
		TPOTMean: value("tpot", "mean"), TPOTMedian: value("tpot", "median"), TPOTP99: value("tpot", "p99"),
		ITLMean: value("itl", "mean"), E2ELMean: value("e2el", "mean"), E2ELMedian: value("e2el", "median"),
		E2ELP99: value("e2el", "p99"), TPSUser: user, OutputTPS: value("output_tps", "value"),
		TotalTPS: value("total_tps", "value"), RPS: value("rps", "value"), Missing: Text(r.Columns.Reasons[p.Reason]),
	}
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
