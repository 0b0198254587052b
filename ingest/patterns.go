package ingest

import (
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// unmatched are the problems of patterns of the command line that match no file with results: what they were to state
// is stated by nothing. Where another pattern matches, one of another layout may well match none, which is a warning.
func unmatched(patterns []manifest.Pattern, results []*result) []schema.Problem {
	if len(patterns) == 0 || len(results) == 0 {
		return nil
	}
	var files []string
	for _, r := range results {
		if last := len(files) - 1; last < 0 || files[last] != r.shown() { // results of one file follow each other
			files = append(files, r.shown())
		}
	}
	var out []schema.Problem
	for _, p := range patterns {
		if slices.ContainsFunc(files, p.Matches) {
			continue
		}
		out = append(out, schema.Problem{
			Severity: schema.SevWarning, Path: "--pattern " + p.String(), Code: "pattern",
			Found:    "it matches none of the " + plaintext.Plural(len(files), "file") + " with results",
			Expected: fmt.Sprintf("a pattern that goes to the end of the file's name, as of %s", files[0]),
			Used:     "nothing of it",
			Hint:     "end it with /* for whatever the files are called; compare it with the path of a file, folder by folder",
		})
	}
	if len(out) == len(patterns) {
		for i := range out {
			out[i].Severity = schema.SevError
		}
	}
	return out
}
