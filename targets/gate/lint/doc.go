// Package lint finds what makes numbers untrustworthy, whatever their values: a score of two questions, a P99 of
// eight requests, a client that could not keep up the load, an image called latest.
//
// It takes the columns of the runs of a release and of the release that it is compared with, and returns lints: one
// for each check and run, with the number of cases and the numbers of the worst case. Lints that need the judgement
// (drifts, decisions without effect) are made in package gate, of the types declared here. Each check has
// an id, a severity, a sentence (package words) and a section in the documentation (templates/docs/lints.md).
//
// A lint never changes a number or a verdict; the package must not know decisions, targets or pages.
//
// Sources of the checks: the failures that vLLM, AIPerf and lm-eval files show, and reviewers' lists of misleading
// reports.
package lint
