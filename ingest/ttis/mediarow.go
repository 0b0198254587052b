package ttis

import (
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// mediaRow reads a row of the statistics of media: rounded copies, in milliseconds, of what [readMedia] reads.
func mediaRow(f *decode.File, r *schema.Reading, row decode.Value) {
	if !row.Has("mean_latency_ms") && !row.Has("tps_prefill_throughput") {
		return // of the summary, whose numbers are in the statistics too
	}
	task := row.Get("task_type").Str()
	d := mediaDraft(f, r, row, task, draft.First(row, "input_sequence_length"), draft.First(row, "max_con"))
	d.Condition("num_prompts", row.Get("num_requests").Text())
	d.Condition(RawFile, row.Get("filename").Str())
	if n := draft.First(row, "num_inference_steps"); n != nil && *n > 1 {
		d.Condition(schema.ConditionSteps, strconv.FormatFloat(*n, 'f', -1, 64))
	}
	for condition, column := range map[string]string{
		"streaming": "streaming_enabled", "preprocessing": "preprocessing_enabled",
	} {
		d.Condition(condition, strings.ToLower(row.Get(column).Text()))
	}
	mediaRowNumbers(d, row, task)
	if s, err := strconv.ParseFloat(row.Get("timestamp").Text(), 64); err == nil && s > 1e8 && s < 1e11 {
		d.Start = time.Unix(int64(s), 0).UTC()
		d.End = d.Start
		if r.Facts.Start.IsZero() {
			r.Facts.Start, r.Facts.End, r.Facts.StartNote = d.Start, d.End, ""
		}
	}
	d.Done()
}

func mediaRowNumbers(d *draft.Draft, row decode.Value, task string) {
	latency, def := "e2el", schema.DefLastChunk
	if task == "tts" {
		latency, def = "ttft", schema.DefFirstChunk
	}
	for _, m := range []struct{ metric, def, stat, column string }{
		{latency, def, "mean", "mean_latency_ms"}, {latency, def, "median", "p50_latency_ms"},
		{latency, def, "p90", "p90_latency_ms"}, {latency, def, "p95", "p95_latency_ms"},
		{"e2el", schema.DefLastChunk, "mean", "mean_e2el_ms"}, {"ttft", schema.DefNotStated, "mean", "mean_ttft_ms"},
		{"rps", "", "value", "throughput_rps"}, {"rps", "", "value", "request_throughput"},
		{schema.MetricRealTime, "", "value", "rtr"}, {schema.MetricSteps, "", "value", "inference_steps_per_second"},
		{"tps_user", schema.DefNotStated, "value", "t/s/u"}, {schema.MetricInputUser, "", "value", "mean_tps"},
		{schema.MetricInputRate, "", "value", "tps_prefill_throughput"},
	} {
		if x := draft.First(row, m.column); x != nil && *x > 0 {
			d.Stat(m.metric, m.def, m.stat, *x)
		}
	}
	if mean, ok := d.Metrics["e2el"].Stats.Get("mean"); ok && task != "asr" && task != "embedding" {
		d.Derived(schema.MetricRequestsUser, "", "value", 1000/mean)
	}
}
