// Package render decides what a reviewer is shown: which pages exist, which tables, charts and sentences stand on
// them.
//
// In flow columns of all runs, verdicts, notes and problems; out flows a [Report], pure data built page by page on
// demand: headings, tables of cells, chart geometry, sentences. The site turns it into HTML, package markdown into
// files for a pull request, package tabular into CSV, so that all of them show the same facts in the same words.
//
// No I/O, no clock: the same inputs give the same report. Package render knows neither HTML nor file names beyond the
// addresses of its own pages.
package render
