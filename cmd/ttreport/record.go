package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/schema"
)

// buildRecord is what a build read and wrote: with it the next build of the same input reads nothing but sizes and
// times of files. One that cannot be kept or read costs time and nothing else.
type buildRecord struct {
	Stamp       string // of the input; see [buildInput.stamp]
	Files, Runs int
	Problems    []schema.Problem

	Folder      string // that was written
	Options     string // everything that decides what is written, beside what was read
	Fingerprint string // of its files
	Written     int    // files
	Headline    string // what was printed when it was done
}

// buildInput is what decides what reading gives.
type buildInput struct {
	Paths   []string      // files and folders; those that do not exist are left out
	Options string        // the rest, in any form
	Own     []fs.FileInfo // folders that are no part of those they are in: what was read is written there
}

// stamp is a hash of the input and of the program: equal stamps mean that reading again would give the same. Nothing
// but the names, sizes and times of files is looked at. ok is false where that is not known.
func (in buildInput) stamp() (stamp string, ok bool) {
	var roots []ingest.Root
	for _, name := range in.Paths {
		root, err := ingest.OSRoot(filepath.ToSlash(name))
		if name == "" || os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return "", false
		}
		root.Own = in.Own
		roots = append(roots, root)
	}
	files, ok := ingest.Fingerprint(roots)
	stamp = stampOf(fmt.Sprintf("4 %q %q %q", files, in.Paths, in.Options), nil)
	return stamp, ok && stamp != ""
}

// loadRecord returns the record in a file, when it holds for an input.
func loadRecord(name string, in buildInput) (buildRecord, bool) {
	var r buildRecord
	if json.Unmarshal(durable.ReadRecord(name), &r) != nil || r.Stamp == "" {
		return buildRecord{}, false
	}
	stamp, ok := in.stamp()
	return r, ok && stamp == r.Stamp
}

// stands reports whether a folder would be written as it was, and is still as it was written.
func (r buildRecord) stands(folder, options string) bool {
	if r.Folder != folder || r.Options != options {
		return false
	}
	hash, ok := fingerprint(folder)
	return ok && hash == r.Fingerprint
}

// saveRecord keeps a record in a file; stamp and fingerprint are found here. Where they cannot be, an earlier record is
// forgotten, as where a file could not be read: a full disk may have been the reason, and not the file. Without a name
// nothing is kept.
func saveRecord(name string, in buildInput, r buildRecord) {
	if name == "" {
		return
	}
	var read, written bool
	r.Stamp, read = in.stamp()
	r.Fingerprint, written = fingerprint(r.Folder)
	failed := func(p schema.Problem) bool { return p.Code == schema.CodeUnreadable }
	if !read || !written || slices.ContainsFunc(r.Problems, failed) {
		_ = os.Remove(name)
		return
	}
	if data, err := json.Marshal(r); err == nil {
		_ = durable.WriteRecord(name, data)
	}
}

// fingerprint covers what is in the files: a site is published, so sizes and times are not enough.
func fingerprint(folder string) (hash string, ok bool) {
	root, err := ingest.OSRoot(filepath.ToSlash(folder))
	if err != nil {
		return "", false
	}
	return ingest.Contents([]ingest.Root{root})
}

// stampOf is a hash of this program, of options and of settings: what is written is made of them, beside what was read.
// The program is told from another build of it by its size and the time of its file; it is "" where nobody knows these.
func stampOf(options string, settings []byte) string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(name)
	if err != nil {
		return ""
	}
	program := fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q %q", program, options, settings))
	return hex.EncodeToString(sum[:])
}
