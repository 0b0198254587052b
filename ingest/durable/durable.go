// Package durable writes files atomically: a file is complete or does not exist.
//
// A file is written under a temporary name in its own folder and renamed over the old one, so that a full disk, a
// signal or a crash of the program leaves what existed before. The package must not know what is written.
//
// Files are flushed to the disk where that is asked for: what cannot be made again is. github.com/google/renameio was
// rejected because it always does, which makes writing a small file five times as slow, and has no fixed temporary
// names, which who lists a folder passes over.
package durable

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Temporary begins the names of files that are being written; one that is there when nobody writes is the rest of a
// write that was cut short.
const Temporary = ".ttreport-tmp-"

// WriteFile replaces a file's content in one step with parts, one after the other. Missing folders are made. On error
// the old content is untouched and no temporary file is left.
func WriteFile(name string, parts ...[]byte) error { return replace(name, false, parts...) }

func replace(name string, flush bool, parts ...[]byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("making folder for %s: %w", filepath.Base(name), err)
	}
	f, err := os.CreateTemp(dir, Temporary+"*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	err = f.Chmod(0o644)
	for _, data := range parts {
		if err == nil {
			_, err = f.Write(data)
		}
	}
	if flush && err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error that led here is reported
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// WriteSynced is [WriteFile] that returns when the content and the entry of its folder are on the disk: after a power
// cut the old or the new content is there, whole.
func WriteSynced(name string, data []byte) error {
	if err := replace(name, true, data); err != nil {
		return err
	}
	return syncOne(filepath.Dir(name))
}

// WriteChanged is WriteFile, but leaves a file with the same content untouched. It reports whether it wrote.
func WriteChanged(name string, data []byte) (bool, error) {
	if Holds(name, data) {
		return false, nil
	}
	return true, WriteFile(name, data)
}

// Holds reports whether a file has exactly this content.
func Holds(name string, data []byte) bool {
	old, err := os.ReadFile(name)
	return err == nil && bytes.Equal(old, data)
}

// Sync returns when a file and the entry of its folder are on the disk, also for a file that another program wrote.
func Sync(name string) error {
	if err := syncOne(name); err != nil {
		return err
	}
	return syncOne(filepath.Dir(name))
}

// syncOne flushes a file or a folder. Windows flushes what is open for writing alone, and has no flush of folders: NTFS
// journals their entries by itself.
func syncOne(name string) error {
	how := os.O_RDONLY
	if runtime.GOOS == "windows" {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			return nil
		}
		how = os.O_RDWR
	}
	f, err := os.OpenFile(name, how, 0)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		return fmt.Errorf("flushing %s: %w", name, err)
	}
	return nil
}

// Journal appends entries to a file, one line of JSON each. An entry is on the disk when Log returns, and survives
// kill -9 and a power cut.
type Journal[E any] struct{ f *os.File }

// OpenJournal opens a journal for appending, or makes it. A last line that was cut short is removed: what follows it
// could not be read.
func OpenJournal[E any](path string) (*Journal[E], error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
	if err == nil {
		err = cutShort(f)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	return &Journal[E]{f}, nil
}

// cutShort removes what is behind the last whole line.
func cutShort(f *os.File) error {
	const longestEntry = 1 << 20 // more than a line has, in bytes
	info, err := f.Stat()
	if err != nil {
		return err
	}
	tail := make([]byte, min(info.Size(), longestEntry))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil && err != io.EOF {
		return err
	}
	part := len(tail) - 1 - bytes.LastIndexByte(tail, '\n')
	if part == 0 {
		return nil
	}
	return f.Truncate(info.Size() - int64(part))
}

// Log appends one entry.
func (j *Journal[E]) Log(e E) error {
	line, err := json.Marshal(e)
	if err == nil {
		if _, err = j.f.Write(append(line, '\n')); err != nil {
			err = errors.Join(err, cutShort(j.f))
		}
	}
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("flushing the journal: %w", err)
	}
	return nil
}

// Close closes the file.
func (j *Journal[E]) Close() error { return j.f.Close() }

// ReadJournal returns the entries of a journal's content up to the first line that is none, and how many bytes they
// have.
func ReadJournal[E any](data []byte) (list []E, size int) {
	for line := range bytes.Lines(data) {
		var e E
		if json.Unmarshal(line, &e) != nil {
			break
		}
		list = append(list, e)
		size += len(line)
	}
	return list, size
}

// WriteRecord writes what a later run of the program may believe, with its SHA-256 in the first line. A file that holds
// it already stays untouched.
func WriteRecord(name string, data []byte) error {
	sum := sha256.Sum256(data)
	_, err := WriteChanged(name, append(append(hex.AppendEncode(nil, sum[:]), '\n'), data...))
	return err
}

// ReadRecord returns what [WriteRecord] wrote; nil where there is nothing, or where a byte of it is other than it was.
func ReadRecord(name string) []byte {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	sum := sha256.Sum256(rest)
	if !bytes.Equal(first, hex.AppendEncode(nil, sum[:])) {
		return nil
	}
	return rest
}
