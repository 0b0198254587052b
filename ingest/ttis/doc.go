// Package ttis reads the tree that tenstorrent/tt-inference-server writes to workflow_logs/: the runtime spec, which
// states the identity and the targets in force, the harmonised copies of AIPerf and GenAI-Perf results, and the
// identity in its file names.
//
// It takes one decoded file and returns a [schema.Reading]. Results of vLLM and lm-eval in the tree are read by their
// own packages; this one adds [NameFacts] to them.
//
// Traps: harmonised files have 0 for an absent metric, call TPOT "itl" a second time, and name the output rate
// output_token_throughput; "date" is local time; a runtime spec has its targets in device_model_spec.perf_reference,
// levels expanded; its version is that of tt-inference-server. Reports (markdown, CSV) repeat numbers that are read
// from their own files. The newest sources that were read: main at 11ac526e of 2026-08-22, and of what came after it
// llm_module/target_checks.py and its tests as of September 2026. The data of a report (report_data_*.json, both
// generations) does so too, rounded; it is read, and counts if the results themselves are not among the files.
package ttis
