// Package tabular writes the report's data as CSV for spreadsheets and scripts. It is the only importer of gocsv,
// which it uses for writing only: reading with it loses data silently.
//
// In go columns, verdicts and comparisons; out go rows, and of rows a file: one header, one row a point, score,
// verdict or compared number, numbers in base units as stored, an empty cell where there is no number. A text that a
// spreadsheet would take for a formula is prefixed with an apostrophe. Rows are typed, so that a public site can
// change their texts before they are written.
package tabular
