// Package history keeps runs on disk, one JSON document each, and loads thousands of them as columns.
//
// [Put] writes a run as schema "ttreport/v1" to history/<model>/<device>/<run-id>.json: sorted keys, one point or score
// a line, shortest floats at seven significant digits, so that a document diffs well and two branches that add runs
// never conflict. [Load] returns columns, the numbers of all runs without their documents, and [Read] one document,
// because pages need all numbers but the whole of one run at a time.
//
// Columns are cached by content: a document whose size and time are unchanged is not opened, and one whose hash is
// unchanged is not parsed. The cache is a file that may be deleted at any time.
//
// The package must not know readers, verdicts and pages. Whether two runs hold the same measurements is decided by its
// caller, package ingest; [Candidates] finds the documents that may.
package history
