// Package pairing compares the repeats of one number under two builds, as benchstat does.
//
// In: two sets of positive values. Out: a [Result], the change with its interval, the name of the test that was made,
// and how many runs would show a difference of this size.
//
// The test is Welch's t on logarithms, whose interval is the one that is shown; there is none for a single value.
// Rejected: Mann and Whitney's U from four values a side on. Its p and the interval came from two tests, and disagreed.
// The package must not know files or history: package regression compares with history.
package pairing
