// Package targets reads promised numbers and judges runs against them.
//
// In flow target files (tt-inference-server's model_performance_reference.json and overrides of the same shape) and the
// columns of measured runs; out flow the targets in force for a model on a device, and verdicts: pass, fail,
// inconclusive, missing, ungraded or impossible, each with its numbers and a reason code.
//
// Rules that are decided here: a target is looked up by architecture key, the first weight of the architecture; levels
// are functional 10 %, complete 50 % and target 100 % of theoretical; a level is required only where the model's declared
// status promises it; a gate that graded nothing is not a pass; a target that contradicts its own neighbours is
// impossible and grades nothing.
//
// Targets in force are stored with a run and never looked up again: files are edited, and a verdict on an old release must
// not change with them. The package refuses to know files on disk, readers and pages.
package targets
