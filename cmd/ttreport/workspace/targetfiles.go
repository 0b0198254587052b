package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/library"
)

// OverrideVariable names a file of targets that is read after those of the workspace, as tt-inference-server has it.
const OverrideVariable = "OVERRIDE_BENCHMARK_TARGETS"

// TargetFiles lists targets/*.json, *.yaml and *.yml in order of their names.
func (w *Workspace) TargetFiles() ([]string, error) {
	var all []string
	for _, pattern := range []string{"*.json", "*.yaml", "*.yml"} {
		names, err := filepath.Glob(filepath.Join(w.Targets(), pattern))
		if err != nil {
			return nil, fmt.Errorf("targets: %w", err)
		}
		all = append(all, names...)
	}
	sort.Strings(all)
	return all, nil
}

// Library reads the workspace's target files, then the override that the environment names. A file that names a device
// which neither the product nor a run knows has a problem.
func (w *Workspace) Library(runs []schema.Run) (*library.Library, []schema.Problem, error) {
	names, err := w.TargetFiles()
	if err != nil {
		return nil, nil, err
	}
	if override := os.Getenv(OverrideVariable); override != "" {
		names = append(names, override)
	}
	return ReadTargets(names, func(device string) bool {
		return slices.ContainsFunc(runs, func(r schema.Run) bool { return schema.SameDevice(r.Device.Name, device) })
	})
}

// ReadTargets reads target files, in order; known reports whether a device exists. The error is of a file that cannot
// be opened; what is wrong in a file is a problem.
func ReadTargets(names []string, known func(device string) bool) (*library.Library, []schema.Problem, error) {
	aliases, err := library.DefaultAliases()
	if err != nil {
		return nil, nil, err
	}
	lib := library.NewLibrary(aliases)
	var problems []schema.Problem
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, fmt.Errorf("reading targets: %w", err)
		}
		asOf := ""
		if info, err := os.Stat(name); err == nil {
			asOf = info.ModTime().UTC().Format(time.DateOnly)
		}
		problems = append(problems, lib.Add(filepath.ToSlash(name), data, asOf, known)...)
	}
	return lib, problems, nil
}
