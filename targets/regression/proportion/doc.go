// Package proportion has the statistics of shares of right answers: intervals of one share, differences of two, paired and not.
//
// In flow counts; out flow intervals and p values. It knows no evals and no verdicts. Shares are between 0 and 1 everywhere.
package proportion
