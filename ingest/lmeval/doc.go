// Package lmeval reads results of EleutherAI's lm-evaluation-harness: results_*.json of 0.4 and later and the flat
// files of 0.3 and earlier. Per-item samples_*.jsonl are recognised and counted with the results beside them.
//
// In flows one decoded file; out flows a [schema.Reading] with one score per task, metric and filter.
//
// Traps: since 0.4 a metric's key is "metric,filter", split at the last comma; its standard error is "metric_stderr,filter"
// and may be "N/A"; a group's entry may hold nothing but its alias; values that JSON cannot hold are strings. Scores keep
// the tool's own scale: most are fractions of 1, some are not, and nothing is multiplied. A run under --limit looks like
// any other, so n and the full size travel with each score. "git_hash" is of the directory the harness ran in.
package lmeval
