// Package jsondoc writes the documents that programs read: the decision on a release (ttreport/check/v1), its change
// points, and comparisons (ttreport/compare/v1).
//
// It takes typed views and writes JSON. Names of fields are a contract; fields may be added. Numbers are numbers,
// absent ones null. The package must not know the command line.
package jsondoc
