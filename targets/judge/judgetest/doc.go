// Package judgetest makes made-up histories for tests of the judge and of the gate.
//
// It takes a few numbers for each release and returns the columns that reading their files would give. Tests judge
// the columns themselves. The package must not be imported outside tests.
package judgetest
