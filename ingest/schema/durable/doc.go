// Package durable writes files that are there whole or not at all.
//
// A file is written under a temporary name in its own folder and renamed over the old one, so that a full disk, a signal
// or a crash of the program leaves what existed before. It knows nothing of what is written.
package durable
