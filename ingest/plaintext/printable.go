package plaintext

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Printable replaces control characters: C0 and C1 but for line ends and tabs, and marks that turn the direction of
// text. Names and messages come from files of other people, and an escape sequence or such a mark can make a line say
// something else than it has.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return '·'
		}
		return r
	}, s)
}

// PrintableBytes is [Printable] for a text that is long and mostly clean; it may return its argument.
func PrintableBytes(b []byte) []byte {
	if !mayHaveControls(b) {
		return b
	}
	return bytes.Map(func(r rune) rune {
		if isControl(r) {
			return '·'
		}
		return r
	}, b)
}

func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// mayHaveControls looks at bytes: of the controls beyond ASCII the first byte is 0xc2 and the second below 0xa0, or the
// first is 0xe2, the second 0x80 or 0x81, and the third below 0xaf. The narrow space before units is 0xe2 0x80 0xaf and
// stands in nearly every page.
func mayHaveControls(b []byte) bool {
	for i, c := range b {
		switch {
		case c >= ' ' && c < 0x7f, c == '\n', c == '\t':
		case c < utf8.RuneSelf, c == 0xc2 && (i+1 == len(b) || b[i+1] < 0xa0),
			c == 0xe2 && i+2 < len(b) && b[i+1]&0xfe == 0x80 && b[i+2] >= 0xa6 && b[i+2] < 0xaf:
			return true
		}
	}
	return false
}
