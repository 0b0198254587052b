package collect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// staged is the folder below results that holds what is on its way there; readers skip hidden folders.
const staged = ".staged"

// Stage makes a folder on a disk of this machine in which a run can be measured that belongs into results. What an
// interrupted run left in results is copied there first. put moves what was measured to results, where each run folder
// appears whole, and removes the folder; where that fails the folder stays, and the error names it.
func Stage(scratch, results string) (dir string, put func() error, err error) {
	if dir, err = os.MkdirTemp(scratch, "ttreport-"); err != nil {
		return "", nil, fmt.Errorf("scratch: %w", err)
	}
	if err := os.RemoveAll(filepath.Join(results, staged)); err != nil { // of an attempt that was killed
		return "", nil, fmt.Errorf("scratch: %w", err)
	}
	for _, name := range runFolders(results) {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(results, name))); err != nil {
			return "", nil, errors.Join(full(err), os.RemoveAll(dir))
		}
	}
	return dir, func() error { return unstage(dir, results) }, nil
}

// unstage moves run folders to results.
func unstage(dir, results string) error {
	for _, name := range runFolders(dir) {
		if err := moveRun(filepath.Join(dir, name), results, name); err != nil {
			return fmt.Errorf("what was measured is still in %s: %w", filepath.Join(dir, name), full(err))
		}
	}
	return os.RemoveAll(dir)
}

// moveRun copies a run folder beside its place, and renames it.
func moveRun(from, results, name string) error {
	aside := filepath.Join(results, staged)
	defer os.RemoveAll(aside)
	if err := os.CopyFS(filepath.Join(aside, name), os.DirFS(from)); err != nil {
		return err
	}
	to := filepath.Join(results, name)
	if err := os.Rename(to, filepath.Join(aside, "before")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Rename(filepath.Join(aside, name), to)
}

// runFolders returns the names of the run folders below a folder.
func runFolders(dir string) []string {
	names, err := filepath.Glob(filepath.Join(dir, "*", manifest.JournalName))
	if err != nil {
		return nil
	}
	for i, n := range names {
		names[i] = filepath.Base(filepath.Dir(n))
	}
	return names
}
