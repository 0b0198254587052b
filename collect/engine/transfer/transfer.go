// Package transfer carries run folders through a program's output.
//
// A pod that has ended cannot be asked for files, but what it printed is kept, and can be read by whoever may read its
// log. A [Printer] prints run folders as lines among others, as they grow; [Read] takes them out again and puts the run
// folders in place. It must not know what a run folder contains, nor who keeps the log.
package transfer

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

var (
	// ErrNone is returned for an output without results.
	ErrNone = errors.New("it printed no results")
	// ErrCut is returned for an output whose results are not complete.
	ErrCut = errors.New("the results in its log are not complete")
)

// Lines that carry a piece begin with piece. Behind those of an archive stands the SHA-256 of all pieces until then. A
// log with one part of the results states how many parts there are.
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

// Printer prints the files below a folder as they come: a compressed tar archive in lines of base64, each after the
// word ttreport-results, of what is new since the last one.
type Printer struct {
	To      io.Writer
	Dir     string
	sum     hash.Hash
	printed map[string]string // size and time of each file
}

// Print prints the files that are new or have changed, but for those of some names, which wait for the last time. Where
// there never were any, it prints the checksum of no line. A nil Printer prints nothing.
func (p *Printer) Print(later ...string) error {
	if p == nil {
		return nil
	}
	if p.sum == nil {
		p.sum, p.printed = sha256.New(), map[string]string{}
	}
	var all bytes.Buffer
	now := maps.Clone(p.printed)
	if err := archive(&all, p.Dir, now, later); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("printing the results: %w", err)
	}
	if p.printed = now; len(now) == 0 {
		all.Reset()
	}
	return printPart(p.To, &all, p.sum, 0, math.MaxInt64)
}

// WritePart prints one part of what [Printer.Print] prints, counted from 0, and of how many it is one; each has so many
// bytes, as [PartBytes]. The same files give the same parts. [ErrNone] where there are none.
func WritePart(w io.Writer, dir string, part int, size int64) error {
	if empty(dir) {
		return ErrNone
	}
	in, out := io.Pipe()
	defer in.Close() // which ends the archive, too
	go func() { _ = out.CloseWithError(archive(out, dir, map[string]string{}, nil)) }()
	if err := printPart(w, in, sha256.New(), part, size); err != nil {
		return fmt.Errorf("printing the results: %w", err)
	}
	return nil
}

// printPart prints a part of what from has.
func printPart(w io.Writer, from io.Reader, sum hash.Hash, part int, size int64) error {
	to := bufio.NewWriter(w)
	all := io.TeeReader(from, sum)
	before, err := io.CopyN(io.Discard, all, int64(part)*size)
	own, chunk, total := io.LimitReader(all, size), make([]byte, lineBytes), before
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
	if part > 0 && total == before {
		return fmt.Errorf("there is no part %d", part+1)
	}
	if more == 0 {
		fmt.Fprintf(to, "%s%x\n", last, sum.Sum(nil))
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

// archive writes the files below a folder, the same bytes for the same files, without those that were archived as they
// are, which it notes, and some names. Of one that grows meanwhile it has the beginning.
func archive(to io.Writer, dir string, done map[string]string, later []string) error {
	zip := gzip.NewWriter(to)
	out := tar.NewWriter(zip)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains(later, d.Name()) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		is := fmt.Sprint(info.Size(), info.ModTime())
		if done[name] == is {
			return nil
		}
		done[name] = is
		h, err := tar.FileInfoHeader(info, "")
		if err != nil {
			return err
		}
		if h.Name = name; !info.Mode().IsRegular() { // which no reader takes
			return out.WriteHeader(h)
		}
		f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		defer f.Close()
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		_, err = io.CopyN(out, f, h.Size)
		return err
	})
	return errors.Join(err, out.Close(), zip.Close())
}

// Carries reports whether a line of a log is of results, and not of what the program says.
func Carries(line string) bool { return strings.HasPrefix(line, "ttreport-results") }

// PartsOf returns of how many parts a log is one, as its last line states it; 0 where it states nothing.
func PartsOf(log string) int {
	log = strings.TrimSpace(log)
	n, _ := strconv.Atoi(strings.TrimPrefix(log[strings.LastIndexByte(log, '\n')+1:], parts)) // 0 for another line
	return n
}

// Read copies an output to log without the results in it, and puts the folders that it carries below dir, where each
// appears whole; one of that name is replaced. Of an output that ends within an archive, it has those before. When the
// results are not complete, dir is not changed.
func Read(from io.Reader, log io.Writer, dir string) error {
	return placed(dir, func(aside string, pieces *os.File) error {
		sum, found, whole := sha256.New(), false, 0
		lines := bufio.NewScanner(from)
		lines.Buffer(nil, mostLine)
		for lines.Scan() {
			line := lines.Text()
			if text, ok := strings.CutPrefix(line, piece); ok {
				found = true
				data, err := base64.StdEncoding.DecodeString(text)
				if err != nil { // no checksum is that of a line that is cut
					data = []byte(text)
				}
				sum.Write(data)
				if _, err := pieces.Write(data); err != nil {
					return err
				}
			} else if stated, ok := strings.CutPrefix(line, last); ok {
				if stated != hex.EncodeToString(sum.Sum(nil)) {
					return fmt.Errorf("%w: their checksum does not match", ErrCut)
				}
				if found {
					whole++
					if err := unpack(pieces, aside); err != nil {
						return fmt.Errorf("%w: %w", ErrCut, err)
					}
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
		case !found:
			return ErrNone
		case whole == 0:
			return ErrCut
		}
		return nil
	})
}

// Copy puts the folders below from below dir, as Read does. [ErrNone] where from has none.
func Copy(from, dir string) error {
	if empty(from) {
		return ErrNone
	}
	return placed(dir, func(aside string, pieces *os.File) error {
		return cmp.Or(archive(pieces, from, map[string]string{}, nil), unpack(pieces, aside))
	})
}

// placed puts what fill writes to a folder, with a file for archives, below dir: all of it or nothing.
func placed(dir string, fill func(aside string, pieces *os.File) error) error {
	aside := ""
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		aside, err = os.MkdirTemp(dir, hidden)
	}
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	defer os.RemoveAll(aside)
	pieces, err := os.CreateTemp(aside, hidden)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	err = fill(aside, pieces)
	if err = cmp.Or(err, pieces.Close(), os.Remove(pieces.Name())); err != nil {
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

// unpack writes the files of an archive below a folder, and empties it. Other members than files are refused, and
// nothing leaves the folder.
func unpack(from *os.File, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	zip, err := gzip.NewReader(from)
	if err != nil {
		return err
	}
	members, left := tar.NewReader(zip), int64(mostBytes)
	for {
		h, err := members.Next()
		switch {
		case err == io.EOF:
			_, err := from.Seek(0, io.SeekStart)
			return cmp.Or(err, from.Truncate(0))
		case err != nil:
			return err
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
		f, err := root.Create(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, members)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
}
