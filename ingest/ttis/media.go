package ttis

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Media and MediaEval are results of the clients for models that do not write text: utils/media_clients until v0.18,
// test_module since. A benchmark has its numbers in "benchmarks", which v0.1 wrote as "benchmarks: " around another
// one; evals are a list of scores.
const (
	Media     = "ttis-media"
	MediaEval = "ttis-media-eval"
)

// mediaNumbers are the numbers of a benchmark of media.
func mediaNumbers(v decode.Value) decode.Value {
	if inner := v.At("benchmarks: ", "benchmarks"); inner.Kind() == decode.Object {
		return inner
	}
	return v.Get("benchmarks")
}

// isMediaScore recognises {"model", "device", "timestamp", "task_name", "accuracy_check" …}.
func isMediaScore(v decode.Value) bool {
	return v.Has("accuracy_check", "timestamp", "task_name") && !v.Has("ratio_to_reference")
}

// mediaTask is a task as target files name it.
func mediaTask(name string) string {
	return cmp.Or(map[string]string{"audio": "asr", "text_to_speech": "tts"}[name], name)
}

func mediaFacts(v decode.Value) schema.Facts {
	f := schema.Facts{
		Model: schema.Model{Name: v.Get("model").Str()}, Device: schema.Device{Name: v.Get("device").Str()},
	}
	if m := modelID.FindStringSubmatch(f.Model.Name); m != nil { // the first clients wrote the id of the spec
		f.Impl, f.Model.Name = m[1], m[2]
	}
	draft.Dated(&f, draft.Time(v.Get("timestamp").Str()), hostTime)
	return f
}

func readMedia(f *decode.File, r *schema.Reading) {
	r.Facts = mediaFacts(f.First)
	media(f, r, mediaNumbers(f.First), mediaTask(f.First.Get("task_type").Str()), f.First).Done()
}

// media reads the numbers of a benchmark. Latencies are in seconds, except "e2el" and "ttft_ms". Until v0.16, and since
// v0.19, "ttft" is the time of a whole answer for models that answer at once; a voice has its first sound then, and
// what is transcribed in a stream its first token. Where a file does not say whether it streamed, it is not known which
// of both "ttft" is. settings has what was enabled.
func media(f *decode.File, r *schema.Reading, b decode.Value, task string, settings decode.Value) *draft.Draft {
	d := mediaDraft(f, r, b, task)
	b = d.In
	d.Key.ISL = b.Number("isl")
	d.Condition("num_prompts", b.Get("num_requests").Text())
	for _, setting := range []string{"streaming", "preprocessing"} {
		if on, ok := settings.Get(setting + "_enabled").Truth(); ok && (task == "asr" || setting == "preprocessing") {
			d.Condition(setting, strconv.FormatBool(on))
		}
	}
	mediaLatencies(d, task, settings.Get("streaming_enabled"))
	d.Above(b, mediaRates)
	user := b.Get("tput_user").Float0()
	mean, _ := d.Point.Value("e2el", "mean")
	switch {
	case task == "embedding" && user > 0:
		d.Value(schema.MetricInputUser, user)
	case (task == "image" || task == "video" || task == "cnn") && mean > 0:
		// stated in answers or in steps per second, by version
		d.Derived(schema.MetricRequestsUser, "", "value", 1000/mean)
	}
	ok, n := b.Number("successful_requests", "num_successful"), b.Get("num_requests").Float0()
	d.Requests(ok, b.Get("failed_requests").Ptr(), b.Get("num_requests").Ptr(), "")
	if ok != nil {
		n = *ok
	}
	d.Size("e2el", int(n))
	d.Size("ttft", int(n))
	d.Foreign(b, `name target_check* accuracy_check streaming_enabled preprocessing_enabled ttft* latency*`)
	return d
}

// mediaRates are those of a benchmark and of a row of the statistics; 0 stands for one that is absent.
var mediaRates = map[string]string{
	"rps": "throughput_rps|req_tput|request_throughput", schema.MetricRealTime: "rtr",
	schema.MetricSteps: "inference_steps_per_second", schema.MetricInputRate: "tput_prefill|tps_prefill_throughput",
	schema.MetricInputUser: "mean_tps", "tps_user not-stated": "t/s/u",
}

// mediaDraft begins a point of media: the clients send one request at a time, unless a file states how many.
func mediaDraft(f *decode.File, r *schema.Reading, at decode.Value, task string) *draft.Draft {
	d := draft.New(f, r, at, schema.ToolMedia)
	d.Key.Task = task
	d.Key.Concurrency = cmp.Or(d.In.Number("concurrency", "num_concurrent_requests", "max_con"), new(1.))
	if steps := d.In.Get("num_inference_steps").Float0(); steps > 1 {
		d.Condition(schema.ConditionSteps, strconv.FormatFloat(steps, 'f', -1, 64))
	}
	return d
}

func mediaLatencies(d *draft.Draft, task string, streams decode.Value) {
	b := d.In
	first, whole := "e2el s last-chunk", "e2el s last-chunk"
	switch on, stated := streams.Truth(); {
	case task == "tts": // its client stops the clock at the first answer
		first, whole = "ttft s first-chunk", "ttft s first-chunk"
	case task == "asr" && !stated:
		first = "ttft s not-stated"
	case task == "asr" && on:
		first = "ttft s first-content"
	case task == "asr": // its text comes as a whole, and its targets ask for a TTFT
		d.Of("ttft s last-chunk", b.Get("ttft"))
	}
	d.Of(first, b.Get("ttft"))
	d.Of(strings.Replace(first, " s ", " ms ", 1), b.Get("ttft_ms"))
	d.Of("e2el last-chunk", b.Get("e2el"))
	d.Of(whole, b.Get("latency"))
	for key, stat := range map[string]string{"p50": "median", "p90": "p90", "p95": "p95"} {
		d.Of(first+" "+stat, b.Get("ttft_"+key))
		d.Of(whole+" "+stat, b.Get("latency_"+key))
	}
}

// mediaSection reads a benchmark of a report since v0.19: numbers in "Benchmarks", or one row a length of sound. The
// report grades the longest one, which has the plain key of the task, so that the targets of the model cover it.
func mediaSection(f *decode.File, r *schema.Reading, s decode.Value) bool {
	data, task := s.Get("data"), mediaTask(s.Get("task_type").Str())
	rows, read := recordsOf(data, data.Get("Benchmarks")), false
	for i, b := range rows {
		if !b.Has("num_requests") || !b.HasAny("ttft", "ttft_ms", "e2el") {
			continue
		}
		read = true
		d := media(f, r, b, task, b)
		if m := soundLength.FindStringSubmatch(b.Get("name").Str()); m != nil && i < len(rows)-1 {
			d.Dim("sound", m[1])
		}
		checks := b
		if i == len(rows)-1 && data.Has("target_checks") {
			checks = data
		}
		addChecked(f, r, checks, s.Get("targets"), schema.Key{Task: task, Dims: d.Key.Dims})
		d.Done()
	}
	return read
}

var soundLength = lazyregexp.New(`\b(\d+)s$`)

// readMediaEval reads the file of evals of media.
func readMediaEval(f *decode.File, r *schema.Reading) {
	v := f.First.Index(0)
	r.Facts, r.Detail = mediaFacts(v), "eval of "+mediaTask(v.Get("task_type").Str())
	for one := range f.First.Items() {
		if isMediaScore(one) {
			mediaScores(f, r, one)
			continue
		}
		draft.Problem(f, r, schema.SevWarning, "bad-score", one, "an entry that is no eval of media",
			"accuracy_check, timestamp and task_name in each entry")
	}
}

// mediaScores reads what an eval of media came to. Where the client writes a latency as "score", that is no score.
func mediaScores(f *decode.File, r *schema.Reading, v decode.Value) {
	add := func(metric, direction string, n int, x float64) {
		s := draft.Score(f, r, v.Get("task_name").Str(), metric, x)
		s.N, s.Total, s.Direction = n, n, direction
	}
	if total, ok := v.Get("total").Float(); ok && total > 0 && v.Has("correct") {
		add("accuracy", "higher", int(total), v.Get("correct").Float0()/total)
	}
	for _, m := range []struct{ key, metric, direction string }{
		{"main_score", "main_score", "higher"}, {"average_clip", "clip", "higher"}, {"fid_score", "fid", "lower"},
		{"fvd", "fvd", "lower"}, {"fvmd", "fvmd", "lower"}, {"wer", wer, "lower"},
	} {
		if x, ok := v.Get(m.key).Float(); ok {
			add(m.metric, m.direction, int(v.Get("num_prompts").Float0()), x)
		}
	}
}

// mediaRow reads a row of the statistics of media: rounded copies, in milliseconds, of what [readMedia] reads.
func mediaRow(f *decode.File, r *schema.Reading, row decode.Value) {
	if !row.Has("mean_latency_ms") && !row.Has("tps_prefill_throughput") {
		return // of the summary, whose numbers are in the statistics too
	}
	task := row.Get("task_type").Str()
	d := mediaDraft(f, r, row, task)
	d.Key.ISL = row.Number("input_sequence_length")
	d.Condition("num_prompts", row.Get("num_requests").Text())
	d.Condition(RawFile, row.Get("filename").Str())
	for _, setting := range []string{"streaming", "preprocessing"} {
		d.Condition(setting, strings.ToLower(row.Get(setting+"_enabled").Text()))
	}
	answer := "e2el last-chunk"
	if task == "tts" {
		answer = "ttft first-chunk"
	}
	d.Above(d.In, map[string]string{
		answer: "mean_latency_ms", answer + " median": "p50_latency_ms", answer + " p90": "p90_latency_ms",
		answer + " p95": "p95_latency_ms",
	})
	d.Above(d.In, map[string]string{"e2el last-chunk": "mean_e2el_ms", "ttft not-stated": "mean_ttft_ms"})
	d.Above(d.In, mediaRates)
	if mean, ok := d.Point.Value("e2el", "mean"); ok && task != "asr" && task != "embedding" {
		d.Derived(schema.MetricRequestsUser, "", "value", 1000/mean)
	}
	d.Start = draft.Epoch(row.Get("timestamp"))
	if d.End = d.Start; r.Facts.Start.IsZero() {
		draft.Dated(&r.Facts, d.Start, "")
	}
	d.Done()
}
