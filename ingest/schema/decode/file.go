package decode

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"path"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Form is the kind of a file's content.
type Form uint8

// Forms. A YAML file is JSON here, because it is converted.
const (
	Nothing Form = iota // empty, damaged, or too large
	JSON
	Text
	Binary
)

// File is one file as readers get it: its name, which only hints, its hash, and its content.
type File struct {
	Path     string // slash-separated, as found under the root; a member of an archive is a path below the archive's
	SHA256   string // of the bytes on disk, or of the member as it was packed; "" when they were not all read
	Content  string // hash of the unpacked content, to recognise it in another envelope
	Size     int64
	ModTime  time.Time
	Data     []byte // unpacked; only the head of a text that is too long
	Cut      bool   // Data is not all of the text
	Form     Form
	First    Value            // the first whole value of a JSON file
	Problems []schema.Problem // of the envelope; complete after [File.Values] has reached the end
	// Partial is the undamaged part of a truncated file with one object; the last member is left out.
	Partial Value
	// NonFinite counts NaN and Infinity in the values read so far.
	NonFinite int

	alone   bool // First is the only value
	whole   bool // it must be JSON, whatever it looks like
	foreign bool // Data is not as on disk, so there are no positions
	lim     Limits
	first   *stream // the stream after First; nil for what is not JSON
	pieces  *pieces
	lines   *lines
}

// NewFile decodes bytes as they are on disk.
func NewFile(name string, onDisk []byte, mod time.Time, lim Limits) File {
	if f, ok := openBytes(name, onDisk, mod, lim); ok {
		return f
	}
	f, _ := Read(name, bytes.NewReader(onDisk), int64(len(onDisk)), mod, lim) // a bytes.Reader does not fail
	return f
}

// openBytes decodes plain text that is in memory and within all limits, as nearly all members of archives are: [Read]
// would copy it.
func openBytes(name string, data []byte, mod time.Time, lim Limits) (File, bool) {
	size, head := int64(len(data)), data[:min(len(data), headSize)]
	if size > lim.Bytes || size > lim.Text || lim.Pieces > 0 && size > lim.Pieces || EnvelopeOf(head) != Plain ||
		isBinary(head) || utf16Order(head) != nil {
		return File{}, false
	}
	f := File{Path: name, Size: size, ModTime: mod, Data: data}
	f.SHA256 = hashOf(data)
	f.Content = f.SHA256
	f.open(lim)
	return f, true
}

// open decides the form of unpacked content and reads the first value.
func (f *File) open(lim Limits) {
	f.lim, f.lines = lim, &lines{}
	if order := utf16Order(f.Data[:min(len(f.Data), headSize)]); order != nil {
		f.Data, f.foreign = fromUTF16(f.Data, order), true
	}
	f.Data = bytes.TrimPrefix(f.Data, []byte("\xef\xbb\xbf"))
	head := bytes.TrimLeft(f.Data, " \t\r\n") // a file may begin with many blanks
	head = head[:min(len(head), headSize)]
	switch {
	case len(bytes.TrimSpace(head)) == 0:
		f.Problems = append(f.Problems, emptyFile(f.Path))
		return
	case bytes.HasPrefix(head, []byte(benchmarkData)):
		f.dropAssignment()
	case bytes.IndexByte(head, 0) >= 0:
		f.Form, f.Data = Binary, nil
		return
	case looksLikeYAML(f.Path, f.Data):
		if !f.convertYAML() {
			return
		}
	case !startsJSON(head):
		f.Form = Text
		return
	}
	f.Form = JSON
	f.first = &stream{s: NewScanner(f.Data, lim.Depth), lim: lim}
	f.First, _ = f.first.next()
	if f.isProse() {
		f.Form, f.First, f.first = Text, Value{}, nil
		return
	}
	f.Partial = f.first.partial
	f.settle(f.first)
}

// proseWithin is the offset up to which a first fault means that a file is not JSON at all.
const proseWithin = 200

// isProse recognises text that happens to begin like JSON: a template, a log, a script. Only a file with a JSON
// extension counts as damaged if its first line is not JSON.
func (f *File) isProse() bool {
	if f.whole || strings.Contains(path.Base(f.Path), ".json") {
		return false
	}
	f.Form = JSON
	if k := f.First.Kind(); k != Object && k != Invalid && f.Several() && f.Data[f.first.s.pos] != '\n' &&
		f.Data[f.first.s.pos] != '\r' {
		return true // a table may begin with a quote, a script with three, a log with "[1,0]<stdout>: "
	}
	if f.First.Kind() != Invalid || len(f.first.faults) == 0 {
		return false
	}
	e := f.first.faults[0]
	return !e.Truncated && e.Offset-f.first.s.base < proseWithin
}

// benchmarkData is the variable to which github-action-benchmark's store assigns its JSON.
const benchmarkData = "window.BENCHMARK_DATA"

// dropAssignment replaces the assignment before the JSON of a data.js by blanks, so that positions stay the same.
func (f *File) dropAssignment() {
	eq := bytes.IndexByte(f.Data, '=')
	if eq < 0 || eq > 200 {
		return
	}
	f.Data = bytes.Clone(f.Data)
	for i := range eq + 1 {
		f.Data[i] = ' '
	}
	f.Data = bytes.TrimRight(f.Data, "; \r\n\t")
}

// Values iterates over the whole values of a JSON file, in order. It may be called again.
func (f *File) Values() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if f.pieces != nil && !f.alone {
			f.walk(nil, func(s *Scanner) bool { v := s.Value(); return s.err != nil || yield(v) })
			return
		}
		if f.First.Kind() == Invalid || !yield(f.First) || f.alone {
			return
		}
		rest := f.first.clone()
		for {
			v, ok := rest.next()
			if !ok {
				break
			}
			if !yield(v) {
				return
			}
		}
		f.settle(&rest)
	}
}

// settle takes over the problems of a stream; a stream that read further replaces an earlier one.
func (f *File) settle(st *stream) {
	f.NonFinite = st.nonFinite + st.s.nonFinite
	kept := f.Problems[:0:0]
	for _, p := range f.Problems {
		if p.Code != codeBad && p.Code != codeTruncated {
			kept = append(kept, p)
		}
	}
	f.Problems = append(kept, st.problems(f.Path, f.Data, f.foreign)...)
}

// With returns the file as if it had only one value.
func (f *File) With(v Value) *File {
	one := *f
	one.First, one.alone, one.Problems, one.NonFinite = v, true, nil, 0
	return &one
}

// Several reports whether anything follows the first value.
func (f *File) Several() bool {
	return f.Form == JSON && !f.alone && len(bytes.TrimLeft(f.Data[min(f.first.s.pos, len(f.Data)):], " \t\r\n")) > 0
}

// startsJSON distinguishes JSON from text by its first byte; '[' may begin a log line such as "[BENCHMARK] …", so the
// next byte must be able to begin a value.
func startsJSON(head []byte) bool {
	switch head[0] {
	case '{', '"':
		return true
	case '[':
		rest := bytes.TrimLeft(head[1:], " \t\r\n")
		return len(rest) == 0 || bytes.IndexByte([]byte(`{["]-0123456789tfnNI`), rest[0]) >= 0 &&
			!bytes.HasPrefix(rest, []byte("INFO"))
	}
	return false
}

// Stem returns the file name without its extensions of compression and form.
func (f *File) Stem() string { return Stem(f.Path) }

// Stem returns the name of a file without its extensions of compression and form.
func Stem(name string) string {
	s := path.Base(name)
	for _, ext := range []string{".gz", ".zst", ".json", ".jsonl", ".txt", ".csv", ".log", ".yaml", ".yml", ".js"} {
		if len(s) > len(ext) && strings.HasSuffix(s, ext) {
			s = s[:len(s)-len(ext)]
		}
	}
	return s
}

// Source returns the source of a number from this file.
func (f *File) Source(format string) schema.Source {
	return schema.Source{Path: f.Path, SHA256: f.SHA256, Format: format}
}

// Problem starts a problem at the position of a value.
func (f *File) Problem(sev schema.Severity, code string, at Value) schema.Problem {
	p := schema.Problem{Severity: sev, Path: f.Path, Code: code}
	if at.Kind() != Invalid && !f.foreign && f.lines != nil {
		p.Offset = int64(at.Offset())
		p.Line, p.Column = f.lines.position(f.Data, at.Offset())
	}
	return p
}

// lines caches how far lines were counted: a file's problems come in order of position.
type lines struct{ off, line int }

func (l *lines) position(data []byte, off int) (line, column int) {
	off = min(max(off, 0), len(data))
	if off < l.off {
		*l = lines{}
	}
	l.line += bytes.Count(data[l.off:off], []byte("\n"))
	l.off = off
	return l.line + 1, off - bytes.LastIndexByte(data[:off], '\n')
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Limits returns the limits under which the file is read.
func (f *File) Limits() Limits { return f.lim }
