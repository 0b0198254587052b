package decode

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Kind is the kind of a JSON value.
type Kind uint8

// Kinds. Invalid means an error or the end of the text.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String returns the name of the kind for messages.
func (k Kind) String() string {
	return [...]string{"nothing", "null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// kindOf is the kind of the value that begins with a byte.
func kindOf(c byte) Kind {
	switch c {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	case '-', 'N', 'I', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return Number
	}
	return Invalid
}

// scanner builds values of JSON text. After the first error it stands at the end of the text, so that a caller checks
// only once.
type scanner struct {
	data      []byte
	pos       int
	depth     int
	max       int // nesting
	nonFinite int
	nodes     int             // values built as trees
	members   []Member        // of the objects that are being built, inner after outer
	numbers   int             // kept in arrays of numbers
	base      int             // offset of data in the file
	err       *schema.Problem // its place, what was found and expected
}

// Parse returns the value that a text begins with, of a damaged one as much as is read before the fault.
func Parse(data []byte, depth int) Value {
	s := scanner{data: data, max: depth}
	return s.top()
}

// next is the next byte that is no blank, 0 at the end of the text.
func (s *scanner) next() byte {
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// fail ends the scan where something else is expected.
func (s *scanner) fail(expected string) {
	const most = 16
	rest := s.data[s.pos:]
	p := &schema.Problem{Code: codeBad, Found: "found " + strconv.Quote(string(rest)), Expected: expected}
	switch {
	case len(rest) > most:
		p.Found = "found " + strconv.Quote(string(rest[:most])) + "…"
	case len(rest) == 0:
		p.Code, p.Found = codeTruncated, "the file ends here"
	}
	s.stop(p)
}

// stop ends the scan at its first fault.
func (s *scanner) stop(p *schema.Problem) {
	if p.Offset = int64(s.pos); s.err == nil {
		s.err = p
	}
	s.pos = len(s.data)
}

// tooMuch ends the scan at a value that is no result.
func (s *scanner) tooMuch(found string) {
	s.stop(&schema.Problem{Code: codeBad, Found: found, Expected: "a result file"})
}

func (s *scanner) punct(c byte, expected string) bool {
	if s.err == nil && s.next() == c {
		s.pos++
		return true
	}
	s.fail(expected)
	return false
}

// each visits the members of an object or the elements of an array, whose bracket is next; visit must consume each.
func (s *scanner) each(closes byte, visit func()) {
	if s.depth++; s.depth > s.max {
		s.tooMuch(fmt.Sprintf("nesting deeper than %d", s.max))
		return
	}
	s.pos++
	for first := true; s.err == nil; first = false {
		if s.next() == closes {
			s.pos++
			s.depth--
			return
		}
		if first || s.punct(',', "',' or '"+string(closes)+"'") {
			visit()
		}
	}
}

// text consumes a string and returns it with its quotes; nil at a fault.
func (s *scanner) text() []byte {
	if s.next() != '"' {
		s.fail("a string")
		return nil
	}
	start, i := s.pos, s.pos+1
	for {
		j := bytes.IndexByte(s.data[i:], '"')
		if j < 0 {
			s.pos = len(s.data)
			s.fail("the end of a string")
			return nil
		}
		i += j + 1
		n := 0
		for k := i - 2; s.data[k] == '\\'; k-- {
			n++
		}
		if n%2 == 0 {
			s.pos = i
			return s.data[start:i]
		}
	}
}

// word consumes true, false or null.
func (s *scanner) word() (isTrue bool) {
	rest := s.data[s.pos:]
	for _, w := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(rest, []byte(w)) {
			s.pos += len(w)
			return w == "true"
		}
		if bytes.HasPrefix([]byte(w), rest) {
			s.pos = len(s.data) // it is cut
		}
	}
	s.fail("true, false or null")
	return false
}

var nonFinite = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}

// isNumeric has the characters of numbers.
var isNumeric = [256]bool{
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'+': true, '-': true, '.': true, 'e': true, 'E': true,
}

// float consumes a number and returns the nearest float64. NaN, Infinity and -Infinity, which Python writes, are
// accepted and counted; out of range a number is infinite, which callers treat as not finite.
func (s *scanner) float() float64 {
	rest, end := s.data[s.pos:], 0
	for end < len(rest) && isNumeric[rest[end]] {
		end++
	}
	digits := rest[:end]
	x, err := strconv.ParseFloat(string(digits), 64)
	if digits = bytes.TrimPrefix(digits, []byte("-")); (err == nil || math.IsInf(x, 0)) &&
		(len(digits) < 2 || digits[0] != '0' || digits[1] < '0' || digits[1] > '9') {
		s.pos += end
		return x
	}
	for w, x := range nonFinite {
		if bytes.HasPrefix(rest, []byte(w)) {
			s.pos += len(w)
			s.nonFinite++
			return x
		}
	}
	s.fail("a number")
	return 0
}

// top builds the next value as a tree, the first of several or the only one.
func (s *scanner) top() Value {
	s.nodes, s.numbers = 0, 0
	return s.parse(true)
}

// parse consumes the next value; only its grammar is checked where it is not built.
func (s *scanner) parse(build bool) Value {
	v := Value{kind: kindOf(s.next()), off: s.pos + s.base}
	if s.nodes++; s.nodes > maxNodes {
		s.tooMuch("a value of too many parts to hold in memory")
		return Value{}
	}
	start := s.pos
	switch v.kind {
	case Object:
		from := len(s.members)
		s.each('}', func() {
			key := s.text()
			if !s.punct(':', "':' after a key") {
				return
			}
			m := Member{Val: s.parse(build)}
			if build {
				m.Key = string(unescape(key))
				s.members = append(s.members, m)
			}
		})
		if len(s.members) > from {
			v.in = &content{fields: slices.Clone(s.members[from:])}
			clear(s.members[from:])
			s.members = s.members[:from]
		}
	case Array:
		if build {
			s.elements(&v)
		} else {
			s.each(']', func() { s.parse(false) })
		}
	case String:
		s.text()
	case Number:
		v.num = s.float()
	case Bool, Null:
		v.truth = s.word()
	default:
		s.fail("a value")
	}
	if s.err == nil {
		v.raw = s.data[start:s.pos]
	}
	return v
}

// elements fills an array: as floats while all elements are numbers, as values otherwise, as text where they are many.
func (s *scanner) elements(v *Value) {
	c := content{depth: s.max - s.depth}
	start := s.pos
	s.each(']', func() {
		kind := kindOf(s.next())
		if kind == Object && len(c.list) == eager {
			c.many, c.list = eager, nil
		}
		switch {
		case c.many > 0: // only checked: each is built by itself later
			c.many++
			before := s.nodes
			s.nodes = 0
			s.parse(false)
			s.nodes = before
		case c.list == nil && kind == Number:
			if c.floats == nil {
				c.floats = make([]float64, 0, s.numbersAhead())
			}
			if s.numbers++; s.numbers > len(s.data)/8+freeNumbers {
				s.tooMuch("a value of too many numbers to hold in memory")
			} else { // one more would move them all
				c.floats = append(c.floats, s.float())
			}
		default:
			for _, f := range c.floats { // numbers until here, then something else: all become values
				c.list = append(c.list, numberValue(f, start+s.base))
			}
			s.nodes += len(c.floats)
			c.floats = nil
			c.list = append(c.list, s.parse(true))
		}
	})
	if s.err == nil && len(c.list)+len(c.floats)+c.many > 0 {
		v.in = &c
	}
}

// numberValue turns a number of an array back into a value.
func numberValue(f float64, off int) Value {
	return Value{kind: Number, num: f, off: off, raw: strconv.AppendFloat(nil, f, 'g', -1, 64)}
}

// numbersAhead returns how many numbers the current array has, if it has nothing else, to allocate exactly that many.
func (s *scanner) numbersAhead() int {
	rest, _, _ := bytes.Cut(s.data[s.pos:], []byte("]"))
	if bytes.ContainsAny(rest, `"{[`) {
		return 16
	}
	return min(bytes.Count(rest, []byte{','})+1, len(s.data)/8+freeNumbers)
}

// Codes of a stream's problems.
const (
	codeBad       = "bad-json"
	codeTruncated = "truncated-json"
)

// stream reads the values of a text one after another. A damaged value is skipped if the next one can be found: an
// object at the beginning of a line, as in appended results and JSON Lines.
type stream struct {
	scanner
	file      *File
	more      *bufio.Reader // what follows data in a file that is read in pieces; nil for none
	line      int           // lines before data
	kept      int
	skipped   int // of nonFinite, in what was read before
	faults    []schema.Problem
	lost      int // damaged values
	gaveUp    bool
	abandoned bool // the rest was not read, because too many values were damaged
	partial   Value
}

// shownFaults is how many damaged values of a file are reported individually.
const shownFaults = 5

// begin goes on at a place of the text.
func (st *stream) begin(text []byte, at int) {
	st.skipped += st.nonFinite
	st.scanner = scanner{data: text, pos: at, max: st.max}
}

// value builds the next whole value as a tree.
func (st *stream) value() (v Value, ok bool) {
	for !st.gaveUp {
		if st.next(); st.pos >= len(st.data) {
			if st.refill(st.pos) {
				continue
			}
			return Value{}, false
		}
		at := st.pos
		if st.kept >= st.file.lim.Values {
			st.tooMuch(fmt.Sprintf("more than %d values", st.kept))
			st.gaveUp = true
			st.fault()
			break
		}
		if v = st.top(); st.err == nil {
			st.kept++
			return v, true
		}
		st.gaveUp = !st.skip(at, v)
	}
	return Value{}, false
}

// skip goes on behind a damaged value, which begins at a place and was read as far as v; it reports whether it can.
func (st *stream) skip(at int, v Value) bool {
	truncated, next := st.err.Code == codeTruncated, -1
	if truncated && st.kept == 0 {
		st.partial = v.whole()
	}
	if st.data[at] == '{' {
		next = bytes.Index(st.data[at:], []byte("\n{"))
	}
	if next < 0 && truncated && st.refill(at) {
		return true // the value goes on in the next piece
	}
	st.fault()
	if next < 0 {
		return st.refill(len(st.data))
	}
	st.begin(st.data, at+next+1)
	st.abandoned = st.lost >= maxFaults
	return !st.abandoned
}

// refill reads the next piece of the file behind what follows a place; pieces end with a line.
func (st *stream) refill(at int) bool {
	left := st.data[at:]
	if st.more == nil || len(left) >= longestLine {
		return false
	}
	piece := append(make([]byte, 0, 2*(len(left)+pieceSize)), left...)
	n, _ := io.ReadFull(st.more, piece[len(left):len(left)+max(pieceSize, len(left))]) // a fault of the disk ends the file
	rest, err := st.more.ReadBytes('\n')
	if err != nil {
		st.more = nil
	}
	st.line += bytes.Count(st.data[:at], []byte("\n"))
	st.begin(append(piece[:len(left)+n], rest...), 0)
	return true
}

// fault keeps the fault at which the scan stopped.
func (st *stream) fault() {
	p := *st.err
	if st.lost++; st.lost > shownFaults {
		return
	}
	p.Severity, p.Path = schema.SevError, st.file.Path
	if p.Hint = "the file is not valid JSON here; compare it with what the tool wrote"; p.Code == codeTruncated {
		p.Hint = "the writer stopped in the middle (crash, full disk, or still running); run it again or restore the file"
	}
	p.Line, p.Column = new(lines).position(st.data, int(p.Offset))
	p.Line += st.line
	if st.file.pieces != nil {
		p.Offset = 0
	} else if st.file.foreign {
		p.Offset, p.Line, p.Column = 0, 0, 0
	}
	st.faults = append(st.faults, p)
}

func emptyFile(path string) schema.Problem {
	p := schema.Problem{
		Severity: schema.SevError, Path: path, Code: "empty-file", Found: "an empty file", Expected: "a result",
		Hint: "the tool that wrote it probably crashed; look at its log",
	}
	if !strings.Contains(path, ".json") && !strings.HasSuffix(path, ".gz") { // an empty log is normal
		p.Severity, p.Hint = schema.SevNote, "nothing to do"
	}
	return p
}

// Value is one JSON value with the bytes it was read from. The zero Value means "absent": every accessor treats it
// like an absent member, so lookups can be chained without checks.
type Value struct {
	kind  Kind
	truth bool
	off   int
	num   float64
	raw   []byte
	in    *content // of arrays and objects that are not empty
}

// content is the content of an array or object: members, numbers only, or values; or many values that are parsed only
// when they are used.
type content struct {
	list   []Value
	floats []float64
	fields []Member
	many   int
	depth  int    // of the array, for parsing its elements later
	read   []bool // which members were read, of a tracked object
}

// eager is how many objects of an array are built with the tree; a longer list is checked, and built one by one while
// [Value.Items] iterates over it. Reports have a record of every request, and not all are needed at once.
const eager = 256

// Member is one key of an object and its value, in the order of the text.
type Member struct {
	Key string
	Val Value
}

// Kind returns the value's kind; Invalid when it is absent.
func (v Value) Kind() Kind { return v.kind }

// Offset returns where the value starts, in bytes from the start of the file.
func (v Value) Offset() int { return v.off }

// Raw returns the value's text. It aliases the file's content.
func (v Value) Raw() []byte { return v.raw }

// Members returns the members of an object, nil for other kinds.
func (v Value) Members() []Member {
	if v.in == nil {
		return nil
	}
	return v.in.fields
}

// Get returns a member by key; the last one counts when a key is written twice, as in Python.
func (v Value) Get(key string) (last Value) {
	for i, m := range slices.Backward(v.Members()) {
		if m.Key != key {
			continue
		}
		if last.kind == Invalid {
			last = m.Val
		}
		if v.in.read == nil {
			break
		}
		v.in.read[i] = true
	}
	return last
}

// Track returns the object as one that notes which of its members are read by [Value.Get], [Value.At] and what uses
// them.
func (v Value) Track() Value {
	if v.kind == Object && v.in != nil {
		tracked := *v.in
		tracked.read = make([]bool, len(v.in.fields))
		v.in = &tracked
	}
	return v
}

// MarkAt notes a member of a tracked object as read.
func (v Value) MarkAt(i int) {
	if v.in.read != nil {
		v.in.read[i] = true
	}
}

// Unread iterates over the members of an object that were not read since it is tracked.
func (v Value) Unread() iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for i, m := range v.Members() {
			if (v.in.read == nil || !v.in.read[i]) && !yield(m) {
				return
			}
		}
	}
}

// At follows keys from object to object; in an array they are places, from "0".
func (v Value) At(keys ...string) Value {
	for _, k := range keys {
		if n, err := strconv.Atoi(k); v.kind == Array && err == nil {
			v = v.Index(n)
		} else {
			v = v.Get(k)
		}
	}
	return v
}

// Path is the member at a path such as "latency.p99". A key may have points itself: the longest that is there counts.
func (v Value) Path(path string) Value {
	for end := len(path); end >= 0; end = strings.LastIndexByte(path[:end], '.') {
		if x := v.At(path[:end]); x.kind != Invalid && end < len(path) {
			return x.Path(path[end+1:])
		} else if x.kind != Invalid {
			return x
		}
	}
	return Value{}
}

// Has reports whether an object has all of some members, and none of them is null. It does not count as reading them.
func (v Value) Has(keys ...string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return !v.HasAny(key) })
}

// HasAny reports whether an object has one of some members that is not null.
func (v Value) HasAny(keys ...string) bool {
	return slices.ContainsFunc(v.Members(), func(m Member) bool {
		return m.Val.kind != Null && slices.Contains(keys, m.Key)
	})
}

// ObjectOr returns a member that is an object, or else another value.
func (v Value) ObjectOr(key string, other Value) Value {
	if x := v.Get(key); x.kind == Object {
		return x
	}
	return other
}

// Number returns the first of several members that is a finite number; nil when none is. All of them count as read.
func (v Value) Number(names ...string) (first *float64) {
	for _, name := range names {
		if x := v.Get(name); first == nil {
			first = x.Ptr()
		}
	}
	return first
}

// Float returns a finite number. Numbers written as strings count, because metadata are always strings.
func (v Value) Float() (float64, bool) {
	switch v.kind {
	case Number:
		return v.num, v.num-v.num == 0
	case String:
		return ParseFloat(strings.TrimSpace(v.Str()))
	}
	return 0, false
}

// ParseFloat reads a finite number. 20260406_232918 is none, which is one to package strconv.
func ParseFloat(text string) (float64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && f-f == 0 && !strings.Contains(text, "_")
}

// whole returns a damaged object without its last member, in which the damage is.
func (v Value) whole() Value {
	if v.kind != Object || v.in == nil || len(v.in.fields) < 1 {
		return Value{}
	}
	c := *v.in
	last := c.fields[len(c.fields)-1]
	c.fields = c.fields[:len(c.fields)-1]
	if inner := last.Val.whole(); inner.kind != Invalid { // the undamaged part of it
		c.fields = append(c.fields[:len(c.fields):len(c.fields)], Member{last.Key, inner})
	}
	v.in = &c
	return v
}

// Ptr returns a finite number as a pointer, nil when there is none.
func (v Value) Ptr() *float64 {
	if f, ok := v.Float(); ok {
		return &f
	}
	return nil
}

// Int returns a whole number within the range of exact float64 integers.
func (v Value) Int() (int, bool) {
	f, ok := v.Float()
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int(f), true
}

// Str returns a string's text, "" for other kinds.
func (v Value) Str() string {
	if v.kind != String {
		return ""
	}
	return string(unescape(v.raw))
}

// Text returns strings as they are and numbers and booleans as written, "" for null, arrays and objects.
func (v Value) Text() string {
	switch v.kind {
	case String:
		return v.Str()
	case Number, Bool:
		return string(v.raw)
	}
	return ""
}

// Truth returns a boolean and whether the value is one.
func (v Value) Truth() (value, ok bool) { return v.truth, v.kind == Bool }

// Floats returns an array that has only numbers; ok is false for any other value. Elements may be NaN or infinite.
func (v Value) Floats() (list []float64, ok bool) {
	if v.kind != Array || v.in == nil {
		return nil, v.kind == Array
	}
	return v.in.floats, len(v.in.list) == 0 && v.in.many == 0
}

// Items iterates over the elements of an array.
func (v Value) Items() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.kind != Array || v.in == nil {
			return
		}
		for _, x := range v.in.list {
			if !yield(x) {
				return
			}
		}
		for _, f := range v.in.floats {
			if !yield(numberValue(f, v.off)) {
				return
			}
		}
		if v.in.many == 0 {
			return
		}
		s := &scanner{data: v.raw, max: max(v.in.depth, 1), base: v.off}
		s.each(']', func() {
			if x := s.top(); s.err == nil && !yield(x) {
				s.stop(&schema.Problem{})
			}
		})
	}
}

// Index returns an element of an array, the zero Value if there are fewer.
func (v Value) Index(n int) Value {
	for x := range v.Items() {
		if n == 0 {
			return x
		}
		n--
	}
	return Value{}
}

// Len returns the number of elements or members.
func (v Value) Len() int {
	if v.in == nil {
		return 0
	}
	return max(len(v.in.list), len(v.in.floats), len(v.in.fields), v.in.many)
}

// Float0 returns a finite number, or 0 when there is none: for counts where absence means zero.
func (v Value) Float0() float64 { f, _ := v.Float(); return f }

// unescape returns the text of a JSON string with its escapes resolved and invalid UTF-8 replaced; the input itself
// where there is neither. With an escape that JSON does not have, or with a control character, a text stays as it is
// written.
func unescape(raw []byte) []byte {
	text := raw[1 : len(raw)-1]
	if bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return text
	}
	var out string
	if json.Unmarshal(raw, &out) != nil {
		return bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return []byte(out)
}

// utf16Order is the byte order of a text in UTF-16, as PowerShell's > writes it: by its mark, or by the zeros beside
// ASCII letters. nil for any other.
func utf16Order(head []byte) binary.ByteOrder {
	if len(head) < 4 {
		return nil
	}
	switch {
	case head[0] == 0xff && head[1] == 0xfe && head[2] != 0:
		return binary.LittleEndian
	case head[0] == 0xfe && head[1] == 0xff:
		return binary.BigEndian
	}
	n := min(len(head), 256) / 2
	zeros := func(first int) (count int) { // where the byte beside it is none
		for i := range n {
			if head[2*i+first] == 0 && head[2*i+1-first] != 0 {
				count++
			}
		}
		return count
	}
	switch {
	case n >= 8 && zeros(1) >= n-1:
		return binary.LittleEndian
	case n >= 8 && zeros(0) >= n-1:
		return binary.BigEndian
	}
	return nil
}

// fromUTF16 is a text as UTF-8, without a byte order mark.
func fromUTF16(data []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, 0, len(data)/2)
	for i := 0; i+1 < len(data); i += 2 {
		units = append(units, order.Uint16(data[i:]))
	}
	if len(units) > 0 && units[0] == 0xfeff {
		units = units[1:]
	}
	return []byte(string(utf16.Decode(units)))
}
