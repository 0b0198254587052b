// Package archive goes through the files within an archive: zip, tar, tar.gz, tar.zst, and archives within them.
//
// In flows an archive's bytes; out flow its members, one at a time, each as bytes in memory, with the path that it
// would have if the archive were a folder. Nothing is ever written to disk. Limits of [decode.Limits] bound how many
// members are looked at, how large one and all of them may become, and how deep archives nest; what is beyond, damaged,
// encrypted or named so that it would lie outside the archive is a problem, and the other members are still read.
//
// The package knows no result format.
package archive
