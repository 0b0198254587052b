package schema

import (
	"strings"
	"unicode"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
)

// NearlyNamed reports whether two names differ in punctuation, or in one letter that is missing or two neighbours that
// are swapped. A replaced letter or another digit makes another model: gemma-7b-it and gemma-7b-pt.
func NearlyNamed(a, b string) bool {
	only := func(s string, is func(rune) bool) string {
		return strings.Map(func(r rune) rune {
			if is(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	plain := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	x, y := only(a, plain), only(b, plain)
	if x == y || only(x, unicode.IsDigit) != only(y, unicode.IsDigit) || len(x) < 6 {
		return x == y
	}
	alike := 0 // letters at the beginning
	for alike < min(len(x), len(y)) && x[alike] == y[alike] {
		alike++
	}
	x, y = x[alike:], y[alike:]
	for len(x)*len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return len(x)+len(y) == 1 || len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
}

var shard = lazyregexp.New(`-0*1-of-\d+$`)

// WithoutShard is the name of a model without that of the first of several files of its weights: "-00001-of-00005".
func WithoutShard(name string) string { return shard.ReplaceAllString(name, "") }
