// Package words turns numbers, verdicts and reasons into the words that people read: the same ones in HTML, markdown,
// on a terminal and in CSV.
//
// It takes values, units and the typed reasons of package schema and the lints of package lint, and returns text:
// three significant digits, grouped thousands, a true minus, a unit after a narrow space, one sentence a verdict.
// Every sentence about a reason is made here. The package must not know pages or markup.
package words
