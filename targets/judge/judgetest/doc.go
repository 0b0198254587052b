// Package judgetest makes up histories for tests of the judge and of the gate.
//
// It takes a few numbers a release and returns the columns that reading their files would have given. Nothing here
// decides anything: a test judges the columns itself. The package must not be imported outside tests.
package judgetest
