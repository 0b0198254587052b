package listing

import (
	"fmt"
	"io"
	"strings"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
)

// rowsShown is how many rows a table of files or runs has unless all are wanted.
const rowsShown = 30

// writer is what the parts of a listing have in common.
type writer struct {
	io.Writer
	base string // folder that all paths begin with; it is left out of them
	all  bool   // nothing is cut, grouped or left out
}

// Write writes what was read as text: a summary, files, runs, problems. With all, every file and every problem has a
// line of its own and nothing is cut; without, what is alike is one line.
func Write(out io.Writer, set ingest.Set, all bool) {
	w := writer{out, commonFolder(set.Files), all}
	fmt.Fprintln(w, w.summary(set))
	fmt.Fprintln(w)
	w.files(set.Files)
	w.runs(set)
	w.problems(set.Problems)
}

// summary is the answer in one line: what came of all files.
func (w writer) summary(set ingest.Set) string {
	var results, beside, other, notRead, unknown, points, scores int
	for _, f := range set.Files {
		points, scores = points+f.Points, scores+f.Scores
		switch {
		case f.Format == ingest.Unknown:
			unknown++
		case f.Format == ingest.NotRead:
			notRead++
		case f.Points+f.Scores > 0:
			results++
		case f.Format == ingest.NotResult || strings.HasPrefix(f.Detail, "not a result"):
			other++
		default:
			beside++
		}
	}
	in := ""
	if w.base != "" {
		in = " in " + w.base
	}
	parts := []string{plaintext.Plural(results, "result")}
	for _, x := range []struct {
		n    int
		what string
	}{{beside, "beside them"}, {other, "no results"}, {notRead, "of tools that are not read"}, {unknown, "unknown"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	return fmt.Sprintf("%s%s: %s. %s and %s in %s; %s.",
		plaintext.Plural(len(set.Files), "file"), in, strings.Join(parts, ", "),
		plaintext.Plural(points, "point"), plaintext.Plural(scores, "score"), plaintext.Plural(len(set.Runs), "run"),
		Counts(set.Problems))
}

// Counts says how many problems there are of each severity.
func Counts(problems []schema.Problem) string {
	var parts []string
	for _, sev := range schema.Severities() {
		if n := schema.CountSeverity(problems, sev); n > 0 {
			parts = append(parts, plaintext.Plural(n, string(sev)))
		}
	}
	if len(parts) == 0 {
		return "no problems"
	}
	return strings.Join(parts, ", ")
}
