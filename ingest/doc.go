// Package ingest turns files and folders into runs, and keeps runs as history documents.
//
// [Load] takes roots: folders or files, as io/fs file systems. It walks them, asks every reader in turn whether a file
// is its own (content decides, names only hint), reads in parallel, resolves who was measured, and groups what belongs
// together. It returns normalised [schema.Run] values, one [File] entry for every file met, and problems; it writes
// nothing. [Store.Read] does the same and stores the runs.
//
// A file that cannot be read is a problem and never stops the others. Identity is resolved in a fixed order — file,
// sidecar, manifest, runtime spec, path, flag — and every fact remembers where it came from. A measurement that several
// files hold, or a stored document, counts once: package duplicate says when two are one.
//
// The package must not know collect, pages, or the statistics of releases. Targets reach it through an interface. It
// touches no file outside the roots and folders that it is given.
package ingest
