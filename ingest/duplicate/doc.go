// Package duplicate decides when two measurements are one.
//
// It takes points and scores, from files that were just read or from stored documents, and answers two questions:
//
//   - Which measurements of several files are one? [Once] goes through them by what copies have in common, such as
//     the [Marks] of points, whose statistics are equal in all digits in whatever form they are.
//   - Which point of a file is one that was read of it before? [Numbers] is the same for both.
//
// What to do with a duplicate is the caller's decision: package ingest keeps one of several files, and one of a
// stored and a new run. Copies of a run within the history are found by the judge instead, because old numbers under
// a new name are a finding.
package duplicate
