package listing

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
)

// problemsShown is how many problems are listed unless all are wanted.
const problemsShown = 20

// problems writes problems, the worst first; notes only where all are wanted, or where nothing was read: they say why.
func (w writer) problems(set ingest.Set) {
	shown := schema.WorstFirst(set.Problems)
	read := slices.ContainsFunc(set.Files, func(f ingest.File) bool { return f.Points+f.Scores > 0 })
	if !w.all && read {
		shown = slices.DeleteFunc(shown, func(p schema.Problem) bool { return p.Severity == schema.SevNote })
	}
	if !w.all {
		shown = alike(shown)
	}
	if len(shown) == 0 {
		return
	}
	more := 0
	if !w.all && len(shown) > problemsShown {
		more = len(shown) - problemsShown
		shown = shown[:problemsShown]
	}
	fmt.Fprintln(w, "\nPROBLEMS, worst first")
	for _, p := range shown {
		fmt.Fprintf(w, "%-7s  %s\n", p.Severity, w.problem(p))
	}
	if more > 0 {
		fmt.Fprintf(w, "… and %d more kinds; --all lists every problem\n", more)
	}
}

// problem is where a problem is, on a line of its own when that is long, then what it is and what to do.
func (w writer) problem(p schema.Problem) string {
	const indent = "         "
	where := strings.TrimPrefix(p.Where(), w.base)
	p.Path = ""
	p.Line = 0
	text := p.String()
	if w.base != "" {
		text = strings.ReplaceAll(text, w.base, "")
	}
	out := plaintext.Wrap(text, indent)
	switch {
	case where == "":
	case utf8.RuneCountInString(where) <= plaintext.PathWidth:
		out = plaintext.Wrap(where+": "+text, indent)
	default:
		out = where + "\n" + indent + out
	}
	first, excerpt, _ := strings.Cut(p.Hint, "\n")
	if first != "" {
		out += "\n" + indent + plaintext.Wrap("hint: "+first, indent+"      ")
	}
	if excerpt != "" { // lines of the file, as they are
		out += "\n" + indent + strings.ReplaceAll(excerpt, "\n", "\n"+indent)
	}
	return out
}

// kindOfProblem is what problems that are alike have in common.
type kindOfProblem struct {
	severity schema.Severity
	code     string
}

// alike keeps the first of the problems that say the same of several files, and how many say it.
func alike(list []schema.Problem) []schema.Problem {
	kind := func(p schema.Problem) kindOfProblem { return kindOfProblem{p.Severity, p.Code} }
	out, count := schema.Alike(list, func(p schema.Problem) string { return fmt.Sprint(kind(p)) })
	folders := map[kindOfProblem]map[string]bool{}
	for _, p := range list {
		if folders[kind(p)] == nil {
			folders[kind(p)] = map[string]bool{}
		}
		folders[kind(p)][path.Dir(p.Path)] = true
	}
	for i, n := range count {
		if n > 1 {
			where := "in this folder"
			if f := len(folders[kind(out[i])]); f > 1 {
				where = fmt.Sprintf("in %d folders", f)
			}
			out[i].Found += fmt.Sprintf(" (and %d more like it %s)", n-1, where)
		}
	}
	return out
}
