// Package columns holds the numbers of many runs side by side, without their documents: what verdicts and pages are
// made of. Package history fills it from documents on disk; targets, render and site read it. Nothing in it changes
// after it is built.
//
// A million statistics take ten bytes each here and some sixty as documents in memory.
package columns
