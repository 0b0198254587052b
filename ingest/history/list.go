package history

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/durable"
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
		Severity: schema.SevError, Path: filepath.ToSlash(name), Code: schema.CodeUnreadable, Found: err.Error(),
		Expected: "a readable document", Used: "nothing of it", Hint: "restore it from version control", Lost: true,
	}
}

// Reasons for documents that are there and not read: whoever hides a document must not hide what it says.
var (
	errHidden   = errors.New("a document that is hidden by its name")
	errPacked   = errors.New("an archive, or a compressed document")
	errCutShort = errors.New("a document that was being written when ttreport was ended; read its results again")
	errRenamed  = errors.New("a document whose name does not end in .json")
	errLinkedTo = errors.New("a link to a folder, which is not followed")
)

// file is one history document.
type file struct {
	path   string // slash-separated, with its folder
	folder *rootfs.Folder
	rel    string // within the folder
}

// read returns the bytes of the document, into the room of others.
func (f *file) read(room []byte) ([]byte, *schema.Problem) {
	data, err := f.folder.ReadInto(room, f.rel, mostDocument)
	if err != nil {
		return nil, unreadable(f.path, err)
	}
	return data, nil
}

// list finds the documents, in path order. What looks like one and is none that is read is a problem.
func list(dirs []string) (docs []*file, problems []schema.Problem) {
	byName := map[string]*file{}
	bad := func(name string, err error) { problems = append(problems, *unreadable(name, err)) }
	for _, dir := range dirs {
		folder, err := rootfs.Open(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if _, gone := os.Lstat(dir); gone == nil { // a link to nothing
				bad(dir, err)
			}
			continue
		case err != nil:
			bad(dir, err)
			continue
		}
		_ = fs.WalkDir(folder, ".", func(rel string, e fs.DirEntry, err error) error { // its errors are problems
			name, isDocument := path.Join(filepath.ToSlash(dir), rel), false
			if err == nil && !e.IsDir() {
				isDocument, err = examine(folder, rel, e)
			}
			if err != nil {
				bad(name, err)
			} else if isDocument {
				byName[rel] = &file{name, folder, rel}
			}
			return nil
		})
	}
	docs = slices.SortedFunc(maps.Values(byName), func(a, b *file) int { return strings.Compare(a.path, b.path) })
	return docs, problems
}

// examine says whether a file is a document, or why one is not read.
func examine(folder *rootfs.Folder, rel string, e fs.DirEntry) (isDocument bool, err error) {
	isLink := e.Type()&fs.ModeSymlink != 0
	info, err := e.Info() // listing the folder told it
	if isLink {
		info, err = folder.Stat(rel)
	}
	switch {
	case !strings.HasSuffix(rel, ".json") && isLink && (err != nil || info.IsDir()):
		return false, errors.Join(errLinkedTo, err)
	case !strings.HasSuffix(rel, ".json"):
		return false, disguised(folder, rel)
	case strings.HasPrefix(e.Name(), "."):
		return false, errHidden
	case errors.Is(err, fs.ErrNotExist) && !isLink:
		return false, nil // it was there a moment ago: deleted meanwhile
	case err == nil && !info.Mode().IsRegular():
		err = rootfs.ErrNotRegular
	}
	return err == nil, err
}

// disguised recognises a document that is not read because of its name: by what is in it. Other files, such as a
// README, may lie in a history.
func disguised(folder *rootfs.Folder, rel string) error {
	if strings.HasPrefix(path.Base(rel), durable.Temporary) {
		return errCutShort
	}
	lower := strings.ToLower(path.Base(rel))
	if strings.HasSuffix(lower, ".json.gz") || strings.HasSuffix(lower, ".json.zst") {
		return errPacked
	}
	if strings.HasSuffix(lower, ".json") || strings.HasSuffix(lower, ".tar") {
		return errRenamed
	}
	data, err := folder.Read(rel, mostDocument)
	if errors.Is(err, rootfs.ErrNotRegular) || errors.Is(err, fs.ErrNotExist) || len(data) < 4 {
		return nil
	}
	for _, magic := range []string{"\x1f\x8b", "PK\x03\x04", "\x28\xb5\x2f\xfd", "BZh", "\xfd7zX", "7z\xbc\xaf"} {
		if strings.HasPrefix(string(data[:4]), magic) {
			return errPacked
		}
	}
	if bytes.Contains(data, []byte(`"ttreport/v`)) {
		return errRenamed
	}
	return err
}

// RemoveUnfinished removes what writes left that were cut short. The caller is the only one that writes.
func RemoveUnfinished(dir string) {
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.HasPrefix(e.Name(), durable.Temporary) {
			_ = os.Remove(name) // a load reports one that stays
		}
		return nil
	})
}

// Each reads the documents below a folder, in path order, without those that are skipped for their bytes; a nil skip
// leaves out none. What cannot be read is a problem.
func Each(
	dir string, skip func(name string, data []byte) bool, visit func(name string, r *schema.Run),
) []schema.Problem {
	docs, problems := list([]string{dir})
	c := newDecoder()
	for _, d := range docs {
		data, problem := d.read(nil)
		if problem == nil && skip != nil && skip(d.path, data) {
			continue
		}
		var r schema.Run
		if problem == nil {
			r, problem = c.document(d.path, data)
		}
		if problem != nil {
			problems = append(problems, *problem)
			continue
		}
		visit(d.path, &r)
	}
	return problems
}

// SpanOf returns when the run of a document began and ended, without decoding it: from the lines in which [Encode]
// writes that. start is zero where no such line is there, or several are.
func SpanOf(data []byte) (start, end time.Time) {
	of := func(member string) (t time.Time) {
		head := []byte("\n\"" + member + "\":\"")
		_, after, found := bytes.Cut(data, head)
		if text, _, closed := bytes.Cut(after, []byte(`"`)); found && closed && !bytes.Contains(after, head) {
			t, _ = time.Parse(time.RFC3339, string(text)) // zero: it is not known
		}
		return t
	}
	return of("start"), of("end")
}

// HasFile reports whether a document, which is not decoded, names a file by one of some hashes.
func HasFile(data []byte, sha256 map[string]bool) bool {
	const size = 64
	return slices.ContainsFunc(bytes.Split(data, []byte(`"sha256":"`)), func(after []byte) bool {
		return len(after) >= size && sha256[string(after[:size])]
	})
}
