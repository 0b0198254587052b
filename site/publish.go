package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/ttreport/ttreport/ingest/schema/durable"
)

// manifestName lists the files that a build wrote, so that a later one removes what it no longer writes and nothing else.
const manifestName = ".ttreport-site.json"

// ErrForeignFolder is returned for an output folder that holds something we did not write.
var ErrForeignFolder = errors.New("the folder is not empty and was not written by ttreport")

type manifestFile struct {
	Schema string   `json:"schema"`
	Files  []string `json:"files"`
}

// publisher writes files into the output folder.
type publisher struct {
	dir              string
	old              []string
	now              map[string]bool
	written, removed int
}

func openPublisher(dir string) (*publisher, error) {
	p := &publisher{dir: dir, now: map[string]bool{}}
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	switch {
	case err == nil:
		var m manifestFile
		if err := json.Unmarshal(data, &m); err != nil {
			return nil, fmt.Errorf("reading %s: %w", filepath.Join(dir, manifestName), err)
		}
		p.old = m.Files
		return p, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("output folder: %w", err)
	}
	if err := Check(dir); err != nil {
		return nil, err
	}
	// The manifest is there from the first file on, so that a build that is cut short can be built over.
	if err := p.writeManifest(nil); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *publisher) put(path string, data []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return fmt.Errorf("page %q would be outside of the output folder", path)
	}
	p.now[path] = true
	wrote, err := durable.WriteChanged(filepath.Join(p.dir, filepath.FromSlash(path)), data)
	if wrote && err == nil {
		p.written++
	}
	return err
}

// finish removes the files of earlier builds that this one did not write, then lists those it wrote.
func (p *publisher) finish() error {
	for _, name := range p.old {
		local := filepath.FromSlash(name)
		if p.now[name] || !filepath.IsLocal(local) {
			continue
		}
		if err := os.Remove(filepath.Join(p.dir, local)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing a page that no longer exists: %w", err)
		}
		p.removed++
		for up := filepath.Dir(local); up != "."; up = filepath.Dir(up) {
			if os.Remove(filepath.Join(p.dir, up)) != nil {
				break // not empty: it holds other files
			}
		}
	}
	names := make([]string, 0, len(p.now))
	for name := range p.now {
		names = append(names, name)
	}
	sort.Strings(names)
	return p.writeManifest(names)
}

// abandon lists what a build that failed has written beside what was there, so that the next build owns all of it.
func (p *publisher) abandon() {
	names := append([]string(nil), p.old...)
	for name := range p.now {
		names = append(names, name)
	}
	sort.Strings(names)
	_ = p.writeManifest(slices.Compact(names)) // the build's own error is the one to tell
}

func (p *publisher) writeManifest(names []string) error {
	if names == nil {
		names = []string{}
	}
	data, err := json.MarshalIndent(manifestFile{"ttreport/site/v1", names}, "", " ")
	if err != nil {
		return fmt.Errorf("writing the site's manifest: %w", err)
	}
	_, err = durable.WriteChanged(filepath.Join(p.dir, manifestName), append(data, '\n'))
	return err
}

// Check reports whether a folder could be written to by a build: it does not exist yet, is empty, or is ours.
func Check(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is a file", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, manifestName)); err == nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s: %w", dir, ErrForeignFolder)
	}
	return nil
}
