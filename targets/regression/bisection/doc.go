// Package bisection finds which of many builds in a row changed a number, from noisy measurements.
//
// In: how many builds there are after a good one, and measurements, each of one build: ln of its value over that of the
// good build, measured in turns with it, larger is worse. Out: the probability of each build to be the first bad one,
// which build to measure next, and when it is decided.
//
// It is a Bayesian search (Burnashev and Zigangirov 1974; Waeber, Frazier and Henderson 2013): nothing is believed
// for good after one measurement, so an error is found later and corrected, and measurements go where they tell most.
// Size of the change and noise are unknown and integrated over. The noise is Student's t with four degrees of freedom,
// so that an outlier is evidence of little.
//
// The package must not know commits, servers or files.
package bisection
