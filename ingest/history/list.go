package history

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
)

// mostDocument is how long a document may be, in bytes. One with ten thousand points takes a fifth of it.
const mostDocument = 64 << 20

// unreadable is the problem of a document or folder that cannot be read.
func unreadable(name string, err error) *schema.Problem {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &schema.Problem{
		Severity: schema.SevError, Path: filepath.ToSlash(name), Code: "unreadable", Found: err.Error(),
		Expected: "a readable document", Used: "nothing of it", Hint: "restore it from version control", Lost: true,
	}
}

// errNotRead is the reason for documents that are there and not read: whoever hides a document must not hide what it
// says.
var (
	errHidden   = errors.New("a document that is hidden by its name")
	errPacked   = errors.New("a document that is compressed, or whose name ends in capitals")
	errLinkedTo = errors.New("a link to a folder, which is not followed")
)

// lister collects the documents of folders.
type lister struct {
	byName   map[string]*document
	problems []schema.Problem
}

func (l *lister) bad(name string, err error) { l.problems = append(l.problems, *unreadable(name, err)) }

// list finds the documents, in path order.
func list(dirs []string) ([]*document, []schema.Problem) {
	l := lister{byName: map[string]*document{}}
	for _, dir := range dirs {
		folder, err := rootfs.Open(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if _, gone := os.Lstat(dir); gone == nil { // a link to nothing
				l.bad(dir, err)
			}
			continue
		case err != nil:
			l.bad(dir, err)
			continue
		}
		_ = fs.WalkDir(folder, ".", func(rel string, e fs.DirEntry, err error) error { // its errors are problems
			if err != nil {
				l.bad(path.Join(filepath.ToSlash(dir), rel), err)
				return nil
			}
			l.add(folder, dir, rel, e)
			return nil
		})
	}
	docs := make([]*document, 0, len(l.byName))
	for _, d := range l.byName {
		docs = append(docs, d)
	}
	sort.Slice(docs, func(i, j int) bool { return docs[i].path < docs[j].path })
	return docs, l.problems
}

// add takes a document. What looks like one and is none that is read is a problem.
func (l *lister) add(folder *rootfs.Folder, dir, rel string, e fs.DirEntry) {
	name := filepath.ToSlash(filepath.Join(dir, filepath.FromSlash(rel)))
	lower := strings.ToLower(e.Name())
	switch {
	case e.IsDir():
		return
	case !strings.HasSuffix(name, ".json"):
		base := strings.TrimSuffix(strings.TrimSuffix(lower, ".zst"), ".gz")
		if strings.HasSuffix(base, ".json") {
			l.bad(name, errPacked)
		} else if info, err := folder.Stat(rel); e.Type()&fs.ModeSymlink != 0 && (err != nil || info.IsDir()) {
			l.bad(name, errors.Join(errLinkedTo, err))
		}
		return
	case strings.HasPrefix(e.Name(), "."):
		l.bad(name, errHidden)
		return
	}
	info, err := folder.Stat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist) && e.Type()&fs.ModeSymlink == 0:
		return // it was there a moment ago: deleted meanwhile
	case err == nil && !info.Mode().IsRegular():
		err = rootfs.ErrNotRegular
	}
	if err != nil {
		l.bad(name, err)
		return
	}
	l.byName[rel] = &document{path: name, folder: folder, rel: rel, stat: fileStatOf(info), cached: -1, fresh: -1}
}

// Each reads every document below a folder, in path order. What cannot be read is a problem.
func Each(dir string, visit func(name string, r *schema.Run)) []schema.Problem {
	docs, problems := list([]string{dir})
	for _, d := range docs {
		data, err := d.folder.Read(d.rel, mostDocument)
		if err != nil {
			problems = append(problems, *unreadable(d.path, err))
			continue
		}
		r, problem := Decode(d.path, data)
		if problem != nil {
			problems = append(problems, *problem)
			continue
		}
		visit(d.path, &r)
	}
	return problems
}
