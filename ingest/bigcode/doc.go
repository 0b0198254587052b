// Package bigcode reads the evaluation_results.json of bigcode-evaluation-harness: {"humaneval": {"pass@1": …},
// "config": {"model": …, "tasks": …}}. Temperature and samples are part of what was asked,
// and stand in the task's filter.
package bigcode
