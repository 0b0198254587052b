package main

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"
)

// Widths of what is printed for people, in characters. Nothing is cut with --all or --json.
const (
	lineWidth   = 120 // of sentences
	pathWidth   = 56  // of a path in a table
	idWidth     = 40  // of a run's id
	nameWidth   = 28  // of a model, a device or an engine in a table
	detailWidth = 80  // of what a file is
)

// middle cuts a text in its middle, where names tell the least.
func middle(s string, most int) string {
	r := []rune(s)
	if len(r) <= most || most < 3 {
		return s
	}
	head := (most - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(most-1-head):])
}

// shortPath keeps the first folder of a path and as many of the last parts as fit.
func shortPath(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	parts := strings.Split(s, "/")
	first, last := parts[0]+"/…/", parts[len(parts)-1]
	if len(parts) < 3 || utf8.RuneCountInString(first+last) > most {
		if len(parts) > 1 && utf8.RuneCountInString(last) <= most-2 {
			return "…/" + last
		}
		return middle(last, most)
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

// wrapped breaks a sentence at spaces into lines of lineWidth; those after the first are indented. A word that is
// longer stays whole, so that a path can be copied.
func wrapped(s, indent string) string {
	var b strings.Builder
	column := utf8.RuneCountInString(indent)
	for i, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > lineWidth:
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

// count matches how many of something a file has, which differs between files of one kind.
var count = regexp.MustCompile(`[,:] \d+ (appended|benchmarks?|records?|runs?|rows|parts).*$`)

// kinds counts what is alike, the most frequent first.
type kinds map[string]int

// String lists the kinds with their numbers, as many as fit.
func (k kinds) String() string {
	var names []string
	for name := range k {
		if name != "" {
			names = append(names, name)
		}
	}
	sort.Slice(names, func(i, j int) bool {
		if k[names[i]] != k[names[j]] {
			return k[names[i]] > k[names[j]]
		}
		return names[i] < names[j]
	})
	if len(names) == 1 {
		return names[0]
	}
	out := ""
	for i, name := range names {
		next := fmt.Sprintf("%d × %s", k[name], name)
		if i > 0 {
			next = out + "; " + next
		}
		if more := len(names) - i; i > 0 && utf8.RuneCountInString(next) > detailWidth {
			return fmt.Sprintf("%s; %s more", out, plural(more, "kind"))
		}
		out = next
	}
	return out
}
