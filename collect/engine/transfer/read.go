package transfer

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var (
	// ErrNone is returned for an output without results.
	ErrNone = errors.New("it printed no results")
	// ErrCut is returned for an output whose results are not complete.
	ErrCut = errors.New("the results in its log are not complete")
)

// Bounds of what is taken from an output.
const (
	mostBytes = 4 << 30
	mostFiles = 100_000
	mostLine  = 1 << 20
)

// hidden begins the name of the folder in which results wait until they are complete; readers skip hidden folders.
const hidden = ".fetched-"

// Read copies an output to log without the results in it, and puts the folders that it carries below dir, where each
// appears whole; one of that name is replaced. When the results are not complete, dir is not changed.
func Read(from io.Reader, log io.Writer, dir string) error {
	return placed(dir, func(aside string) error {
		err, unpackErr := through(aside, func(to io.Writer) error { return split(from, log, to) })
		if err == nil && unpackErr != nil {
			err = fmt.Errorf("%w: %w", ErrCut, unpackErr)
		}
		return err
	})
}

// Copy puts the folders below from below dir, as Read does. [ErrNone] where from has none.
func Copy(from, dir string) error {
	if list, err := os.ReadDir(from); errors.Is(err, fs.ErrNotExist) || err == nil && len(list) == 0 {
		return ErrNone
	} else if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return placed(dir, func(aside string) error {
		if err := errors.Join(through(aside, func(to io.Writer) error { return archive(to, from) })); err != nil {
			return fmt.Errorf("results: %w", err)
		}
		return nil
	})
}

// placed puts what fill writes into a folder below dir, all of it or nothing.
func placed(dir string, fill func(aside string) error) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	aside, err := os.MkdirTemp(dir, hidden)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	defer os.RemoveAll(aside)
	if err := fill(aside); err != nil {
		return err
	}
	return place(aside, dir)
}

// through unpacks what write writes into a folder. It returns the errors of both sides.
func through(dir string, write func(io.Writer) error) (written, unpacked error) {
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := unpack(in, dir)
		_, _ = io.Copy(io.Discard, in) // so that the writer never waits for a reader that gave up
		done <- err
	}()
	written = write(out)
	_ = out.CloseWithError(errors.Join(written, io.EOF)) // its errors are the reader's
	return written, <-done
}

// split divides lines into those that carry results, which go to parts, and others.
func split(from io.Reader, log, pieces io.Writer) error {
	sum, found, whole := sha256.New(), false, false
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, mostLine)
	for lines.Scan() {
		line := lines.Text()
		if data, ok := strings.CutPrefix(line, piece); ok {
			found = true
			if err := take(data, sum, pieces); err != nil {
				return err
			}
		} else if stated, ok := strings.CutPrefix(line, last); ok {
			if whole = stated == hex.EncodeToString(sum.Sum(nil)); !whole {
				return fmt.Errorf("%w: their checksum is another", ErrCut)
			}
		} else if strings.HasPrefix(line, parts) {
			continue
		} else if _, err := fmt.Fprintln(log, line); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrCut, err)
	case !found:
		return ErrNone
	case !whole:
		return ErrCut
	}
	return nil
}

func take(line string, sum hash.Hash, pieces io.Writer) error {
	data, err := base64.StdEncoding.DecodeString(line)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCut, err)
	}
	sum.Write(data)
	_, err = pieces.Write(data)
	return err
}

// unpack writes the files of an archive below a folder. Other members than files and folders are refused, and nothing
// leaves the folder.
func unpack(from io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	zip, err := gzip.NewReader(from)
	if err != nil {
		return err
	}
	archive, left := tar.NewReader(zip), int64(mostBytes)
	for n := 0; ; n++ {
		h, err := archive.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case n == mostFiles || h.Size > left:
			return fmt.Errorf("it has more than %d files or %d bytes", mostFiles, mostBytes)
		case h.Typeflag == tar.TypeDir:
			continue
		case h.Typeflag != tar.TypeReg:
			return fmt.Errorf("%q is no file", h.Name)
		}
		left -= h.Size
		if err := writeMember(root, filepath.FromSlash(h.Name), archive); err != nil {
			return err
		}
	}
}

func writeMember(root *os.Root, name string, from io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, from); err != nil {
		_ = f.Close() // the first error is reported
		return err
	}
	return f.Close()
}

// place moves what waits to where it belongs.
func place(aside, dir string) error {
	entries, err := os.ReadDir(aside)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	for _, e := range entries {
		to := filepath.Join(dir, e.Name())
		if err := os.RemoveAll(to); err != nil {
			return fmt.Errorf("results: %w", err)
		}
		if err := os.Rename(filepath.Join(aside, e.Name()), to); err != nil {
			return fmt.Errorf("results: %w", err)
		}
	}
	return nil
}
