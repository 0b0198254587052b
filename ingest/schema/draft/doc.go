// Package draft builds points: what every reader does with the numbers it finds in a file.
//
// It takes a file's values from a reader, which knows what they mean, and adds points to a [schema.Reading]: units from
// the catalogue, a status that follows from the counts, zeros that mean "not measured" as missing numbers, foreign
// fields kept small and without secrets, and the problems that all formats share (all requests failed, some failed,
// nothing was produced, a negative time). [Runs] collects what one file states about several runs.
//
// The package knows no format. A rule that holds for every tool belongs here; one that holds for one tool does not.
package draft
