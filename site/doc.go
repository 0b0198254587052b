// Package site makes files of a report: pages, markdown reports, CSV, chart data, assets.
//
// In go a [render.Report] and, for run pages, a way to read the document of one run; out goes a folder that works
// from disk, without a server and without script, and sends no request. Markup and classes are in package templates:
// html.go executes them, also for the cells of tables, of which there are millions. A public site and a page that is
// one file change views before they become files (html.go, publish.go, singlefile.go).
//
// Writing is safe: a file whose content did not change is left alone, others are replaced in one step; pages that no
// longer exist are removed last, and only those that an earlier build wrote, which the folder's manifest lists. A
// folder that holds something and has no such manifest is refused. Same inputs, same bytes: no clock.
//
// The package must not know readers, statistics and the command line.
package site
