// Package columns holds the numbers of many runs side by side, without their documents. Verdicts and pages are made
// from them. Package history fills it from documents on disk; targets, render and site read it. It is immutable once
// built, and must not know files, verdicts or pages.
//
// A million statistics take ten bytes each here, and about sixty as documents in memory.
package columns
