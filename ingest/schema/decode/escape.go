package decode

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape resolves the escapes within a JSON string and replaces invalid UTF-8. If there is neither, it returns the
// input itself.
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

// appendEscape appends the character of the escape at the start of b and returns the escape's length.
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
