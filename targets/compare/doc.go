// Package compare compares two sides: runs, releases or files.
//
// It takes the runs of each side, several measurements of one workload being repeats, and returns one row for each
// number that both have: the geometric means, the change with its interval, p and the test that the data allow,
// largest regressions first; and how many numbers were left out and why. Numbers of two tools, or under two
// definitions, are never one row.
//
// It must not know history or how rows are written: package judge gives verdicts that account for the noise of
// earlier releases.
package compare
