package ttis

import (
	"bytes"
	"path"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Names of the formats that this package distinguishes.
const (
	Spec       = "ttis-runtime-spec"
	Harmonised = "ttis-harmonised"
	Report     = "ttis-report"
	ReportData = "ttis-report-data"
	TargetFile = "ttis-targets"
	Statistics = "ttis-statistics" // the table of a report's results
)

// Detect reports by content whether a file is tt-inference-server's.
func Detect(f *decode.File) schema.Match {
	m := schema.Match{Format: Harmonised}
	if f.Form == decode.Text {
		return detectText(f)
	}
	v := f.First
	if v.Kind() == decode.Invalid {
		m.Lacks = []string{"a JSON value"}
		return m
	}
	if m, ok := detectAround(f, v); ok {
		return m
	}
	for _, key := range []string{"completed", "mean_ttft_ms", "output_token_throughput"} {
		if v.Get(key).Kind() == decode.Number {
			m.Has = append(m.Has, key)
		} else {
			m.Lacks = append(m.Lacks, key)
		}
	}
	if v.Has("output_throughput") {
		m.Lacks = append(m.Lacks, "the harmonised form (output_throughput is vLLM's)")
	}
	if m.OK() {
		m.Detail = "harmonised copy of " + toolOf(v, f.Path)
	}
	return m
}

// detectAround recognises what lies around results: the spec, reports and target files.
func detectAround(f *decode.File, v decode.Value) (m schema.Match, ok bool) {
	switch {
	case v.Get("runtime_model_spec").Kind() == decode.Object:
		m = schema.Match{
			Format: Spec, Has: []string{"runtime_model_spec"}, Detail: "runtime spec: identity and targets in force",
		}
	case v.Get("metadata").Has("written_by") || v.Has("written_by") && v.Has("output_token_throughput"):
		m = schema.Match{
			Format: Report, Has: []string{"metadata.written_by"},
			Detail: "not a result: a report or a copy that ttreport wrote of results that it had read",
		}
	case v.Get("metadata").Has("report_id") || v.Get("benchmarks_summary").Kind() == decode.Array:
		m = schema.Match{
			Format: ReportData, Has: []string{"metadata.report_id"},
			Detail: "data of a report: counts where the results themselves are not there",
		}
	case isMedia(v):
		m = schema.Match{
			Format: Media, Has: []string{"benchmarks.num_requests, model, device"},
			Detail: "benchmark of " + mediaTask(v.Get("task_type").Str()),
		}
	case isMediaEval(v) && !strings.Contains(path.Base(f.Path), "eval_data_"):
		m = schema.Match{Format: MediaEval, Has: []string{"accuracy_check, task_name"}, Detail: "eval of media"}
	case v.Index(0).Has("accuracy_check"):
		m = schema.Match{
			Format: Report, Has: []string{"accuracy_check"},
			Detail: "not a result: a report of evals that are read from their own files",
		}
	case isTargets(v):
		m = schema.Match{
			Format: TargetFile, Has: []string{"model, device, targets"},
			Detail: "not a result: targets; put it into the targets folder",
		}
	case isAccuracyReference(v):
		m = schema.Match{Format: TargetFile, Has: []string{"model, accuracy"}, Detail: "not a result: reference scores"}
	}
	return m, m.Format != ""
}

func detectText(f *decode.File) schema.Match {
	head := f.Data[:min(len(f.Data), 4096)]
	name := path.Base(f.Path)
	switch {
	case strings.HasSuffix(name, ".csv") && bytes.Contains(head, []byte("input_sequence_length")) &&
		bytes.Contains(head, []byte("mean_ttft_ms")),
		strings.HasSuffix(name, ".csv") && bytes.HasPrefix(head, []byte("source,")) &&
			bytes.Contains(head, []byte("mean_ttft_ms")),
		strings.HasSuffix(name, ".csv") && bytes.HasPrefix(head, []byte("timestamp,model_name,")),
		strings.HasSuffix(name, ".csv") && bytes.HasPrefix(head, []byte("timestamp,model,model_name,model_id,backend,")):
		return schema.Match{
			Format: Statistics, Has: []string{"a statistics table"},
			Detail: "a table of results: counts where the results themselves are not there",
		}
	case strings.HasSuffix(name, ".md") &&
		(bytes.Contains(head, []byte("Tenstorrent")) || bytes.Contains(head, []byte("Performance Benchmark")) ||
			bytes.Contains(head, []byte("Benchmark Performance Results")) ||
			bytes.Contains(head, []byte("Accuracy Evaluations")) || strings.Contains(f.Path, "reports_output/")):
		return schema.Match{
			Format: Report, Has: []string{"a report's headings"},
			Detail: "not a result: a report of results that are read from their own files",
		}
	}
	return schema.Match{Format: Report, Lacks: []string{"a report's headings"}}
}

// isTargets recognises {model: {device: [{isl, osl, max_concurrency …}]}}.
func isTargets(v decode.Value) bool {
	entries := 0
	for _, model := range v.Members() {
		for _, device := range model.Val.Members() {
			if device.Val.Kind() != decode.Array {
				return false
			}
			for e := range device.Val.Items() {
				if !e.Has("max_concurrency") || !(e.Has("targets") || e.Has("isl")) {
					return false
				}
				entries++
			}
		}
	}
	return entries > 0
}

// isAccuracyReference recognises {model: {"accuracy": …}}.
func isAccuracyReference(v decode.Value) bool {
	for _, model := range v.Members() {
		if model.Val.Get("accuracy").Kind() != decode.Object {
			return false
		}
	}
	return len(v.Members()) > 0
}

// toolOf returns the tool whose result a harmonised file copies: by its backend, else by the prefix of its name.
func toolOf(v decode.Value, name string) string {
	switch backend := v.Get("backend").Str(); {
	case backend == "aiperf" || strings.HasPrefix(path.Base(name), "aiperf_"):
		return "aiperf"
	case strings.HasPrefix(backend, "genai") || strings.HasPrefix(path.Base(name), "genai_"):
		return "genai-perf"
	case backend != "":
		return backend
	}
	return "unknown tool"
}
