// Package pairing compares the repeats of one number under two builds, as benchstat does.
//
// In: two sets of positive values. Out: a [Result], the change with its interval, the name of the test that was made,
// and how many runs would show a difference of this size.
//
// The test follows from the data: Mann and Whitney's U (exact, ties by mid-rank) where both sides have four values or
// more, Welch's t on logarithms below, none for a single value. The package must not know files or history: package
// regression compares with history.
package pairing
