package evalscope

import (
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this package distinguishes.
const (
	Format      = "evalscope-perf"
	Percentiles = "evalscope-percentiles"
	Arguments   = "evalscope-arguments"
	Aside       = "evalscope-aside"
	Report      = "evalscope-report"
	OldReport   = "evalscope-report-old"
)

// Detect tells the files apart by fields that no other tool writes.
func Detect(f *decode.File) schema.Match {
	v := f.First
	full := func(format, has, detail string) schema.Match {
		return schema.Match{Format: format, Has: []string{has}, Detail: detail}
	}
	switch {
	case v.Index(0).Has("Percentiles") && (v.Index(0).Has("TTFT (ms)") || v.Index(0).Has("TTFT (s)")):
		return full(Percentiles, "Percentiles", "percentiles of a load test")
	case v.Has("outputs_dir") && v.Has("parallel") && v.Has("number"):
		return full(Arguments, "outputs_dir", "arguments of a load test")
	case v.Has("n_samples") && v.Has("last_window_s") && v.Get("rows").Kind() == decode.Array,
		v.Has("wall_start") && v.Get("points").Index(0).Has("cum_completion"):
		return full(Aside, "last_window_s", "not a result: the course of a load test")
	case v.Has("dataset_name") && v.Has("model_name") && v.Get("metrics").Index(0).Has("score"):
		return full(Report, "metrics[].score", "report of an eval")
	case v.Has("name") && v.Has("metric") && v.Has("score") && v.Has("total_num") &&
		v.Get("category").Kind() == decode.Array:
		return full(OldReport, "category", "report of an eval, before 0.8")
	}
	m := draft.Check{Match: schema.Match{Format: Format, Detail: "summary of a load test"}}
	m.Want(has(v, "Test Duration (s)", "Time taken for tests (s)", misspelt), "Test Duration (s)")
	m.Want(has(v, "Total Requests", "Total requests"), "Total Requests")
	return m.Match
}

func has(v decode.Value, names ...string) bool {
	for _, n := range names {
		if v.Has(n) {
			return true
		}
	}
	return false
}

// Read returns a point, a part of one, or the scores of a report.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	r := schema.Reading{Format: m.Format, Detail: m.Detail}
	switch m.Format {
	case Percentiles:
		readPercentiles(f, &r)
	case Arguments:
		readArguments(f, &r)
	case Report:
		readReport(f, &r)
	case OldReport:
		readOldReport(f, &r)
	case Format:
		readSummary(f, &r)
	}
	return r
}

// family is a latency as its columns and fields call it, without the unit.
type family struct{ names, metric, def string }

func families() []family {
	return []family{
		{"|ttft|avg ttft|average time to first token|", "ttft", schema.DefFirstContent},
		{"|tpot|avg tpot|average time per output token|", "tpot", schema.DefExclFirst},
		{"|itl|avg itl|average inter-token latency|", "itl", schema.DefChunkGap},
		{"|latency|avg latency|average latency|", "e2el", schema.DefLastContent},
	}
}

// timeOf splits "Avg TTFT (ms)" into the metric and the factor to milliseconds.
func timeOf(name string) (fam family, scale float64, ok bool) {
	base, unit, _ := strings.Cut(strings.ToLower(name), " (")
	for _, fam := range families() {
		if strings.Contains(fam.names, "|"+base+"|") {
			switch unit {
			case "ms)":
				return fam, 1, true
			case "s)":
				return fam, 1000, true
			}
		}
	}
	return family{}, 0, false
}

func readSummary(f *decode.File, r *schema.Reading) {
	v := f.First
	d := draft.New(f, r, v, "evalscope")
	first := func(names ...string) *float64 {
		for _, n := range names {
			if x := v.Get(n).Ptr(); x != nil {
				return x
			}
		}
		return nil
	}
	if n := first("Concurrency", "Number of concurrency"); n != nil && *n > 0 {
		d.Key.Concurrency = n
	}
	if rate := first("Request Rate (req/s)", "Request rate (req/s)"); rate != nil && *rate > 0 {
		d.Key.Rate = rate
	}
	for _, m := range v.Members() {
		if fam, scale, ok := timeOf(m.Key); ok {
			if x, has := m.Val.Float(); has {
				d.Stat(fam.metric, fam.def, "mean", x*scale)
			}
		}
	}
	for metric, x := range map[string]*float64{
		"duration_s": first("Test Duration (s)", "Time taken for tests (s)", misspelt),
		"rps":        first("Req Throughput (req/s)", "Request throughput (req/s)", "Average QPS"),
		"output_tps": first("Output Throughput (tok/s)", "Output token throughput (tok/s)",
			"Throughput(average output tokens per second)"),
		"total_tps": first("Total Throughput (tok/s)", "Total token throughput (tok/s)"),
	} {
		if x != nil {
			d.Value(metric, *x)
		}
	}
	for metric, x := range map[string]*float64{
		"isl": first("Avg Input Tokens", "Average input tokens per request"),
		"osl": first("Avg Output Tokens", "Average output tokens per request"),
	} {
		if x != nil {
			d.Stat(metric, "", "mean", *x)
		}
	}
	noTPOT(d, v)
	d.Requests(first("Success Requests", "Succeed requests"), first("Failed Requests", "Failed requests"), nil, "")
	d.Done()
}

// misspelt is the name of the duration in versions up to 0.7.
const misspelt = "Time taken for tests (senconds)"

// noTPOT drops the time per output token of early versions, which is the duration divided by the tokens of all
// requests: the inverse of the throughput, and no TPOT. Those versions state the latency of a package beside it.
func noTPOT(d *draft.Draft, v decode.Value) {
	tpot, has := d.Metrics["tpot"].Stats.Get("mean")
	tps, _ := d.Metrics["output_tps"].Stats.Get("value")
	inverse := tpot*tps > 990 && tpot*tps < 1010 && d.Key.Concurrency != nil && *d.Key.Concurrency > 1
	if has && (inverse || v.Has(misspelt)) {
		d.Missing("tpot", schema.DefExclFirst, "the file's time per token is the duration divided by all tokens")
	}
}

// readPercentiles makes a point of the table: rows are statistics, columns are metrics.
func readPercentiles(f *decode.File, r *schema.Reading) {
	d := draft.New(f, r, f.First, "evalscope")
	for row := range f.First.Items() {
		stat := row.Get("Percentiles").Text()
		switch stat {
		case "min", "max":
		case "50%":
			stat = "median"
		case "90%", "95%", "99%":
			stat = "p" + strings.TrimSuffix(stat, "%")
		default:
			continue
		}
		for _, m := range row.Members() {
			if fam, scale, ok := timeOf(m.Key); ok {
				if x, has := m.Val.Float(); has {
					d.Stat(fam.metric, fam.def, stat, x*scale)
				}
			}
		}
	}
	d.Done()
}

// readArguments makes a point of what was asked; it has no numbers.
func readArguments(f *decode.File, r *schema.Reading) {
	v := f.First
	p := schema.Point{Key: schema.Key{Task: "text", Tool: "evalscope", Dataset: v.Get("dataset").Str()}}
	p.Key.ISL, p.Key.OSL = same(v, "min_prompt_length", "max_prompt_length"), same(v, "min_tokens", "max_tokens")
	p.Conditions = map[string]string{"num_prompts": v.Get("number").Text()}
	for _, name := range []string{"seed", "api", "stream"} {
		if text := v.Get(name).Text(); text != "" {
			p.Conditions[name] = text
		}
	}
	r.Facts.Model.ID = v.Get("model").Str()
	r.Points = []schema.Point{p}
}

// same is a length whose least and most are one.
func same(v decode.Value, least, most string) *float64 {
	a, b := v.Get(least).Ptr(), v.Get(most).Ptr()
	if a == nil || b == nil || *a != *b || *a <= 0 {
		return nil
	}
	return b
}

// Combine adds percentiles or arguments to the summary of the same load test.
func Combine(summary *schema.Reading, part schema.Reading) {
	if len(summary.Points) != 1 || len(part.Points) != 1 {
		return
	}
	p, q := &summary.Points[0], &part.Points[0]
	if part.Format == Percentiles {
		for name, m := range q.Metrics {
			own, has := p.Metrics[name]
			if !has || len(own.Stats) == 0 {
				continue
			}
			for _, s := range m.Stats {
				if _, stated := own.Stats.Get(s.Name); !stated {
					own.Stats.Set(s.Name, s.Value)
				}
			}
			p.Metrics[name] = own
		}
		return
	}
	p.Key.ISL, p.Key.OSL, p.Key.Dataset = q.Key.ISL, q.Key.OSL, q.Key.Dataset
	if summary.Facts.Model.ID == "" {
		summary.Facts.Model.ID = part.Facts.Model.ID
	}
	for name, v := range q.Conditions {
		p.Conditions[name] = v
	}
}

// readReport returns a score for each metric of a report.
func readReport(f *decode.File, r *schema.Reading) {
	v := f.First
	r.Facts.Model.ID = v.Get("model_name").Str()
	for m := range v.Get("metrics").Items() {
		add(f, r, v.Get("dataset_name").Str(), m.Get("name").Str(), m.Get("score"), m.Get("num"))
	}
}

// readOldReport returns the scores of a report up to 0.7, which states no model: one number, or several by name.
func readOldReport(f *decode.File, r *schema.Reading) {
	v := f.First
	task, score := v.Get("name").Str(), v.Get("score")
	if score.Kind() != decode.Object {
		add(f, r, task, v.Get("metric").Str(), score, v.Get("total_num"))
	}
	for _, m := range score.Members() {
		add(f, r, task, m.Key, m.Val, v.Get("total_num"))
	}
}

// add appends a score, with the number of items that it is of.
func add(f *decode.File, r *schema.Reading, task, metric string, score, items decode.Value) {
	if task == "" || metric == "" {
		return
	}
	s := schema.Score{
		Task: task, Metric: metric, Source: f.Source(r.Format), Stderr: schema.Missing("not in the file"),
	}
	if n, ok := items.Int(); ok && n > 0 {
		s.N = n
	}
	if x, ok := score.Float(); ok {
		s.Value = schema.Num(x)
	} else {
		s.Value = schema.Missing("the file says " + strconv.Quote(score.Text()))
	}
	r.Scores = append(r.Scores, s)
}
