package decode

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
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
	out := &limited{left: min(most, MostUnpacked(size))}
	switch e {
	case Gzip:
		zr, err := gzip.NewReader(r)
		out.ReadCloser = zr
		return out, err
	case Zstd:
		zr, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MostOfUnpacker),
			zstd.WithDecoderLowmem(true))
		if err == nil {
			out.ReadCloser = zr.IOReadCloser()
		}
		return out, err
	}
	return nil, errors.New("neither gzip nor zstd")
}

type limited struct {
	io.ReadCloser
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}

// Read reads a file of size bytes: unpacked, hashed, its first value decoded. Only errors of the reader are returned;
// faults of the content are problems of the file.
func Read(name string, in io.ReaderAt, size int64, mod time.Time, lim Limits) (File, error) {
	f := File{Path: name, Size: size, ModTime: mod}
	err := f.read(in, nil, lim)
	return f, err
}

// read is [Read]; whole is what in has, where that is in memory.
func (f *File) read(in io.ReaderAt, whole []byte, lim Limits) error {
	f.lim = lim
	head, err := section(in, min(f.Size, headSize))
	if err != nil {
		return err
	}
	switch e := EnvelopeOf(head); {
	case e == Gzip || e == Zstd:
		f.unpack(e, in, min(lim.Packed, lim.Bytes))
		f.SHA256, err = hashIn(in, f.Size)
		f.Content = hashOf(f.Data)
	case e == Zip || e == Tar || utf16Order(head) == nil && bytes.IndexByte(head, 0) >= 0:
		f.Form = Binary
		return nil
	default:
		if err = f.openPieces(in, lim); f.pieces == nil && err == nil {
			err = f.readPlain(in, whole, lim, head)
		}
	}
	if err == nil && len(f.Problems) == 0 {
		f.open(lim)
	}
	return err
}

// readPlain reads the text, or the beginning of one that is too long, which has no hash.
func (f *File) readPlain(in io.ReaderAt, whole []byte, lim Limits, head []byte) (err error) {
	begin := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	isJSON := len(begin) == 0 || startsJSON(begin) || bytes.HasPrefix(begin, []byte(benchmarkData))
	most := lim.Bytes
	if !isJSON && utf16Order(head) == nil {
		most = lim.Text
	}
	switch f.Cut = f.Size > most; {
	case f.Cut && isJSON:
		f.Problems = append(f.Problems, tooLarge(f.Path, f.Size, most))
	case f.Cut || whole == nil:
		f.Data, err = section(in, min(f.Size, most))
	default:
		f.Data = whole
	}
	if !f.Cut {
		f.SHA256 = hashOf(f.Data)
		f.Content = f.SHA256
	}
	return err
}

// section is the first bytes of a file, fewer where it is shorter by now.
func section(in io.ReaderAt, size int64) ([]byte, error) {
	out := make([]byte, size)
	n, err := in.ReadAt(out, 0)
	if err == io.EOF {
		err = nil
	}
	return out[:n], err
}

// hashIn is the hash of a file that is not held in memory.
func hashIn(in io.ReaderAt, size int64) (string, error) {
	sum := sha256.New()
	_, err := io.Copy(sum, io.NewSectionReader(in, 0, size))
	return hex.EncodeToString(sum.Sum(nil)), err
}

// unpack reads the content into one piece of memory, where the end of a gzip file says how long it is (RFC 1952).
func (f *File) unpack(e Envelope, in io.ReaderAt, most int64) {
	zr, err := Unpacked(e, io.NewSectionReader(in, 0, f.Size), f.Size, most)
	if err == nil {
		var content bytes.Buffer
		var length [4]byte
		if n, _ := in.ReadAt(length[:], f.Size-4); e == Gzip && n == len(length) {
			content.Grow(int(min(int64(binary.LittleEndian.Uint32(length[:])), most, MostUnpacked(f.Size))) + bytes.MinRead)
		}
		_, err = content.ReadFrom(zr)
		f.Data = content.Bytes()
		zr.Close()
	}
	if err == nil {
		return
	}
	f.Data = nil
	p := BadPacked(f.Path, e, err)
	if errors.Is(err, ErrTooLarge) {
		p = tooLarge(f.Path, f.Size, most)
	}
	f.Problems = append(f.Problems, p)
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
