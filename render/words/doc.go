// Package words turns numbers and reason codes into the words that people read, the same ones in HTML, markdown, on a
// terminal and in CSV.
//
// In flow values, units and [schema.Reason] codes; out flow strings: three significant digits, grouped thousands, a true
// minus, a unit after a narrow space, one sentence a verdict. The voice is plain and exact; see the design notes on words
// in the documentation. The package knows no page and no markup.
package words
