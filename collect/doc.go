// Package collect measures: it starts or attaches to a server, drives load and evals against it, and leaves a run folder.
//
// In flows a [Plan]; out flows a folder of files on disk: raw results as their tools write them, a sidecar beside each, a
// manifest that says who was measured, and a journal of what was done. Ingest reads that folder like anybody else's; the
// two packages meet nowhere else.
//
// What is started is stopped on every path. A point that fails is recorded and the next one is tried; a server that does
// not answer ends the run with what was measured so far.
package collect
