// Package regression is the mathematics of the judge: it judges numbers against their own history.
//
// In: a [Table] of releases in order and, for each cell (one metric of one workload on one system), what each release
// measured, as z = ±ln y with the sign that makes larger worse. Out: a [Judgement] with a row for every observation
// (its word, evidence and numbers), the findings of groups of cells, the change points, and what later releases saw of
// a change.
//
// The method, in the order of work for one release:
//
//   - the baseline of every cell since its last change point;
//   - the noise of every cell, moderated by that of all others (Smyth 2004);
//   - groups, the largest first: everything, a device, a metric of it, a model, a system, a part of it, a metric of it.
//     The middle of its members' changes is a series of its own, with the noise of its own past; each kind is a family
//     of tests (Yekutieli 2008). What a group explains is taken from its members;
//   - a predictive t test of every cell that is left;
//   - the false discovery rate, controlled over the whole release (Benjamini and Hochberg 1995);
//   - a least effect that matters;
//   - evidence: the newest two or three runs together confirm, one run never does;
//   - equivalence for "unchanged" (two one-sided tests).
//
// A row of release R uses nothing that was measured after R. The order of the input, units and the inversion of a
// metric change nothing.
//
// [BenjaminiHochberg] and [Noise] are the only false discovery procedure and the only definition of noise in the
// program. Packages pairing (two sets of repeats) and proportion (shares of right answers) have the tests that need no
// history.
//
// The package must not know columns, names, words for people, files or the time of day.
package regression
