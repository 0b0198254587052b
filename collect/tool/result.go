package tool

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// mostResult is how long a result may be, in bytes: a file that never ends must not take all memory.
const mostResult = 1 << 30

// readJSON reads a result below out. missing is the error's text when there is no such file.
func readJSON(out, file, missing string, into any) error {
	data, err := rootfs.ReadFile(filepath.Join(out, file), mostResult)
	if err != nil {
		return fmt.Errorf("%s", missing)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return nil
}

// newest is the last by name of the files below out that match a glob, relative to out; "" when there is none. Sidecars
// are no results.
func newest(out, glob string) string {
	names, err := filepath.Glob(filepath.Join(out, glob))
	if err != nil {
		return ""
	}
	last := ""
	for _, name := range names {
		rel, err := filepath.Rel(out, name)
		if err == nil && !strings.HasSuffix(name, manifest.SidecarSuffix) && rel > last {
			last = rel
		}
	}
	return last
}
