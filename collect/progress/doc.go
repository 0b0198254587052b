// Package progress shows a collection to the person who waits for it: the plan with an estimate, then what is measured
// and what is left.
//
// In: a plan, an estimate and the events of package collect. Out: lines on one stream: a table that is drawn in place
// on a terminal, one line a finished step otherwise, folded by run in GitHub's log. It must not decide what is
// measured, nor estimate how long it takes: package plan does.
package progress
