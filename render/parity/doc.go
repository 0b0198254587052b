// Package parity writes what the systems wrote that ttreport replaces, so that scripts that read their files read
// these: reports_output/ of tt-inference-server in both of its layouts, that of v0.17 and before (a display table and a
// CSV for each tool, summaries of evals, a release report with its data) and that of v0.19 and after (one report with
// its data); and BenchmarkResult JSON of nm-vllm.
//
// In come the runs of one model on one device in one release, and what the gate came to. Out go files, as paths and
// bytes. The documents are templates, their columns are lines of columns.txt; names, units, formulas and rounding are
// those of benchmarking/summary_report.py, workflows/run_reports.py (v0.17), report_module and llm_module/parsers
// (v0.20). Checks and the acceptance are the verdicts of the gate: this package compares no number with a target. Where
// it differs on purpose is listed in templates/docs/tt-reports.md.
package parity
