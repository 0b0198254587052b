package listing

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/plaintext"
)

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
