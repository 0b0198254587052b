// Package format reads the results of tools whose formats take one file of code each: helm.go, sglang.go and so on.
//
// In: one decoded file. Out: a schema.Reading. Each tool has a draft.Format: what a file of it has, and how its numbers
// are read with their definitions. It never panics. The package must not know folders, identity or other files: package
// ingest decides what belongs together.
//
// A new format is a file here with a draft.Format, a test beside it with a fuzz target, and a name in the list of
// readers in ingest/readfile.go. Files share nothing but ingest/schema/draft; their package-level names carry the
// tool's name.
package format
