// Package glob matches names with patterns that people and forks write.
//
// In: a pattern with *, **, ?, [a-z] and {a,b}, and a name. Out: whether it matches, in a time that the pattern cannot
// choose, and what is wrong with a pattern. It must not know what the names are of.
package glob
