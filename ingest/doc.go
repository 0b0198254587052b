// Package ingest turns files and folders into runs and problems.
//
// In flow roots: folders or files, as io/fs file systems. [Load] walks them, asks every reader in turn whether a file is
// its own (content decides, names only hint), reads in parallel, resolves who was measured, and groups what belongs
// together. Out flow normalised [schema.Run] values, one [File] entry for every file met, and problems.
//
// A file that cannot be read is a problem and never stops the others. Identity is resolved in a fixed order — file,
// sidecar, manifest, runtime spec, path, flag — and every fact remembers where it came from.
//
// The package refuses to know collect, targets, statistics over releases, and pages. It never writes a file.
package ingest
