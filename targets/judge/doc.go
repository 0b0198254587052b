// Package judge turns measured runs into verdicts: each number against its history, against the targets in force and,
// for evals, against earlier scores.
//
// It takes the columns of all runs, the order of releases and what people decided, and returns typed verdicts release
// by release, each with its numbers and a reason of a Go type; changes, each an event with its members, size and state;
// change points and drifts; proposals of targets.
//
// These rules live here: which releases form a baseline, what belongs to one series, which conditions change the
// meaning of a number, what counts as measured again, which levels of targets a model's declared status requires. A
// verdict on a release depends only on runs up to it; a later release adds a follow-up.
//
// Package regression has the mathematics, on plain numbers. Package gate decides what fails a release. The package
// must not know files on disk, lints or pages.
package judge
