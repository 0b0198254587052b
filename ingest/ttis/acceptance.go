package ttis

import (
	"strings"

	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// acceptance reads what a report decided, the model's status that it decided by, and the failures that it accepts.
func acceptance(f *decode.File, r *schema.Reading, v decode.Value) {
	meta := v.Get("acceptance_criteria_metadata")
	if status := meta.Get("model_status").Str(); status != "UNSPECIFIED" {
		r.Facts.Model.Status = status
	}
	a := &r.Acceptance
	if ok, stated := v.Get("acceptance_criteria").Truth(); stated {
		a.Result, a.Source = schema.Rejected, f.Path
		if ok {
			a.Result = schema.Accepted
		}
	}
	for _, b := range v.Get("acceptance_blockers").Members() {
		a.Blockers = append(a.Blockers, schema.Blocker{Name: redact.Text(b.Key), Message: redact.Text(b.Val.Text())})
	}
	a.KnownIssues = knownIssues(f, meta.Get("known_issues_declared"))
	if r.Facts.Model.Status != "" {
		return
	}
	for i := range r.Targets { // without a status, tt-inference-server enforces every level
		r.Targets[i].Priority = must
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
