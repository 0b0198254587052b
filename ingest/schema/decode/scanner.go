package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// Scanner walks JSON text value by value without building a tree. After the first error every method is a no-op and
// Err returns that error, so that a caller checks only once.
type Scanner struct {
	data      []byte
	pos       int
	depth     int
	max       int
	nonFinite int
	nodes     int      // values built as trees
	members   []Member // of the objects that are being built, inner after outer
	numbers   int      // kept in arrays of numbers
	base      int      // offset of data in the file
	err       *SyntaxError
}

// SyntaxError is a fault in the text at a byte offset.
type SyntaxError struct {
	Offset    int
	Found     string
	Expected  string
	Truncated bool // the text ended too early

	line, column int // in a file that is read in pieces
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("at byte %d: %s; expected %s", e.Offset, e.Found, e.Expected)
}

// NewScanner scans data. Nesting deeper than depth is an error.
func NewScanner(data []byte, depth int) *Scanner { return &Scanner{data: data, max: depth} }

// Err returns the first error, or nil.
func (s *Scanner) Err() error {
	if s.err == nil {
		return nil
	}
	return s.err
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

// End makes anything but space after the value an error.
func (s *Scanner) End() {
	if s.space(); s.err == nil && s.pos < len(s.data) {
		s.fail("the end of the file")
	}
}

func (s *Scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func (s *Scanner) fail(expected string) {
	if s.err != nil {
		return
	}
	e := &SyntaxError{Offset: s.pos, Expected: expected}
	if s.pos >= len(s.data) {
		e.Found, e.Truncated = "the file ends here", true
	} else {
		e.Found = "found " + excerpt(s.data[s.pos:])
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

// Peek returns the kind of the next value without consuming it; Invalid at the end of the text.
func (s *Scanner) Peek() Kind {
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

// Object calls each with every key of the object, its escapes resolved; each must consume the value. The key is valid
// during the call only.
func (s *Scanner) Object(each func(key []byte)) {
	if !s.open('{', "an object") {
		return
	}
	for first := true; s.err == nil; first = false {
		s.space()
		if s.pos < len(s.data) && s.data[s.pos] == '}' {
			s.pos++
			s.depth--
			return
		}
		if !first && !s.punct(',', "',' or '}'") {
			return
		}
		if !first {
			s.space()
		}
		key := s.Text()
		if s.err == nil && s.punct(':', "':' after a key") {
			each(key)
		}
	}
}

// Array calls each once per element; each must consume the value.
func (s *Scanner) Array(each func()) {
	if !s.open('[', "an array") {
		return
	}
	for first := true; s.err == nil; first = false {
		s.space()
		if s.pos < len(s.data) && s.data[s.pos] == ']' {
			s.pos++
			s.depth--
			return
		}
		if !first && !s.punct(',', "',' or ']'") {
			return
		}
		each()
	}
}

func (s *Scanner) open(c byte, expected string) bool {
	if !s.punct(c, expected) {
		return false
	}
	if s.depth++; s.depth > s.max {
		s.pos--
		s.err = &SyntaxError{Offset: s.pos, Found: fmt.Sprintf("nesting deeper than %d", s.max), Expected: "a result file"}
		s.pos = len(s.data)
		return false
	}
	return true
}

func (s *Scanner) punct(c byte, expected string) bool {
	s.space()
	if s.err != nil || s.pos >= len(s.data) || s.data[s.pos] != c {
		s.fail(expected)
		return false
	}
	s.pos++
	return true
}

// Text consumes a string and returns it with escapes resolved. Without escapes the result aliases the input.
func (s *Scanner) Text() []byte {
	raw := s.rawString()
	if raw == nil {
		return nil
	}
	return unescape(raw[1 : len(raw)-1])
}

// rawString consumes a string and returns it with its quotes.
func (s *Scanner) rawString() []byte {
	s.space()
	if s.err != nil || s.pos >= len(s.data) || s.data[s.pos] != '"' {
		s.fail("a string")
		return nil
	}
	start := s.pos
	if !s.skipString() {
		return nil
	}
	return s.data[start:s.pos]
}

// skipString moves from an opening quote past the closing one.
func (s *Scanner) skipString() bool {
	i := s.pos + 1
	for {
		j := bytes.IndexByte(s.data[i:], '"')
		if j < 0 {
			s.pos = len(s.data)
			s.fail("the end of a string")
			return false
		}
		i += j + 1
		n := 0
		for k := i - 2; s.data[k] == '\\'; k-- {
			n++
		}
		if n%2 == 0 {
			s.pos = i
			return true
		}
	}
}

// Skip consumes the next value, whatever it is, and returns its raw bytes.
func (s *Scanner) Skip() []byte {
	s.space()
	start := s.pos
	switch s.Peek() {
	case Object, Array:
		s.skipNested()
	case String:
		s.skipString()
	case Number:
		s.Float()
	case Bool, Null:
		s.word()
	default:
		s.fail("a value")
	}
	if s.err != nil {
		return nil
	}
	return s.data[start:s.pos]
}

// skipNested moves past a bracketed value, eight bytes at a time: '[' and '{' differ from each other by 0x20 alone,
// as do ']' and '}', so one OR makes two comparisons find all four; a third finds quotes.
func (s *Scanner) skipNested() {
	const (
		lo, hi         = 0x0101010101010101, 0x8080808080808080
		fold           = 0x20 * lo
		opens, closes  = 0x7b * lo, 0x7d * lo
		quotes         = 0x22 * lo
		floor, maximum = 0, 8
	)
	open, i := floor, s.pos
	for i < len(s.data) {
		if i+maximum <= len(s.data) {
			w := binary.LittleEndian.Uint64(s.data[i:])
			a, b, c := (w|fold)^opens, (w|fold)^closes, w^quotes
			if (((a-lo)&^a)|((b-lo)&^b)|((c-lo)&^c))&hi == 0 {
				i += maximum
				continue
			}
		}
		switch s.data[i] {
		case '[', '{':
			if open++; open+s.depth > s.max {
				s.pos = i
				s.err = &SyntaxError{Offset: i, Found: fmt.Sprintf("nesting deeper than %d", s.max), Expected: "a result file"}
				return
			}
		case ']', '}':
			if open--; open == 0 {
				s.pos = i + 1
				return
			}
		case '"':
			s.pos = i
			if !s.skipString() {
				return
			}
			i = s.pos
			continue
		}
		i++
	}
	s.pos = len(s.data)
	s.fail("the end of an array or object")
}

// word consumes true, false or null.
func (s *Scanner) word() (value, isNull bool) {
	s.space()
	for _, w := range []string{"true", "false", "null"} {
		if len(s.data)-s.pos >= len(w) && string(s.data[s.pos:s.pos+len(w)]) == w {
			s.pos += len(w)
			return w == "true", w == "null"
		}
	}
	if rest := s.data[min(s.pos, len(s.data)):]; len(rest) < 5 &&
		(bytes.HasPrefix([]byte("true"), rest) || bytes.HasPrefix([]byte("false"), rest) ||
			bytes.HasPrefix([]byte("null"), rest)) {
		s.pos = len(s.data)
	}
	s.fail("true, false or null")
	return false, false
}

// Float consumes a number. NaN, Infinity and -Infinity, which Python writes, are accepted; they are returned as such
// and counted.
func (s *Scanner) Float() float64 {
	s.space()
	if s.err != nil {
		return 0
	}
	v, n := parseFloat(s.data[s.pos:])
	if n == 0 {
		for _, w := range []string{"NaN", "Infinity", "-Infinity"} {
			if bytes.HasPrefix(s.data[s.pos:], []byte(w)) {
				s.pos += len(w)
				s.nonFinite++
				switch w {
				case "NaN":
					return math.NaN()
				case "Infinity":
					return math.Inf(1)
				}
				return math.Inf(-1)
			}
		}
		s.fail("a number")
		return 0
	}
	s.pos += n
	return v
}
