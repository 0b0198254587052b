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

// recover takes over what a build that was killed left: files that no manifest names.
func (p *publisher) recover() error {
	for _, name := range p.old {
		p.known[name] = true
	}
	data, err := p.root.ReadFile(journalName)
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
	return nil
}

// announce notes new files before the first of them gets its place.
func (p *publisher) announce() error {
	var text strings.Builder
	for _, s := range p.staged {
		if path := filepath.ToSlash(s.path); !p.known[path] {
			text.WriteString(strconv.Quote(path) + "\n")
		}
	}
	if text.Len() == 0 {
		return nil
	}
	f, err := p.root.OpenFile(journalName, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	_, err = f.WriteString(text.String())
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	return nil
}

// settled ends the journal: the manifest names everything.
func (p *publisher) settled() { _ = p.root.Remove(journalName) } // else the next build reads it once more
