// Package archive iterates over the files in an archive: zip, tar, tar.gz, tar.zst, and archives within them.
//
// It takes an archive's bytes and returns its members, one at a time, as bytes in memory, with the path that each
// would have if the archive were a folder. Nothing is written to disk. [decode.Limits] bounds how many members are
// examined, how large one and all of them may become, and how deep archives nest. A member beyond a limit, damaged,
// encrypted, or with a name outside of the archive is a problem; the others are still read.
//
// The package must not know any result format.
package archive
