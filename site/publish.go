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
	"sync"

	"github.com/ttreport/ttreport/ingest/durable"
)

// manifestName lists the files that a build wrote, so that a later one removes what it no longer writes and nothing
// else.
const manifestName = ".ttreport-site.json"

// ErrForeignFolder is returned for an output folder that holds something we did not write.
var ErrForeignFolder = errors.New("the folder is not empty and was not written by ttreport")

type manifestFile struct {
	Schema string   `json:"schema"`
	Files  []string `json:"files"`
	// Units are the parts of the site by name, with what they were made of. A build takes them out before it writes
	// its first file and puts them back at its end: after one that was cut short nothing is taken for current.
	Units map[string]unit `json:"units,omitempty"`
}

// unit is a part of the site that is made, or left as it is, as one.
type unit struct {
	Made  string          `json:"made"`  // hash of everything that it was made of
	Files []string        `json:"files"` // that it consists of
	Facts json.RawMessage `json:"facts,omitempty"`
}

// publisher writes files into the output folder. Several goroutines may put files at once.
type publisher struct {
	dir      string
	old      []string
	oldUnits map[string]unit
	mu       sync.Mutex
	now      map[string]bool
	units    map[string]unit
	touched  bool            // something was written: the manifest names no unit
	known    map[string]bool // files that the manifest or the journal names
	journal  *os.File        // names of files that the manifest does not know yet, as they are written
	written  []string
	removed  int
}

func openPublisher(dir string) (*publisher, error) {
	p := &publisher{dir: dir, now: map[string]bool{}, units: map[string]unit{}, known: map[string]bool{}}
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	switch {
	case err == nil:
		var m manifestFile
		if err := json.Unmarshal(data, &m); err != nil {
			return nil, fmt.Errorf("reading %s: %w", filepath.Join(dir, manifestName), err)
		}
		p.old, p.oldUnits = m.Files, m.Units
		return p, p.recover()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("output folder: %w", err)
	}
	if err := Check(dir); err != nil {
		return nil, err
	}
	// The manifest is there from the first file on, so that a build that is cut short can be built over.
	if err := p.writeManifest(nil, nil); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *publisher) put(path string, data []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return fmt.Errorf("page %q would be outside of the output folder", path)
	}
	name := filepath.Join(p.dir, filepath.FromSlash(path))
	changed := !durable.Holds(name, data)
	p.mu.Lock()
	p.now[path] = true
	if changed {
		p.written = append(p.written, path)
	}
	err := p.touch(changed)
	if err == nil && changed {
		err = p.announce(path)
	}
	p.mu.Unlock()
	if err != nil || !changed {
		return err
	}
	return durable.WriteFile(name, data)
}

// touch takes the units out of the manifest before the first change.
func (p *publisher) touch(changes bool) error {
	if !changes || p.touched || len(p.oldUnits) == 0 {
		return nil
	}
	p.touched = true
	return p.writeManifest(p.old, nil)
}

// keep takes over a unit of the last build that was made of the same and whose files are all still there.
func (p *publisher) keep(name, made string) (unit, bool) {
	u, ok := p.oldUnits[name]
	if !ok || made == "" || u.Made != made {
		return unit{}, false
	}
	for _, f := range u.Files {
		if _, err := os.Stat(filepath.Join(p.dir, filepath.FromSlash(f))); err != nil ||
			!filepath.IsLocal(filepath.FromSlash(f)) {
			return unit{}, false
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range u.Files {
		p.now[f] = true
	}
	p.units[name] = u
	return u, true
}

// made notes a unit that was written.
func (p *publisher) made(name string, u unit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.units[name] = u
}

// files is how many files the site has so far.
func (p *publisher) files() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.now)
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
	if err := p.writeManifest(names, p.units); err != nil {
		return err
	}
	p.settled()
	return nil
}

// abandon lists what a build that failed has written beside what was there, so that the next build owns all of it.
func (p *publisher) abandon() {
	names := append([]string(nil), p.old...)
	for name := range p.now {
		names = append(names, name)
	}
	sort.Strings(names)
	if p.writeManifest(slices.Compact(names), p.units) == nil { // the build's own error is the one to tell
		p.settled()
	}
}

func (p *publisher) writeManifest(names []string, units map[string]unit) error {
	if names == nil {
		names = []string{}
	}
	data, err := json.MarshalIndent(manifestFile{"ttreport/site/v1", names, units}, "", " ")
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
