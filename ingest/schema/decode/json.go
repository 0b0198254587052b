package decode

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest/schema"
)

// scanner builds values of JSON text. After the first error every method is a no-op, so that a caller checks only once.
type scanner struct {
	data      []byte
	pos       int
	depth     int
	max       int // nesting
	nonFinite int
	nodes     int      // values built as trees
	members   []Member // of the objects that are being built, inner after outer
	numbers   int      // kept in arrays of numbers
	base      int      // offset of data in the file
	err       *fault
}

// fault is a fault in the text at a byte offset.
type fault struct {
	offset    int
	found     string
	expected  string
	truncated bool // the text ended too early

	line, column int // in a file that is read in pieces
}

// Parse returns the value that a text begins with, of a damaged one as much as is read before the fault.
func Parse(data []byte, depth int) Value {
	s := scanner{data: data, max: depth}
	return s.top()
}

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

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) fail(expected string) {
	if s.err != nil {
		return
	}
	e := &fault{offset: s.pos, expected: expected}
	if s.pos >= len(s.data) {
		e.found, e.truncated = "the file ends here", true
	} else {
		e.found = "found " + excerpt(s.data[s.pos:])
	}
	s.err = e
	s.pos = len(s.data)
}

// excerpt quotes the next few bytes of the text, for a message.
func excerpt(b []byte) string {
	const most = 16
	if len(b) > most {
		return strconv.Quote(string(b[:most])) + "…"
	}
	return strconv.Quote(string(b))
}

// peek returns the kind of the next value without consuming it; Invalid at the end of the text.
func (s *scanner) peek() Kind {
	s.space()
	if s.pos >= len(s.data) || s.err != nil {
		return Invalid
	}
	switch c := s.data[s.pos]; c {
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
	case '-', 'N', 'I':
		return Number
	default:
		if c >= '0' && c <= '9' {
			return Number
		}
	}
	return Invalid
}

// each visits the members of an object or the elements of an array; visit must consume each.
func (s *scanner) each(opens, closes byte, kind string, visit func()) {
	if !s.punct(opens, kind) {
		return
	}
	if s.depth++; s.depth > s.max {
		s.err = &fault{offset: s.pos - 1, found: fmt.Sprintf("nesting deeper than %d", s.max), expected: "a result file"}
		s.pos = len(s.data)
		return
	}
	for first := true; s.err == nil; first = false {
		s.space()
		if s.pos < len(s.data) && s.data[s.pos] == closes {
			s.pos++
			s.depth--
			return
		}
		if first || s.punct(',', "',' or '"+string(closes)+"'") {
			visit()
		}
	}
}

// object calls each with every key, its escapes resolved; it must consume the value. The key is valid during the call
// only.
func (s *scanner) object(visit func(key []byte)) {
	s.each('{', '}', "an object", func() {
		var key []byte
		if raw := s.text(); raw != nil {
			key = unescape(raw)
		}
		if s.err == nil && s.punct(':', "':' after a key") {
			visit(key)
		}
	})
}

func (s *scanner) array(visit func()) { s.each('[', ']', "an array", visit) }

func (s *scanner) punct(c byte, expected string) bool {
	s.space()
	if s.err != nil || s.pos >= len(s.data) || s.data[s.pos] != c {
		s.fail(expected)
		return false
	}
	s.pos++
	return true
}

// text consumes a string and returns it with its quotes; nil at a fault.
func (s *scanner) text() []byte {
	s.space()
	if s.err != nil || s.pos >= len(s.data) || s.data[s.pos] != '"' {
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

// float consumes a number. NaN, Infinity and -Infinity, which Python writes, are accepted; they are returned as such
// and counted.
func (s *scanner) float() float64 {
	s.space()
	if s.err != nil {
		return 0
	}
	v, n := parseFloat(s.data[s.pos:])
	if n == 0 {
		for w, x := range nonFinite {
			if bytes.HasPrefix(s.data[s.pos:], []byte(w)) {
				s.pos += len(w)
				s.nonFinite++
				return x
			}
		}
		s.fail("a number")
	}
	s.pos += n
	return v
}

// Codes of a stream's problems.
const (
	codeBad       = "bad-json"
	codeTruncated = "truncated-json"
)

// stream reads the values of a text one after another. A damaged value is skipped if the next one can be found: an
// object at the beginning of a line, as in appended results and JSON Lines.
type stream struct {
	s         scanner
	lim       Limits
	kept      int
	nonFinite int // of scanners before this one
	faults    []fault
	lost      int // damaged values
	gaveUp    bool
	abandoned bool // the rest was not read, because too many values were damaged
	partial   Value
	at        int  // where the last value began
	goesOn    bool // the text is a part of the file, and more of it follows
}

// shownFaults is how many damaged values of a file are reported individually.
const shownFaults = 5

// next builds the next whole value as a tree.
func (st *stream) next() (v Value, ok bool) {
	for !st.gaveUp {
		s := &st.s
		s.space()
		if s.pos >= len(s.data) {
			return Value{}, false
		}
		st.at = s.pos
		if st.kept >= st.lim.Values {
			st.fault(fault{offset: s.pos, found: fmt.Sprintf("more than %d values", st.kept), expected: "a result file"})
			break
		}
		if v = s.top(); s.err == nil {
			st.kept++
			return v, true
		}
		if s.err.truncated && st.kept == 0 {
			st.partial = v.whole()
		}
		next := -1
		if s.data[st.at] == '{' {
			next = bytes.Index(s.data[st.at:], []byte("\n{"))
		}
		if next < 0 && st.goesOn && s.err.truncated {
			break // the rest of it follows
		}
		st.fault(*s.err)
		if st.abandoned = next >= 0 && st.lost >= maxFaults; next < 0 || st.abandoned {
			st.at = len(s.data)
			break
		}
		st.nonFinite += s.nonFinite
		st.s = scanner{data: s.data, max: s.max, base: s.base, pos: st.at + next + 1}
	}
	st.gaveUp = true
	return Value{}, false
}

func (st *stream) fault(e fault) {
	st.lost++
	if len(st.faults) < shownFaults {
		st.faults = append(st.faults, e)
	}
}

// problems reports the damaged values.
func (st *stream) problems(path string, data []byte, foreign bool) []schema.Problem {
	var out []schema.Problem
	for _, e := range st.faults {
		p := schema.Problem{
			Severity: schema.SevError, Path: path, Code: codeBad, Found: e.found, Expected: e.expected,
			Hint: "the file is not JSON at this place; compare it with what the tool wrote",
			Line: e.line, Column: e.column,
		}
		if !foreign {
			p.Offset = int64(e.offset)
			p.Line, p.Column = position(data, e.offset)
		}
		if e.truncated {
			p.Code = codeTruncated
			p.Hint = "the writer stopped in the middle (crash, full disk, or still running); run it again or restore the file"
		}
		if st.kept > 0 {
			p.Severity = schema.SevWarning
			p.Used = fmt.Sprintf("the %d whole values of the file", st.kept)
		}
		out = append(out, p)
	}
	if more := st.lost - len(st.faults); more > 0 {
		p := schema.Problem{
			Severity: schema.SevWarning, Path: path, Code: codeBad, Found: fmt.Sprintf("%d more damaged values", more),
			Expected: "whole ones",
		}
		if st.abandoned {
			p.Found += ", and the rest was not read"
		}
		out = append(out, p)
	}
	return out
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

// position returns the 1-based line and byte column of an offset.
func position(data []byte, offset int) (line, column int) {
	head := data[:min(max(offset, 0), len(data))]
	return bytes.Count(head, []byte("\n")) + 1, len(head) - bytes.LastIndexByte(head, '\n')
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

// Path is the member at a path such as "latency.p99", or the one whose name has the points of the path.
func (v Value) Path(path string) Value {
	if x := v.Get(path); x.kind != Invalid {
		return x
	}
	return v.At(strings.Split(path, ".")...)
}

// Has reports whether an object has all of some members, and none of them is null. It does not count as reading them.
func (v Value) Has(keys ...string) bool {
	for _, key := range keys {
		if !v.HasAny(key) {
			return false
		}
	}
	return true
}

// HasAny reports whether an object has one of some members that is not null.
func (v Value) HasAny(keys ...string) bool {
	for _, m := range slices.Backward(v.Members()) {
		if slices.Contains(keys, m.Key) && m.Val.kind != Null {
			return true
		}
	}
	return false
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
	f := v.num
	switch v.kind {
	case Number:
	case String:
		var err error
		if f, err = strconv.ParseFloat(strings.TrimSpace(v.Str()), 64); err != nil {
			return 0, false
		}
	default:
		return 0, false
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
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
		stopped := false
		s.array(func() {
			if stopped {
				s.pos = len(s.data)
				return
			}
			if x := s.top(); s.err == nil {
				stopped = !yield(x)
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

// top builds the next value as a tree, the first of several or the only one.
func (s *scanner) top() Value {
	s.nodes, s.numbers = 0, 0
	return s.value(true)
}

// value consumes the next value; only its grammar is checked where it is not built.
func (s *scanner) value(build bool) Value {
	v := Value{kind: s.peek(), off: s.pos + s.base}
	if s.nodes++; s.nodes > maxNodes {
		s.tooMany("parts")
		return Value{}
	}
	start := s.pos
	switch v.kind {
	case Object:
		from := len(s.members)
		s.object(func(key []byte) {
			if !build {
				s.value(false)
				return
			}
			m := Member{string(key), s.value(true)}
			s.members = append(s.members, m)
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
			s.array(func() { s.value(false) })
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
	var c content
	start, depth := s.pos, s.max-s.depth
	s.array(func() {
		kind := s.peek()
		switch {
		case c.many > 0:
			s.checkElement()
			c.many++
		case c.list == nil && kind == Number:
			if c.floats == nil {
				c.floats = make([]float64, 0, s.numbersAhead())
			}
			c.floats = append(c.floats, s.float())
			s.numbers++
			if s.numbers > len(s.data)/8+freeNumbers {
				s.tooMany("numbers")
			}
		case kind == Object && len(c.list) == eager:
			c.many, c.list = eager+1, nil
			s.checkElement()
		default:
			if c.list == nil && c.floats != nil { // numbers until here, then something else: all become values
				for _, f := range c.floats {
					c.list = append(c.list, numberValue(f, start+s.base))
				}
				s.nodes += len(c.list)
				c.floats = nil
			}
			c.list = append(c.list, s.value(true))
		}
	})
	c.depth = depth
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
	rest := s.data[s.pos:]
	if end := bytes.IndexByte(rest, ']'); end >= 0 {
		rest = rest[:end]
	}
	if bytes.IndexByte(rest, '"') >= 0 || bytes.IndexByte(rest, '{') >= 0 || bytes.IndexByte(rest, '[') >= 0 {
		return 16
	}
	return min(bytes.Count(rest, []byte{','})+1, len(s.data)/8+freeNumbers)
}

// tooMany ends the scan at a value that needs too much memory.
func (s *scanner) tooMany(what string) {
	if s.err == nil {
		s.err = &fault{
			offset: s.pos, found: "a value of too many " + what + " to hold in memory", expected: "a result file",
		}
	}
	s.pos = len(s.data)
}

// checkElement checks an element of a long list, which must be one that can be built later.
func (s *scanner) checkElement() {
	before := s.nodes
	s.nodes = 0
	s.value(false)
	s.nodes = before
}

// Float0 returns a finite number, or 0 when there is none: for counts where absence means zero.
func (v Value) Float0() float64 { f, _ := v.Float(); return f }

// parseFloat reads a JSON number at the start of b and returns the nearest float64 and its length; length 0 means that
// no number is there. Out of range it is infinite, which callers treat as not finite.
func parseFloat(b []byte) (float64, int) {
	begin := 0
	if len(b) > 0 && b[0] == '-' {
		begin = 1
	}
	end := digits(b, begin)
	if end == begin || end > begin+1 && b[begin] == '0' {
		return 0, 0
	}
	if end < len(b) && b[end] == '.' {
		point := end + 1
		if end = digits(b, point); end == point {
			return 0, 0
		}
	}
	if end < len(b) && b[end]|0x20 == 'e' {
		if end++; end < len(b) && (b[end] == '+' || b[end] == '-') {
			end++
		}
		exponent := end
		if end = digits(b, exponent); end == exponent {
			return 0, 0
		}
	}
	v, _ := strconv.ParseFloat(string(b[:end]), 64)
	return v, end
}

// digits is where the digits end that begin at i.
func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' < 10 {
		i++
	}
	return i
}

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
