// Package transfer carries run folders through a program's output.
//
// A pod that has ended cannot be asked for files, but what it printed is kept, and can be read by whoever may read its
// log. [Write] prints run folders as lines among others; [Read] takes them out again and puts the run folders in place
// when all of it has arrived. It must not know what a run folder contains, nor who keeps the log.
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
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

var (
	// ErrNone is returned for an output without results.
	ErrNone = errors.New("it printed no results")
	// ErrEmpty is an ErrNone of an output that states that there are none.
	ErrEmpty = fmt.Errorf("%w: nothing was measured", ErrNone)
	// ErrCut is returned for an output whose results are not complete.
	ErrCut = errors.New("the results in its log are not complete")
)

// Lines that carry a piece begin with piece; the last one has the SHA-256 of all pieces. A log with one part of the
// results states how many parts there are.
const (
	piece = "ttreport-results "
	parts = "ttreport-results-parts "
	last  = "ttreport-results-end "
)

const (
	// lineBytes is how many bytes a line carries: with base64 and the prefix less than the 16 KiB at which container
	// runtimes break lines.
	lineBytes = 9000
	// PartBytes is how many bytes of an archive are a part: as lines they are 8.5 MB, of which a kubelet keeps 10 MB
	// (containerLogMaxSize) with its own time stamps.
	PartBytes = 6_300_000
	mostLine  = 1 << 20
	mostBytes = 4 << 30 // of all files that are taken from an output
	// hidden begins the name of the folder in which results wait until they are complete; readers skip hidden folders.
	hidden = ".fetched-"
)

// Write prints the files below a folder: a compressed tar archive in lines of base64, each after the word
// ttreport-results. Where there are none, it prints the checksum of no line.
func Write(w io.Writer, dir string) error {
	if empty(dir) {
		_, err := fmt.Fprintf(w, "%s%x\n", last, sha256.Sum256(nil))
		return err
	}
	return WritePart(w, dir, 0, math.MaxInt64)
}

// WritePart prints one part of what [Write] prints, counted from 0, and of how many it is one; each has so many bytes,
// as [PartBytes]. The same files give the same parts. [ErrNone] where there are none.
func WritePart(w io.Writer, dir string, part int, size int64) error {
	if empty(dir) {
		return ErrNone
	}
	in, out := io.Pipe()
	defer in.Close() // which ends the archive, too
	go func() { _ = out.CloseWithError(archive(out, dir)) }()
	if err := printPart(w, in, part, size); err != nil {
		return fmt.Errorf("printing the results: %w", err)
	}
	return nil
}

// printPart prints a part of what from has.
func printPart(w io.Writer, from io.Reader, part int, size int64) error {
	sum, to := sha256.New(), bufio.NewWriter(w)
	all := io.TeeReader(from, sum)
	total, err := io.CopyN(io.Discard, all, int64(part)*size)
	none := fmt.Errorf("there is no part %d", part+1)
	if err == io.EOF {
		return none
	}
	own, chunk := io.LimitReader(all, size), make([]byte, lineBytes)
	for n := 0; err == nil; {
		if n, err = io.ReadFull(own, chunk); n > 0 {
			fmt.Fprintf(to, "%s%s\n", piece, base64.StdEncoding.EncodeToString(chunk[:n])) // Flush has its error
			total += int64(n)
		}
	}
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	more, err := io.Copy(io.Discard, all)
	if err != nil {
		return err
	}
	if total == int64(part)*size {
		return none
	}
	if more == 0 {
		fmt.Fprintf(to, "%s%s\n", last, hex.EncodeToString(sum.Sum(nil)))
	}
	if size < math.MaxInt64 {
		fmt.Fprintf(to, "%s%d\n", parts, (total+more+size-1)/size)
	}
	return to.Flush()
}

// empty reports whether a folder has nothing, or is not there.
func empty(dir string) bool {
	list, err := os.ReadDir(dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(list) == 0
}

// archive writes the files below a folder, the same bytes for the same files.
func archive(to io.Writer, dir string) error {
	zip := gzip.NewWriter(to)
	out := tar.NewWriter(zip)
	if err := out.AddFS(os.DirFS(dir)); err != nil {
		return err
	}
	return errors.Join(out.Close(), zip.Close())
}

// PartsOf returns of how many parts a log is one, as its last line states it; 0 where it states nothing.
func PartsOf(log string) int {
	log = strings.TrimSpace(log)
	n, _ := strconv.Atoi(strings.TrimPrefix(log[strings.LastIndexByte(log, '\n')+1:], parts)) // 0 for another line
	return n
}

// Read copies an output to log without the results in it, and puts the folders that it carries below dir, where each
// appears whole; one of that name is replaced. When the results are not complete, dir is not changed.
func Read(from io.Reader, log io.Writer, dir string) error {
	return placed(dir, func(to io.Writer) error { return split(from, log, to) })
}

// Copy puts the folders below from below dir, as Read does. [ErrNone] where from has none.
func Copy(from, dir string) error {
	if empty(from) {
		return ErrNone
	}
	return placed(dir, func(to io.Writer) error { return archive(to, from) })
}

// placed puts the files of the archive that write writes below dir, all of them or none.
func placed(dir string, write func(io.Writer) error) error {
	aside := ""
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		aside, err = os.MkdirTemp(dir, hidden)
	}
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	defer os.RemoveAll(aside)
	in, out := io.Pipe()
	unpacked := make(chan error, 1)
	go func() {
		err := unpack(in, aside)
		_, _ = io.Copy(io.Discard, in) // so that the writer never waits for a reader that gave up
		unpacked <- err
	}()
	err = write(out)
	_ = out.CloseWithError(errors.Join(err, io.EOF)) // its errors are the reader's
	if bad := <-unpacked; err == nil && bad != nil {
		err = fmt.Errorf("%w: %w", ErrCut, bad)
	}
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(aside)
	for _, e := range entries {
		to := filepath.Join(dir, e.Name())
		if err == nil {
			err = os.RemoveAll(to)
		}
		if err == nil {
			err = os.Rename(filepath.Join(aside, e.Name()), to)
		}
	}
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

// split divides lines into those that carry results, which go to pieces, and others.
func split(from io.Reader, log, pieces io.Writer) error {
	sum, found, whole := sha256.New(), false, false
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, mostLine)
	for lines.Scan() {
		line := lines.Text()
		if text, ok := strings.CutPrefix(line, piece); ok {
			found = true
			data, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrCut, err)
			}
			sum.Write(data)
			if _, err := pieces.Write(data); err != nil {
				return err
			}
		} else if stated, ok := strings.CutPrefix(line, last); ok {
			if whole = stated == hex.EncodeToString(sum.Sum(nil)); !whole {
				return fmt.Errorf("%w: their checksum is another", ErrCut)
			}
		} else if !strings.HasPrefix(line, parts) {
			if _, err := fmt.Fprintln(log, line); err != nil {
				return err
			}
		}
	}
	switch err := lines.Err(); {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrCut, err)
	case !found && whole:
		return ErrEmpty
	case !found:
		return ErrNone
	case !whole:
		return ErrCut
	}
	return nil
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
	members, left := tar.NewReader(zip), int64(mostBytes)
	for {
		h, err := members.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case h.Typeflag == tar.TypeDir:
			continue
		case h.Typeflag != tar.TypeReg:
			return fmt.Errorf("%q is not a file", h.Name)
		}
		if left -= h.Size; left < 0 {
			return fmt.Errorf("it has more than %d bytes", mostBytes)
		}
		name := filepath.FromSlash(h.Name)
		if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, members)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
}
