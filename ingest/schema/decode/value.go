package decode

import (
	"bytes"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

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
	depth  int // of the array, for parsing its elements later
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
func (v Value) Get(key string) Value {
	if v.in == nil {
		return Value{}
	}
	for i := len(v.in.fields) - 1; i >= 0; i-- {
		if v.in.fields[i].Key == key {
			return v.in.fields[i].Val
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
			if !yield(Value{kind: Number, num: f, off: v.off, raw: strconv.AppendFloat(nil, f, 'g', -1, 64)}) {
				return
			}
		}
		if v.in.many == 0 {
			return
		}
		s := &Scanner{data: v.raw, max: max(v.in.depth, 1), base: v.off}
		stopped := false
		s.Array(func() {
			if stopped {
				s.pos = len(s.data)
				return
			}
			if x := s.Value(); s.err == nil {
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

// Value builds the next value as a tree.
func (s *Scanner) Value() Value {
	s.nodes, s.numbers = 0, 0
	return s.value()
}

func (s *Scanner) value() Value {
	s.space()
	if s.nodes++; s.nodes > maxNodes {
		s.tooMany("parts")
		return Value{}
	}
	v := Value{kind: s.Peek(), off: s.pos + s.base}
	start := s.pos
	switch v.kind {
	case Object:
		from := len(s.members)
		s.Object(func(key []byte) {
			m := Member{string(key), s.value()}
			s.members = append(s.members, m)
		})
		if len(s.members) > from {
			v.in = &content{fields: slices.Clone(s.members[from:])}
			clear(s.members[from:])
			s.members = s.members[:from]
		}
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
		v.raw = s.data[start:s.pos]
	}
	return v
}

// elements fills an array: as floats while all elements are numbers, as values otherwise, as text where they are many.
func (s *Scanner) elements(v *Value) {
	var c content
	start, depth := s.pos, s.max-s.depth
	s.Array(func() {
		kind := s.Peek()
		switch {
		case c.many > 0:
			s.checkOne()
			c.many++
		case c.list == nil && kind == Number:
			if c.floats == nil {
				c.floats = make([]float64, 0, s.numbersAhead())
			}
			c.floats = append(c.floats, s.Float())
			s.numbers++
			if s.numbers > len(s.data)/8+freeNumbers {
				s.tooMany("numbers")
			}
		case kind == Object && len(c.list) == eager:
			c.many, c.list = eager+1, nil
			s.checkOne()
		default:
			if c.list == nil && c.floats != nil { // numbers until here, then something else: all become values
				c.list = numberValues(c.floats, start+s.base)
				s.nodes += len(c.list)
				c.floats = nil
			}
			c.list = append(c.list, s.value())
		}
	})
	c.depth = depth
	if s.err == nil && len(c.list)+len(c.floats)+c.many > 0 {
		v.in = &c
	}
}

// numberValues turns numbers back into values.
func numberValues(floats []float64, off int) []Value {
	out := make([]Value, 0, len(floats)+1)
	for _, f := range floats {
		out = append(out, Value{kind: Number, num: f, off: off, raw: strconv.AppendFloat(nil, f, 'g', -1, 64)})
	}
	return out
}

// numbersAhead returns how many numbers the current array has, if it has nothing else, to allocate exactly that many.
func (s *Scanner) numbersAhead() int {
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
func (s *Scanner) tooMany(what string) {
	if s.err == nil {
		s.err = &SyntaxError{
			Offset: s.pos, Found: "a value of too many " + what + " to hold in memory", Expected: "a result file",
		}
	}
	s.pos = len(s.data)
}

// checkOne checks an element of a long list, which must be one that can be built later.
func (s *Scanner) checkOne() {
	before := s.nodes
	s.check()
	if s.nodes-before > maxNodes {
		s.tooMany("parts")
	}
	s.nodes = before
}

// check consumes a value, checks its grammar and builds nothing.
func (s *Scanner) check() {
	s.nodes++
	switch s.Peek() {
	case Object:
		s.Object(func([]byte) { s.check() })
	case Array:
		s.Array(s.check)
	case String:
		s.rawString()
	case Number:
		s.Float()
	case Bool, Null:
		s.word()
	default:
		s.fail("a value")
	}
}

// Float0 returns a finite number, or 0 when there is none: for counts where absence means zero.
func (v Value) Float0() float64 { f, _ := v.Float(); return f }
