// Package judge turns measured runs into verdicts: each number against its history, against the targets in force and,
// for evals, against earlier scores.
//
// It takes the columns of all runs, the order of releases and what people decided, and returns typed verdicts release
// by release, each with its numbers and a reason of a Go type; run-wide shifts; change points and drifts; proposals
// of targets.
//
// Rules that are decided here: which releases are a baseline, what is one series, which conditions change the meaning
// of a number, what counts as measured again, which levels of targets a model's declared status asks for. A verdict
// on a release depends on runs up to it only; a later release adds a follow-up.
//
// The mathematics is package regression, which knows numbers only. What fails a release is package gate. The package
// must not know files on disk, lints or pages.
package judge
