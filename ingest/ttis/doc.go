// Package ttis reads the tree that tenstorrent/tt-inference-server leaves in workflow_logs/: the runtime spec, which
// states who was measured and the targets in force, the harmonised copies of AIPerf and GenAI-Perf results, and the
// identity that its file names carry.
//
// It takes one decoded file and returns a [schema.Reading]. Results of vLLM and lm-eval in the tree are read by their
// own packages; what this one adds to them is [NameFacts].
//
// Traps: harmonised files write 0 for a metric that was absent, call TPOT "itl" a second time, and name the output rate
// output_token_throughput; "date" is local time; a runtime spec has its targets in device_model_spec.perf_reference,
// levels expanded; its version is that of tt-inference-server. Reports (markdown, CSV) repeat numbers that are read
// from their own files. The data of a report (report_data_*.json, both generations) does so too, rounded; it is read,
// and counts where the results themselves are not among the files.
package ttis
