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

// Holds reports by its first bytes whether content is an archive. A gzip or zstd file may contain one: [Each] opens
// it to find out.
func Holds(head []byte) bool {
	e := decode.EnvelopeOf(head)
	return e == decode.Zip || e == decode.Tar
}

// Each calls visit for every member. found is false when the input is a compressed file without an archive in it;
// nothing was visited then.
func Each(name string, in Input, size int64, lim decode.Limits, visit func(Member)) (problems []schema.Problem,
	found bool) {
	w := &walker{lim: lim, visit: visit, total: min(lim.Total, decode.MostUnpacked(size))}
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
}

func (w *walker) say(severity schema.Severity, path, code, found, expected, hint string) {
	if len(w.problems) < 50 { // only the first problems of a badly damaged archive are reported
		w.problems = append(w.problems, schema.Problem{
			Severity: severity, Path: path, Code: code, Found: found, Expected: expected, Hint: hint,
		})
	}
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
		w.problems = append(w.problems, decode.BadPacked(name, decode.Zip, err))
		return
	}
	zr.RegisterDecompressor(zstd.ZipMethodWinZip,
		zstd.ZipDecompressor(zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(decode.MostOfUnpacker)))
	for _, f := range zr.File {
		if f.FileInfo().IsDir() || !f.Mode().IsRegular() || w.stopped {
			continue
		}
		member, ok := w.admit(name, f.Name)
		if !ok {
			continue
		}
		if f.Flags&1 != 0 {
			w.say(schema.SevError, member, "encrypted", "an encrypted member", "one that can be read",
				"unpack the archive with its password and read the folder")
			continue
		}
		r, err := f.Open()
		if err != nil {
			w.problems = append(w.problems, decode.BadPacked(member, decode.Zip, err))
			continue
		}
		w.member(member, r, int64(f.UncompressedSize64), int64(f.CompressedSize64), f.Modified, decode.Zip, depth)
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
			w.problems = append(w.problems, decode.BadPacked(name, decode.Tar, err))
			return
		}
		if h.Typeflag != tar.TypeReg {
			continue // folders, links and devices have no content
		}
		if member, ok := w.admit(name, h.Name); ok && !w.member(member, tr, h.Size, h.Size, h.ModTime, decode.Tar, depth) {
			return // nothing can be found after a truncated member
		}
	}
}

// admit decides about a member by its name, and counts it.
func (w *walker) admit(archive, name string) (string, bool) {
	if w.members++; w.members > w.lim.Members {
		w.say(schema.SevError, archive, "too-many-members", fmt.Sprintf("more than %d files in one archive", w.lim.Members),
			"an archive of results", "split it, or unpack it and read the folder")
		w.stopped = true
		return "", false
	}
	clean := strings.ReplaceAll(name, `\`, "/")
	if clean == "" || len(clean) > decode.LongestMember || strings.HasPrefix(clean, "/") ||
		strings.Contains(clean, "\x00") || (len(clean) > 1 && clean[1] == ':') {
		w.unsafe(archive, name)
		return "", false
	}
	for part := range strings.SplitSeq(clean, "/") {
		switch {
		case part == "..":
			w.unsafe(archive, name)
			return "", false
		case strings.HasPrefix(part, ".") && part != ".", part == "__MACOSX":
			return "", false // hidden files are skipped, as in folders
		}
	}
	return archive + "/" + path.Clean(clean), true
}

func (w *walker) unsafe(archive, name string) {
	if r := []rune(name); len(r) > 80 {
		name = string(r[:80]) + "…"
	}
	w.say(schema.SevWarning, archive, "unsafe-path",
		fmt.Sprintf("a member named %q, which lies outside the archive", name), "a path within it", "nothing of it was read")
}

// member reads one member and visits it, or its members if it is an archive itself. It returns false when the bytes
// could not be read.
func (w *walker) member(name string, r io.Reader, size, packed int64, mod time.Time, e decode.Envelope,
	depth int) bool {
	limit := min(w.lim.Packed, w.total)
	if e == decode.Zip {
		limit = min(limit, decode.MostUnpacked(packed))
	}
	data, err := readUpTo(r, size, limit)
	switch {
	case errors.Is(err, decode.ErrTooLarge):
		w.say(schema.SevError, name, "too-large", fmt.Sprintf("content of more than %d MB", limit>>20),
			fmt.Sprintf("at most %d MB a member and %d MB an archive, and at most 200 times the packed bytes",
				w.lim.Packed>>20, w.lim.Total>>20), "unpack the archive and read the folder")
		w.stopped = w.total <= w.lim.Packed
		return true
	case err != nil:
		w.problems = append(w.problems, decode.BadPacked(name, e, err))
		return false
	}
	w.total -= int64(len(data))
	head := data[:min(len(data), 512)]
	if inner := decode.EnvelopeOf(head); inner != decode.Plain {
		if depth+1 >= w.lim.Nesting && Holds(head) {
			w.say(schema.SevWarning, name, "too-deep", "archives within archives within archives",
				fmt.Sprintf("at most %d levels", w.lim.Nesting), "unpack it and read the folder")
			return true
		}
		if depth+1 < w.lim.Nesting && w.open(name, bytes.NewReader(data), int64(len(data)), depth+1) {
			return true
		}
	}
	w.visit(Member{Path: name, ModTime: mod, Data: data})
	return true
}

// readUpTo reads a member with a stated size; content beyond the limit is an error.
func readUpTo(r io.Reader, size, limit int64) ([]byte, error) {
	if size > limit {
		return nil, decode.ErrTooLarge
	}
	data := make([]byte, 0, min(max(size, 0), 1<<26)+1)
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if int64(len(data)) > limit {
			return nil, decode.ErrTooLarge
		}
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
