// Package regression judges numbers against their own history.
//
// In flows a [Table]: releases in order, and for each cell (one metric of one workload on one system) what each release
// measured, as z = ±ln y with the sign that makes larger worse. Out flows a [Judgement]: a row for every observation with a
// word (worse, better, watch, recovered, same, noisy, insufficient, not-comparable), its evidence and its numbers, the
// run-wide shifts and other findings of each release, and what later releases said of it.
//
// The method, in the order of work for one release: the baseline of every cell since its last accepted change; the run-wide
// shift of every stratum (device and metric family); the noise of every cell, moderated by that of all others (Smyth 2004);
// a predictive t test; false discoveries controlled over the whole release (Benjamini and Hochberg 1995); a least effect that
// matters; evidence only by an independent run; equivalence for "same" (two one-sided tests). Steps that the gate was too
// coarse for are found in the history and decided by permutation.
//
// A row on release R uses nothing that was measured after R. Input order, units and the inversion of a metric change nothing.
// The package knows numbers only: no columns, no names, no words for people, no clock.
package regression
