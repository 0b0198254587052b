// Package curve compares systems at a service level: what one gives at a speed that its users see, or at a wait for
// the first token, and whether its whole curve lies above that of another.
//
// In: measurements of a workload at several loads, of several runs: what a user sees, and what the system gives. Out:
// the curve through them; its value at a level with an interval; the difference of two curves at levels, as a whole and
// where one is shown to be above the other. The package must not know files, releases or verdicts.
//
// How it is made, with the sources:
//
//   - A curve is two functions of the load through the means of its measurements: what a user waits for a token or for
//     the first, and what a stream takes for each token, load divided by output. Both are nearly linear in the load, by
//     Little's law. Between the loads they are monotone cubics (Fritsch and Carlson 1980, with the harmonic slopes of
//     Fritsch and Butland 1984). A level is looked up in the first and read from the second. Nothing is extrapolated.
//     Loads that another load beats in both, speed and output, are no part of a curve. Output as a function of speed
//     fails where it is steep: at small loads output doubles and the speed hardly changes.
//   - A run is one draw of the whole curve, because the loads of one server start vary together. How far a run's curve
//     is from that of its side, by the derivatives of the curve with respect to its means, is one number a run and
//     level, so a level has Student's t with as many degrees of freedom as there are runs beyond the first of each side
//     (the two-sample t test with pooled variance). Runs of other releases may be given for their spread alone.
//   - The whole curve has one number, with the same t: the mean over the loads of how far it moved across itself there,
//     along both axes by the same share. A system that trades speed for output moves along its curve, which counts
//     nothing. Where nothing else is said, it is that much slower and gives that much less at each load.
//   - The joint band covers all levels at once: its factor is the quantile of the largest |t| over the levels (as in
//     Hothorn, Bretz and Westfall 2008), from draws of normal runs whose loads have the correlation that was measured.
//     Of a difference it is at least what 95 % of other splits of the runs into two sides do not exceed (by
//     permutation, as in Westfall and Young 1993), since what is read from a curve of noisy loads has heavier tails.
//     One is above the other where the band of the difference excludes zero, which equal systems show in at most 5 %.
package curve
