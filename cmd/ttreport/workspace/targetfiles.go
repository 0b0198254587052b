package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"time"

	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/library"
)

// OverrideVariable names a file of targets that is read after those of the workspace, as tt-inference-server has it.
const OverrideVariable = "OVERRIDE_BENCHMARK_TARGETS"

// targetFile is a file of targets.
type targetFile struct {
	path string // as the user would write it
	data []byte
	asOf string // day on which it was changed last, YYYY-MM-DD
}

// targetFiles reads targets/*.json, *.yaml and *.yml in order of their names. A file that cannot be read is an error: a
// release must not pass because its targets were not read.
func (w *Workspace) targetFiles() ([]targetFile, error) {
	var all []string
	for _, pattern := range []string{"*.json", "*.yaml", "*.yml"} {
		names, err := fs.Glob(w.files, path.Join(targetsName, pattern))
		if err != nil {
			return nil, fmt.Errorf("targets: %w", err)
		}
		all = append(all, names...)
	}
	if len(all) > mostTargetFiles {
		return nil, fmt.Errorf("reading targets: %s holds %d files, and at most %d are read", w.shown(targetsName), len(all),
			mostTargetFiles)
	}
	sort.Strings(all)
	var out []targetFile
	total := 0
	for _, name := range all {
		data, err := w.files.Read(name, mostText)
		if err != nil {
			return nil, fmt.Errorf("reading targets: %s: %w", w.shown(name), reason(err))
		}
		if total += len(data); total > mostTargetText {
			return nil, fmt.Errorf("reading targets: the files of %s hold more than %d MB", w.shown(targetsName),
				mostTargetText>>20)
		}
		f := targetFile{path: w.shown(name), data: data}
		if info, err := w.files.Stat(name); err == nil {
			f.asOf = info.ModTime().UTC().Format(time.DateOnly)
		}
		out = append(out, f)
	}
	return out, nil
}

// Library reads the workspace's target files, then the override that the environment names. A file that names a device
// which neither the product nor a run knows has a problem.
func (w *Workspace) Library(runs []schema.Run) (*library.Library, []schema.Problem, error) {
	files, err := w.targetFiles()
	if err != nil {
		return nil, nil, err
	}
	if override := os.Getenv(OverrideVariable); override != "" {
		f, err := namedTargets(override)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
	}
	return newLibrary(files, func(device string) bool {
		return slices.ContainsFunc(runs, func(r schema.Run) bool { return schema.SameDevice(r.Device.Name, device) })
	})
}

// ReadTargets reads a file of targets that a person names; known reports whether a device exists. The error is of a
// file that cannot be opened; what is wrong in a file is a problem.
func ReadTargets(name string, known func(device string) bool) (*library.Library, []schema.Problem, error) {
	f, err := namedTargets(name)
	if err != nil {
		return nil, nil, err
	}
	return newLibrary([]targetFile{f}, known)
}

func namedTargets(name string) (targetFile, error) {
	data, err := rootfs.ReadFile(name, mostText)
	if err != nil {
		return targetFile{}, fmt.Errorf("reading targets: %w", err)
	}
	f := targetFile{path: filepath.ToSlash(name), data: data}
	if info, err := os.Stat(name); err == nil {
		f.asOf = info.ModTime().UTC().Format(time.DateOnly)
	}
	return f, nil
}

func newLibrary(files []targetFile, known func(device string) bool) (*library.Library, []schema.Problem, error) {
	aliases, err := library.DefaultAliases()
	if err != nil {
		return nil, nil, err
	}
	lib := library.NewLibrary(aliases)
	var problems []schema.Problem
	for _, f := range files {
		problems = append(problems, lib.Add(f.path, f.data, f.asOf, known)...)
	}
	return lib, problems, nil
}
