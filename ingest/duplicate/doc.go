// Package duplicate decides when two measurements are one.
//
// It takes points and scores, from files that were just read or from stored documents, and answers two questions:
//
//   - Which measurements does a stored run hold already? An [ID] names a measurement by the bytes it was read from and
//     its place among the measurements of those bytes: [In] lists those of a run, [Without] takes them out of another.
//   - Which points of several files are one measurement in different forms? [Copies] finds them by statistics that agree
//     in all digits.
//
// What to do with a duplicate is the caller's decision: package ingest keeps one of several files, and one of a stored
// and a new run. Copies of a run among the releases of a history are another matter, since there a repeat of old
// numbers under a new name is a finding; the judge looks for those.
package duplicate
