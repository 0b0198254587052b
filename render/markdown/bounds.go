package markdown

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// Bounds of a text that is converted. goldmark takes time that grows with the square of a paragraph's length and of the
// depth of quotations and lists.
const (
	mostText      = 128 << 10 // bytes; the longest release notes of vLLM have 60 kB
	mostParagraph = 16 << 10  // bytes without an empty line
	mostNesting   = 20        // quotations and lists that begin on one line
)

// written reports whether a person may have written a text.
func written(source string) bool {
	if len(source) > mostText {
		return false
	}
	paragraph := 0
	for line := range strings.Lines(source) {
		if paragraph += len(line); strings.TrimSpace(line) == "" {
			paragraph = 0
		}
		if paragraph > mostParagraph || nesting(line) > mostNesting {
			return false
		}
	}
	return true
}

// nesting counts marks of quotations and lists at the beginning of a line. A line of one sign is a rule.
func nesting(line string) int {
	n, kinds := 0, map[rune]bool{}
	for _, c := range line {
		switch {
		case strings.ContainsRune(">-*+.)", c):
			n++
			kinds[c] = true
		case c != ' ' && c != '\t' && !unicode.IsDigit(c):
			return n
		}
	}
	if len(kinds) == 1 && !kinds['>'] && !kinds['.'] && !kinds[')'] && !strings.Contains(strings.TrimSpace(line), " ") {
		return 0
	}
	return n
}

// ids names headings: goldmark's own searches for a free name from the first on, for each of equal headings.
type ids map[string]int

// Generate implements parser.IDs.
func (m ids) Generate(value []byte, _ ast.NodeKind) []byte {
	var b strings.Builder
	for _, c := range strings.ToLower(strings.TrimSpace(string(value))) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_', c == '-':
			b.WriteRune(c)
		case c == ' ':
			b.WriteByte('-')
		}
	}
	name := b.String()
	if name == "" {
		name = "heading"
	}
	if m[name]++; m[name] > 1 {
		name += "-" + strconv.Itoa(m[name]-1)
	}
	return []byte(name)
}

// Put implements parser.IDs.
func (m ids) Put(value []byte) { m[string(value)]++ }
