// Package collect measures: it drives load and evals against a server, and leaves a run folder.
//
// In: a plan (package plan) and a server (package server). Out: a folder of files on disk: raw results as their tools
// write them, a sidecar for each, a manifest that states what was measured, and a journal of what was done. Package
// ingest reads that folder like any other; the two packages share nothing else. It must not decide what is measured,
// nor read back what it measured.
//
// One runner (item.go) journals, limits and stores every item. What measures it is a function of one form: a load once,
// or until its precision is known, a search for a capacity, an external tool, the builtin questions. A [Folder] is a
// run, or two runs whose servers take turns.
//
// What is started is stopped on every path. A point that fails is recorded, and the next one is measured. When a
// server stops responding, the run ends with what was measured so far.
package collect
