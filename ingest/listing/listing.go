package listing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/history"
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

// document is the JSON form, schema ttreport/inspect/v1.
type document struct {
	Schema   string            `json:"schema"`
	Files    []file            `json:"files"`
	Runs     []json.RawMessage `json:"runs"` // history documents
	Grouping map[string]string `json:"grouping"`
	Problems []json.RawMessage `json:"problems"`
}

type file struct {
	Path     string            `json:"path"`
	SHA256   string            `json:"sha256"`
	Format   string            `json:"format"`
	Detail   string            `json:"detail"`
	Points   int               `json:"points"`
	Scores   int               `json:"scores"`
	Run      string            `json:"run,omitempty"`
	Copies   int               `json:"copies,omitempty"`
	PartOf   string            `json:"part_of,omitempty"`
	Problems []json.RawMessage `json:"problems"`
}

// WriteJSON writes everything that was read as one line of JSON.
func WriteJSON(w io.Writer, set ingest.Set) error {
	doc := document{
		Schema: "ttreport/inspect/v1", Files: []file{}, Runs: []json.RawMessage{},
		Problems: encoded(set.Problems), Grouping: set.Grouping,
	}
	for _, f := range set.Files {
		doc.Files = append(doc.Files, file{
			f.Path, f.SHA256, f.Format, f.Detail, f.Points, f.Scores, f.Run, f.Copies, f.PartOf, encoded(f.Problems),
		})
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

// row is a row of the table of files: files of one folder that are alike, or of all folders where those are many.
type row struct {
	format              string
	details, plainer    kinds // what the files are; plainer leaves out how much is in each
	folders             map[string]bool
	files               []ingest.File
	points, scores, bad int
}

// alikeBy says which files are one row.
type alikeBy struct{ path, folder, format, detail string }

// files writes the table of files.
func (w writer) files(files []ingest.File) {
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "FILE\tFORMAT\tPOINTS\tSCORES\tPROBLEMS\tWHAT")
	for _, r := range w.rows(files) {
		name, detail := w.named(r)
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", name, r.format,
			plaintext.Dash(r.points), plaintext.Dash(r.scores), plaintext.Dash(r.bad), detail)
	}
	tw.Flush()
}

// rows groups files: none with all; by folder and kind; or where that makes too many, by format.
func (w writer) rows(files []ingest.File) []*row {
	if w.all {
		return grouped(files, func(f ingest.File) alikeBy { return alikeBy{path: f.Path} })
	}
	rows := grouped(files, func(f ingest.File) alikeBy {
		return alikeBy{folder: path.Dir(f.Path), format: f.Format, detail: f.Detail}
	})
	if len(rows) > rowsShown {
		rows = grouped(files, func(f ingest.File) alikeBy { return alikeBy{format: f.Format} })
		slices.SortStableFunc(rows, func(a, b *row) int { return cmp.Compare(b.points+b.scores, a.points+a.scores) })
	}
	return rows
}

// named is what a row is called, and what its files are.
func (w writer) named(r *row) (name, detail string) {
	const width = plaintext.PathWidth
	name, detail = strings.TrimPrefix(r.files[0].Path, w.base), r.details.String()
	if n := len(r.files); n > 1 {
		detail = r.plainer.String()
		folder := strings.TrimPrefix(commonFolder(r.files), w.base)
		name = fmt.Sprintf("%s (%d files)", plaintext.ShortPath(cmp.Or(folder, "./"), width-12), n)
		if len(r.folders) > 1 {
			short := plaintext.ShortPath(folder, width-26)
			name = strings.TrimSpace(fmt.Sprintf("%s %d files in %d folders", short, n, len(r.folders)))
		}
	} else if !w.all {
		name = plaintext.ShortPath(name, width)
	}
	if !w.all {
		detail = plaintext.Middle(detail, detailWidth)
	}
	return name, detail
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
var amount = regexp.MustCompile(`[,:] \d+ (appended|benchmarks?|records?|runs?|rows|parts).*$`)

// grouped puts files that are alike into rows, in order of the first of each.
func grouped(files []ingest.File, by func(ingest.File) alikeBy) []*row {
	var out []*row
	at := map[alikeBy]*row{}
	for _, f := range files {
		r := at[by(f)]
		if r == nil {
			r = &row{format: f.Format, details: kinds{}, plainer: kinds{}, folders: map[string]bool{}}
			at[by(f)] = r
			out = append(out, r)
		}
		detail := detailOf(f)
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

func detailOf(f ingest.File) string {
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
	return detail
}

// detailWidth is the width of what a file is, in characters.
const detailWidth = 80

// kinds counts what is alike.
type kinds map[string]int

// String lists the kinds with their numbers, the most frequent first, as many as fit.
func (k kinds) String() string {
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

// Widths of columns, in characters.
const (
	idWidth   = 40 // of a run's id
	nameWidth = 28 // of a model, a device or an engine
)

// usualReason ends the reason of a run that nothing else explains; the table states it once.
const usualReason = ", one system and build, no pause over 6 h"

// runs writes the table of the runs that files make together.
func (w writer) runs(set ingest.Set) {
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
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", w.short(r.ID, idWidth), w.name(r.Model.Name),
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

func (w writer) short(s string, most int) string {
	if w.all {
		return s
	}
	return plaintext.Middle(s, most)
}

func (w writer) name(s string) string { return w.short(cmp.Or(s, "unknown"), nameWidth) }

// reason is why files are one run, without what the rest of the listing says already.
func (w writer) reason(id, why string) string {
	why = strings.ReplaceAll(why, " under id "+id, " under this id")
	if w.base != "" {
		why = strings.ReplaceAll(why, " in "+strings.TrimSuffix(w.base, "/")+",", " in "+w.base+",")
		why = strings.ReplaceAll(why, " in "+w.base, " in ")
		why = strings.ReplaceAll(why, " in ,", ",")
	}
	if w.all {
		return why
	}
	why = strings.TrimSuffix(why, usualReason)
	if files, folder, ok := strings.Cut(why, " in "); ok {
		why = files + " in " + plaintext.ShortPath(folder, plaintext.PathWidth)
	}
	return why
}
