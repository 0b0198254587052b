// Command style checks what gofmt, vet and staticcheck do not: the length of lines, the length and complexity of
// functions, vague package names, func init, and package variables that change.
//
//	go run ./.ci/style [FOLDER]
//
// It prints every finding, then counts, and exits 1 when there is a finding. Long functions of tests, which may be
// tables of cases, are counted only.
package main
