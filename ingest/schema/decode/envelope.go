package decode

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Envelope is how content is packed, recognised by its first bytes and not by its name.
type Envelope uint8

// Envelopes. Zip and Tar have several files; a Gzip or Zstd may contain a Tar.
const (
	Plain Envelope = iota
	Gzip
	Zstd
	Zip
	Tar
)

// headSize is how many bytes are used to recognise an envelope and a form.
const headSize = 4096

// EnvelopeOf recognises an envelope by at least the first 512 bytes.
func EnvelopeOf(head []byte) Envelope {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return Gzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return Zstd
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return Zip
	case len(head) >= 262 && string(head[257:262]) == "ustar":
		return Tar
	}
	return Plain
}

// ErrTooLarge is the error of content beyond a limit.
var ErrTooLarge = errors.New("more content than the limit")

// MostUnpacked is how much so many packed bytes may hold: of a file, of a member of an archive, and of an archive,
// whose members may lie on each other.
func MostUnpacked(size int64) int64 { return max(freeExpansion, size*maxRatio) }

// Unpacked reads the content of a gzip or zstd stream. size is that of the packed bytes; content beyond the limit is
// [ErrTooLarge]. The caller closes it.
func Unpacked(e Envelope, r io.Reader, size int64, most int64) (io.ReadCloser, error) {
	limit := min(most, MostUnpacked(size))
	switch e {
	case Gzip:
		zr, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		return &limited{Reader: zr, left: limit, close: func() {}}, nil
	case Zstd:
		zr, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MostOfUnpacker),
			zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return &limited{Reader: zr, left: limit, close: zr.Close}, nil
	}
	return nil, errors.New("neither gzip nor zstd")
}

type limited struct {
	io.Reader
	left  int64
	close func()
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}

func (l *limited) Close() error { l.close(); return nil }

// Read reads a file of size bytes: unpacked, hashed, its first value decoded. Only errors of the reader are returned;
// faults of the content are problems of the file.
func Read(name string, r io.Reader, size int64, mod time.Time, lim Limits) (File, error) {
	f := File{Path: name, Size: size, ModTime: mod, lim: lim}
	head, err := io.ReadAll(io.LimitReader(r, headSize))
	if err != nil {
		return f, err
	}
	sum := sha256.New()
	whole := io.TeeReader(io.MultiReader(bytes.NewReader(head), r), sum)
	switch e := EnvelopeOf(head); e {
	case Gzip, Zstd:
		f.unpack(e, whole, size, lim)
		if _, err := io.Copy(io.Discard, whole); err != nil { // bytes after the packed content count for the hash
			return f, err
		}
		f.SHA256, f.Content = hex.EncodeToString(sum.Sum(nil)), hashOf(f.Data)
	case Zip, Tar:
		f.Form = Binary
		return f, nil
	default:
		if isBinary(head) && utf16Order(head) == nil {
			f.Form = Binary
			return f, nil
		}
		if in, ok := r.(io.ReaderAt); ok && lim.Pieces > 0 && size > lim.Pieces && size <= lim.Bytes {
			if done, err := f.openPieces(in, size); done || err != nil {
				f.open(lim)
				return f, err
			}
		}
		if err := f.readPlain(whole, head, lim, sum); err != nil {
			return f, err
		}
	}
	if len(f.Problems) == 0 {
		f.open(lim)
	}
	return f, nil
}

// readPlain reads the text, or the beginning of one that is too long, which has no hash.
func (f *File) readPlain(whole io.Reader, head []byte, lim Limits, sum hash.Hash) (err error) {
	most := lim.Bytes
	if !mayBeJSON(head) && utf16Order(head) == nil {
		most = lim.Text
	}
	if f.Data, err = readAtMost(whole, f.Size, most); err != nil {
		return err
	}
	f.Cut = int64(len(f.Data)) == most && f.Size > most
	if f.Cut && mayBeJSON(head) {
		f.Data = nil
		f.Problems = append(f.Problems, tooLarge(f.Path, f.Size, most))
	}
	if !f.Cut {
		f.SHA256 = hex.EncodeToString(sum.Sum(nil))
		f.Content = f.SHA256
	}
	return nil
}

// readAtMost reads without holding the content twice in memory.
func readAtMost(r io.Reader, size, most int64) ([]byte, error) {
	size = min(max(size, 0), most)
	out := make([]byte, size)
	n, err := io.ReadFull(r, out)
	out = out[:n]
	if err == io.EOF || err == io.ErrUnexpectedEOF { // shorter than stated
		return out, nil
	}
	if err != nil || size == most {
		return out, err
	}
	rest, err := io.ReadAll(io.LimitReader(r, most-size)) // the file grew in the meantime
	return append(out, rest...), err
}

func (f *File) unpack(e Envelope, r io.Reader, size int64, lim Limits) {
	zr, err := Unpacked(e, r, size, min(lim.Packed, lim.Bytes))
	if err == nil {
		f.Data, err = readGrowing(zr)
		zr.Close()
	}
	switch {
	case errors.Is(err, ErrTooLarge):
		f.Data = nil
		f.Problems = append(f.Problems, tooLarge(f.Path, size, min(lim.Packed, lim.Bytes)))
	case err != nil:
		f.Data = nil
		f.Problems = append(f.Problems, BadPacked(f.Path, e, err))
	}
}

// readGrowing reads a stream of unknown length in pieces: one slice that grows would be in memory three times.
func readGrowing(r io.Reader) ([]byte, error) {
	const size = 1 << 20
	var pieces [][]byte
	for {
		piece, err := io.ReadAll(io.LimitReader(r, size))
		if pieces = append(pieces, piece); err != nil || len(piece) < size {
			return bytes.Join(pieces, nil), err
		}
	}
}

// BadPacked returns the problem of content that cannot be unpacked.
func BadPacked(path string, e Envelope, err error) schema.Problem {
	name := [...]string{"plain", "gzip", "zstd", "zip", "tar"}[e]
	return schema.Problem{
		Severity: schema.SevError, Path: path, Code: "bad-" + name,
		Found:    fmt.Sprintf("%s data that cannot be unpacked (%v)", name, err),
		Expected: "a whole " + name + " file", Hint: "copy or download the file again",
	}
}

func tooLarge(path string, size, most int64) schema.Problem {
	found := fmt.Sprintf("%d MB", size>>20)
	if size <= most {
		found = fmt.Sprintf("content of more than %d MB, or of more than %d times the file", most>>20, maxRatio)
	}
	return schema.Problem{
		Severity: schema.SevError, Path: path, Code: "too-large", Found: found,
		Expected: fmt.Sprintf("at most %d MB", most>>20), Hint: "leave it out, or remove its per-request records",
	}
}

func isBinary(head []byte) bool { return bytes.IndexByte(head, 0) >= 0 }

// mayBeJSON reports by a file's first bytes whether it has to be read completely.
func mayBeJSON(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(head) == 0 || startsJSON(head) || bytes.HasPrefix(head, []byte(benchmarkData))
}
