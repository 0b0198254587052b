package schema

import (
	"bytes"
	"encoding/json"
	"math"
)

// Number is a value or a reason why there is none. The zero Number is missing without a reason.
type Number struct {
	v   float64
	ok  bool
	why string
}

// Num returns a present value. A value that is not finite is not a measurement and becomes missing.
func Num(v float64) Number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Missing("not a finite number")
	}
	return Number{v: v, ok: true}
}

// Missing returns an absent value with its reason, as text for people.
func Missing(why string) Number { return Number{why: why} }

// Get returns the value and whether there is one.
func (n Number) Get() (float64, bool) { return n.v, n.ok }

// Why returns the reason of an absent value, or "".
func (n Number) Why() string { return n.why }

// Ptr returns a pointer to a copy of the value, nil when absent.
func (n Number) Ptr() *float64 {
	if !n.ok {
		return nil
	}
	v := n.v
	return &v
}

// isPlain reports whether JSON has a text as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// JSONString returns s as a JSON string without HTML escapes.
func JSONString(s string) []byte { return AppendJSONString(make([]byte, 0, len(s)+2), s) }

// AppendJSONString appends [JSONString] to b.
func AppendJSONString(b []byte, s string) []byte {
	if isPlain(s) { // nearly all are, and a document has thousands
		return append(append(append(b, '"'), s...), '"')
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return append(b, bytes.TrimRight(buf.Bytes(), "\n")...)
}
