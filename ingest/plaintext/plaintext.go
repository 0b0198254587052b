// Package plaintext fits text for people into a line of a terminal or a log: counted nouns, durations, names that are
// cut, sentences that are wrapped.
//
// In: numbers and text. Out: text, measured in characters. It must not know what the text is about. Numerals of pages,
// with grouped digits and units, are package words' (render/words).
package plaintext

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// LineWidth is the width of sentences, in characters.
const LineWidth = 120

// PathWidth is the width of a path in a table, in characters.
const PathWidth = 56

// Plural is "1 run" or "3 runs".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Dash is a count in a table; a dash for none.
func Dash(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// Duration is "0.4 s" or "2 min 05 s".
func Duration(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
}

// Cut is the beginning of a text.
func Cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}

// Short is the beginning of a text, with a mark where more follows.
func Short(s string, most int) string {
	if begin := Cut(s, most); begin != s {
		return begin + "…"
	}
	return s
}

// Middle cuts a text in its middle: the ends of a name say most.
func Middle(s string, most int) string {
	r := []rune(s)
	if len(r) <= most || most < 3 {
		return s
	}
	head := (most - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(most-1-head):])
}

// ShortPath keeps the first folder of a path and as many of the last parts as fit.
func ShortPath(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	parts := strings.Split(s, "/")
	first, last := parts[0]+"/…/", parts[len(parts)-1]
	if len(parts) < 3 || utf8.RuneCountInString(first+last) > most {
		if len(parts) > 1 && utf8.RuneCountInString(last) <= most-2 {
			return "…/" + last
		}
		return Middle(last, most)
	}
	for i := len(parts) - 2; i > 1; i-- {
		longer := parts[i] + "/" + last
		if utf8.RuneCountInString(first+longer) > most {
			break
		}
		last = longer
	}
	return first + last
}

// Wrap breaks a sentence at spaces into lines of [LineWidth]; those after the first are indented. A word that is longer
// stays whole, so that a path can be copied.
func Wrap(s, indent string) string {
	var b strings.Builder
	column := utf8.RuneCountInString(indent)
	for i, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > LineWidth:
			b.WriteString("\n" + indent)
			column = utf8.RuneCountInString(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// Printable replaces control characters: C0 and C1 but for line ends and tabs, and marks that turn the direction of
// text. Names and messages come from files of other people, and an escape sequence or such a mark can make a line say
// something else than it has.
func Printable(s string) string {
	return strings.Map(printable, s)
}

func printable(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
		return '·'
	}
	return r
}

// PrintableBytes is [Printable] for a text that is long and mostly clean; it may return its argument.
func PrintableBytes(b []byte) []byte {
	if !mayHaveControls(b) {
		return b
	}
	return bytes.Map(printable, b)
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
