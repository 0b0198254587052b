package durable

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Temporary begins the names of files that are being written; one that is there when nobody writes is the rest of a
// write that was cut short.
const Temporary = ".ttreport-tmp-"

// WriteFile replaces a file's content in one step. Missing folders are made. On error the old content is untouched and
// no temporary file is left.
func WriteFile(name string, data []byte) error { return writeFile(name, data, false) }

func writeFile(name string, data []byte, flush bool) (err error) {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("making folder for %s: %w", filepath.Base(name), err)
	}
	f, err := os.CreateTemp(dir, Temporary+"*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close() // the first error is reported
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err = f.Chmod(0o644); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if flush {
		if err = f.Sync(); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	if err = f.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// WriteSynced is [WriteFile] that returns when the content and the entry of its folder are on the disk: after a power
// cut the old or the new content is there, whole.
func WriteSynced(name string, data []byte) error {
	if err := writeFile(name, data, true); err != nil {
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
	if err != nil {
		return fmt.Errorf("flushing %s: %w", name, err)
	}
	defer f.Close() // nothing was written through it
	if err := f.Sync(); err != nil {
		return fmt.Errorf("flushing %s: %w", name, err)
	}
	return nil
}
