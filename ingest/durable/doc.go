// Package durable writes files that are there whole or not at all.
//
// A file is written under a temporary name in its own folder and renamed over the old one, so that a full disk, a
// signal or a crash of the program leaves what existed before. It knows nothing of what is written.
//
// It does not flush each file to the disk, and that is why it is not github.com/google/renameio: flushing made a small
// file five times as slow (2.4 ms in place of 0.45 ms), and a site has thousands of them, all of which can be made
// again. renameio also has no fixed temporary names, which package site needs to clean up after a crash.
package durable
