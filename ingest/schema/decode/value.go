package decode

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Value is one JSON value with the bytes it was read from. The zero Value is "not there": every accessor answers for it
// as for an absent member, so lookups chain without checks.
type Value struct {
	kind   Kind
	truth  bool
	num    float64
	raw    []byte
	list   []Value
	floats []float64
	fields []Member
	off    int
}

// Member is one key of an object and its value, in the order of the text.
type Member struct {
	Key string
	Val Value
}

// Kind returns the value's kind; Invalid when it is not there.
func (v Value) Kind() Kind { return v.kind }

// Offset is where the value starts, in bytes from the start of the file.
func (v Value) Offset() int { return v.off }

// Raw returns the value's text. It aliases the file's content.
func (v Value) Raw() []byte { return v.raw }

// Members returns the members of an object, nil of anything else.
func (v Value) Members() []Member { return v.fields }

// Get returns a member by key; the last one wins when a key is written twice, as in Python.
func (v Value) Get(key string) Value {
	for i := len(v.fields) - 1; i >= 0; i-- {
		if v.fields[i].Key == key {
			return v.fields[i].Val
		}
	}
	return Value{}
}

// At follows keys from object to object.
func (v Value) At(keys ...string) Value {
	for _, k := range keys {
		v = v.Get(k)
	}
	return v
}

// Has reports whether an object has a member that is not null.
func (v Value) Has(key string) bool {
	k := v.Get(key).kind
	return k != Invalid && k != Null
}

// Float returns a finite number. Numbers written as strings count, as metadata are always strings.
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

// Ptr returns a finite number as a pointer, nil when there is none.
func (v Value) Ptr() *float64 {
	if f, ok := v.Float(); ok {
		return &f
	}
	return nil
}

// Int returns a number that is a whole one within the range of exact float64 integers.
func (v Value) Int() (int, bool) {
	f, ok := v.Float()
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int(f), true
}

// Str returns a string's text, "" of anything else.
func (v Value) Str() string {
	if v.kind != String {
		return ""
	}
	return string(unescape(v.raw[1 : len(v.raw)-1]))
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

// Truth returns a boolean and whether it is one.
func (v Value) Truth() (value, ok bool) { return v.truth, v.kind == Bool }

// Floats returns an array that holds numbers alone; ok is false for any other value. Elements may be NaN or infinite.
func (v Value) Floats() (list []float64, ok bool) {
	return v.floats, v.kind == Array && len(v.list) == 0
}

// List returns the elements of an array. An array of numbers is expanded; use Floats where they are many.
func (v Value) List() []Value {
	if v.kind != Array || len(v.floats) == 0 {
		return v.list
	}
	out := make([]Value, len(v.floats))
	for i, f := range v.floats {
		out[i] = Value{kind: Number, num: f, off: v.off, raw: strconv.AppendFloat(nil, f, 'g', -1, 64)}
	}
	return out
}

// Len is the number of elements or members.
func (v Value) Len() int { return max(len(v.list), len(v.floats), len(v.fields)) }

// Value builds the next value as a tree.
func (s *Scanner) Value() Value {
	s.space()
	if s.nodes++; s.nodes > maxNodes {
		s.err = &SyntaxError{Offset: s.pos, Found: "more than 8 million values", Expected: "a result file"}
		s.pos = len(s.data)
		return Value{}
	}
	v := Value{kind: s.Peek(), off: s.pos}
	switch v.kind {
	case Object:
		s.Object(func(key []byte) { v.fields = append(v.fields, Member{string(key), s.Value()}) })
	case Array:
		s.elements(&v)
	case String:
		s.rawString()
	case Number:
		v.num = s.Float()
	case Bool, Null:
		v.truth, _ = s.word()
	default:
		s.fail("a value")
	}
	if s.err == nil {
		v.raw = s.data[v.off:s.pos]
	}
	return v
}

// elements fills an array: as floats while all elements are numbers, as values otherwise.
func (s *Scanner) elements(v *Value) {
	s.Array(func() {
		if v.list == nil && s.Peek() == Number {
			v.floats = append(v.floats, s.Float())
			return
		}
		if v.list == nil {
			v.list = v.List()
			v.floats = nil
		}
		v.list = append(v.list, s.Value())
	})
}

// unescape resolves the escapes of a JSON string's inside and replaces what is not UTF-8. Without either, the result
// is the input itself.
func unescape(b []byte) []byte {
	i := 0
	for i < len(b) && b[i] != '\\' && b[i] < utf8.RuneSelf {
		i++
	}
	if i == len(b) {
		return b
	}
	out := append(make([]byte, 0, len(b)+8), b[:i]...)
	for i < len(b) {
		c := b[i]
		switch {
		case c == '\\' && i+1 < len(b):
			var n int
			out, n = appendEscape(out, b[i:])
			i += n
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			out = utf8.AppendRune(out, r)
			i += n
		}
	}
	return out
}

// appendEscape appends what the escape at the start of b stands for and returns its length.
func appendEscape(out, b []byte) ([]byte, int) {
	const plain, means = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := strings.IndexByte(plain, b[1]); i >= 0 {
		return append(out, means[i]), 2
	}
	r, ok := hexRune(b)
	if !ok {
		return append(out, b[0]), 1
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hexRune(b[6:]); ok {
			if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
				return utf8.AppendRune(out, full), 12
			}
		}
		r = utf8.RuneError
	}
	return utf8.AppendRune(out, r), 6
}

func hexRune(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	return rune(n), err == nil
}

// Float0 returns a finite number, or 0 when there is none: for counts whose absence means none.
func (v Value) Float0() float64 { f, _ := v.Float(); return f }
