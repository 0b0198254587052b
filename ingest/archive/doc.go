// Package archive goes through the files within an archive: zip, tar, tar.gz, tar.zst, and archives within them.
//
// It takes an archive's bytes and passes on its members, one at a time, each as bytes in memory, with the path that it
// would have if the archive were a folder. Nothing is written to disk. [decode.Limits] bounds how many members are
// examined, how large one and all of them may become, and how deep archives nest. A member beyond a limit, damaged,
// encrypted, or with a name outside of the archive is a problem; the others are still read.
//
// The package knows no result format.
package archive
