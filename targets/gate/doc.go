// Package gate decides whether a release passes.
//
// It takes the judgement of a history, the decisions of people and the kinds of findings that fail, and returns a
// decision with its counts, for a release and for each model and device in it: PASS, PASS with warnings, FAIL, NO
// BASELINE or NOT GRADED. It attaches decisions to verdicts, adds the lints that need the judgement, and names the
// workloads to measure again.
//
// Inconclusive findings never change the decision unless the policy includes them. The package must not know how a
// number is judged, how anything is worded, or how workloads are measured.
package gate
