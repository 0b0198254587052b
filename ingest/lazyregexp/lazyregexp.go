// Package lazyregexp has patterns that are compiled when they are first used: all 220 of them at each start took more
// than half of the time that `ttreport version` needs. It follows internal/lazyregexp of Go.
//
// In: the text of a pattern. Out: the methods of [regexp.Regexp]. It must not know what is matched.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a pattern that is compiled once, by whatever method comes first. It may be used by several goroutines.
type Regexp struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

// New returns a pattern that panics at its first use if it is invalid. In the binaries of tests it is compiled
// at once, so that every test of a package shows an invalid one.
func New(text string) *Regexp {
	r := &Regexp{text: text}
	if len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test") {
		r.get()
	}
	return r
}

func (r *Regexp) get() *regexp.Regexp {
	r.once.Do(func() { r.re = regexp.MustCompile(r.text) })
	return r.re
}

func (r *Regexp) FindString(s string) string { return r.get().FindString(s) }

func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

func (r *Regexp) FindStringIndex(s string) []int { return r.get().FindStringIndex(s) }

func (r *Regexp) FindStringSubmatchIndex(s string) []int { return r.get().FindStringSubmatchIndex(s) }

func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }

func (r *Regexp) FindAllStringIndex(s string, n int) [][]int { return r.get().FindAllStringIndex(s, n) }

func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}

func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

func (r *Regexp) ReplaceAllString(s, by string) string { return r.get().ReplaceAllString(s, by) }

func (r *Regexp) ReplaceAllStringFunc(s string, by func(string) string) string {
	return r.get().ReplaceAllStringFunc(s, by)
}

func (r *Regexp) Match(b []byte) bool { return r.get().Match(b) }

func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.get().FindSubmatch(b) }

func (r *Regexp) FindIndex(b []byte) []int { return r.get().FindIndex(b) }

func (r *Regexp) FindAll(b []byte, n int) [][]byte { return r.get().FindAll(b, n) }

func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte { return r.get().FindAllSubmatch(b, n) }

func (r *Regexp) ReplaceAll(b, by []byte) []byte { return r.get().ReplaceAll(b, by) }

func (r *Regexp) ReplaceAllFunc(b []byte, by func([]byte) []byte) []byte {
	return r.get().ReplaceAllFunc(b, by)
}
