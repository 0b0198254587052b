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
