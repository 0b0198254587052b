package ttis

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/ingest/schema/perfref"
)

// readSpec takes identity and targets from a runtime spec.
func readSpec(f *decode.File, r *schema.Reading) {
	r.Detail = "runtime spec"
	spec := f.First.Get("runtime_model_spec")
	draft.Facts(&r.Facts, f.First, map[string]string{"id": "runtime_config.run_id"})
	draft.Facts(&r.Facts, spec, map[string]string{
		"release": "version", "model.id": "hf_model_repo", "model.name": "model_name", "model.status": "status",
		"impl": "impl.impl_name", "device.name": "device_type", "stack.engine": "inference_engine",
		"stack.image": "docker_image",
	})
	withoutCase(&r.Facts)
	r.Facts.Stack.Image = redact.Text(r.Facts.Stack.Image)
	r.Facts.Stack.Commits = map[string]string{}
	maps.Copy(r.Facts.Stack.Commits, commits(spec))
	if m := specFile.FindStringSubmatch(path.Base(f.Path)); m != nil {
		if t, err := time.Parse(stampLayout, m[2]); err == nil {
			r.Facts.Start, r.Facts.StartNote = t, hostTime
			r.Facts.RunID = cmp.Or(r.Facts.RunID, m[1])
		}
	}
	r.Extra = schema.Unknown{"ttis_model_id": schema.JSONString(spec.Get("model_id").Str())}
	r.Acceptance.KnownIssues = knownIssues(f, spec.At("device_model_spec", "known_issues"))
	source := schema.Target{Source: f.Path, SHA256: f.SHA256}
	if !r.Facts.Start.IsZero() {
		source.AsOf = r.Facts.Start.Format(time.DateOnly)
	}
	for entry := range spec.At("device_model_spec", "perf_reference").Items() {
		targets, problems := perfref.Targets(f, entry, source)
		r.Targets = append(r.Targets, targets...)
		r.Problems = append(r.Problems, problems...)
	}
}

var specFile = lazyregexp.New(`^(?:runtime_model_spec|tt_model_spec)_((\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)_.+)\.json$`)

const (
	stampLayout = "2006-01-02_15-04-05"
	hostTime    = "local time of the host, zone not stated"
)

// withoutCase writes the names of devices and engines in lower case.
func withoutCase(f *schema.Facts) {
	f.Device.Name, f.Stack.Engine = strings.ToLower(f.Device.Name), strings.ToLower(f.Stack.Engine)
}

// commits are those of a spec or a report; nil where none is stated.
func commits(v decode.Value) (out map[string]string) {
	for _, c := range []string{"tt_metal", "vllm"} {
		if hash := v.Get(c + "_commit").Str(); hash != "" {
			if out == nil {
				out = map[string]string{}
			}
			out[c] = hash
		}
	}
	return out
}

// readHarmonised reads a flat copy of another tool's result. A zero there means that the metric was absent, and its
// "itl" is a copy of TPOT and no measurement.
func readHarmonised(f *decode.File, r *schema.Reading) {
	d := draft.New(f, r, f.First, toolOf(f.First, f.Path))
	v := d.In
	d.Fields(v, map[string]string{
		"key concurrency": "max_concurrency", "condition num_prompts": "num_prompts", "fact model.id": "model_id",
		"ttft first-content": "{}_ttft_ms", "tpot excl-first": "{}_tpot_ms", "e2el last-content": "{}_e2el_ms",
	})
	if t := v.Get("tokenizer_id").Str(); t != r.Facts.Model.ID {
		d.Condition("tokenizer", t)
	}
	ok := v.Get("completed").Float0()
	for _, name := range []string{"ttft", "tpot", "e2el"} {
		d.Size(name, int(ok))
	}
	d.Above(v, map[string]string{
		"output_tps": "output_token_throughput", "total_tps": "total_token_throughput", "rps": "request_throughput",
	})
	for metric, name := range map[string]string{"isl": "total_input_tokens", "osl": "total_output_tokens"} {
		if total := v.Get(name).Float0(); ok > 0 && total > 0 {
			d.Derived(metric, "", "mean", total/ok)
		}
	}
	d.Requests(&ok, nil, v.Get("num_prompts").Ptr(), "")
	draft.ClientTime(&r.Facts, v.Get("date"), decode.Value{})
	d.Foreign(v, "backend mean_* median_* std_* p99_*")
	d.Done()
}

// RawFile is the condition with the name of the result behind a report's row.
const RawFile = "raw_file"

// readReport reads the data of a report. Its numbers are copies, rounded and without most statistics: they count only
// where the results themselves are not among the files.
func readReport(f *decode.File, r *schema.Reading) {
	v := f.First
	r.Detail = "data of a report"
	r.Facts = reportFacts(v.Get("metadata"))
	r.Extra = schema.Unknown{} // what started the measurements that it is about
	for _, name := range []string{"run_command", "server_mode", "workflow"} {
		if text := v.At("metadata", name).Str(); text != "" {
			r.Extra[name] = schema.JSONString(redact.Text(text))
		}
	}
	readSections(f, r, v.Get("sections"))
	own := map[string]bool{} // tools whose rows are in a separate list, unrounded
	for _, list := range []struct{ key, tool string }{
		{"aiperf_benchmarks", "aiperf"}, {"genai_perf_benchmarks", "genai-perf"}, {"guidellm_benchmarks", "guidellm"},
		{"benchmarks", "vllm"},
	} {
		rows := v.Get(list.key)
		table, err := draft.Rows(rows.Str()) // CSV text, as some versions put it into their JSON
		if rows.Kind() != decode.String || err != nil {
			table = slices.Collect(rows.Items())
		}
		for _, row := range table {
			tool := toolName(row.Get("source").Str(), row.Get("backend").Str(), list.tool)
			if list.key == "benchmarks" && own[tool] {
				continue
			}
			own[tool] = own[tool] || list.key != "benchmarks"
			reportRow(f, r, row, shapeOf(row), tool, row.Get("timestamp").Str(), row.Number("completed"))
		}
	}
	for row := range v.Get("evals").Items() {
		reportScore(f, r, row)
		r.Targets = schema.MergeTargets(r.Targets, reference(f, row, must))
	}
	for row := range v.Get("benchmarks_summary").Items() {
		addChecked(f, r, row, decode.Value{}, shapeOf(row))
	}
	oldTests(f, r, v.Get("parameter_support_tests"), v.Get("server_tests"))
	acceptance(f, r, v)
}

func reportFacts(meta decode.Value) (f schema.Facts) {
	draft.Facts(&f, meta, map[string]string{
		"model.id": "model_repo", "model.name": "model_name", "impl": "model_impl", "device.name": "device",
		"stack.engine": "inference_engine",
	})
	withoutCase(&f)
	if m := modelID.FindStringSubmatch(meta.Get("model_id").Str()); m != nil && f.Impl == "" {
		f.Impl = m[1]
	}
	if strings.Contains(f.Model.Name, "/") {
		f.Model.ID, f.Model.Name = cmp.Or(f.Model.ID, f.Model.Name), ""
	}
	f.Stack.Commits = commits(meta)
	if t, err := time.Parse(time.RFC3339, meta.Get("generated_at").Str()); err == nil {
		f.Start, f.End, f.StartNote = t.UTC(), t.UTC(), "when the report was made"
	}
	return f
}

// toolOfRow is the client behind a row of a section since v0.19.
func toolOfRow(section, row decode.Value, kind string) string {
	switch {
	case row.Get("trace_source").Str() == "swarmone":
		return "swo-bench"
	case kind == "agentic_traces", strings.HasPrefix(kind, "aiperf_"):
		kind = "aiperf"
	}
	return toolName(section.At("targets", "tool").Str(), kind)
}

func toolName(names ...string) string {
	for _, n := range names {
		switch n = strings.ToLower(n); {
		case strings.HasPrefix(n, "genai"):
			return "genai-perf"
		case strings.HasPrefix(n, "openai"), n == "benchmarks": // v1 wrote vLLM's client protocol as the tool
			return "vllm"
		case n != "":
			return n
		}
	}
	return "vllm"
}

// reportRow reads one row of results, under the names of either generation. completed is the number of requests, which
// is num_requests since v0.19; before, that is what was asked for.
func reportRow(
	f *decode.File, r *schema.Reading, row decode.Value, k schema.Key, tool, stamp string, completed *float64,
) {
	if schema.IsMediaTask(row.Get("task_type").Str()) {
		mediaRow(f, r, row)
		return
	}
	if !row.Has("mean_ttft_ms") && !row.Has("mean_tpot_ms") && !row.Has("request_throughput") {
		return
	}
	d := draft.New(f, r, row, tool)
	d.Key.ISL, d.Key.OSL, d.Key.Concurrency, d.Key.Dataset = k.ISL, k.OSL, k.Concurrency, k.Dataset
	if d.Dim("mode", row.Get("mode").Str()); k.ISL == nil && k.Dataset != "" { // a replay has the lengths of its trace
		d.Dim(schema.DimLabel, k.Dataset)
		d.Key.Dataset = ""
	}
	if n := row.Number("num_requests", "num_prompts"); n != nil {
		d.Condition("num_prompts", strconv.FormatFloat(*n, 'f', -1, 64))
	}
	rowLatencies(d, row)
	output := "output_token_throughput|tps_output_throughput|output_throughput"
	if !row.Has("tps_prefill_throughput") { // beside which it is computed from TPOT and the concurrency
		output += "|tps_decode_throughput" // what the client measured, as v0.19 and v0.20 call it
	}
	d.Fields(row, map[string]string{
		"output_tps": output, "input_tps": "tps_input_throughput",
		"total_tps": "total_token_throughput|tps_total_throughput", "rps": "request_throughput",
		// Of agentic replays, prefix caches and speculative decoding.
		"isl": "mean_isl", "osl": "mean_osl", "prefix_hits": "measured_prefix_cache_hit_pct|prefix_cache_hit_rate_pct",
		"prefix_hits_possible": "theoretical_prefix_cache_hit_pct|trace_theoretical_hit_rate_pct",
		"acceptance_length":    "mean_accepted_length",
	})
	if share, ok := row.Get("acceptance_rate").Float(); ok {
		d.Value("acceptance_rate", 100*share)
	}
	if counted := shapeOf(row).ISL; k.ISL != nil && counted != nil && *counted != *k.ISL {
		d.Stat("isl", "", "mean", *counted)
	}
	d.Requests(completed, row.Number("error_request_count"), nil, "")
	submission(d, row)
	d.Condition(RawFile, row.Get("filename").Str())
	if t := draft.Time(stamp); !t.IsZero() {
		d.Start, d.End = t, t
		r.Facts.Widen(t, t, hostTime)
	}
	d.Done()
}

// submission excludes the latencies of a replay that its client calls invalid.
func submission(d *draft.Draft, row decode.Value) {
	if valid, stated := row.Get("submission_valid").Truth(); !stated || valid {
		return
	}
	var why []string
	for one := range row.Get("submission_invalid_reasons").Items() {
		why = append(why, redact.Text(one.Str()))
	}
	d.Invalid("submission-invalid", row.Get("submission_valid"), "a replay that its client calls no valid submission: "+
		cmp.Or(strings.Join(why, ", "), "it gives no reason"), "submission_valid", "no latency of it")
}

// rowLatencies reads the latencies of a row. Where tokens come in blocks, as reports since September 2026 mark them, no
// token has a time of its own.
func rowLatencies(d *draft.Draft, row decode.Value) {
	blocks := row.Get("metric_semantics").Str() == "block_granular"
	d.Condition("output_block_size", row.Get("output_block_size").Text())
	d.Fields(row, map[string]string{"ttft not-stated": "{}_ttft_ms|{}_ttft", "e2el not-stated": "{}_e2el_ms|{}_e2el"})
	if !blocks {
		d.Fields(row, map[string]string{"tpot excl-first": "{}_tpot_ms|{}_tpot", "itl not-stated": "{}_itl_ms|{}_itl"})
	}
	rps := row.Get("request_throughput").Float0()
	if share, ok := row.Get("goodput_pct").Float(); ok && rps > 0 { // of the requests that completed
		d.Derived("goodput_rps", "", "value", rps*share/100)
		d.Value("goodput_share", share)
	}
}

func reportScore(f *decode.File, r *schema.Reading, row decode.Value) {
	if isMediaScore(row) {
		mediaScores(f, r, row)
		return
	}
	task := evalName(row)
	if task == "" {
		return
	}
	metric, filter, scale := headline(task)
	s := draft.Score(f, r, task, metric, 0)
	s.Filter, s.Stderr = filter, schema.Missing("not in a report")
	x, ok := row.Get("score").Float()
	switch {
	case !ok:
		why := cmp.Or(row.Get("score").Text(), redact.Text(row.Get("error").Str()), redact.Text(row.Get("reason").Str()))
		if rc, ended := row.Get("subprocess_rc").Float(); why == "" && ended {
			why = fmt.Sprintf("its program ended with exit code %g", rc)
		}
		why = cmp.Or(why, "no score, and no reason")
		s.Value = schema.Missing("the report says " + why)
	case metric == wer:
		s.Value, s.Direction = schema.Num(latency.Round(100-x, 7)), "lower" // the report has 100 - WER
	default:
		s.Value = schema.Num(latency.Round(x/scale, 7))
	}
}

// evalName is the task that the harness ran, which is that of its results. A report lists it under the name of the task
// that it stands for.
func evalName(row decode.Value) string {
	return cmp.Or(row.Get("executed_task_name").Str(), row.Get("task_name").Str())
}

// readSections reads the sections of a report since v0.19. Those of a kind without numbers that are read here are a
// problem: what a report has must not vanish.
func readSections(f *decode.File, r *schema.Reading, sections decode.Value) {
	unread := map[string][]decode.Value{}
	for s := range sections.Items() {
		kind := s.Get("kind").Str()
		if data := s.Get("data"); !readSection(f, r, s, kind) && !isUngraded(data) && data.Kind() != decode.Null {
			unread[kind] = append(unread[kind], s)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(unread)) {
		draft.Problem(f, r, schema.SevWarning, "section-unread", unread[kind][0],
			fmt.Sprintf("sections of kind %q without numbers that are read (%d)", kind, len(unread[kind])),
			"benchmarks, evals, spec_tests, agentic_traces, serving_bench or prefill_decode", "nothing of them",
			"read the files of the tool itself, if it is one that ttreport reads")
	}
}

// recordsOf are the rows of a section, of which one may stand alone.
func recordsOf(data, alone decode.Value) []decode.Value {
	if records := data.Get("records"); records.Kind() == decode.Array {
		return slices.Collect(records.Items())
	}
	return []decode.Value{alone}
}

// readSection reports whether something of a section was read, or it is one that decides nothing.
func readSection(f *decode.File, r *schema.Reading, s decode.Value, kind string) bool {
	data := s.Get("data")
	points, scores := len(r.Points), len(r.Scores)
	switch kind {
	case "evals":
		reportScore(f, r, data)
		r.Targets = schema.MergeTargets(r.Targets, reference(f, data, ""))
	case "spec_tests":
		specTest(f, r, s)
		return data.Kind() == decode.Object
	case "serving_bench": // a suite fails its task by its exit code
		if rc, ok := data.Get("return_code").Float(); ok {
			passedTests(f, r, must, test{"serving_bench " + data.Get("suite").Str(), rc == 0})
		}
	case "prefill_decode":
		// {records: [{test, result}], return_code}: tt-inference-server has no gate on them, so they should pass
		var cases []test
		for one := range data.Get("records").Items() {
			if result := one.Get("result").Str(); result == "PASS" || result == "FAIL" {
				cases = append(cases, test{one.Get("test").Str(), result == "PASS"})
			}
		}
		if rc, ok := data.Get("return_code").Float(); ok && len(cases) == 0 { // the server never came up
			cases = []test{{"prefill_decode", rc == 0}}
		}
		passedTests(f, r, "should", cases...)
	default:
		if mediaSection(f, r, s) {
			return true
		}
		rows := recordsOf(data, data)
		for _, row := range rows {
			k := shapeOf(row)
			if len(rows) == 1 {
				k = asked(s, k)
			}
			reportRow(f, r, row, k, toolOfRow(s, row, kind), s.At("targets", "timestamp").Str(),
				row.Number("completed", "num_requests"))
			addChecked(f, r, row, s.Get("targets"), k)
		}
	}
	return len(r.Points) > points || len(r.Scores) > scores
}

// readStatistics reads the table of results that a report is made of: one row a point, rounded for vLLM's results. A
// row names its model, its device where the version writes it, and the file that it was made of.
func readStatistics(f *decode.File, out *schema.Reading) {
	runs := draft.RunsOf[[2]string](out)
	rows, err := draft.Rows(string(f.Data))
	if err != nil || len(rows) == 0 {
		rows = nil
		draft.Problem(f, out, schema.SevWarning, "bad-table", decode.Value{}, "a table that is damaged or has no row",
			"lines with as many columns as the first", "none")
	}
	for _, row := range rows {
		model, device := row.Get("model_id").Str(), strings.ToLower(row.Get("device").Str())
		r := runs.Of([2]string{model, device},
			schema.Facts{Model: schema.Model{ID: model}, Device: schema.Device{Name: device}})
		reportRow(f, r, row, shapeOf(row), toolName(row.Get("source").Str(), row.Get("backend").Str()),
			row.Get("timestamp").Str(), row.Number("completed"))
	}
	runs.Join(fmt.Sprintf("a table of %d results", len(rows)))
}

// headline is the metric and filter of the harness that a report's score of a task repeats, and by how much it was
// multiplied, so that a score has one name and one scale whichever file it came from. The names are the result_keys of
// tt-inference-server's reference_config/evals/eval_config.py. A score of a task that is not listed here stays
// "score".
func headline(task string) (metric, filter string, scale float64) {
	if h, ok := headlines[task]; ok {
		return h[0], h[1], 100
	}
	if strings.Contains(task, wer) || task == "librispeech_test_other" {
		return wer, none, 1
	}
	return "score", none, 100
}

var headlines = map[string][2]string{
	"meta_gpqa": {"exact_match", "strict-match"}, "meta_gpqa_cot": {"exact_match", "strict-match"},
	"gpqa_diamond_cot_zeroshot":      {"exact_match", "flexible-extract"},
	"gpqa_diamond_generative_n_shot": {"exact_match", "flexible-extract"},
	"gpqa_main_official_cot_n_shot":  {"exact_match", "flexible-extract"},
	"aime25":                         {"exact_match", none}, "r1_aime24": {"exact_match", none},
	"r1_gpqa_diamond": {"exact_match", none}, "r1_math500": {"exact_match", none}, "meta_math": {"exact_match", none},
	"longbench2_generate": {"exact_match", none},
	"meta_ifeval": {schema.MeanOf("prompt_level_strict_acc", "inst_level_strict_acc", "prompt_level_loose_acc",
		"inst_level_loose_acc"), none},
	"mmlu_pro": {"exact_match", "custom-extract"}, "mmlu_generative": {"exact_match", "get_response"},
	"humaneval_instruct": {"pass@1", "create_test"}, "mbpp_instruct": {"pass_at_1", "extract_code"},
	"leaderboard_ifeval": {"prompt_level_strict_acc", none}, "livecodebench": {"acc", none},
	"chartqa": {"relaxed_overall", none}, "docvqa_val": {"anls", none}, "mmmu_val": {"mmmu_acc", none},
}

// wer is the word error rate, in percent. Reports have 100 - WER.
const wer = "wer"

// none is the harness's name for no filter.
const none = "none"

// acceptance reads what a report decided, the model's status that it decided by, and the failures that it accepts.
func acceptance(f *decode.File, r *schema.Reading, v decode.Value) {
	meta := v.Get("acceptance_criteria_metadata")
	isPartial := isTrue(v.Get("report_partial")) || isTrue(v.At("metadata", "report_partial"))
	if status := meta.Get("model_status").Str(); status != "UNSPECIFIED" {
		r.Facts.Model.Status = status
	}
	a := &r.Acceptance
	ok, stated := v.Get("acceptance_criteria").Truth()
	if isPartial || stated {
		a.Result, a.Source = schema.Rejected, f.Path
	}
	if isPartial { // whatever it says of what there is
		a.Blockers = append(a.Blockers, schema.Blocker{Name: "report_partial",
			Message: "a checkpoint, written while the measurements were running"})
	} else if ok {
		a.Result = schema.Accepted
	}
	for _, b := range v.Get("acceptance_blockers").Members() {
		a.Blockers = append(a.Blockers, schema.Blocker{Name: redact.Text(b.Key), Message: redact.Text(b.Val.Text())})
	}
	a.KnownIssues = knownIssues(f, meta.Get("known_issues_declared"))
	*a = a.With(schema.Acceptance{KnownIssues: knownIssues(f, v.At("metadata", "known_issues_declared"))})
	*a = a.With(schema.Acceptance{KnownIssues: waivedSections(f, meta.Get("categories"), v.Get("sections"))})
	if r.Facts.Model.Status != "" {
		return
	}
	for i := range r.Targets { // without a status, tt-inference-server enforces every level
		if r.Targets[i].Priority == "" {
			r.Targets[i].Priority = must
		}
	}
}

// knownIssues reads the failures that a model's owner accepts: {workflow_type, task_name, reason}.
func knownIssues(f *decode.File, list decode.Value) []schema.KnownIssue {
	var out []schema.KnownIssue
	for v := range list.Items() {
		workflow := v.Get("workflow_type").Str()
		category, known := map[string]schema.Category{
			"EVALS": schema.Evals, "BENCHMARKS": schema.Benchmarks, "SPEC_TESTS": schema.Conformance,
			"TESTS": schema.Conformance, // of parameters, until v0.18
		}[strings.ToUpper(workflow[strings.LastIndexByte(workflow, '.')+1:])]
		if known {
			out = append(out, schema.KnownIssue{
				Category: category, Task: v.Get("task_name").Str(), Reason: redact.Text(v.Get("reason").Str()), Source: f.Path,
			})
		}
	}
	return out
}

// waivedSections are the failures that a report since v0.20 waived by a known issue: {"evals:TITLE": "MESSAGE (waived:
// REASON)"} of a category, or known_issue_waiver of a test whose case the issue names. What it calls informational
// follows from the model's status, and is no waiver.
func waivedSections(f *decode.File, categories, sections decode.Value) (out []schema.KnownIssue) {
	reasons := map[string]string{}
	for c := range categories.Items() {
		for _, b := range c.Get("waived").Members() {
			if _, reason, ok := strings.Cut(b.Val.Str(), " (waived: "); ok {
				reasons[strings.TrimPrefix(b.Key, "spec.")] = strings.TrimSuffix(reason, ")")
			}
		}
	}
	for s := range sections.Items() {
		data, kind := s.Get("data"), s.Get("kind").Str()
		k := schema.KnownIssue{Category: schema.Evals, Task: evalName(data), Source: f.Path}
		if kind == "spec_tests" {
			k.Category, k.Task = schema.Conformance, testName(s)
		}
		k.Reason = redact.Text(cmp.Or(data.Get("known_issue_waiver").Str(), reasons[kind+":"+s.Get("title").Str()]))
		if (kind == "evals" || kind == "spec_tests") && k.Task != "" && k.Reason != "" {
			out = append(out, k)
		}
	}
	return out
}

// must is the priority of targets that decide whatever the model's status.
const must = "must"

// unstatedTolerance is what tt-inference-server allows a score to miss by where its report does not state it
// (reference_config/evals/eval_config.py: 0.05 for every task).
const unstatedTolerance = .05

// reference returns the reference score that a report states beside a score. It is that of a GPU; a published one
// counts where there is none, as for the report's own check. A row that the report does not grade has none.
func reference(f *decode.File, row decode.Value, priority string) []schema.Target {
	task := evalName(row)
	value, ok := row.Get("gpu_reference_score").Float()
	if !ok || value <= 0 {
		value, ok = row.Get("published_score").Float()
	}
	if task == "" || !ok || value <= 0 || isUngraded(row) {
		return nil
	}
	t := stated(f)
	t.Priority, t.Tolerance = priority, unstatedTolerance
	if x, has := row.Get("tolerance").Float(); has {
		t.Tolerance = x
	}
	metric, filter, scale := headline(task)
	// A score that is a mean of several has no filter of the harness.
	t.Key = schema.EvalKey(&schema.Score{Task: task, Filter: filter})
	t.Metric, t.Stat, t.Level, t.Value = metric, "value", schema.LevelReference, value/scale
	// Both scores that a row states, of which one grades. They stay as stated for an error rate, which a report turns
	// into a score.
	t.Scores = &schema.ReferenceScores{
		GPU: row.Get("gpu_reference_score").Float0() / scale, GPUSource: row.Get("gpu_reference_score_ref").Str(),
		Published: row.Get("published_score").Float0() / scale, PublishSource: row.Get("published_score_ref").Str(),
	}
	if metric == wer { // stated as 100 - WER, with the tolerance on that scale
		t.Value = 100 - value
		t.Tolerance = (100-(1-t.Tolerance)*value)/t.Value - 1
	}
	return []schema.Target{t}
}

// isUngraded reports a row that tt-inference-server marks as skipped or as not gradable.
func isUngraded(row decode.Value) bool {
	status := strings.ToLower(row.Get("status").Str())
	return status == "skip" || status == "na"
}

// addChecked adds the targets that a row of a report was checked against, of the workload of a key. of is what its
// section states about them.
func addChecked(f *decode.File, r *schema.Reading, row, of decode.Value, k schema.Key) {
	if isUngraded(row) {
		return
	}
	base := stated(f)
	base.Key, base.Key.Tool = k, ""
	if p := strings.ToLower(row.Get("priority").Str()); p == must || p == "should" {
		base.Priority = p
	}
	r.Targets = append(r.Targets, perfref.Checked(row, of.Get("performance_targets"), base)...)
	for _, level := range row.Get("target_checks").Members() {
		if !perfref.IsLevel(level.Key) {
			draft.Problem(f, r, schema.SevWarning, "unknown-level", level.Val, fmt.Sprintf("checks of level %q", level.Key),
				perfref.Levels, "no target of it")
		}
	}
}

// shapeOf is the workload of a row. That of media is the task.
func shapeOf(row decode.Value) schema.Key {
	if task := row.Get("task_type").Str(); schema.IsMediaTask(task) {
		return schema.Key{Task: task}
	}
	return schema.Key{
		ISL:         row.Number("input_sequence_length", "isl", "isl_mean"),
		OSL:         row.Number("output_sequence_length", "osl", "osl_mean", "output_len"),
		Concurrency: row.Number("concurrency", "max_con", "max_concurrency"),
		Dataset: cmp.Or(row.Get("public_dataset").Str(), row.Get("trace_source").Str(), row.Get("trace_name").Str(),
			row.Get("scenario").Str()),
	}
}

// asked is the workload of a row as its section states it, in its title or as the point of the targets: a row counts
// the tokens of a prompt of 128 as 127 where the tokenizer adds none.
func asked(section decode.Value, k schema.Key) schema.Key {
	if k.ISL == nil || k.OSL == nil || k.Concurrency == nil {
		return k
	}
	var lengths [3]float64
	if p := section.At("targets", "reference_point"); p.Has("isl", "osl", "max_concurrency") {
		lengths = [3]float64{p.Get("isl").Float0(), p.Get("osl").Float0(), p.Get("max_concurrency").Float0()}
	} else if m := titleOfPoint.FindStringSubmatch(section.Get("title").Str()); m != nil {
		for i := range lengths {
			lengths[i], _ = strconv.ParseFloat(m[i+1], 64)
		}
	}
	if lengths[0] > 0 && lengths[1] > 0 && lengths[2] == *k.Concurrency {
		k.ISL, k.OSL = &lengths[0], &lengths[1]
	}
	return k
}

var titleOfPoint = lazyregexp.New(`\bISL (\d+) / OSL (\d+), concurrency (\d+)$`)

func stated(f *decode.File) schema.Target { return schema.Target{Source: f.Path, SHA256: f.SHA256} }

// ofMachine are the types of tests that decide nothing for a server.
var ofMachine = draft.Names("health infra unit stability integration")

// specTest reads a block of the server's conformance tests. Those that were skipped have no result.
func specTest(f *decode.File, r *schema.Reading, block decode.Value) {
	data := block.Get("data")
	if ofMachine(block.Get("task_type").Str()) || data.Kind() != decode.Object || isUngraded(data) ||
		isTrue(data.Get("skipped")) {
		return
	}
	passed := isTrue(data.Get("success"))
	if status := strings.ToLower(data.Get("status").Str()); status != "" {
		passed = status == "pass"
	}
	passedTests(f, r, must, test{testName(block), passed})
}

func testName(block decode.Value) string {
	return cmp.Or(block.At("data", "test_name").Str(), block.Get("title").Str())
}

// test is a case of a test.
type test struct {
	name   string
	passed bool
}

// oldTests reads the tests of a v1 report, of parameters: {results: {test: [{status}]}}; and of the server: [{tests:
// [{test_name, success}]}].
func oldTests(f *decode.File, r *schema.Reading, parameters, server decode.Value) {
	var cases []test
	for _, of := range parameters.Get("results").Members() {
		for one := range of.Val.Items() {
			cases = append(cases, test{of.Key, one.Get("status").Str() == "passed"})
		}
	}
	passedTests(f, r, must, cases...)
	cases = nil
	for file := range server.Items() {
		for one := range file.Get("tests").Items() {
			cases = append(cases, test{cmp.Or(one.Get("test_name").Str(), "unnamed test"), isTrue(one.Get("success"))})
		}
	}
	passedTests(f, r, must, cases...)
}

// passedTests adds the share of the cases of each test that passed. All are to pass, whatever the model's status.
func passedTests(f *decode.File, r *schema.Reading, priority string, cases ...test) {
	var names []string
	passed, all := map[string]float64{}, map[string]int{}
	for _, c := range cases {
		if all[c.name]++; all[c.name] == 1 && c.name != "" {
			names = append(names, c.name)
		}
		if c.passed {
			passed[c.name]++
		}
	}
	for _, name := range names {
		s := draft.Score(f, r, name, schema.MetricPassed, passed[name]/float64(all[name]))
		s.Stderr, s.Direction = schema.Missing("a count of all cases, no sample"), "higher"
		s.N, s.Total = all[name], all[name]
		t := stated(f)
		t.Key, t.Metric, t.Stat, t.Value, t.Level, t.Priority =
			schema.EvalKey(s), s.Metric, "value", 1, schema.LevelReference, priority
		r.Targets = append(r.Targets, t)
	}
}

func isTrue(v decode.Value) bool { b, ok := v.Truth(); return ok && b }
