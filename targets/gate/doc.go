// Package gate decides whether a release passes.
//
// It takes the judgement of a history, the decisions of people and a policy of what fails, and returns one word with
// its counts, for a release and for each model and device in it: PASS, PASS with warnings, FAIL, NO BASELINE or NOT
// GRADED. It attaches decisions to verdicts, adds the lints that need the judgement, and names the workloads to
// measure again.
//
// What is inconclusive never changes the word unless the policy says so. The package must not know how a number is
// judged, how anything is worded, or how workloads are measured.
package gate
