// Package proportion has the statistics of shares of right answers: intervals of one share, differences of two, paired
// and not.
//
// In: counts, and shares between 0 and 1. Out: intervals and p values. The package must not know evals or verdicts.
package proportion
