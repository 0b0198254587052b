// Package pairing compares the repeats of one number under two builds, as benchstat does: a change with its interval, a test that
// is named, and "cannot say" with how many more runs would say it.
//
// In flow two sets of values; out flows a [Result]. The test is chosen by the data: Mann and Whitney's U (exact, ties by mid-rank)
// where both sides have four values or more, Welch's t on logarithms below, none for a single value. The package knows no files
// and no history: what history says is package regression's business.
package pairing
