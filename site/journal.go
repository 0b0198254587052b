package site

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// journalName lists what a build that has not ended wrote and its manifest does not name: a build that was killed
// leaves it, and the next one owns those files.
const journalName = ".ttreport-site.journal"

// recover takes over what a build that was killed left: files that no manifest names, and halves of files.
func (p *publisher) recover() error {
	for _, name := range p.old {
		p.known[name] = true
	}
	data, err := os.ReadFile(filepath.Join(p.dir, journalName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	for _, line := range strings.Split(string(data), "\n") {
		if file, err := strconv.Unquote(line); err == nil && !p.known[file] { // the last line may be a half
			p.known[file], p.old = true, append(p.old, file)
		}
	}
	folders := map[string]bool{p.dir: true}
	for _, file := range p.old {
		if local := filepath.FromSlash(file); filepath.IsLocal(local) {
			folders[filepath.Dir(filepath.Join(p.dir, local))] = true
		}
	}
	for dir := range folders {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // it was never made
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".ttreport-tmp-") {
				_ = os.Remove(filepath.Join(dir, e.Name())) // one that cannot go does no harm
			}
		}
	}
	return nil
}

// announce notes a new file before it is written.
func (p *publisher) announce(path string) error {
	if p.known[path] {
		return nil
	}
	p.known[path] = true
	if p.journal == nil {
		f, err := os.OpenFile(filepath.Join(p.dir, journalName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return fmt.Errorf("output folder: %w", err)
		}
		p.journal = f
	}
	if _, err := p.journal.WriteString(strconv.Quote(path) + "\n"); err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	return nil
}

// settled ends the journal: the manifest names everything.
func (p *publisher) settled() {
	if p.journal != nil {
		_ = p.journal.Close() // what is in it is in the manifest
		p.journal = nil
	}
	_ = os.Remove(filepath.Join(p.dir, journalName)) // likewise; the next build would read it once more
}
