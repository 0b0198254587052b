// Package listing shows what was read: every file with what it is, the runs that files make together, and problems,
// the worst first.
//
// In: an [ingest.Set]. Out: text that fits a terminal ([Write]), or one document of schema ttreport/inspect/v1
// ([WriteJSON]). It must not read files, nor know the command line.
package listing
