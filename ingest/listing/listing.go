package listing

import (
	"fmt"
	"io"
	"maps"
	"slices"
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
	w.problems(set)
}

// summary is the answer in one line: what came of all files.
func (w writer) summary(set ingest.Set) string {
	var results, beside, other, notRead, unknown, points, scores, copies int
	for _, f := range set.Files {
		points, scores, copies = points+f.Points, scores+f.Scores, copies+f.Copies
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
	once := ""
	if copies > 0 {
		once = fmt.Sprintf(", %s left out as copies", plaintext.Plural(copies, "point"))
	}
	read := fmt.Sprintf("%s and %s in %s%s; %s.", plaintext.Plural(points, "point"), plaintext.Plural(scores, "score"),
		plaintext.Plural(len(set.Runs), "run"), once, Counts(set.Problems))
	if points+scores+beside == 0 {
		read = nothing(set)
	}
	return fmt.Sprintf("%s%s: %s. %s", plaintext.Plural(len(set.Files), "file"), in, strings.Join(parts, ", "), read)
}

// nothing says that no number was read, and what the files resemble: that there are no problems would be no answer.
func nothing(set ingest.Set) string {
	near := map[string]int{}
	for _, f := range set.Files {
		if f.Format == ingest.Unknown && f.Detail != "" {
			near[f.Detail]++
		}
	}
	out := "Nothing was read: no file is a result in a format that is read"
	if len(set.Problems) > 0 {
		out += "; " + Counts(set.Problems)
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(near)) {
		names = append(names, fmt.Sprintf("%s (%s)", name, plaintext.Plural(near[name], "file")))
	}
	if len(names) > mostNearest {
		names = append(names[:mostNearest], "others")
	}
	if len(names) > 0 {
		out += ". Nearest: " + strings.Join(names, ", ")
	}
	return out + ". ttreport help files lists what is read."
}

// mostNearest is how many formats are named that unknown files resemble.
const mostNearest = 5

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
