package lmeval

import (
	"math"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this package distinguishes.
const (
	Format  = "lm-eval"
	Old     = "lm-eval-0.3"
	LMMs    = "lmms-eval"
	Samples = "lm-eval-samples"
	Aside   = "lm-eval-aside"
)

// Detect reports by content whether a file is the harness's.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Format}}
	v := f.First
	if v.Kind() == decode.Array && isSample(v.Index(0)) {
		return schema.Match{Format: Samples, Has: []string{"doc_id", "filtered_resps"}, Detail: "per-item outcomes"}
	}
	if v.Kind() != decode.Object {
		m.Lacks = []string{"a JSON object"}
		return m.Match
	}
	if isSample(v) {
		return schema.Match{
			Format: Samples, Has: []string{"doc_id", "filtered_resps"}, Detail: "per-item outcomes", Records: true,
		}
	}
	if v.Has("elapsed_time") && v.Has("gpu") && v.Len() <= 3 {
		return schema.Match{
			Format: Aside, Has: []string{"elapsed_time", "gpu"}, Detail: "not a result: how long a suite took",
		}
	}
	results := v.Get("results")
	m.Not(v.Has("config_general"), "results of the harness (config_general is lighteval's)")
	m.Want(results.Kind() == decode.Object, "results")
	comma, nested, flat := shape(results)
	switch {
	case v.Has("lmms_eval_version") && (comma || flat):
		m.Format, m.Detail = LMMs, v.Get("lmms_eval_version").Text()
		m.Want(true, "lmms_eval_version")
	case comma:
		m.Detail = "0.4 or later"
		m.Want(true, `a metric key such as "acc,none"`)
		if version := v.Get("lm_eval_version").Str(); version != "" {
			m.Detail = version
		}
	case (flat || nested) && v.Get("versions").Kind() == decode.Object:
		m.Format, m.Detail = Old, "0.3 or earlier"
		m.Want(true, "versions")
	default:
		m.Want(false, `a metric key such as "acc,none", or versions`)
	}
	return m.Match
}

func isSample(v decode.Value) bool {
	return v.Has("doc_id") && (v.Has("filtered_resps") || v.Has("resps") || v.Has("input")) &&
		(v.Has("target") || v.Has("doc") || v.Has("arguments"))
}

// shape reports how results are written: keys with a filter, time stamps below each task, or plain metrics.
func shape(results decode.Value) (comma, nested, flat bool) {
	flat = results.Len() > 0
	for _, task := range results.Members() {
		flat = flat && task.Val.Kind() == decode.Object
		for _, metric := range task.Val.Members() {
			comma = comma || strings.Contains(metric.Key, ",")
			nested = nested || metric.Val.Kind() == decode.Object
		}
	}
	return comma, nested && flat, flat && !nested
}

// Read returns the scores of a results file, or the outcomes of items.
func Read(f *decode.File) schema.Reading {
	match := Detect(f)
	r := schema.Reading{Format: match.Format, Detail: match.Detail}
	switch match.Format {
	case Samples:
		return readSamples(f)
	case Aside:
		return r
	}
	v := f.First
	r.Facts = facts(v)
	if t := parseTime(Stamp(f.Path)); r.Facts.Start.IsZero() && !t.IsZero() {
		r.Facts.Start, r.Facts.End, r.Facts.StartNote = t, t, "by the file's name, zone not stated"
	}
	if _, nested, _ := shape(v.Get("results")); nested && match.Format == Old {
		readNested(f, v, &r)
	} else {
		for _, task := range v.Get("results").Members() {
			readTask(f, v, task.Key, task.Val, &r)
		}
	}
	group(v, r.Scores)
	r.Extra = draft.Foreign(nil, v, isKnown)
	if len(r.Scores) == 0 && len(r.More) == 0 {
		p := f.Problem(schema.SevError, "no-scores", v.Get("results"))
		p.Found, p.Expected, p.Hint = "no score in results", "at least one metric with a number", "look at the harness's log"
		r.Problems = append(r.Problems, p)
	}
	return r
}

// readNested reads {task: {time: {metric: value}}}: each time is a separate run.
func readNested(f *decode.File, v decode.Value, r *schema.Reading) {
	byTime := map[string]*schema.Reading{}
	var order []string
	for _, task := range v.Get("results").Members() {
		for _, when := range task.Val.Members() {
			if when.Val.Kind() != decode.Object {
				continue
			}
			one := byTime[when.Key]
			if one == nil {
				one = &schema.Reading{Format: r.Format, Detail: r.Detail, Facts: r.Facts}
				if t := parseTime(when.Key); !t.IsZero() {
					one.Facts.Start, one.Facts.End, one.Facts.StartNote = t, t, "as the file says, zone not stated"
				}
				byTime[when.Key] = one
				order = append(order, when.Key)
			}
			readTask(f, v, task.Key, when.Val, one)
		}
	}
	for i, key := range order {
		if i == 0 {
			r.Facts, r.Scores = byTime[key].Facts, byTime[key].Scores
			continue
		}
		r.More = append(r.More, *byTime[key])
	}
}

var revisionArg = regexp.MustCompile(`(?:^|,)\s*revision=([^,]+)`)

var modelArg = regexp.MustCompile(`(?:^|,)\s*(?:model|pretrained|model_version)=([^,]+)`)

func facts(v decode.Value) schema.Facts {
	var f schema.Facts
	f.Model.ID = v.Get("model_name").Str()
	args := v.At("config", "model_args")
	for _, name := range []string{"model", "pretrained", "model_version"} {
		if f.Model.ID == "" {
			f.Model.ID = args.Get(name).Str()
		}
	}
	if m := modelArg.FindStringSubmatch(args.Str()); m != nil && f.Model.ID == "" {
		f.Model.ID = m[1]
	}
	revision := v.At("config", "model_revision").Str()
	if m := revisionArg.FindStringSubmatch(args.Str()); m != nil && revision == "" {
		revision = m[1]
	}
	if revision == "" {
		revision = args.Get("revision").Str()
	}
	draft.Revision(&f, revision)
	if sec, ok := v.Get("date").Float(); ok && sec > 1e8 && sec < 1e11 {
		whole, frac := math.Modf(sec)
		f.Start = time.Unix(int64(whole), int64(frac*1e9)).UTC().Truncate(time.Second)
	} else if t := parseTime(v.Get("date").Str()); !t.IsZero() {
		f.Start, f.StartNote = t, "local time of the client, zone not stated"
	}
	f.End = f.Start
	if d, ok := v.Get("total_evaluation_time_seconds").Float(); ok && d > 0 && d < 1e7 && !f.Start.IsZero() {
		f.End = f.Start.Add(time.Duration(d * float64(time.Second))).Truncate(time.Second)
	}
	return f
}

func parseTime(s string) time.Time {
	for _, layout := range []string{
		time.RFC3339, "2006-01-02T15:04:05.999999", "2006-01-02 15:04:05", "20060102_150405", "20060102150405",
		"2006-01-02-15-04-05", "2006-01-02T15-04-05.999999", "20060102-150405", "0102_1504", time.DateOnly,
	} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 2000 {
			return t.UTC().Truncate(time.Second)
		}
	}
	return time.Time{}
}

// notMetrics are members of a task's entry that are not scores.
var notMetrics = draft.Names("alias name sample_len sample_count samples")

func readTask(f *decode.File, v decode.Value, task string, entry decode.Value, r *schema.Reading) {
	for _, m := range entry.Members() {
		metric, filter := m.Key, ""
		if i := strings.LastIndexByte(m.Key, ','); i >= 0 {
			metric, filter = m.Key[:i], m.Key[i+1:]
		} else if r.Format == Format {
			continue // 0.4 and later write every metric with its filter
		}
		if notMetrics(metric) || isError(metric) || strings.TrimSpace(metric) == "" {
			continue
		}
		s := schema.Score{Task: task, Metric: metric, Filter: filter, Source: f.Source(r.Format)}
		s.Source.ToolVersion = v.Get("lm_eval_version").Str()
		x, ok := m.Val.Float()
		switch {
		case r.Format == Old && (m.Val.Kind() == decode.String && !isSpelt(m.Val.Str()) || m.Val.Kind() == decode.Null):
			continue // prompts, names and data sets, of which some look like numbers
		case ok:
			s.Value = schema.Num(x)
		case m.Val.Str() == "True" || m.Val.Str() == "False": // how the harness writes values that JSON cannot represent
			s.Value = schema.Num(map[string]float64{"True": 1}[m.Val.Str()])
		case m.Val.Kind() == decode.Null && metric == "submission": // a file for external judging
			continue
		case m.Val.Kind() == decode.Number || m.Val.Kind() == decode.String || m.Val.Kind() == decode.Null:
			s.Value = schema.Missing(shortly("the file says " + string(m.Val.Raw())))
		default:
			continue
		}
		s.Stderr = schema.Missing("not in the file")
		key := metric + "_stderr"
		if filter != "" || r.Format == Format {
			key += "," + filter
		}
		if x, ok := entry.Get(key).Float(); ok {
			s.Stderr = schema.Num(x)
		}
		describe(v, &s)
		r.Scores = append(r.Scores, s)
	}
}

// isSpelt reports words for values that JSON cannot hold.
func isSpelt(text string) bool {
	switch strings.ToLower(text) {
	case "true", "false", "nan", "inf", "-inf", "infinity", "-infinity":
		return true
	}
	return false
}

// isError reports the standard errors of a metric, of which lmms-eval writes several.
func isError(metric string) bool {
	return strings.HasSuffix(metric, "_stderr") || strings.Contains(metric, "_stderr_") ||
		strings.HasPrefix(metric, "paired_")
}

func shortly(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

// describe adds what the other parts of the file state about a task.
func describe(v decode.Value, s *schema.Score) {
	if n, ok := v.At("n-samples", s.Task, "effective").Int(); ok && n > 0 {
		s.N = n
	}
	if n, ok := v.At("n-samples", s.Task, "original").Int(); ok && n > 0 {
		s.Total = n
	}
	if s.Total > 0 && s.N > s.Total {
		s.N = s.Total // a fractional --limit up to 0.4.4 is not in "effective"
	}
	shots := v.At("n-shot", s.Task)
	if shots.Kind() == decode.Invalid {
		shots = v.At("config", "num_fewshot")
	}
	if n, ok := shots.Int(); ok {
		s.Fewshot = &n
	}
	s.Limit = v.At("config", "limit").Ptr()
	if up, ok := v.At("higher_is_better", s.Task, s.Metric).Truth(); ok {
		s.Direction = "lower"
		if up {
			s.Direction = "higher"
		}
	}
	s.Version = v.At("versions", s.Task).Text()
}

// Stamp returns the time stamp that a results file and its samples share in their names, "" if there is none.
func Stamp(name string) string {
	base := path.Base(name)
	if m := stamp.FindString(base); m != "" {
		return m
	}
	return ""
}

var stamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?|\d{8}_\d{6}|\d{4}_\d{4}`)

// isKnown reports the parts of a results file that are read, or that are long descriptions of tasks and machines.
var isKnown = draft.Names(`
	results groups group_subtasks configs versions n-shot higher_is_better n-samples config date task_hashes
	pretty_env_info start_time end_time total_evaluation_time_seconds model_name model_name_sanitized tokenizer_*
	eot_token_id samples lmms_eval_version lm_eval_version`)

// group states of each score the nearest group around its task that has a score of its own: groups may be in groups, of
// which some have none.
func group(v decode.Value, scores []schema.Score) {
	around := map[string]string{}
	for _, g := range v.Get("group_subtasks").Members() {
		for task := range g.Val.Items() {
			if name := task.Str(); name != g.Key {
				around[name] = g.Key
			}
		}
	}
	scored := map[string]bool{}
	for i := range scores {
		scored[scores[i].Task] = true
	}
	const depth = 8 // a damaged file may have a circle
	for i := range scores {
		s := &scores[i]
		at := around[s.Task]
		for n := 0; n < depth && at != "" && !scored[at]; n++ {
			at = around[at]
		}
		if scored[at] && at != s.Task {
			s.Group = at
		}
	}
}
