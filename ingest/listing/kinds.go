package listing

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest/plaintext"
)

// detailWidth is the width of what a file is, in characters.
const detailWidth = 80

// kinds counts what is alike.
type kinds map[string]int

// String lists the kinds with their numbers, the most frequent first, as many as fit.
func (k kinds) String() string {
	names := slices.Sorted(maps.Keys(k))
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" })
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(k[b], k[a]) })
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
			return fmt.Sprintf("%s; %s more", out, plaintext.Plural(more, "kind"))
		}
		out = next
	}
	return out
}
