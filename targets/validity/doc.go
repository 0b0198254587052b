// Package validity finds what makes numbers untrustworthy, whatever they are: two questions behind a score, a P99 of eight
// requests, a client that could not hold the load, an image called latest.
//
// In flow the columns of the runs of a release, and of the release that it is compared with; out flow lints, one a kind and run,
// with how many cases it stands for and the numbers of the worst. Each check has an id, a severity, a sentence (package words) and a
// section in the documentation (templates/docs/lints.md). A lint never changes a number or a verdict: the gate and people do.
//
// Sources of the checks: the failures that vLLM, AIPerf and lm-eval files show, and reviewers' own lists of misleading reports.
package validity
