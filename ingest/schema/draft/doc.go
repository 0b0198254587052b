// Package draft builds points from the numbers that a reader finds in a file.
//
// A [Format] is how a reader recognises a file and where it has what. Draft takes a file's values by such tables, and
// from a reader for what is odd, and adds points to a [schema.Reading]. It sets
// units from the catalogue and a status that follows from the counts, makes zeros that mean "not measured" missing
// numbers, keeps unknown fields small and without secrets, and reports the problems that all formats share (all
// requests failed, some failed, no output, a negative time). [Runs] collects what one file states about several runs.
//
// The package must not know any format. A rule for all tools belongs here; a rule for one tool does not.
package draft
