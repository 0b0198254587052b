// Package lmeval reads results of EleutherAI's lm-evaluation-harness (results_*.json of 0.4 and later, the flat files
// of 0.3 and earlier, files that nest time stamps below a task), of lmms-eval, and the per-item samples_*.jsonl of
// both.
//
// It takes one decoded file and returns a [schema.Reading] with one score per task, metric and filter. [Combine]
// merges the items with the scores of the same run: the scores are recomputed from them, and the outcomes are kept as
// bits. Source: lm_eval/loggers/evaluation_tracker.py and lmms_eval/loggers, and files of each era.
//
// Traps: since 0.4 a metric's key is "metric,filter", split at the last comma; its standard error is
// "metric_stderr,filter" and may be "N/A"; a group's entry may have nothing but its alias; values that JSON cannot
// represent are strings. Scores keep the tool's own scale: most are fractions of 1, some are not, and nothing is
// multiplied. A run with --limit looks like any other, so n and the full size are kept with each score. "git_hash" is
// of the directory the harness ran in. Before 0.4.8 sample lines do not name their filter: all documents of the first
// one come first. The results before the cut of a truncated file are complete.
//
// Documents, prompts and answers are never kept.
package lmeval

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/plaintext"
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
)

// Reader recognises the harness's files by content.
var Reader = draft.Format{
	Name: Format, Sniff: sniff, All: read,
	Others: []draft.Format{
		{Name: Samples, Detail: "per-item outcomes", All: readSamples, Sniff: func(f *decode.File, m *draft.Check) {
			m.Want(isSample(f.First) || isSample(f.First.Index(0)), "doc_id and filtered_resps")
			m.Records = f.First.Kind() == decode.Object
		}},
		{
			Name: "lm-eval-aside", Detail: "not a result: how long a suite took", Wants: draft.Wants("elapsed_time&gpu"),
			Sniff: func(f *decode.File, m *draft.Check) { m.Not(f.First.Len() > 3, "no more") },
		},
	},
}

func sniff(f *decode.File, m *draft.Check) {
	v := f.First
	results := v.Get("results")
	m.Not(v.Has("config_general"), "results of the harness (config_general is lighteval's)")
	m.Want(results.Kind() == decode.Object, "results, as an object")
	comma, nested, flat := shape(results)
	switch {
	case v.Has("lmms_eval_version") && (comma || flat):
		m.Format, m.Detail = LMMs, v.Get("lmms_eval_version").Text()
		m.Want(true, "lmms_eval_version")
	case comma:
		m.Detail = cmp.Or(v.Get("lm_eval_version").Str(), "0.4 or later")
		m.Want(true, `a metric key such as "acc,none"`)
	case (flat || nested) && v.Get("versions").Kind() == decode.Object:
		m.Format, m.Detail = Old, "0.3 or earlier"
		m.Want(true, "versions")
	default:
		m.Want(false, `a metric key such as "acc,none", or versions`)
	}
}

func isSample(v decode.Value) bool {
	return v.Has("doc_id") && v.HasAny("filtered_resps", "resps", "input") &&
		v.HasAny("target", "doc", "arguments")
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

// read returns the scores of a results file.
func read(f *decode.File, r *schema.Reading) {
	v := f.First
	r.Facts = facts(v)
	if r.Facts.Start.IsZero() {
		draft.Dated(&r.Facts, parseTime(Stamp(f.Path)), "by the file's name, zone not stated")
	}
	_, nested, _ := shape(v.Get("results"))
	runs := draft.RunsOf[string](r)
	for _, task := range v.Get("results").Members() {
		if !nested || r.Format != Old {
			readTask(f, v, task.Key, task.Val, r)
			continue
		}
		for _, when := range task.Val.Members() { // {task: {time: {metric: value}}}: each time is a separate run
			if when.Val.Kind() == decode.Object {
				facts := r.Facts
				draft.Dated(&facts, parseTime(when.Key), "as the file says, zone not stated")
				readTask(f, v, task.Key, when.Val, runs.Of(when.Key, facts))
			}
		}
	}
	if runs.Len() > 0 {
		runs.Join(r.Detail)
	}
	group(v, r.Scores)
	// the parts that are read, or that are long descriptions of tasks and machines
	r.Extra = draft.Foreign(nil, v, `results groups group_subtasks configs versions n-shot higher_is_better n-samples
		config date task_hashes pretty_env_info start_time end_time total_evaluation_time_seconds model_name
		model_name_sanitized tokenizer_* eot_token_id samples lmms_eval_version lm_eval_version`)
	if len(r.Scores) == 0 && len(r.More) == 0 {
		draft.Problem(f, r, schema.SevError, "no-scores", v.Get("results"), "no score in results",
			"at least one metric with a number", "", "look at the harness's log")
	}
}

var (
	revisionArg = lazyregexp.New(`(?:^|,)\s*revision=([^,]+)`)
	modelArg    = lazyregexp.New(`(?:^|[,{])\s*'?(?:model|pretrained|model_version)(?:=|'\s*:\s*')([^,']+)`)
)

// argument is the first group of an expression in the arguments of a model, "" where it does not match.
func argument(re *lazyregexp.Regexp, args string) string {
	if m := re.FindStringSubmatch(args); m != nil {
		return m[1]
	}
	return ""
}

func facts(v decode.Value) schema.Facts {
	var f schema.Facts
	args := v.At("config", "model_args")
	f.Model.ID = cmp.Or(v.Get("model_name").Str(), args.Get("model").Str(), args.Get("pretrained").Str(),
		args.Get("model_version").Str(), argument(modelArg, args.Str()))
	revision := cmp.Or(v.At("config", "model_revision").Str(), argument(revisionArg, args.Str()),
		args.Get("revision").Str())
	if revision == "" || revision == "main" {
		revision = v.At("config", "model_sha").Str()
	}
	draft.Revision(&f, revision)
	if draft.Dated(&f, draft.Epoch(v.Get("date")), ""); f.Start.IsZero() {
		draft.Dated(&f, parseTime(v.Get("date").Str()), draft.LocalNote)
	}
	if d := v.Get("total_evaluation_time_seconds").Float0(); d > 0 && d < 1e7 && !f.Start.IsZero() {
		f.End = f.Start.Add(time.Duration(d * float64(time.Second))).Truncate(time.Second)
	}
	return f
}

func parseTime(s string) time.Time {
	t := draft.Time(s)
	if t.Year() <= 2000 {
		return time.Time{}
	}
	return t
}

// notMetrics are members of a task's entry that are not scores.
var notMetrics = draft.Names("alias name sample_len sample_count samples")

// valueOf reads the value of a metric; ok is false for what is no score.
func valueOf(v decode.Value, metric, format string) (value schema.Number, ok bool) {
	kind, text := v.Kind(), v.Str()
	x, isNumber := v.Float()
	switch {
	case format == Old && (kind == decode.String && !spelt(strings.ToLower(text)) || kind == decode.Null):
		return value, false // prompts, names and data sets, of which some look like numbers
	case isNumber:
		return schema.Num(x), true
	case text == "True" || text == "False": // how the harness writes values that JSON cannot represent
		return schema.Num(map[string]float64{"True": 1}[text]), true
	case kind == decode.Null && metric == "submission", // a file for external judging
		kind == decode.Bool || kind == decode.Array || kind == decode.Object:
		return value, false
	}
	return schema.Missing(plaintext.Short("the file says "+string(v.Raw()), 80)), true
}

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
		value, ok := valueOf(m.Val, metric, r.Format)
		if !ok {
			continue
		}
		s := draft.Score(f, r, task, metric, 0)
		s.Value, s.Filter, s.Source.ToolVersion = value, filter, v.Get("lm_eval_version").Str()
		key := metric + "_stderr"
		if filter != "" || r.Format == Format {
			key += "," + filter
		}
		s.Stderr = draft.NumberOf(entry.Get(key), draft.NoError)
		describe(v, s)
	}
}

// spelt are words for values that JSON cannot hold.
var spelt = draft.Names("true false nan inf -inf infinity -infinity")

// isError reports the standard errors of a metric, of which lmms-eval writes several.
func isError(metric string) bool {
	return strings.HasSuffix(metric, "_stderr") || strings.Contains(metric, "_stderr_") ||
		strings.HasPrefix(metric, "paired_")
}

// describe adds what the other parts of the file state about a task.
func describe(v decode.Value, s *schema.Score) {
	n, _ := v.At("n-samples", s.Task, "effective").Int()
	all, _ := v.At("n-samples", s.Task, "original").Int()
	if s.N, s.Total = max(n, 0), max(all, 0); s.Total > 0 {
		s.N = min(s.N, s.Total) // a fractional --limit up to 0.4.4 is not in "effective"
	}
	shots := v.At("n-shot", s.Task)
	if shots.Kind() == decode.Invalid {
		shots = v.At("config", "num_fewshot")
	}
	if n, ok := shots.Int(); ok {
		s.Fewshot = &n
	} else if list, ok := shots.Floats(); ok && len(list) > 0 && len(shots.Raw()) < mostShots {
		// A number for each task, in the order of the command, which the file does not have: where they differ, which is
		// whose is not known.
		if n := int(list[0]); slices.Max(list) == slices.Min(list) {
			s.Fewshot = &n
		}
		s.Unknown.Set("num_fewshot", string(shots.Raw()))
	}
	loaded(s, v.At("config", "model_args"))
	sampling(s, v.At("config", "gen_kwargs"), "")
	s.Limit = v.At("config", "limit").Ptr()
	if up, ok := v.At("higher_is_better", s.Task, s.Metric).Truth(); ok {
		s.Direction = map[bool]string{true: "higher", false: "lower"}[up]
	}
	s.Version = v.At("versions", s.Task).Text()
}

// loaded keeps in how many bits the model was loaded, by its arguments.
func loaded(s *schema.Score, args decode.Value) {
	for _, name := range []string{"load_in_4bit", "load_in_8bit"} {
		if on, _ := args.Get(name).Truth(); on || strings.Contains(args.Str(), name+"=True") {
			s.Unknown.Set(name, "true")
		}
	}
}

// sampling keeps how the caller asked for answers to be drawn, in the order of the names: "do_sample=true,
// temperature=0.6". text is what a command line or Python has of it. Where nothing is asked, the task decides.
func sampling(s *schema.Score, kwargs decode.Value, text string) {
	var list []string
	for part := range strings.SplitSeq(pythonMarks.Replace(cmp.Or(kwargs.Str(), text)), ",") {
		if part = strings.Trim(part, "(){} "); part != "" && part != "None" {
			list = append(list, part)
		}
	}
	for _, m := range kwargs.Members() {
		list = append(list, m.Key+"="+m.Val.Text())
	}
	slices.Sort(list)
	if text = strings.Join(list, ", "); text == "" || len(text) > mostShots {
		return
	}
	s.Unknown.Set(schema.Settings, text)
}

// pythonMarks writes a dictionary of Python as arguments of a command.
var pythonMarks = strings.NewReplacer("'", "", `"`, "", ": ", "=", "True", "true", "False", "false")

// mostShots is the longest list of shots that is kept, in bytes.
const mostShots = 300

// Stamp returns the time stamp that a results file and its samples share in their names, "" if there is none.
func Stamp(name string) string {
	return stamp.FindString(path.Base(name))
}

var stamp = lazyregexp.New(`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?|\d{8}_\d{6}|\d{4}_\d{4}`)

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
