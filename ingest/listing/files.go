package listing

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
)

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
