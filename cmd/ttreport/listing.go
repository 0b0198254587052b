package main

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"sort"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
)

// fileGroup is a row of the table: files of one folder that are alike, or of all folders where those are many.
type fileGroup struct {
	dir, format         string
	details, plainer    kinds // what the files are; plainer leaves out how much is in each
	folders             map[string]bool
	files               []ingest.File
	points, scores, bad int
}

// rowsShown is how many rows a table of files or runs has without --all.
const rowsShown = 30

func writeInspect(w io.Writer, set ingest.Set, all bool) {
	base := commonFolder(set.Files)
	fmt.Fprintln(w, inspectSummary(set, base))
	fmt.Fprintln(w)
	writeFiles(w, set.Files, base, all)
	writeRuns(w, set, base, all)
	writeProblems(w, set.Problems, base, all)
}

// inspectSummary is the answer in one line: what came of all files.
func inspectSummary(set ingest.Set, base string) string {
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
	if base != "" {
		in = " in " + base
	}
	parts := []string{plural(results, "result")}
	for _, x := range []struct {
		n    int
		what string
	}{{beside, "beside them"}, {other, "no results"}, {notRead, "of tools that are not read"}, {unknown, "unknown"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	return fmt.Sprintf("%s%s: %s. %s and %s in %s; %s.", plural(len(set.Files), "file"), in, strings.Join(parts, ", "), plural(points, "point"), plural(scores, "score"), plural(len(set.Runs), "run"), problemCounts(set.Problems))
}

func writeFiles(w io.Writer, files []ingest.File, base string, all bool) {
	groups := groupFiles(files, func(f ingest.File) string {
		if all {
			return f.Path
		}
		return path.Dir(f.Path) + "\x00" + f.Format + "\x00" + f.Detail
	})
	if !all && len(groups) > rowsShown {
		groups = groupFiles(files, func(f ingest.File) string { return f.Format })
		sort.SliceStable(groups, func(i, j int) bool { return groups[i].points+groups[i].scores > groups[j].points+groups[j].scores })
	}
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "FILE\tFORMAT\tPOINTS\tSCORES\tPROBLEMS\tWHAT")
	for _, g := range groups {
		name, detail := strings.TrimPrefix(g.files[0].Path, base), g.details.String()
		if n := len(g.files); n > 1 {
			detail = g.plainer.String()
			folder := strings.TrimPrefix(commonFolder(g.files), base)
			name = fmt.Sprintf("%s (%d files)", shortPath(cmp.Or(folder, "./"), pathWidth-12), n)
			if len(g.folders) > 1 {
				name = strings.TrimSpace(fmt.Sprintf("%s %d files in %d folders", shortPath(folder, pathWidth-26), n, len(g.folders)))
			}
		} else if !all {
			name = shortPath(name, pathWidth)
		}
		if !all {
			detail = middle(detail, detailWidth)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", name, g.format, dash(g.points), dash(g.scores), dash(g.bad), detail)
	}
	tw.Flush()
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

func groupFiles(files []ingest.File, by func(ingest.File) string) []*fileGroup {
	var out []*fileGroup
	byKey := map[string]*fileGroup{}
	for _, f := range files {
		key, detail := by(f), f.Detail
		if f.PartOf != "" && f.Points+f.Scores == 0 {
			detail, _, _ = strings.Cut(detail, " of ") // whose it is, --json says
			detail += ", counted elsewhere"
		}
		if f.Format == ingest.Unknown && f.Detail != "" {
			detail = "nearest: " + f.Detail
		}
		g := byKey[key]
		if g == nil {
			g = &fileGroup{dir: path.Dir(f.Path), format: f.Format, details: kinds{}, plainer: kinds{}, folders: map[string]bool{}}
			byKey[key] = g
			out = append(out, g)
		}
		g.details[detail]++
		g.plainer[count.ReplaceAllString(detail, "")]++
		g.folders[path.Dir(f.Path)] = true
		g.files = append(g.files, f)
		g.points += f.Points
		g.scores += f.Scores
		for _, p := range f.Problems {
			if p.Severity != schema.SevNote {
				g.bad++
			}
		}
	}
	return out
}

// usualReason ends the reason of a run that nothing else explains; the table says it once.
const usualReason = ", one system and build, no pause over 6 h"

func writeRuns(w io.Writer, set ingest.Set, base string, all bool) {
	if len(set.Runs) == 0 {
		return
	}
	shown := set.Runs
	if !all && len(shown) > rowsShown {
		shown = shown[len(shown)-rowsShown:]
	}
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "RUN\tMODEL\tDEVICE\tENGINE\tRELEASE\tPOINTS\tSCORES\tWHY ONE RUN")
	short := func(s string, most int) string {
		if all {
			return s
		}
		return middle(s, most)
	}
	for i := range shown {
		r := &shown[i]
		why := strings.ReplaceAll(set.Grouping[r.ID], " under id "+r.ID, " under this id")
		if base != "" {
			why = strings.ReplaceAll(why, " in "+strings.TrimSuffix(base, "/")+",", " in "+base+",")
			why = strings.ReplaceAll(why, " in "+base, " in ")
			why = strings.ReplaceAll(why, " in ,", ",")
		}
		if !all {
			why = strings.TrimSuffix(why, usualReason)
			if files, folder, ok := strings.Cut(why, " in "); ok {
				why = files + " in " + shortPath(folder, pathWidth)
			}
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", short(r.ID, idWidth), short(orUnknown(r.Model.Name), nameWidth), short(orUnknown(r.Device.Name), nameWidth),
			short(orUnknown(strings.TrimSpace(r.Stack.Engine+" "+r.Stack.Version)), nameWidth), short(orUnknown(r.Release), nameWidth), dash(len(r.Points)), dash(len(r.Scores)), why)
	}
	tw.Flush()
	if more := len(set.Runs) - len(shown); more > 0 {
		fmt.Fprintf(w, "… and %s before these; --all lists every run\n", plural(more, "run"))
	}
	if !all {
		fmt.Fprintln(w, "Files below one folder are one run when they are of one system and build and nothing paused for over 6 h.")
	}
}

// problemsShown is how many problems are listed without --all.
const problemsShown = 20

func writeProblems(w io.Writer, problems []schema.Problem, base string, all bool) {
	list := worstFirst(problems)
	if !all {
		keep := list[:0:0]
		for _, p := range list {
			if p.Severity != schema.SevNote {
				keep = append(keep, p)
			}
		}
		list = keep
	}
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w, "\nPROBLEMS, worst first")
	shown := list
	if !all {
		shown = alike(list)
	}
	more := 0
	if !all && len(shown) > problemsShown {
		more = len(shown) - problemsShown
		shown = shown[:problemsShown]
	}
	for _, p := range shown {
		fmt.Fprintf(w, "%-7s  %s\n", p.Severity, problemLines(p, base))
	}
	if more > 0 {
		fmt.Fprintf(w, "… and %d more kinds; --all lists every problem\n", more)
	}
}

// problemLines is where a problem is, on a line of its own when that is long, then what it is and what to do.
func problemLines(p schema.Problem, base string) string {
	const indent = "         "
	where := strings.TrimPrefix(p.Where(), base)
	p.Path = ""
	p.Line = 0
	text := p.String()
	if base != "" {
		text = strings.ReplaceAll(text, base, "")
	}
	out := wrapped(text, indent)
	switch {
	case where == "":
	case utf8.RuneCountInString(where) <= pathWidth:
		out = wrapped(where+": "+text, indent)
	default:
		out = where + "\n" + indent + out
	}
	first, excerpt, _ := strings.Cut(p.Hint, "\n")
	if first != "" {
		out += "\n" + indent + wrapped("hint: "+first, indent+"      ")
	}
	if excerpt != "" { // lines of the file, as they stand
		out += "\n" + indent + strings.ReplaceAll(excerpt, "\n", "\n"+indent)
	}
	return out
}

// alike keeps the first of the problems that say the same of several files, and how many say it.
func alike(list []schema.Problem) []schema.Problem {
	out, count := schema.Alike(list, func(p schema.Problem) string { return string(p.Severity) + "\x00" + p.Code })
	folders := map[string]map[string]bool{}
	for _, p := range list {
		key := string(p.Severity) + "\x00" + p.Code
		if folders[key] == nil {
			folders[key] = map[string]bool{}
		}
		folders[key][path.Dir(p.Path)] = true
	}
	for i, n := range count {
		if n > 1 {
			where := "in this folder"
			if f := len(folders[string(out[i].Severity)+"\x00"+out[i].Code]); f > 1 {
				where = fmt.Sprintf("in %d folders", f)
			}
			out[i].Found += fmt.Sprintf(" (and %d more like it %s)", n-1, where)
		}
	}
	return out
}

func worstFirst(problems []schema.Problem) []schema.Problem {
	rank := map[schema.Severity]int{schema.SevError: 0, schema.SevWarning: 1, schema.SevNote: 2}
	out := append([]schema.Problem(nil), problems...)
	sort.SliceStable(out, func(i, j int) bool { return rank[out[i].Severity] < rank[out[j].Severity] })
	return out
}

func problemCounts(problems []schema.Problem) string {
	var parts []string
	for _, sev := range schema.Severities() {
		if n := countSeverity(problems, sev); n > 0 {
			parts = append(parts, plural(n, string(sev)))
		}
	}
	if len(parts) == 0 {
		return "no problems"
	}
	return strings.Join(parts, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func dash(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
