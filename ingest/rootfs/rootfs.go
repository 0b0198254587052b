// Package rootfs reads files that other people wrote: regular files alone, within a folder, up to a size.
//
// In: a folder, or a path that the user gave. Out: an fs.FS, or bytes. A symbolic link is followed within the folder
// and refused where it leads out ([ErrLeadsOut]); a FIFO, a device or a socket is refused without waiting for it
// ([ErrNotRegular]); a file longer than the caller's limit is refused ([ErrTooLarge]). It must not know what is read.
package rootfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

var (
	// ErrLeadsOut is returned for a path or link that leads out of the folder.
	ErrLeadsOut = errors.New("a link that leads out of its folder")
	// ErrNotRegular is returned for what is neither a regular file nor, where one may be, a folder.
	ErrNotRegular = errors.New("neither a regular file nor a folder")
	// ErrTooLarge is returned for a file that is longer than what is read of its kind.
	ErrTooLarge = errors.New("the file is too large")
)

// Folder is a folder that reading does not leave. It implements fs.FS and fs.StatFS. What it holds of the
// system is released when nothing refers to it any more.
type Folder struct {
	root    *os.Root
	path    string            // of the folder, absolute and without links
	trusted map[string]string // paths of files that were named by the user, by name
}

// Open opens a folder. name itself may be a link.
func Open(name string) (*Folder, error) {
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Folder{root: root, path: path}, nil
}

// Trust lets one file of the folder be a link that leads out of it: one that was named on the command line.
func (f *Folder) Trust(name, path string) { f.trusted = map[string]string{name: path} }

// Open implements fs.FS. A regular file is returned as *os.File.
func (f *Folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	// Without O_NONBLOCK a FIFO that nobody writes to would be waited for.
	const how = os.O_RDONLY | syscall.O_NONBLOCK
	var h *os.File
	var err error
	if path := f.trusted[name]; path != "" {
		h, err = os.OpenFile(path, how, 0)
	} else {
		h, err = f.root.OpenFile(filepath.FromSlash(name), how, 0)
		if other := f.absolute(name, err); other != "" {
			h, err = f.root.OpenFile(other, how, 0)
		}
	}
	if err != nil {
		return nil, f.explain("open", name, err)
	}
	info, err := h.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	if err != nil {
		_ = h.Close() // nothing was written
		return nil, err
	}
	return h, nil
}

// absolute returns what a name stands for within the folder if it was refused because of a link with an absolute path,
// and "" for any other reason. The result is opened under the same rule, so changing the link meanwhile gains nothing.
func (f *Folder) absolute(name string, err error) string {
	if !leadsOut(err) {
		return ""
	}
	real, err := filepath.EvalSymlinks(filepath.Join(f.path, filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	if rel, err := filepath.Rel(f.path, real); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return ""
}

// leadsOut recognises the error of os.Root, which has no variable.
func leadsOut(err error) bool {
	var pe *fs.PathError
	return errors.As(err, &pe) && strings.Contains(pe.Err.Error(), "escapes")
}

// explain names the reason of an error where the system's own words would not.
func (f *Folder) explain(op, name string, err error) error {
	var pe *fs.PathError
	switch {
	case leadsOut(err):
		err = ErrLeadsOut
	case errors.Is(err, syscall.ENXIO): // a socket, or a device without a driver
		err = ErrNotRegular
	case errors.As(err, &pe):
		err = pe.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Stat implements fs.StatFS. It follows links within the folder.
func (f *Folder) Stat(name string) (fs.FileInfo, error) {
	if path := f.trusted[name]; path != "" {
		return os.Stat(path)
	}
	info, err := f.root.Stat(filepath.FromSlash(name))
	if other := f.absolute(name, err); other != "" {
		info, err = f.root.Stat(other)
	}
	if err != nil {
		return nil, f.explain("stat", name, err)
	}
	return info, nil
}

// Read returns a file of at most so many bytes.
func (f *Folder) Read(name string, most int64) ([]byte, error) { return f.ReadInto(nil, name, most) }

// ReadInto is [Folder.Read] into the room of bytes that are no longer needed, as far as it suffices.
func (f *Folder) ReadInto(room []byte, name string, most int64) ([]byte, error) {
	h, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return read(h, name, most, room)
}

// ReadFile returns a file that the user named, which may be a link to anywhere; its parts may not be endless.
func ReadFile(path string, most int64) ([]byte, error) {
	h, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return read(h, path, most, nil)
}

// Within returns an error where a path below a folder, or what there is of it, is a link that leads out: what is
// written there would be written elsewhere. A folder that is not there yet holds no links.
func Within(dir, name string) error {
	f, err := Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.root.Close()
	for at := filepath.ToSlash(filepath.Clean(name)); at != "."; at = path.Dir(at) {
		if _, err := f.Stat(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// read checks what was opened, and does not believe its size: a file may grow, and files of /proc have none.
func read(h fs.File, name string, most int64, room []byte) ([]byte, error) {
	info, err := h.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrNotRegular}
	}
	if info.Size() <= most {
		data := bytes.NewBuffer(slices.Grow(room[:0], int(info.Size())+bytes.MinRead))
		_, err := data.ReadFrom(io.LimitReader(h, most+1))
		if err != nil || int64(data.Len()) <= most {
			return data.Bytes(), err
		}
	}
	return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w: at most %d kB are read", ErrTooLarge, most>>10)}
}
