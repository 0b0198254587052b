// Package history keeps runs on disk, one JSON document each, and loads thousands of them as columns.
//
// [Put] writes a run as schema "ttreport/v1" to history/<model>/<device>/<run-id>.json: sorted keys, one point or
// score a line, shortest floats at seven significant digits, so that a document diffs well and two branches that add
// runs never conflict. [Load] returns columns, the numbers of all runs without their documents, and [Read] returns
// one document: pages need the numbers of all runs, but the full document of only one run at a time.
//
// The package must not know readers, verdicts or pages. Its caller, package ingest, decides whether two runs have the
// same measurements.
package history
