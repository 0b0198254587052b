// Package terminal writes what people read at a prompt: the decision of a gate, the calculation behind a verdict, a
// comparison. And what CI systems show: a JUnit XML test report of the decision.
//
// It takes views and typed verdicts and writes plain text, two lines a verdict: what, and why. Colour is never used,
// so that the text reads the same in a log. The package must not know the command line.
package terminal
