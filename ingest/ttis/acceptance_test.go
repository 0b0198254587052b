package ttis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

// The reports of both generations, in short: what they were checked against, and what they decided.
const (
	reportV1 = `{"metadata":{"report_id":"x"},
"benchmarks_summary":[{"isl":128,"osl":128,"max_concurrency":1,"target_checks":{
 "functional":{"ttft":890.0,"ttft_ratio":0.2,"ttft_check":2,"tput_user":2.1,"tput_user_check":2,"tput_check":1},
 "target":{"ttft":89.0,"ttft_check":3}}}],
"evals":[
 {"task_name":"meta_ifeval","accuracy_check":3,"score":74.06,"gpu_reference_score":81.38,"published_score":80.4},
 {"task_name":"meta_gpqa","accuracy_check":2,"score":30.0,"gpu_reference_score":null,"published_score":30.4},
 {"task_name":"librispeech_test_other","accuracy_check":2,"score":95.0,"gpu_reference_score":94.88},
 {"task_name":"ungraded","accuracy_check":1,"score":1}],
"parameter_support_tests":{"results":{"test_penalties":[{"status":"passed"},{"status":"failed","message":"m"}]}},
"server_tests":[{"tests":[{"test_name":"health","success":true}]}],
"acceptance_criteria":false,"acceptance_blockers":{"evals.meta_ifeval":"Accuracy check failed."},
"acceptance_criteria_metadata":{"model_status":"COMPLETE","known_issues_declared":[
 {"workflow_type":"TESTS","task_name":"test_penalties","reason":"over-strict"}]}}`
	reportV2 = `{"metadata":{"report_id":"x","model_name":"acme/M","device":"N150"},"sections":[
{"kind":"benchmarks","data":{"concurrency":1,"num_requests":8,"input_sequence_length":128,
 "output_sequence_length":64.0,"mean_ttft_ms":130.5,"target_checks":{"complete":{"ttft":178.0,"ttft_check":2}}}},
{"kind":"evals","data":{"task_name":"mmlu_pro","tolerance":0.1,"gpu_reference_score":50,"score":40,"accuracy_check":3}},
{"kind":"evals","data":{"task_name":"ruler","status":"skip","gpu_reference_score":50}},
{"kind":"spec_tests","task_type":"functional","title":"T","data":{"test_name":"Seed","status":"fail","success":true}},
{"kind":"spec_tests","task_type":"health","data":{"test_name":"Alive","success":false}},
{"kind":"spec_tests","data":{"test_name":"Skipped","success":false,"skipped":true}}],
"acceptance_criteria":true,"acceptance_criteria_metadata":{"model_status":""}}`
)

func targetsText(list []schema.Target) string {
	var out []string
	for _, t := range list {
		name := t.Key.Workload()
		if t.Key.IsEval() {
			name = t.Key.Dataset
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %.6g ±%.4g %s", name, t.Metric, t.Level, t.Value,
			t.Tolerance, t.Priority)))
	}
	return strings.Join(out, "\n")
}

// What a report was checked against are targets: references with their tolerance, limits of levels, tests that must
// pass.
func TestReportsStateTargets(t *testing.T) {
	v1 := reader.Must(t, "report_data_x.json", reportV1)
	if got, want := targetsText(v1.Targets), strings.TrimSpace(`
meta_ifeval mean(prompt_level_strict_acc, inst_level_strict_acc, prompt_level_loose_acc, inst_level_loose_acc) `+
		`reference 0.8138 ±0.05 must
meta_gpqa exact_match reference 0.304 ±0.05 must
librispeech_test_other wer reference 5.12 ±0.9266 must
128/128/1 ttft functional 890 ±0
128/128/1 tps_user functional 2.1 ±0
128/128/1 ttft target 89 ±0
test_penalties passed reference 1 ±0 must
health passed reference 1 ±0 must`); got != want {
		t.Errorf("v1:\n%s\nwant\n%s", got, want)
	}
	v2 := reader.Must(t, "report_data_x.json", reportV2)
	if got, want := targetsText(v2.Targets), strings.TrimSpace(`
128/64/1 ttft complete 178 ±0 must
mmlu_pro exact_match reference 0.5 ±0.1 must
Seed passed reference 1 ±0 must`); got != want {
		t.Errorf("v2, without a status every level decides:\n%s\nwant\n%s", got, want)
	}
}

// A report states what it decided, by which status, and which failures the owner accepts.
func TestReportsStateTheirDecision(t *testing.T) {
	v1 := reader.Must(t, "report_data_x.json", reportV1)
	want := schema.Acceptance{
		Result: schema.Rejected, Source: "report_data_x.json",
		Blockers: []schema.Blocker{{Name: "evals.meta_ifeval", Message: "Accuracy check failed."}},
		KnownIssues: []schema.KnownIssue{{
			Category: schema.Conformance, Task: "test_penalties", Reason: "over-strict", Source: "report_data_x.json",
		}},
	}
	if got := v1.Acceptance; fmt.Sprint(got) != fmt.Sprint(want) || v1.Facts.Model.Status != "COMPLETE" {
		t.Errorf("%+v %q", got, v1.Facts.Model.Status)
	}
	if v2 := reader.Must(t, "report_data_x.json", reportV2); v2.Acceptance.Result != schema.Accepted {
		t.Errorf("%+v", v2.Acceptance)
	}
	scores := map[string]float64{}
	for _, s := range v1.Scores {
		scores[s.Task], _ = s.Value.Get()
	}
	if scores["test_penalties"] != .5 || scores["librispeech_test_other"] != 5 || scores["meta_ifeval"] != .7406 {
		t.Error(scores)
	}
}

// A runtime spec states known issues of its device.
func TestSpecsStateKnownIssues(t *testing.T) {
	r := reader.Must(t, "runtime_model_spec_x.json", `{"runtime_model_spec":{"model_name":"M","device_model_spec":{
"known_issues":[{"workflow_type":"EVALS","reason":"flaky","task_name":"aime25"},
{"workflow_type":"WorkflowType.SPEC_TESTS","reason":"r","task_name":null},{"workflow_type":"SERVER","reason":"no"}]}}}`)
	got := fmt.Sprint(r.Acceptance.KnownIssues)
	if got != "[{evals aime25 flaky runtime_model_spec_x.json} {spec tests  r runtime_model_spec_x.json}]" {
		t.Error(got)
	}
}

// What a report has and nothing here reads is said, by kind; how it ran is kept, without secrets.
func TestUnreadSectionsAreSaid(t *testing.T) {
	r := reader.Must(t, "report_data_x.json", `{"metadata":{"report_id":"x","model_name":"acme/M","device":"N150",
"run_command":"python run.py --jwt-secret hunter2hunter2 --workflow release","server_mode":"docker"},"sections":[
{"kind":"agentic_traces_targets","data":{"points":[]}},{"kind":"agentic_traces_targets","data":{"x":1}},
{"kind":"prefill_decode","data":{"y":2}},{"kind":"benchmarks","data":{"status":"skip"}},
{"kind":"spec_tests","task_type":"health","data":{"success":true}},
{"kind":"benchmarks","data":{"records":[{"concurrency":1,"input_sequence_length":8,"output_sequence_length":8,
 "mean_ttft_ms":5}]}}]}`)
	var found []string
	for _, p := range r.Problems {
		if p.Code == "section-unread" {
			found = append(found, p.Found)
		}
	}
	want := `sections of kind "agentic_traces_targets" without numbers that are read (2); ` +
		`sections of kind "prefill_decode" without numbers that are read (1)`
	if got := strings.Join(found, "; "); got != want {
		t.Errorf("%s", got)
	}
	if len(r.Points) != 1 {
		t.Errorf("%d points", len(r.Points))
	}
	command := string(r.Extra["run_command"])
	if !strings.Contains(command, "--workflow release") || strings.Contains(command, "hunter2") ||
		string(r.Extra["server_mode"]) != `"docker"` {
		t.Errorf("%s %s", command, r.Extra["server_mode"])
	}
}

// The sections that reports have since August 2026: replays, speculative decoding, suites and smoke tests, each with
// what its client says of itself.
func TestSectionsSinceAugust(t *testing.T) {
	r := reader.Must(t, "report_data_x.json", `{"metadata":{"report_id":"x","model_name":"acme/M","device":"N150"},
"sections":[
{"kind":"agentic_traces","data":{"trace_source":"inferencex_agentx","mode":"ci","concurrency":4,"mean_ttft_ms":812.4,
 "request_throughput":0.4,"completed":360,"error_request_count":12,"mean_isl":72000.0,"mean_osl":401.0,
 "theoretical_prefix_cache_hit_pct":91.2,"measured_prefix_cache_hit_pct":84.5,"submission_valid":true}},
{"kind":"agentic_traces","data":{"trace_source":"swarmone","concurrency":4,"mean_ttft_ms":700,"completed":9,
 "submission_valid":false,"submission_invalid_reasons":["context_overflow_rate"]}},
{"kind":"aiperf_spec_decode","data":{"public_dataset":"coding","output_len":256,"max_concurrency":2,"completed":80,
 "acceptance_rate":0.71,"mean_accepted_length":2.9,"mean_ttft_ms":90.0,"output_throughput":200.1}},
{"kind":"serving_bench","data":{"suite":"benchmark","return_code":1,"result_files":[]}},
{"kind":"prefill_decode","data":{"return_code":1,"records":[{"test":"hit","result":"PASS","turn":1},
 {"test":"hit","result":"PASS","turn":2},{"test":"miss","result":"FAIL"},{"test":"later","result":"SKIP"}]}},
{"kind":"prefill_decode","data":{"return_code":3,"records":[]}}]}`)
	var got []string
	for _, p := range r.Points {
		got = append(got, fmt.Sprintf("%s %s %v %s", p.Key.Tool, p.Key.Workload(), p.Key.Dims, p.Status))
		for _, metric := range []string{"ttft", "isl", "osl", "output_tps", "prefix_hits", "prefix_hits_possible",
			"acceptance_rate", "acceptance_length", "requests_failed"} {
			for _, stat := range []string{"mean", "value"} {
				if x, ok := p.Value(metric, stat); ok {
					got = append(got, fmt.Sprintf("%s %g", metric, x))
				}
			}
		}
	}
	for _, target := range r.Targets {
		got = append(got, target.Key.Dataset+" "+target.Priority)
	}
	want := []string{"aiperf -/-/4 inferencex_agentx, mode ci map[label:inferencex_agentx mode:ci] partial",
		"ttft 812.4", "isl 72000", "osl 401", "prefix_hits 84.5", "prefix_hits_possible 91.2", "requests_failed 12",
		"swo-bench -/-/4 swarmone map[label:swarmone] invalid",
		"aiperf -/256/2 coding map[label:coding] ok", "ttft 90", "output_tps 200.1", "acceptance_rate 71",
		"acceptance_length 2.9", "serving_bench benchmark must", "hit should", "miss should",
		"prefill_decode should"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(r.Problems) < 2 || r.Problems[len(r.Problems)-1].Code == "section-unread" {
		t.Errorf("%+v", r.Problems)
	}
}

// An eval without a score has the reason that the report gives for it.
func TestWhyAnEvalHasNoScore(t *testing.T) {
	for row, want := range map[string]string{
		`"status":"skip","skipped":true,"reason":"no dataset"`:       "no dataset",
		`"accuracy_check":3,"error":"no eval results parsed (rc=1)"`: "no eval results parsed (rc=1)",
		`"accuracy_check":3,"success":false,"subprocess_rc":1`:       "its program ended with exit code 1",
		`"accuracy_check":3`: "no score, and no reason",
	} {
		r := reader.Must(t, "report_data_x.json", `{"metadata":{"report_id":"x","model_name":"acme/M","device":"N150"},`+
			`"sections":[{"kind":"evals","data":{"task_name":"mmlu_pro","score":null,`+row+`}}]}`)
		if got := r.Scores[0].Value.Why(); !strings.Contains(got, "the report says "+want) {
			t.Errorf("%s: %s", row, got)
		}
	}
}

// A report that was merged of others has a task twice: its reference counts once, so that it is missed once.
func TestReferenceOfTwoScoresCountsOnce(t *testing.T) {
	r := reader.Must(t, "report_data_x.json", `{"metadata":{"report_id":"x","model_name":"acme/M","device":"N150"},
"sections":[
{"kind":"evals","data":{"task_name":"mmlu_pro","gpu_reference_score":72,"score":33.3,"accuracy_check":3}},
{"kind":"evals","data":{"task_name":"mmlu_pro","gpu_reference_score":72,"score":70.1,"accuracy_check":2}}]}`)
	if len(r.Scores) != 2 || len(r.Targets) != 1 {
		t.Errorf("%d scores, %d references", len(r.Scores), len(r.Targets))
	}
}

// The tokens that a client counted differ from those that were asked for. The row that a report grades is of the
// workload that its section names, so that the targets of the specification are its.
func TestGradedRowHasTheWorkloadOfItsSection(t *testing.T) {
	for section, want := range map[string]string{
		`"title":"vLLM Benchmark Targets \u2014 ISL 128 / OSL 128, concurrency 1"`:                            "128/128/1",
		`"title":"T","targets":{"reference_point":{"isl":128,"osl":100,"max_concurrency":1,"num_prompts":8}}`: "128/100/1",
		`"title":"vLLM Benchmark"`:                                "127/120/1",
		`"title":"Targets, ISL 128 / OSL 128, concurrency 32"`:    "127/120/1",
		`"targets":{"reference_point":{"isl":128,"osl":null}}`:    "127/120/1",
		`"title":"Targets, ISL 128 / OSL 128, concurrency 1 (a)"`: "127/120/1",
	} {
		r := reader.Must(t, "report_data_x.json", `{"metadata":{"report_id":"x","model_name":"acme/M"},"sections":[{`+
			`"kind":"benchmarks",`+section+`,"data":{"concurrency":1,"num_requests":8,"input_sequence_length":127,`+
			`"output_sequence_length":120.0,"mean_ttft_ms":130.5,"target_checks":{"functional":{"ttft":178,`+
			`"ttft_check":2}}}}]}`)
		if got := r.Points[0].Key.Workload(); got != want || r.Targets[0].Key.Workload() != want {
			t.Errorf("%s: %s, target %s, want %s", section, got, r.Targets[0].Key.Workload(), want)
		}
		isl, counted := r.Points[0].Value("isl", "mean")
		if counted != (want != "127/120/1") || counted && isl != 127 {
			t.Errorf("%s: counted %g", section, isl)
		}
	}
}

// A report since v0.20 says which failures a known issue waived; what the model's status makes informational is none.
func TestReportsStateWhatTheyWaived(t *testing.T) {
	r := reader.Must(t, "report_data_x.json", `{"metadata":{"report_id":"x","model_name":"acme/M",
"known_issues_declared":[{"workflow_type":"EVALS","task_name":"aime25","reason":"declared"}]},"sections":[
{"kind":"evals","title":"LLM Eval \u2014 meta_ifeval","data":{"task_name":"meta_ifeval","score":1}},
{"kind":"evals","title":"LLM Eval \u2014 aime25","data":{"task_name":"aime25","score":1}},
{"kind":"evals","title":"LLM Eval \u2014 mmlu_pro","data":{"task_name":"mmlu_pro","score":1}},
{"kind":"benchmarks","title":"B","data":{"concurrency":1,"mean_ttft_ms":1}},
{"kind":"spec_tests","title":"Chat","data":{"test_name":"ChatTest","status":"fail"}},
{"kind":"spec_tests","title":"Other","data":{"status":"fail","known_issue_waiver":"test_n: flaky (sometimes)"}}],
"acceptance_criteria":true,"acceptance_criteria_metadata":{"model_status":"COMPLETE","categories":[
{"name":"Benchmarks","waived":{"benchmarks:B":"1 tier check(s) failed (informational: model status=FUNCTIONAL)"}},
{"name":"Evals","waived":{"evals:LLM Eval \u2014 meta_ifeval":"Accuracy check failed. (waived: 2 short (of 9).)",
"evals:LLM Eval \u2014 aime25":"Accuracy check failed. (waived: again)",
"evals:LLM Eval \u2014 mmlu_pro":"Accuracy check failed. (informational: model status=EXPERIMENTAL)"}},
{"name":"Spec Tests","waived":{"spec.spec_tests:Chat":"Chat reported status=fail (waived: test_n: strict)"}}]}}`)
	var got []string
	for _, k := range r.Acceptance.KnownIssues {
		got = append(got, fmt.Sprintf("%s/%s: %s", k.Category, k.Task, k.Reason))
	}
	if text := strings.Join(got, "\n"); text != strings.TrimSpace(`
evals/aime25: declared
evals/meta_ifeval: 2 short (of 9).
spec tests/ChatTest: test_n: strict
spec tests/Other: test_n: flaky (sometimes)`) {
		t.Error(text)
	}
}

// A row that a report marks as not gradable has a measurement and no targets, whatever checks stand in it.
func TestRowOfStatusNAIsNotGraded(t *testing.T) {
	for status, want := range map[string]int{`"na"`: 0, `"SKIP"`: 0, `"pass"`: 1, `null`: 1} {
		r := reader.Must(t, "report_data_x.json", `{"metadata":{"report_id":"x","model_name":"acme/M"},"sections":[{`+
			`"kind":"benchmarks","data":{"concurrency":1,"num_requests":8,"input_sequence_length":128,`+
			`"output_sequence_length":128.0,"mean_ttft_ms":130.5,"status":`+status+`,"target_checks":{"functional":{`+
			`"ttft":178,"ttft_check":2}}}}]}`)
		if len(r.Points) != 1 || len(r.Targets) != want {
			t.Errorf("%s: %d points, %d targets, want %d", status, len(r.Points), len(r.Targets), want)
		}
	}
}

// A report can list a task under the name of another one, for which it was run: the score, its reference and its waiver
// are of the task that ran, under the metric that this one is scored by.
func TestScoreIsOfTheTaskThatRan(t *testing.T) {
	r := reader.Must(t, "report_data_x.json", `{"metadata":{"report_id":"x","model_name":"acme/M"},"sections":[
{"kind":"evals","title":"E","data":{"task_name":"meta_gpqa_cot","executed_task_name":"gpqa_main_official_cot_n_shot",
"gpu_reference_score":45.3,"score":40,"accuracy_check":3,"tolerance":0.05}}],"acceptance_criteria":true,
"acceptance_criteria_metadata":{"model_status":"COMPLETE","categories":[
{"name":"Evals","waived":{"evals:E":"Accuracy check failed. (waived: short)"}}]}}`)
	s := r.Scores[0]
	if s.Task != "gpqa_main_official_cot_n_shot" || s.Metric != "exact_match" || s.Filter != "flexible-extract" {
		t.Errorf("%s %s %s", s.Task, s.Metric, s.Filter)
	}
	v := schema.Verdict{Against: schema.AgainstTarget, Key: schema.EvalKey(&s), Metric: s.Metric}
	if x := r.Targets[0]; x.Key.String() != v.Key.String() || x.Metric != s.Metric {
		t.Errorf("its reference is of %s %s", x.Key, x.Metric)
	}
	if list := r.Acceptance.KnownIssues; len(list) != 1 || !list[0].Covers(&v) {
		t.Errorf("its waiver is not: %v", list)
	}
}
