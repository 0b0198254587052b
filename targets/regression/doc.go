// Package regression is the mathematics of the judge: it judges numbers against their own history.
//
// In: a [Table] of releases in order and, for each cell (one metric of one workload on one system), what each release
// measured, as z = ±ln y with the sign that makes larger worse. Out: a [Judgement] with a row for every observation
// (its word, evidence and numbers), the run-wide shifts of each release, the change points, and what later releases saw
// of a change.
//
// The method, in the order of work for one release:
//
//   - the baseline of every cell since its last change point;
//   - the run-wide shift of every stratum (device and metric family), and of every system in it;
//   - the noise of every cell, moderated by that of all others (Smyth 2004);
//   - a predictive t test;
//   - the false discovery rate, controlled over the whole release (Benjamini and Hochberg 1995);
//   - a least effect that matters;
//   - evidence: the newest two or three runs together confirm, one run never does;
//   - equivalence for "unchanged" (two one-sided tests).
//
// [Search] finds change points that are too small for the gate, by permutation. They are for drawing.
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
