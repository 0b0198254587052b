// Package draft builds points: what every reader does with the numbers it finds in a file.
//
// In flow a file's values, under the reader's knowledge of what they mean; out flow points in a [schema.Reading], with
// units from the catalogue, a status that follows from the counts, zeros that mean "not measured" turned into missing
// numbers, foreign fields kept small and without secrets, and the problems that all formats share: all requests failed,
// some failed, nothing was produced, a negative time.
//
// The package knows no format. A rule that holds for every tool belongs here; one that holds for one tool does not.
package draft
