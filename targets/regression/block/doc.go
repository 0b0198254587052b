// Package block compares two servers that took turns on one machine, by the paired differences of their blocks.
//
// In: for each series (one metric of one workload) ln(B/A) of every block, a block being one turn of each server; the
// series of one metric together. Out: a [Difference] for each series and one for all of them, with intervals, and
// p values.
//
// The noise comes from the blocks alone, never from the requests in them: requests of one server start share what that
// start was like. It has two parts, which are estimated apart: what a block did to all series at once (the starts of
// its servers, the machine), and what is left of each series, moderated by the others. What the machine does slowly
// cancels, because both servers of a block met it. Two blocks are needed: one block has no noise to compare with, and
// is never a verdict.
//
// The package must not know servers, files or history.
package block
