package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
)

// mostText is how long a file may be that a person wrote: a note, targets, the configuration, the logo.
const mostText = 4 << 20

// Bounds of what many files may hold together. Pages show every note, and every command reads every target.
const (
	mostNotes       = 2_000
	mostNoteText    = 16 << 20
	mostTargetFiles = 1_000
	mostTargetText  = 32 << 20
)

// open opens the folder and refuses parts of it that are links leading out: what a fork commits must not make us read
// or write anywhere else.
func (w *Workspace) open() error {
	var err error
	if w.files, err = rootfs.Open(w.Dir); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	for _, name := range []string{resultsName, historyName, targetsName, notesName, siteName, stateName} {
		_, err := w.files.Stat(name)
		switch {
		case err == nil:
		case !errors.Is(err, fs.ErrNotExist):
			const rule = "what a workspace has lies in it, other folders are named on the command line"
			return fmt.Errorf("workspace: %s: %w; %s", w.shown(name), reason(err), rule)
		case isLink(filepath.Join(w.Dir, name)):
			return fmt.Errorf("workspace: %s is a link to nothing; remove it", w.shown(name))
		}
	}
	return nil
}

// misnamed refuses a configuration under a name that is not read: its rules would not hold, without a word.
func (w *Workspace) misnamed() error {
	entries, err := fs.ReadDir(w.files, ".")
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	for _, e := range entries {
		lower := strings.ToLower(e.Name())
		if e.Name() != ConfigName && (lower == ConfigName || lower == "ttreport.yml") {
			return fmt.Errorf("workspace: %s is not read; rename it to %s", w.shown(e.Name()), ConfigName)
		}
	}
	return nil
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// shown is a name within the workspace as the user would write it.
func (w *Workspace) shown(name string) string { return filepath.ToSlash(filepath.Join(w.Dir, name)) }

// reason is an error without the path that the message around it has.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// ReadSettings is the content of the configuration and of the logo, as far as they exist.
func (w *Workspace) ReadSettings() ([]byte, error) {
	settings, err := w.files.Read(ConfigName, mostText)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	logo, err := w.ReadLogo()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return fmt.Appendf(nil, "%d %s%s", len(settings), settings, logo), nil
}

// ReadLogo is the content of the site's logo; nil without one.
func (w *Workspace) ReadLogo() ([]byte, error) {
	if w.Config.Site.Logo == "" {
		return nil, nil
	}
	return w.files.Read(path.Clean(filepath.ToSlash(w.Config.Site.Logo)), mostText)
}

func (w *Workspace) tooManyNotes(there, read int) schema.Problem {
	return schema.Problem{
		Severity: schema.SevError, Path: w.shown(notesName), Code: "too-many-notes", Found: fmt.Sprintf("%d notes", there),
		Expected: fmt.Sprintf("at most %d, of at most %d MB together", mostNotes, mostNoteText>>20),
		Used:     fmt.Sprintf("%d of them, in the order of their names", read), Hint: "shorten them, or remove old ones",
	}
}

// ReadNotes reads notes/*.md; a note belongs to the release that its file is named after. A note that cannot be read is
// a problem, and the rest is read without it.
func (w *Workspace) ReadNotes() ([]render.Note, []schema.Problem, error) {
	names, err := fs.Glob(w.files, path.Join(notesName, "*.md"))
	if err != nil {
		return nil, nil, fmt.Errorf("notes: %w", err)
	}
	var out []render.Note
	var problems []schema.Problem
	left := mostNoteText
	for i, name := range names {
		if i == mostNotes || left == 0 {
			problems = append(problems, w.tooManyNotes(len(names), i))
			break
		}
		data, err := w.files.Read(name, mostText)
		if err != nil {
			problems = append(problems, schema.Problem{
				Severity: schema.SevError, Path: w.shown(name), Code: "unreadable", Found: reason(err).Error(),
				Expected: "a regular file of the workspace", Used: "nothing of it",
				Hint: "put the file itself there, or remove it",
			})
			continue
		}
		if left = max(0, left-len(data)); left == 0 {
			continue
		}
		release := strings.TrimSuffix(path.Base(name), ".md")
		out = append(out, render.Note{Release: release, Title: release, Source: string(data)})
	}
	return out, problems, nil
}
