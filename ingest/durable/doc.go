// Package durable writes files atomically: a file is complete or does not exist.
//
// A file is written under a temporary name in its own folder and renamed over the old one, so that a full disk, a
// signal or a crash of the program leaves what existed before. The package must not know what is written.
//
// Files are flushed to the disk where that is asked for: what cannot be made again is. github.com/google/renameio was
// rejected because it always does, which makes writing a small file five times as slow, and has no fixed temporary
// names, which who lists a folder passes over.
package durable
