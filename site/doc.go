// Package site turns a report into files: pages, markdown reports, CSV, chart data, assets.
//
// In flows a [render.Report] and, for run pages, a way to read one run's document; out flows a folder that works from
// disk, without a server, without script, and without a request to anybody.
//
// Writing is safe: a file whose content did not change is left alone, others are replaced in one step; pages that no
// longer exist are removed last, and only those that an earlier build wrote, which the folder's manifest lists. A
// folder that holds something and has no manifest of ours is refused. Same inputs, same bytes: no clock.
//
// The package refuses to know readers, statistics and the command line.
package site
