// Package archive iterates over the files in an archive: zip, tar, tar.gz, tar.zst, and archives within them.
//
// It takes an archive's bytes and returns its members, one at a time, as bytes in memory, with the path that each
// would have if the archive were a folder. Nothing is written to disk. [decode.Limits] bounds how many members are
// examined, how large one and all of them may become, and how deep archives nest. A member beyond a limit, damaged,
// encrypted, or with a name outside of the archive is a problem; the others are still read.
//
// The package must not know any result format.
package archive

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Input is an archive's content. A zip is read at random, everything else in order.
type Input interface {
	io.Reader
	io.ReaderAt
}

// Member is one file of an archive.
type Member struct {
	Path    string // the archive's path, a slash, the path within it
	ModTime time.Time
	Data    []byte
}

// Each calls visit for every member. found is false when the input is a compressed file without an archive in it;
// nothing was visited then.
func Each(name string, in Input, size int64, lim decode.Limits, visit func(Member)) (problems []schema.Problem,
	found bool) {
	w := &walker{lim: lim, visit: visit, seen: map[string]bool{}, total: min(lim.Total, decode.MostUnpacked(size))}
	found = w.open(name, in, size, 0)
	return w.problems, found
}

type walker struct {
	lim      decode.Limits
	visit    func(Member)
	members  int
	total    int64
	stopped  bool
	problems []schema.Problem
	seen     map[string]bool // paths of members
}

// report adds a problem; only the first of a badly damaged archive are kept.
func (w *walker) report(p schema.Problem) {
	if len(w.problems) < 50 {
		w.problems = append(w.problems, p)
	}
}

func (w *walker) fail(sev schema.Severity, path, code, found, expected, hint string) {
	w.report(schema.Problem{
		Severity: sev, Path: path, Code: code, Found: found, Expected: expected, Hint: hint,
	})
}

// open reads content and reports whether it is an archive.
func (w *walker) open(name string, in Input, size int64, depth int) bool {
	head := make([]byte, 512)
	n, _ := in.ReadAt(head, 0) // an error is reported when the rest is read
	switch e := decode.EnvelopeOf(head[:n]); e {
	case decode.Zip:
		w.zip(name, in, size, depth)
	case decode.Tar:
		w.tar(name, in, depth)
	case decode.Gzip, decode.Zstd:
		zr, err := decode.Unpacked(e, io.NewSectionReader(in, 0, size), size, w.lim.Total)
		if err != nil {
			return false
		}
		defer zr.Close()
		r := bufio.NewReaderSize(zr, 1<<16)
		if inner, _ := r.Peek(512); decode.EnvelopeOf(inner) != decode.Tar {
			return false
		}
		w.tar(name, r, depth)
	default:
		return false
	}
	return true
}

func (w *walker) zip(name string, in Input, size int64, depth int) {
	zr, err := zip.NewReader(in, size)
	if err != nil {
		w.report(decode.BadPacked(name, decode.Zip, err))
		return
	}
	zr.RegisterDecompressor(zstd.ZipMethodWinZip,
		zstd.ZipDecompressor(zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(decode.MostOfUnpacker)))
	for _, f := range zr.File {
		if !f.Mode().IsRegular() || w.stopped {
			continue
		}
		member, ok := w.admit(name, f.Name)
		if !ok {
			continue
		}
		if f.Flags&1 != 0 {
			w.fail(schema.SevError, member, "encrypted", "an encrypted member", "one that can be read",
				"unpack the archive with its password and read the folder")
			continue
		}
		r, err := f.Open()
		if err != nil {
			w.report(decode.BadPacked(member, decode.Zip, err))
			continue
		}
		most := decode.MostUnpacked(int64(f.CompressedSize64))
		w.member(Member{Path: member, ModTime: f.Modified}, r, int64(f.UncompressedSize64), most, decode.Zip, depth)
		r.Close()
	}
}

func (w *walker) tar(name string, in io.Reader, depth int) {
	tr := tar.NewReader(in)
	for !w.stopped {
		h, err := tr.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			w.report(decode.BadPacked(name, decode.Tar, err))
			return
		}
		if h.Typeflag != tar.TypeReg {
			continue // folders, links and devices have no content
		}
		member, ok := w.admit(name, h.Name)
		if ok && !w.member(Member{Path: member, ModTime: h.ModTime}, tr, h.Size, w.lim.Packed, decode.Tar, depth) {
			return // nothing can be found after a truncated member
		}
	}
}

// admit decides about a member by its name, and counts it.
func (w *walker) admit(archive, name string) (string, bool) {
	if w.members++; w.members > w.lim.Members {
		w.fail(schema.SevError, archive, "too-many-members", fmt.Sprintf("more than %d files in one archive", w.lim.Members),
			"an archive of results", "split it, or unpack it and read the folder")
		w.stopped = true
		return "", false
	}
	clean := strings.ReplaceAll(name, `\`, "/")
	parts := strings.Split(clean, "/")
	if len(clean) > decode.LongestMember || parts[0] == "" || strings.Contains(clean, "\x00") ||
		len(clean) > 1 && clean[1] == ':' || slices.Contains(parts, "..") {
		if r := []rune(name); len(r) > 80 {
			name = string(r[:80]) + "…"
		}
		w.fail(schema.SevWarning, archive, "unsafe-path", fmt.Sprintf("a member named %q, which lies outside the archive",
			name), "a path within it", "nothing of it was read")
		return "", false
	}
	at := archive + "/" + path.Clean(clean)
	if w.seen[at] {
		w.report(schema.Problem{
			Severity: schema.SevError, Path: at, Code: "name-twice", Found: "two members of one name in an archive",
			Expected: "each name once", Used: "the first one", Hint: "pack the folder again: both would be one file in it",
		})
		return "", false
	}
	w.seen[at] = true
	isHidden := func(part string) bool { return strings.HasPrefix(part, ".") && part != "." || part == "__MACOSX" }
	return at, !slices.ContainsFunc(parts, isHidden) // as in folders
}

// member reads one member of a stated size and visits it, or its members if it is an archive itself. It returns false
// when the bytes could not be read.
func (w *walker) member(m Member, r io.Reader, size, most int64, e decode.Envelope, depth int) bool {
	limit := min(w.lim.Packed, w.total, most)
	err := decode.ErrTooLarge
	if size <= limit {
		b := bytes.NewBuffer(make([]byte, 0, min(max(size, 0), 1<<26)+bytes.MinRead))
		_, err = b.ReadFrom(io.LimitReader(r, limit+1))
		if m.Data = b.Bytes(); err == nil && int64(len(m.Data)) > limit {
			err = decode.ErrTooLarge
		}
	}
	switch {
	case errors.Is(err, decode.ErrTooLarge):
		w.fail(schema.SevError, m.Path, "too-large", fmt.Sprintf("content of more than %d MB", limit>>20),
			fmt.Sprintf("at most %d MB a member and %d MB an archive, and at most 200 times the packed bytes",
				w.lim.Packed>>20, w.lim.Total>>20), "unpack the archive and read the folder")
		w.stopped = w.total <= w.lim.Packed
		return true
	case err != nil:
		w.report(decode.BadPacked(m.Path, e, err))
		return false
	}
	size = int64(len(m.Data))
	w.total -= size
	depth++
	inner := decode.EnvelopeOf(m.Data[:min(size, 512)])
	switch {
	case depth >= w.lim.Nesting && (inner == decode.Zip || inner == decode.Tar):
		w.fail(schema.SevWarning, m.Path, "too-deep", "archives within archives within archives",
			fmt.Sprintf("at most %d levels", w.lim.Nesting), "unpack it and read the folder")
	case depth >= w.lim.Nesting || !w.open(m.Path, bytes.NewReader(m.Data), size, depth):
		w.visit(m)
	}
	return true
}
