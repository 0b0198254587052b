// This file reads ModelScope's evalscope: summaries, percentiles and arguments of evalscope perf (0.8 to 1.14)
// and the reports of its evals (reports/<model>/<dataset>.json).
//
// The three files of a load test are one measurement: package ingest joins them by [CombineEvalScope]. A time's
// unit stands in the name of its field, and changed from seconds to milliseconds.

package format

import (
	"cmp"
	"maps"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the parts of a load test.
const (
	EvalScopePercentiles = "evalscope-percentiles"
	EvalScopeArguments   = "evalscope-arguments"
)

// EvalScope is the format of the summary of a load test; its parts and the reports of evals have names that no other
// tool writes.
var EvalScope = draft.Format{
	Name: "evalscope-perf", Detail: "summary of a load test", Tool: "evalscope", Point: evalScopeSummary,
	Wants: draft.Wants("Test Duration (s)|Time taken for tests (s)|"+misspelt, "Total Requests|Total requests"),
	Others: []draft.Format{
		{
			Name: EvalScopePercentiles, Detail: "percentiles of a load test", Tool: "evalscope", Point: evalScopeRows,
			Wants: draft.Wants("0.Percentiles", "0.TTFT (ms)|0.TTFT (s)"),
		},
		{
			Name: EvalScopeArguments, Detail: "arguments of a load test", All: evalScopeAsked,
			Wants: draft.Wants("outputs_dir&parallel&number"),
		},
		draft.Aside("evalscope-aside", "the course of a load test",
			"n_samples&last_window_s&rows[]|wall_start&points.0.cum_completion"),
		{
			Name: "evalscope-report", Detail: "report of an eval", All: evalScopeReport,
			Wants: draft.Wants("dataset_name&model_name&metrics.0.score"),
		},
		{
			Name: "evalscope-report-old", Detail: "report of an eval, before 0.8", All: evalScopeOldReport,
			Wants: draft.Wants("name&metric&score&total_num&category[]"),
		},
	},
}

// misspelt is the name of the duration in versions up to 0.7.
const misspelt = "Time taken for tests (senconds)"

// evalScopeRows reads percentiles: rows are statistics, columns are metrics.
func evalScopeRows(d *draft.Draft) {
	for row := range d.In.Items() {
		text := row.Get("Percentiles").Text()
		if rank, ok := strings.CutSuffix(text, "%"); ok {
			text = "p" + rank
		}
		if stat, ok := schema.ParseStat(text); ok && strings.Contains(draft.Usual, " "+stat+" ") {
			evalScopeLatencies(d, row, stat)
		}
	}
}

// evalScopeAsked reads what was asked: a point without numbers.
func evalScopeAsked(f *decode.File, r *schema.Reading) {
	v := f.First
	r.Facts.Model.ID = v.Get("model").Str()
	p := schema.Point{Key: schema.Key{Task: "text", Tool: "evalscope", Dataset: v.Get("dataset").Str()}}
	p.Key.ISL = draft.Fixed(v, "min_prompt_length", "max_prompt_length")
	p.Key.OSL = draft.Fixed(v, "min_tokens", "max_tokens")
	p.Conditions = map[string]string{"num_prompts": v.Get("number").Text()}
	for _, name := range []string{"seed", "api", "stream"} {
		if text := v.Get(name).Text(); text != "" {
			p.Conditions[name] = text
		}
	}
	r.Points = []schema.Point{p}
}

func evalScopeReport(f *decode.File, r *schema.Reading) {
	v := f.First
	r.Facts.Model.ID = v.Get("model_name").Str()
	metrics := v.Get("metrics")
	for m := range metrics.Items() {
		first := len(r.Scores)
		name, categories := m.Get("name").Str(), m.Get("categories")
		evalScopeAdd(f, r, v.Get("dataset_name").Str(), name, m.Get("score"), m.Get("num"), categories)
		for i := range r.Scores {
			if first == 0 && metrics.Len() > 1 { // by which the report as a whole is scored
				r.Scores[i].Unknown.Set(schema.Headline, "true")
			}
		}
	}
}

// evalScopeOldReport reads a report that states no model: one number, or several by name.
func evalScopeOldReport(f *decode.File, r *schema.Reading) {
	v := f.First
	task, score := v.Get("name").Str(), v.Get("score")
	if score.Kind() != decode.Object {
		evalScopeAdd(f, r, task, v.Get("metric").Str(), score, v.Get("total_num"), v.Get("category"))
	}
	for _, m := range score.Members() {
		evalScopeAdd(f, r, task, m.Key, m.Val, v.Get("total_num"), v.Get("category"))
	}
}

var evalScopeMetrics = map[string]string{
	"ttft": "ttft first-content", "time to first token": "ttft first-content", "latency": "e2el last-content",
	"tpot": "tpot excl-first", "time per output token": "tpot excl-first", "itl": "itl chunk-gap",
	"inter-token latency": "itl chunk-gap",
}

// evalScopeLatencies sets a statistic of the latencies of an object, by names such as "Avg TTFT (ms)" and "Average
// latency (s)".
func evalScopeLatencies(d *draft.Draft, v decode.Value, stat string) {
	for _, m := range v.Members() {
		name, unit, _ := strings.Cut(strings.ToLower(m.Key), " (")
		metric := evalScopeMetrics[strings.TrimPrefix(strings.TrimPrefix(name, "avg "), "average ")]
		if metric != "" && (unit == "ms)" || unit == "s)") {
			d.Of(metric+" "+strings.TrimSuffix(unit, ")")+" "+stat, m.Val)
		}
	}
}

func evalScopeSummary(d *draft.Draft) {
	v := d.In
	evalScopeLatencies(d, v, "mean")
	d.Fields(v, map[string]string{
		"key concurrency": "Concurrency|Number of concurrency", "key rate": "Request Rate (req/s)|Request rate (req/s)",
		"duration_s": "Test Duration (s)|Time taken for tests (s)|" + misspelt,
		"rps":        "Req Throughput (req/s)|Request throughput (req/s)|Average QPS",
		"output_tps": "Output Throughput (tok/s)|Output token throughput (tok/s)|" +
			"Throughput(average output tokens per second)",
		"total_tps": "Total Throughput (tok/s)|Total token throughput (tok/s)",
		"isl":       "Avg Input Tokens|Average input tokens per request",
		"osl":       "Avg Output Tokens|Average output tokens per request",
	})
	// The time per output token of early versions is the duration divided by the tokens of all requests: the inverse of
	// the throughput, and no TPOT. Those versions state the latency of a package beside it.
	tpot, has := d.Point.Value("tpot", "mean")
	tps, _ := d.Point.Value("output_tps", "value")
	inverse := tpot*tps > 990 && tpot*tps < 1010 && d.Key.Concurrency != nil && *d.Key.Concurrency > 1
	if has && (inverse || v.Has(misspelt)) {
		d.Missing("tpot", schema.DefExclFirst, "the file's time per token is the duration divided by all tokens")
	}
	d.Requests(v.Number("Success Requests", "Succeed requests"), v.Number("Failed Requests", "Failed requests"), nil, "")
}

// CombineEvalScope adds percentiles or arguments to the summary of the same load test.
func CombineEvalScope(summary *schema.Reading, part schema.Reading) {
	if len(summary.Points) != 1 || len(part.Points) != 1 {
		return
	}
	p, q := &summary.Points[0], &part.Points[0]
	if part.Format == EvalScopePercentiles {
		for i := range p.Metrics {
			own := &p.Metrics[i]
			more, _ := q.Metric(own.Name())
			for _, s := range more.Stats {
				if _, stated := own.Stats.Get(s.Name()); !stated && len(own.Stats) > 0 {
					own.Stats.Set(s.Name(), s.Value)
				}
			}
		}
		return
	}
	p.Key.ISL, p.Key.OSL, p.Key.Dataset = q.Key.ISL, q.Key.OSL, q.Key.Dataset
	summary.Facts.Model.ID = cmp.Or(summary.Facts.Model.ID, part.Facts.Model.ID)
	maps.Copy(p.Conditions, q.Conditions)
}

// evalScopeAdd appends a score, with the number of items that it is of, and those of its subsets where it has several.
func evalScopeAdd(f *decode.File, r *schema.Reading, task, metric string, score, items, categories decode.Value) {
	if task == "" || metric == "" {
		return
	}
	add := func(task string, score, items decode.Value) *schema.Score {
		s := draft.Score(f, r, task, metric, 0)
		n, _ := items.Int()
		s.N, s.Value = max(n, 0), draft.NumberOf(score, "the file says "+strconv.Quote(score.Text()))
		return s
	}
	add(task, score, items)
	n := 0 // which are not held at once
	for c := range categories.Items() {
		n += c.Get("subsets").Len() + c.Get("subset").Len() // before 0.8
	}
	for c := range categories.Items() {
		for _, list := range []string{"subsets", "subset"} {
			for x := range c.Get(list).Items() {
				score := x.Get("score")
				if score.Kind() == decode.Object {
					score = score.Get(metric)
				}
				if len(r.Scores) > f.Limits().Results { // the load says so
					return
				}
				if name := x.Get("name").Str(); name != "" && n > 1 { // else it is the whole
					add(task+"/"+name, score, x.Get("num")).Group = task
				}
			}
		}
	}
}
