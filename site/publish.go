package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// manifestName lists the files that a build wrote, so that a later one removes what it no longer writes and nothing
// else.
const manifestName = ".ttreport-site.json"

const manifestTemporary = manifestName + ".new"

// newName is the folder in which files wait until all of a build are made: one that fails changes no page.
const newName = ".ttreport-new"

var (
	// ErrForeignFolder is returned for an output folder that holds something we did not write.
	ErrForeignFolder = errors.New("the folder is not empty and was not written by ttreport")
	// ErrForeignFile is returned for a page in whose place there is a file that we did not write.
	ErrForeignFile = errors.New("there is a file that was not written by ttreport")
)

type manifestFile struct {
	Schema string   `json:"schema"`
	Files  []string `json:"files"`
}

// publisher writes files into the output folder, and never outside of it: whatever links are in it. Several goroutines
// may put files at once.
type publisher struct {
	dir     string
	root    *os.Root
	units   *units
	old     []string        // files of the last build
	known   map[string]bool // files that the manifest or the journal names
	damaged bool            // the manifest is empty after a power cut: what is there is ours
	mu      sync.Mutex
	now     map[string]bool
	folded  map[string]bool // likewise in small letters; nil where capitals are told apart
	staged  []staged
	written []string
	removed int
}

// staged is a file that waits for its place.
type staged struct {
	step                 step
	temporary, path, old string
}

func openPublisher(dir, record string) (*publisher, error) {
	if err := Check(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	p := &publisher{
		dir: dir, root: root, units: openUnits(record, dir), now: map[string]bool{}, known: map[string]bool{},
	}
	if err := p.open(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// open reads what earlier builds left. The manifest is there from the first file on, so that a build that is cut short
// can be built over.
func (p *publisher) open() error {
	data, err := p.root.ReadFile(manifestName)
	var m manifestFile
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = p.writeManifest(nil)
	case err == nil && len(bytes.Trim(data, " \n\x00")) == 0:
		p.damaged = true
	case err == nil:
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", filepath.Join(p.dir, manifestName), err)
	}
	p.old = m.Files
	if err := p.root.RemoveAll(newName); err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	if err := p.root.Mkdir(newName, 0o777); err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	if _, err := p.root.Lstat(strings.ToUpper(newName)); err == nil {
		p.folded = map[string]bool{}
	}
	return p.recover()
}

func (p *publisher) close() {
	_ = p.root.RemoveAll(newName) // the next build removes it too
	_ = p.root.Close()            // everything was written
}

// put makes a file of a step; it takes its place when all are made, and those of earlier steps have theirs.
func (p *publisher) put(of step, path string, data []byte) error {
	local := filepath.FromSlash(path)
	if !filepath.IsLocal(local) {
		return fmt.Errorf("page %q would be outside of the output folder", path)
	}
	p.units.sum(path, data)
	changed := !p.holds(local, data)
	p.mu.Lock()
	if p.taken(path) {
		p.mu.Unlock()
		return fmt.Errorf("two pages are %s: names of releases, models or runs that give one path; rename one", path)
	}
	p.now[path] = true
	temporary := ""
	if changed {
		temporary = filepath.Join(newName, strconv.Itoa(len(p.staged)))
		p.written, p.staged = append(p.written, path), append(p.staged, staged{of, temporary, local, ""})
	}
	p.mu.Unlock()
	if !changed {
		return nil
	}
	if err := p.root.WriteFile(temporary, data, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// taken reports whether a page of this build has a path, or where the file system does not tell capitals from small
// letters, one that differs in them alone.
func (p *publisher) taken(path string) bool {
	if p.folded == nil {
		return p.now[path]
	}
	folded := strings.ToLower(path)
	taken := p.folded[folded]
	p.folded[folded] = true
	return taken
}

// holds reports whether a file has exactly this content.
func (p *publisher) holds(local string, data []byte) bool {
	info, err := p.root.Lstat(local)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
		return false
	}
	old, err := p.root.ReadFile(local)
	return err == nil && bytes.Equal(old, data)
}

// keep takes over a unit of the last build that was made of the same and whose files are all still there, byte by byte.
func (p *publisher) keep(name, made string) (unit, bool) {
	u, ok := p.units.old[name]
	if !ok || made == "" || u.Made != made {
		return unit{}, false
	}
	for path, sum := range u.Files {
		local := filepath.FromSlash(path)
		info, err := p.root.Lstat(local)
		if err != nil || !info.Mode().IsRegular() {
			return unit{}, false
		}
		if data, err := p.root.ReadFile(local); err != nil || sumOf(data) != sum {
			return unit{}, false
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for path := range u.Files {
		p.now[path] = true
	}
	p.units.keep(name, u)
	return u, true
}

// files is how many files the site has so far.
func (p *publisher) files() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.now)
}

// finish puts all files in their places, removes those of earlier builds that this one did not make, and lists what is
// there.
func (p *publisher) finish() error {
	if err := p.check(); err != nil {
		return err
	}
	slices.SortStableFunc(p.staged, func(a, b staged) int { return cmp.Compare(a.step, b.step) })
	if len(p.staged) > 0 {
		p.units.forget()
	}
	if err := p.announce(); err != nil {
		return err
	}
	for i := range p.staged {
		if err := p.place(&p.staged[i]); err != nil {
			p.undo(p.staged[:i])
			return fmt.Errorf("writing %s: %w", p.staged[i].path, err)
		}
	}
	if err := p.removeOld(); err != nil {
		return err
	}
	if err := p.writeManifest(slices.Sorted(maps.Keys(p.now))); err != nil {
		return err
	}
	p.settled()
	p.units.save()
	return nil
}

// place gives a file its place, and keeps the one that was there.
func (p *publisher) place(s *staged) error {
	if err := p.root.MkdirAll(filepath.Dir(s.path), 0o777); err != nil {
		return err
	}
	old := s.temporary + ".old"
	if p.root.Link(s.path, old) == nil { // there is none, or the file system has no links: then it cannot be put back
		s.old = old
	}
	return p.root.Rename(s.temporary, s.path)
}

// undo puts back what was there, as far as that is possible; the error of writing is the one to tell.
func (p *publisher) undo(list []staged) {
	for _, s := range slices.Backward(list) {
		if s.old != "" {
			_ = p.root.Rename(s.old, s.path)
			continue
		}
		if _ = p.root.Remove(s.path); p.known[filepath.ToSlash(s.path)] {
			continue
		}
		for up := filepath.Dir(s.path); up != "."; up = filepath.Dir(up) {
			if p.root.Remove(up) != nil {
				break // not empty
			}
		}
	}
}

// check refuses to replace what is not ours, before anything is replaced.
func (p *publisher) check() error {
	for _, s := range p.staged {
		info, err := p.root.Lstat(s.path)
		switch {
		case err != nil: // nothing is there, or a file is in the place of a folder, which writing reports
		case info.IsDir():
			return fmt.Errorf("%s: a folder is in the place of a page", filepath.Join(p.dir, s.path))
		case !p.known[filepath.ToSlash(s.path)] && !p.damaged:
			return fmt.Errorf("%s: %w", filepath.Join(p.dir, s.path), ErrForeignFile)
		}
	}
	return nil
}

// removeOld removes the files of earlier builds that this one did not make.
func (p *publisher) removeOld() error {
	for _, name := range p.old {
		local := filepath.FromSlash(name)
		if p.now[name] || !filepath.IsLocal(local) {
			continue
		}
		if err := p.root.Remove(local); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing a page that no longer exists: %w", err)
		}
		p.removed++
		for up := filepath.Dir(local); up != "."; up = filepath.Dir(up) {
			if p.root.Remove(up) != nil {
				break // not empty: it holds other files
			}
		}
	}
	return nil
}

func (p *publisher) writeManifest(names []string) error {
	if names == nil {
		names = []string{}
	}
	data, err := json.MarshalIndent(manifestFile{"ttreport/site/v1", names}, "", " ")
	if err != nil {
		return fmt.Errorf("writing the site's manifest: %w", err)
	}
	data = append(data, '\n')
	if p.holds(manifestName, data) {
		return nil
	}
	err = p.root.WriteFile(manifestTemporary, data, 0o644)
	if err == nil {
		err = p.root.Rename(manifestTemporary, manifestName)
	}
	if err != nil {
		_ = p.root.Remove(manifestTemporary) // the first error is the one to tell
		return fmt.Errorf("writing the site's manifest: %w", err)
	}
	return nil
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
	ours := []string{manifestTemporary, newName, journalName} // of a build that was killed before its list was there
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(ours, e.Name()) })
	if len(entries) > 0 {
		return fmt.Errorf("%s: %w", dir, ErrForeignFolder)
	}
	return nil
}
