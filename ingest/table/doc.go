// Package table reads results that no tool defines, by what their owner states of them: tables (CSV, one row a point)
// and the metrics file of a benchmark of the user's own, see [Own].
//
// In: [Mapping] values of ttreport.yaml, which name files and say what each column holds, with its unit; a decoded
// file. Out: a reading with a point for each row. A unit is never guessed: a mapping that states none is an error
// before anything is read. Columns that nothing maps are kept as unknown fields; a cell that is no number is a problem.
//
// The package must not know which other formats there are: a file that a mapping names is read by it, whatever else it
// resembles.
package table
