// Package duplicate decides when two measurements are one.
//
// It takes points and scores, from files that were just read or from stored documents, and answers two questions:
//
//   - [OfPoint] and [OfScore] name a measurement by the bytes it was read from and its place among the measurements of
//     those bytes. Equal [ID]s are one measurement that was read twice. [Without] takes those out of a run.
//   - [Copies] finds measurements that several files hold in different forms, by statistics that agree in all digits.
//
// What to do with a duplicate is the caller's decision: package ingest keeps one of several files, and one of a stored
// and a new run. Copies of a run among the releases of a history are another matter, since there a repeat of old
// numbers under a new name is a finding; the judge looks for those.
package duplicate
