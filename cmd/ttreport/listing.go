package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/table"
)

// rowsShown is how many rows a table of files or runs has unless all are wanted.
const rowsShown = 30

// listing writes what was read as text for a person.
type listing struct {
	io.Writer
	base string // folder that all paths begin with; it is left out of them
	all  bool   // nothing is cut, grouped or left out
}

// list writes a summary, files, runs, problems. With all, every file and every problem has a line of its own and
// nothing is cut; without, what is alike is one line.
func list(out io.Writer, set ingest.Set, all bool) {
	w := listing{out, commonFolder(set.Files), all}
	fmt.Fprintf(w, "%s\n\n", w.summary(set))
	w.files(set.Files)
	w.runs(set)
	w.problems(set)
}

// summary is the answer in one line: what came of all files.
func (w listing) summary(set ingest.Set) string {
	var results, beside, other, unknown, points, scores, copies int
	for _, f := range set.Files {
		points, scores, copies = points+f.Points, scores+f.Scores, copies+f.Copies
		switch {
		case f.Format == ingest.Unknown:
			unknown++
		case f.Points+f.Scores > 0:
			results++
		case f.Format == ingest.NotResult || strings.HasPrefix(f.Detail, "not a result"):
			other++
		default:
			beside++
		}
	}
	parts := []string{plaintext.Plural(results, "result")}
	for _, x := range []struct {
		n    int
		what string
	}{{beside, "beside them"}, {other, "no results"}, {unknown, "unknown"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	in, once := "", ""
	if w.base != "" {
		in = " in " + w.base
	}
	if copies > 0 {
		once = fmt.Sprintf(", %s left out as copies", plaintext.Plural(copies, "point"))
	}
	read := fmt.Sprintf("%s and %s in %s%s; %s.", plaintext.Plural(points, "point"), plaintext.Plural(scores, "score"),
		plaintext.Plural(len(set.Runs), "run"), once, problemCounts(set.Problems))
	if points+scores+beside == 0 {
		read = "Nothing was read: no file is a result in a format that is read"
		if len(set.Problems) > 0 {
			read += "; " + problemCounts(set.Problems)
		}
		read += ". ttreport help files lists what is read."
	}
	return fmt.Sprintf("%s%s: %s. %s", plaintext.Plural(len(set.Files), "file"), in, strings.Join(parts, ", "), read)
}

// problemCounts says how many problems there are of each severity.
func problemCounts(problems []schema.Problem) string {
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

// listJSON writes everything that was read as one line of JSON, of schema ttreport/inspect/v1.
func listJSON(w io.Writer, set ingest.Set) error {
	type file struct {
		ingest.File
		Problems []json.RawMessage `json:"problems"`
	}
	doc := struct {
		Schema   string            `json:"schema"`
		Files    []file            `json:"files"`
		Runs     []json.RawMessage `json:"runs"` // history documents
		Grouping map[string]string `json:"grouping"`
		Problems []json.RawMessage `json:"problems"`
	}{"ttreport/inspect/v1", []file{}, []json.RawMessage{}, set.Grouping, encoded(set.Problems)}
	for _, f := range set.Files {
		doc.Files = append(doc.Files, file{f, encoded(f.Problems)})
	}
	for i := range set.Runs {
		doc.Runs = append(doc.Runs, history.Encode(&set.Runs[i]))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

func encoded(list []schema.Problem) []json.RawMessage {
	out := []json.RawMessage{}
	for i := range list {
		out = append(out, history.EncodeProblem(&list[i]))
	}
	return out
}

// fileRow is a row of the table of files: files of one folder that are alike, or of all folders where those are many.
type fileRow struct {
	format              string
	details, plainer    fileKinds // what the files are; plainer leaves out how much is in each
	folders             map[string]bool
	files               []ingest.File
	points, scores, bad int
}

// files writes the table of files.
func (w listing) files(files []ingest.File) {
	rows := grouped(files, func(f ingest.File) string { return f.Path })
	if !w.all {
		rows = grouped(files, func(f ingest.File) string { return path.Dir(f.Path) + "\n" + f.Format + "\n" + f.Detail })
	}
	if !w.all && len(rows) > rowsShown {
		rows = grouped(files, func(f ingest.File) string { return f.Format })
		slices.SortStableFunc(rows, func(a, b *fileRow) int { return cmp.Compare(b.points+b.scores, a.points+a.scores) })
	}
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "FILE\tFORMAT\tPOINTS\tSCORES\tPROBLEMS\tWHAT")
	for _, r := range rows {
		name, detail := w.named(r)
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", name, r.format,
			plaintext.Dash(r.points), plaintext.Dash(r.scores), plaintext.Dash(r.bad), detail)
	}
	tw.Flush()
}

// named is what a row is called, and what its files are.
func (w listing) named(r *fileRow) (name, detail string) {
	const width = plaintext.PathWidth
	name, detail = strings.TrimPrefix(r.files[0].Path, w.base), r.details.String()
	folder, n := strings.TrimPrefix(commonFolder(r.files), w.base), len(r.files)
	switch {
	case len(r.folders) > 1:
		name = strings.TrimSpace(fmt.Sprintf("%s %d files in %d folders", plaintext.ShortPath(folder, width-26), n,
			len(r.folders)))
	case n > 1:
		name = fmt.Sprintf("%s (%d files)", plaintext.ShortPath(cmp.Or(folder, "./"), width-12), n)
	case w.all:
		return name, detail
	default:
		return plaintext.ShortPath(name, width), plaintext.Middle(detail, detailWidth)
	}
	return name, w.short(r.plainer.String(), detailWidth)
}

// commonFolder is the folder that all paths begin with, with its slash; "" when there is none or one file alone.
func commonFolder(files []ingest.File) string {
	if len(files) < 2 {
		return ""
	}
	base := path.Dir(files[0].Path) + "/"
	for _, f := range files[1:] {
		for !strings.HasPrefix(f.Path, base) {
			up := path.Dir(strings.TrimSuffix(base, "/"))
			if up == "." || up == "/" || up+"/" == base {
				return ""
			}
			base = up + "/"
		}
	}
	return base
}

// amount matches how many of something a file has, which differs between files of one kind.
var amount = lazyregexp.New(`[,:] \d+ (appended|benchmarks?|records?|runs?|rows|parts).*$`)

// grouped puts files that are alike into rows, in order of the first of each.
func grouped(files []ingest.File, by func(ingest.File) string) []*fileRow {
	var out []*fileRow
	at := map[string]*fileRow{}
	for _, f := range files {
		r := at[by(f)]
		if r == nil {
			r = &fileRow{format: f.Format, details: fileKinds{}, plainer: fileKinds{}, folders: map[string]bool{}}
			at[by(f)] = r
			out = append(out, r)
		}
		detail := f.Detail
		if f.PartOf != "" && f.Points+f.Scores == 0 {
			detail, _, _ = strings.Cut(detail, " of ") // the JSON form names the other file
			detail += ", counted elsewhere"
		}
		if f.Copies > 0 && f.Points > 0 {
			detail += fmt.Sprintf(", %d more counted in %s", f.Copies, path.Base(f.PartOf))
		}
		if f.Format == ingest.Unknown && f.Detail != "" {
			detail = "nearest: " + f.Detail
		}
		r.details[detail]++
		r.plainer[amount.ReplaceAllString(detail, "")]++
		r.folders[path.Dir(f.Path)] = true
		r.files = append(r.files, f)
		r.points += f.Points
		r.scores += f.Scores
		r.bad += len(f.Problems) - schema.CountSeverity(f.Problems, schema.SevNote)
	}
	return out
}

// detailWidth is the width of what a file is, in characters.
const detailWidth = 80

// fileKinds counts what is alike.
type fileKinds map[string]int

// String lists the kinds with their numbers, the most frequent first, as many as fit.
func (k fileKinds) String() string {
	names := slices.Sorted(maps.Keys(k))
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" })
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(k[b], k[a]) })
	if len(names) == 1 {
		return names[0]
	}
	out := ""
	for i, name := range names {
		next := fmt.Sprintf("%d × %s", k[name], name)
		if i > 0 {
			next = out + "; " + next
		}
		if more := len(names) - i; i > 0 && utf8.RuneCountInString(next) > detailWidth {
			return fmt.Sprintf("%s; %s more", out, plaintext.Plural(more, "kind"))
		}
		out = next
	}
	return out
}

// problems writes problems, the worst first; notes only where all are wanted, or where nothing was read: they say why.
func (w listing) problems(set ingest.Set) {
	shown, more := schema.WorstFirst(set.Problems), 0
	if !w.all {
		if slices.ContainsFunc(set.Files, func(f ingest.File) bool { return f.Points+f.Scores > 0 }) {
			shown = slices.DeleteFunc(shown, func(p schema.Problem) bool { return p.Severity == schema.SevNote })
		}
		shown = alikeProblems(shown)
		const most = 20
		more = max(0, len(shown)-most)
		shown = shown[:len(shown)-more]
	}
	for i, p := range shown {
		if i == 0 {
			fmt.Fprintln(w, "\nPROBLEMS, worst first")
		}
		fmt.Fprintf(w, "%-7s  %s\n", p.Severity, w.problem(p))
	}
	if more > 0 {
		fmt.Fprintf(w, "… and %d more kinds; --all lists every problem\n", more)
	}
}

// problem is where a problem is, on a line of its own when that is long, then what it is and what to do.
func (w listing) problem(p schema.Problem) string {
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

// alikeProblems keeps the first of the problems that say the same of several files, and how many say it. It has the
// mappings that are proposed for all of them.
func alikeProblems(list []schema.Problem) []schema.Problem {
	const most = 12 // of mappings at once
	mappings := map[string]int{}
	kind := func(p schema.Problem) string {
		_, mapping, hasMapping := strings.Cut(p.Hint, "\n") // one that is proposed is seen
		if _, isKnown := mappings[mapping]; !isKnown && hasMapping {
			mappings[mapping] = len(mappings) / most
		}
		return fmt.Sprint(p.Severity, " ", p.Code, hasMapping, mappings[mapping])
	}
	var out []schema.Problem
	for _, group := range schema.Alike(list, kind) {
		first, where := group[0], "in this folder"
		if f := len(schema.Alike(group, func(p schema.Problem) string { return path.Dir(p.Path) })); f > 1 {
			where = fmt.Sprintf("in %d folders", f)
		}
		hint, proposals := table.Proposed(first.Hint)
		for _, p := range group[1:] {
			_, more := table.Proposed(p.Hint)
			isKnown := func(m table.Proposal) bool { return slices.Contains(proposals, m) }
			proposals = append(proposals, slices.DeleteFunc(more, isKnown)...)
		}
		columns := func(m table.Proposal) int { return strings.Count(m.Rest, "\n") }
		slices.SortStableFunc(proposals, func(a, b table.Proposal) int { // the first that fits a file is that of the file
			return columns(b) - columns(a)
		})
		first.Hint = table.Hint(hint, proposals...)
		if n := len(group); n > 1 {
			first.Found += fmt.Sprintf(" (and %d more like it %s)", n-1, where)
		}
		out = append(out, first)
	}
	return out
}

// usualReason ends the reason of a run that nothing else explains; the table states it once.
const usualReason = ", one system and build, no pause over 6 h"

// runs writes the table of the runs that files make together.
func (w listing) runs(set ingest.Set) {
	if len(set.Runs) == 0 {
		return
	}
	shown := set.Runs
	if !w.all && len(shown) > rowsShown {
		shown = shown[len(shown)-rowsShown:]
	}
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "RUN\tMODEL\tDEVICE\tENGINE\tRELEASE\tPOINTS\tSCORES\tWHY ONE RUN")
	for i := range shown {
		r := &shown[i]
		engine := strings.TrimSpace(r.Stack.Engine + " " + r.Stack.Version)
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", w.short(r.ID, 40), w.name(r.Model.Name),
			w.name(r.Device.Name), w.name(engine), w.name(r.Release),
			plaintext.Dash(len(r.Points)), plaintext.Dash(len(r.Scores)), w.reason(r.ID, set.Grouping[r.ID]))
	}
	tw.Flush()
	if more := len(set.Runs) - len(shown); more > 0 {
		fmt.Fprintf(w, "… and %s before these; --all lists every run\n", plaintext.Plural(more, "run"))
	}
	if !w.all {
		fmt.Fprintln(w, "Files below one folder are one run when they are of one system and build "+
			"and nothing paused for over 6 h.")
	}
}

func (w listing) short(s string, most int) string {
	if w.all {
		return s
	}
	return plaintext.Middle(s, most)
}

func (w listing) name(s string) string { return w.short(cmp.Or(s, "unknown"), 40) }

// reason is why files are one run, without what the rest of the listing says already.
func (w listing) reason(id, why string) string {
	files, folder, ok := strings.Cut(why, " in ")
	if !ok {
		return strings.ReplaceAll(why, " under id "+id, " under this id")
	}
	folder, isUsual := strings.CutSuffix(folder, usualReason)
	if folder = strings.TrimSuffix(strings.TrimPrefix(folder+"/", w.base), "/"); folder != "" {
		if !w.all {
			folder = plaintext.ShortPath(folder, plaintext.PathWidth)
		}
		files += " in " + folder
	}
	if w.all && isUsual {
		files += usualReason
	}
	return files
}
