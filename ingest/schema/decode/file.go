package decode

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
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
	Place    string // the whole path on the disk, for what tools call folders; "" where that is Path
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
	first   *stream     // the stream after First; nil for what is not JSON
	pieces  io.ReaderAt // of a file that is read in pieces: Data holds the first of them alone
	lines   lines
}

// Folders is the path of the file, with the names of the folders above what was given to read.
func (f *File) Folders() string { return cmp.Or(f.Place, f.Path) }

// NewFile decodes bytes as they are on disk.
func NewFile(name string, onDisk []byte, mod time.Time, lim Limits) File {
	f := File{Path: name, Size: int64(len(onDisk)), ModTime: mod}
	_ = f.read(bytes.NewReader(onDisk), onDisk, lim) // a bytes.Reader does not fail
	return f
}

// open decides the form of unpacked content and reads the first value.
func (f *File) open(lim Limits) {
	f.lim = lim
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
	case yamlName.MatchString(f.Path) && !startsJSON(bytes.TrimLeft(f.Data, " \t\r\n")):
		if !f.convertYAML() {
			return
		}
	case !startsJSON(head):
		f.Form = Text
		return
	}
	f.Form = JSON
	f.first = &stream{scanner: scanner{data: f.Data, max: lim.Depth}, file: f}
	f.First, _ = f.first.value()
	if f.isProse() {
		f.Form, f.First, f.first = Text, Value{}, nil
		return
	}
	f.Partial = f.first.partial
	f.settle(f.first)
}

// isProse recognises text that happens to begin like JSON: a template, a log, a script. Only a file with a JSON
// extension counts as damaged if its first line is not JSON.
func (f *File) isProse() bool {
	const proseWithin = 200 // the offset up to which a first fault means that a file is not JSON at all
	if f.whole || strings.Contains(path.Base(f.Path), ".json") {
		return false
	}
	f.Form = JSON
	if k := f.First.Kind(); k != Object && k != Invalid && f.Several() && f.Data[f.first.pos] != '\n' &&
		f.Data[f.first.pos] != '\r' {
		return true // a table may begin with a quote, a script with three, a log with "[1,0]<stdout>: "
	}
	if f.First.Kind() != Invalid || len(f.first.faults) == 0 {
		return false
	}
	e := f.first.faults[0]
	return e.Code != codeTruncated && e.Offset < proseWithin
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
		if f.First.Kind() == Invalid || !yield(f.First) || f.alone {
			return
		}
		rest := *f.first
		rest.faults, rest.file = slices.Clip(rest.faults), f
		if f.pieces != nil {
			rest.more = bufio.NewReader(io.NewSectionReader(f.pieces, int64(len(f.Data)), f.Size))
		}
		for v, ok := rest.value(); ok; v, ok = rest.value() {
			if !yield(v) {
				return
			}
		}
		f.settle(&rest)
	}
}

// settle takes over the problems of a stream; a stream that read further replaces an earlier one.
func (f *File) settle(st *stream) {
	f.NonFinite = st.skipped + st.nonFinite
	kept := slices.DeleteFunc(slices.Clone(f.Problems), func(p schema.Problem) bool {
		return p.Code == codeBad || p.Code == codeTruncated
	})
	for _, p := range st.faults { // damaged values
		if st.kept > 0 {
			p.Severity, p.Used = schema.SevWarning, fmt.Sprintf("the %d whole values of the file", st.kept)
		}
		kept = append(kept, p)
	}
	if more := st.lost - len(st.faults); more > 0 {
		p := schema.Problem{
			Severity: schema.SevWarning, Path: st.file.Path, Code: codeBad, Found: fmt.Sprintf("%d more damaged values", more),
			Expected: "whole ones",
		}
		if st.abandoned {
			p.Found += ", and the rest was not read"
		}
		kept = append(kept, p)
	}
	f.Problems = kept
}

// With returns the file as if it had only one value.
func (f *File) With(v Value) *File {
	one := *f
	one.First, one.alone, one.Problems, one.NonFinite = v, true, nil, 0
	return &one
}

// Within makes a file of a text that stands in this one, as one that a tool printed.
func (f *File) Within(text string) *File {
	one := NewFile(f.Path, []byte(text), f.ModTime, f.lim)
	one.SHA256, one.Content, one.Size, one.foreign = f.SHA256, f.Content, f.Size, true
	return &one
}

// Several reports whether anything follows the first value.
func (f *File) Several() bool {
	return f.Form == JSON && !f.alone && len(bytes.TrimLeft(f.Data[min(f.first.pos, len(f.Data)):], " \t\r\n")) > 0
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
	if at.Kind() != Invalid && at.Offset() >= 0 && !f.foreign && f.pieces == nil {
		p.Offset = int64(at.Offset())
		p.Line, p.Column = f.lines.position(f.Data, at.Offset())
	}
	return p
}

// lines is how far lines were counted: a file may have a problem in each line, and they come in order of position.
type lines struct{ off, line int }

// position is the line and the column of an offset, from 1.
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

// Document reads text that must be one whole JSON value, like our own files. A fault is a problem of severity error.
func Document(path string, data []byte) (Value, *schema.Problem) {
	f := File{Path: path, Data: data, whole: true}
	f.open(DefaultLimits())
	return f.Only()
}

// Of returns a Go value that JSON can hold as a decoded one, without a position; readers of text read it like any other
// file. It is absent where the value has too many parts.
func Of(v any) Value {
	text, _ := json.Marshal(v)
	s := &scanner{data: text, max: DefaultLimits().Depth, base: -1 - len(text)}
	if out := s.top(); s.err == nil {
		return out
	}
	return Value{}
}

// Only returns the value of a file that must have exactly one whole JSON value.
func (f *File) Only() (Value, *schema.Problem) {
	if f.Form == JSON && f.Several() {
		for range f.Values() { // to the end, for its faults
		}
		if len(f.Problems) == 0 {
			p := f.Problem(schema.SevError, codeBad, f.First)
			p.Found, p.Expected = "several values", "one"
			return Value{}, &p
		}
	}
	switch {
	case len(f.Problems) > 0:
		p := f.Problems[0]
		p.Severity, p.Used = schema.SevError, ""
		return Value{}, &p
	case f.Form != JSON:
		return Value{}, &schema.Problem{
			Severity: schema.SevError, Path: f.Path, Code: codeBad, Found: "a file that is not JSON", Expected: "JSON",
			Line: 1, Column: 1,
		}
	}
	return f.First, nil
}

// Limits bounds the resources that one input may use. All limits of reading are here and in the constants below;
// links and devices are handled by the walk and have no limit.
type Limits struct {
	Bytes   int64 // of one plain file
	Packed  int64 // of the content of one compressed file, or of one member of an archive
	Text    int64 // how much of a file that is not JSON is read
	Pieces  int64 // a longer file of JSON lines is read in pieces; 0 for never
	Depth   int   // nesting of arrays and objects
	Values  int   // top-level values in one file (lines of a JSON Lines file)
	Results int   // points and scores of one file
	Members int   // files in one archive, including archives within it
	Total   int64 // content of all members of one archive
	Nesting int   // archives within archives
}

// maxNodes bounds the tree of one value; lists of objects beyond [eager] elements are not part of it. Arrays of
// numbers are bounded by the size of the text instead.
const maxNodes = 500_000

// freeNumbers is how many numbers any value may hold; beyond, it is one for every eight bytes of its file.
const freeNumbers = 1 << 20

// maxRatio bounds the ratio of compressed content to its packed size.
const maxRatio = 200

// freeExpansion is the size to which any compressed content may expand, whatever its ratio.
const freeExpansion = 16 << 20

// maxFaults is how many damaged values of a file are skipped before the rest is not read.
const maxFaults = 100

// maxYAML bounds a YAML file: the parser needs two hundred times its size in memory.
const maxYAML = 1 << 20

// Bounds of what is kept of one file.
const (
	MostSeries       = 200       // metrics and filters of one eval task
	MostItems        = 1_000_000 // items of one eval task
	MostProblems     = 1_000     // problems of one file
	MostBeforeResult = 100       // values before the first result of a file
	LongestMember    = 1_024     // bytes of the name of an archive's member
	MostOfUnpacker   = 64 << 20  // memory for zstd's window
)

// DefaultLimits is generous for result files (the largest known is 34 MB, nested 9 deep) and small for a machine: any
// 64 MB of input is read within 256 MB of memory.
func DefaultLimits() Limits {
	return Limits{
		Bytes: 1 << 30, Packed: 128 << 20, Text: 16 << 20, Pieces: 16 << 20, Depth: 100, Values: 5_000_000, Results: 20_000,
		Members: 30_000, Total: 4 << 30, Nesting: 3,
	}
}

// pieceSize is how much is read at once; a longer line is read whole.
const pieceSize = 2 << 20

// longestLine bounds a line that is read in pieces.
const longestLine = 256 << 20

// openPieces opens a long file whose first lines are objects, one a line, and leaves any other alone.
func (f *File) openPieces(in io.ReaderAt, lim Limits) error {
	if lim.Pieces == 0 || f.Size <= lim.Pieces || f.Size > lim.Bytes {
		return nil
	}
	head, err := section(in, min(pieceSize, f.Size))
	end := bytes.LastIndexByte(head, '\n')
	if err != nil || end < 0 || !isLines(head[:end+1]) {
		return err
	}
	f.SHA256, err = hashIn(in, f.Size)
	f.Content, f.Data, f.pieces = f.SHA256, head[:end+1], in
	return err
}

// isLines reports that a text begins with two objects of a line each.
func isLines(text []byte) bool {
	for range 2 {
		line, rest, more := bytes.Cut(text, []byte("\n"))
		s := scanner{data: line, max: 1_000}
		if s.parse(false); s.err != nil || line[0] != '{' || len(bytes.TrimSpace(line[s.pos:])) > 0 || !more {
			return false
		}
		text = rest
	}
	return true
}
