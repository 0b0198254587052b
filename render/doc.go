// Package render decides what a reviewer is shown: which pages exist, and which tables, figures and sentences they
// have.
//
// In go the columns of all runs, what the gate found in them, notes and problems; out go views, built on demand: a
// [Page] of sections, and in them blocks (see [Block]), one type and one file each. The outputs are peers over the
// same views: package site makes HTML of them, package markdown files for a pull request, and terminal, tabular,
// junit and jsondoc write what their formats can hold, all with the words of package words.
//
// No I/O and no clock: the same inputs give the same views. The package must not know how a view looks: no HTML, no
// class, no position, no pixel.
package render
