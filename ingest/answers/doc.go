// Package answers reads what was asked in the items of an eval, and what a model said.
//
// In: the files in which lm-eval writes its samples (samples_TASK_*.jsonl) and logs of Inspect in JSON, and ids of
// items. Out: texts by id. Texts are never stored: questions may be licensed, and answers may hold anything. The
// package must not know scores, runs or who is better.
package answers
