// Package bisection writes what a bisection found: markdown for an issue, and a page with a picture.
//
// In: a [Result], with the builds in order, what was measured of each and the probability of each to be the first bad
// one. Out: bytes. It must not measure, nor compute probabilities: package targets/regression/bisection does.
package bisection
