// Package history keeps runs on disk, one JSON document each, and loads thousands of them as columns.
//
// In flow runs, written as schema "ttreport/v1" to history/<model>/<device>/<run-id>.json: sorted keys, one point or
// score a line, shortest floats at seven significant digits, so that a document diffs well and two branches that add
// runs never conflict. Out flow [Columns], the numbers of all runs without their documents, and single documents on
// demand, because pages need all numbers but the whole of one run at a time.
//
// Columns are cached by content: a document whose size and time are unchanged is not opened, and one whose hash is
// unchanged is not parsed. The cache is a file that may be deleted at any time.
//
// The package refuses to know readers, verdicts and pages.
package history
