package redact

import (
	"strings"
)

// keyword is a word near which a secret may stand. Words are in lower case, and found whatever the case of the text.
type keyword struct {
	word string
	// find returns what to replace of s by put, where the word stands at i; to is 0 for nothing. from is not before i.
	find func(s string, i int) (from, to int, put string)
}

// index finds keywords by their first two bytes. A text is read once, and at nearly every byte one bit says that
// no word begins there: 100 MB of logs take less than a second.
type index struct {
	begins [1 << 10]uint64 // one bit for each pair of bytes
	bucket [1 << 16]uint8  // by pair: which of the lists
	words  [][]keyword
}

// keywords is made once and never changes.
var keywords = newIndex(names(), shapes(), places())

func newIndex(lists ...[]keyword) *index {
	x := &index{words: [][]keyword{nil}}
	for _, list := range lists {
		for _, k := range list {
			pair := pairOf(k.word[0], k.word[1])
			x.begins[pair>>6] |= 1 << (pair & 63)
			if x.bucket[pair] == 0 {
				x.bucket[pair] = uint8(len(x.words))
				x.words = append(x.words, nil)
			}
			x.words[x.bucket[pair]] = append(x.words[x.bucket[pair]], k)
		}
	}
	return x
}

func pairOf(a, b byte) uint16 { return uint16(lower[a])<<8 | uint16(lower[b]) }

// lower folds the case of ASCII letters.
var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] = byte(i) + 'a' - 'A'
		}
	}
	return t
}()

// scan replaces what stands near keywords.
func scan(s string) string {
	var out []byte
	kept := 0
	for i := 0; i+1 < len(s); {
		pair := pairOf(s[i], s[i+1])
		if keywords.begins[pair>>6]&(1<<(pair&63)) == 0 {
			i++
			continue
		}
		from, to, put := keywords.at(s, i, pair)
		if to == 0 {
			i++
			continue
		}
		out = append(append(out, s[kept:from]...), put...)
		kept, i = to, to
	}
	if kept == 0 {
		return s
	}
	return string(append(out, s[kept:]...))
}

func (x *index) at(s string, i int, pair uint16) (from, to int, put string) {
	words := x.words[x.bucket[pair]]
	for n := range words {
		k := &words[n]
		if len(s) < i+len(k.word) || lower[s[i+2]] != k.word[2] || !hasFold(s[i:], k.word) {
			continue
		}
		if from, to, put = k.find(s, i); to > from && s[from:to] != put {
			return from, to, put
		}
	}
	return 0, 0, ""
}

// hasFold reports that s begins with a word, whatever the case of s.
func hasFold(s, word string) bool {
	if len(s) < len(word) {
		return false
	}
	for i := range len(word) {
		if lower[s[i]] != word[i] {
			return false
		}
	}
	return true
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
func isWord(c byte) bool  { return isAlnum(c) || c == '_' || c == '-' }
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// after is where a run of bytes ends that begins at i.
func after(s string, i int, in func(byte) bool) int {
	for i < len(s) && in(s[i]) {
		i++
	}
	return i
}

// until is where the first of some bytes stands from i on, or the end of the text.
func until(s string, i int, any string) int {
	if n := strings.IndexAny(s[i:], any); n >= 0 {
		return i + n
	}
	return len(s)
}
