// Package glob matches names with patterns that people and forks write.
//
// In: a pattern with *, **, ?, [a-z] and {a,b}, and a name. Out: whether it matches, in a time that the pattern cannot
// choose, and what is wrong with a pattern. It must not know what the names are of.
package glob

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of a pattern. Every group of alternatives multiplies the ways in which a pattern is tried: thirty groups of
// two take hours for one name.
const (
	longest          = 1_000 // bytes
	mostAlternatives = 64    // when every group is multiplied by the next
)

// Check returns what is wrong with a pattern.
func Check(pattern string) error {
	switch {
	case len(pattern) > longest:
		return fmt.Errorf("a pattern of more than %d characters", longest)
	case !doublestar.ValidatePattern(pattern):
		return fmt.Errorf("the pattern %q is malformed: brackets and braces come in pairs", pattern)
	case alternatives(pattern) > mostAlternatives:
		return errors.New("a pattern with more than 64 alternatives, when those of every {…} are multiplied")
	}
	return nil
}

// alternatives is at least the number of ways in which a pattern is tried.
func alternatives(pattern string) int {
	n := 1
	for i, part := range strings.Split(pattern, "{") {
		if i > 0 {
			n = min(n*(strings.Count(part, ",")+1), mostAlternatives+1)
		}
	}
	return n
}

// Match reports whether a pattern matches a name, whose parts slashes separate. A pattern that [Check] refuses matches
// nothing.
func Match(pattern, name string) bool {
	if len(pattern) > longest || alternatives(pattern) > mostAlternatives {
		return false
	}
	ok, err := doublestar.Match(pattern, name)
	return err == nil && ok
}

// Any reports whether a name is one of the patterns, or matches one.
func Any(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return p == name || Match(p, name) })
}
