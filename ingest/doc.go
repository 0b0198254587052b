// Package ingest turns files and folders into runs, and keeps runs as history documents.
//
// [Load] takes roots: folders or files, as io/fs file systems. It walks them, finds the reader of each file by
// content (names only hint), reads in parallel, resolves the identity of what was measured, and groups results into
// runs. It returns normalised [schema.Run] values, one [File] entry for every file found, and problems; it writes
// nothing. [Store.Read] does the same and stores the runs.
//
// A file that cannot be read is a problem and never stops the others. Identity is resolved in a fixed order (flag,
// manifest, pattern, history, sidecar, file, spec, path), and every fact keeps its source. A measurement that is in
// several files, or in a stored document, counts once: package duplicate decides when two are one. Results of one
// workload in one run are repeats, or get a dimension that tells them apart: package repeat decides.
//
// The package must not know collect, pages, or the statistics of releases. Targets reach it through an interface. It
// accesses no file outside the roots and folders that it is given.
package ingest
